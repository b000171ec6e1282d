"""A user as the API server sees one, and the names Kubernetes reserves for its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ANONYMOUS = "system:anonymous"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"
MONITORING = "system:monitoring"
NODES = "system:nodes"
SERVICE_ACCOUNTS = "system:serviceaccounts"

CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
POD_NAME = "authentication.kubernetes.io/pod-name"
POD_UID = "authentication.kubernetes.io/pod-uid"
NODE_NAME = "authentication.kubernetes.io/node-name"
NODE_UID = "authentication.kubernetes.io/node-uid"

_NODE_PREFIX = "system:node:"
_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_SUBDOMAIN = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\Z")
_SERVICE_ACCOUNT = re.compile(rf"system:serviceaccount:(?P<namespace>{_LABEL}):(?P<name>[^:]+)\Z")


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Who makes a request. Groups keep their order, because messages and reviews show it."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_master(self) -> bool:
        """A member of the one group that no authorizer can refuse."""
        return MASTERS in self.groups

    def wire(self) -> dict[str, Any]:
        """`userInfo` as reviews and admission requests carry it."""
        shown = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {key: list(values) for key, values in self.extra.items()},
        }
        return {key: value for key, value in shown.items() if value}


NOBODY = UserInfo(ANONYMOUS, groups=(UNAUTHENTICATED,))


def service_account_name(namespace: str, name: str) -> str:
    return f"system:serviceaccount:{namespace}:{name}"


def service_account_groups(namespace: str) -> tuple[str, ...]:
    return SERVICE_ACCOUNTS, f"{SERVICE_ACCOUNTS}:{namespace}"


def split_service_account(user: str) -> tuple[str, str] | None:
    """Namespace and name, None when this is not the name of a service account."""
    found = _SERVICE_ACCOUNT.match(user)
    if found is None or not _SUBDOMAIN.match(found["name"]):
        return None
    return found["namespace"], found["name"]


def split_node(user: str) -> str | None:
    """The node's name, None when this is not the name of a node's user."""
    name = user.removeprefix(_NODE_PREFIX)
    return name if name != user and _SUBDOMAIN.match(name) else None


def with_group(groups: tuple[str, ...], group: str) -> tuple[str, ...]:
    return groups if group in groups else (*groups, group)


def authenticated(groups: tuple[str, ...]) -> tuple[str, ...]:
    """The groups of someone who proved a name."""
    return groups if UNAUTHENTICATED in groups else with_group(groups, AUTHENTICATED)
