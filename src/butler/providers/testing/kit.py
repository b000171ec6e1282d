"""All rules together."""

from __future__ import annotations

from .rules.balancing import BalancingRules
from .rules.breaking import BreakingRules
from .rules.choosing import ChoosingRules
from .rules.creating import CreatingRules
from .rules.deleting import DeletingRules
from .rules.facts import FactRules
from .rules.failing import FailingRules
from .rules.identity import IdentityRules
from .rules.imaging import ImagingRules
from .rules.telling import TellingRules


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
