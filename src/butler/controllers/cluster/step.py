"""What a step in a cluster's life is: objects and addons that should exist, and a verdict on how far they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Protocol

from butler.addons.model import Addon
from butler.api.cluster import ObservedAddon

from .manifests import Manifest
from .scope import Scope

NOT_NEEDED = "NotNeeded"
"""The reason of a step that has nothing to do for a cluster."""


class Whose(Enum):
    """Who has to do something for a step to go on."""

    NOBODY = "nobody's: it takes its time"
    OWNER = "yours"
    PLATFORM = "the platform's"
    INFRASTRUCTURE = "the infrastructure's"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far a step is, in a word for programs and a sentence for people."""

    done: bool
    reason: str
    message: str = ""
    whose: Whose = Whose.NOBODY
    changing: bool = False
    """Not done because something was asked for that is under way, rather than because something broke."""


class Step(Protocol):
    """Steps are asked in order; one that holds keeps those behind it from beginning."""

    condition: ClassVar[str]
    title: ClassVar[str]
    holds: ClassVar[bool] = False

    def manifests(self, scope: Scope) -> Sequence[Manifest]:
        """What should exist for it, in the order in which it is made."""
        return ()

    def addons(self, scope: Scope) -> Sequence[Addon]:
        """What is to be installed inside the cluster for it now; nothing while that cannot begin."""
        return ()

    def unwanted(self, scope: Scope) -> Sequence[ObservedAddon]:
        """What is to be taken out of the cluster now, because nobody asks for it any more."""
        return ()

    def verdict(self, scope: Scope) -> Verdict:
        """How far it is."""
        ...
