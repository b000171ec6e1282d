"""Questions about rights as values: what `authorizer` and the checks made of it are."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from .language.values import CelError, name_type

AUTHORIZER, RESOURCE_CHECK = "kubernetes.authorization.Authorizer", "kubernetes.authorization.ResourceCheck"
PATH_CHECK, GROUP_CHECK = "kubernetes.authorization.PathCheck", "kubernetes.authorization.GroupCheck"
DECISION = "kubernetes.authorization.Decision"
_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"


@dataclass(frozen=True, slots=True)
class Asked:
    """A right that is asked for; a `path` makes it one to something that is not a resource."""

    account: tuple[str, str] | None = None
    """Namespace and name of the service account it is about, rather than whoever makes the request."""
    verb: str = ""
    group: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer."""

    is_allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Authorizer:
    """Knows whom to ask."""

    decide: Callable[[Asked], Decision]
    asked: Asked = Asked()

    def for_account(self, namespace: str, name: str) -> Authorizer:
        if not re.fullmatch(rf"{_LABEL}(\.{_LABEL})*", name):
            raise CelError("Invalid service account name")
        if not re.fullmatch(_LABEL, namespace):
            raise CelError("Invalid service account namespace")
        return replace(self, asked=Asked(account=(namespace, name)))

    def check(self, verb: str) -> Decision:
        return self.decide(replace(self.asked, verb=verb))


class PathCheck(Authorizer):
    """About a path."""


class GroupCheck(Authorizer):
    """About an API group."""


class ResourceCheck(Authorizer):
    """About a resource."""


name_type(Authorizer, AUTHORIZER)
name_type(PathCheck, PATH_CHECK)
name_type(GroupCheck, GROUP_CHECK)
name_type(ResourceCheck, RESOURCE_CHECK)
name_type(Decision, DECISION)
