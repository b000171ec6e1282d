"""All rules together."""

from __future__ import annotations

from .rules.account import TellingRules
from .rules.choices import ChoosingRules
from .rules.creation import CreatingRules
from .rules.deletion import DeletingRules
from .rules.errors import FailingRules
from .rules.facts import FactRules
from .rules.identity import IdentityRules
from .rules.images import ImagingRules
from .rules.interruptions import BreakingRules
from .rules.loadbalancers import BalancingRules


class ConformanceKit(
    IdentityRules,
    CreatingRules,
    FactRules,
    DeletingRules,
    FailingRules,
    TellingRules,
    ChoosingRules,
    BreakingRules,
    BalancingRules,
    ImagingRules,
):
    """Inherit from it, with a fixture `harness` of the infrastructure under test."""
