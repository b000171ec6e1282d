"""What a client asks for, apart from the object itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import msgspec

from kubekit.model.resource import Object
from kubekit.model.selectors import FieldSelector, LabelSelector
from kubekit.server.store import json_values

from .duplicate_keys import Remarks
from .resource import Resource
from .user import UserInfo

_EVERY_LABEL = LabelSelector()
_EVERY_FIELD = FieldSelector()

MOST_WARNINGS = 200
"""More would not fit into the headers of an answer anyway."""

FieldValidation = Literal["Strict", "Warn", "Ignore"]


class Target(msgspec.Struct, frozen=True):
    """The place a request speaks of: a resource, perhaps one object of it, perhaps a part of that."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.resource.namespaced else self.name


def object_key(resource: Resource, namespace: str, name: str) -> str:
    return Target(resource, namespace, name).key


class WriteOptions(msgspec.Struct):
    """How to write, and on whose behalf."""

    user: UserInfo
    manager: str = "unknown"
    dry_run: bool = False
    field_validation: FieldValidation = "Ignore"
    force: bool = False
    size: int = 0
    """Bytes of what the client sent; none for what comes from this process."""
    remarks: Remarks | None = None
    """What a strict reader would say about the body; none when it has nothing to say but of unknown fields."""
    may_not_create: bool = False
    """Whether it was the right to change that was asked for, so that for a new object there is more to ask."""
    warnings: list[str] = []
    """Filled while the request is served; becomes Warning headers, as far as there is room for them."""

    def warn(self, text: str) -> None:
        if text not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(text)


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """How to delete."""

    propagation: Literal["", "Orphan", "Background", "Foreground"] = ""
    grace_period: int | None = None
    uid: str = ""
    resource_version: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ListOptions:
    """Which objects, and as of when."""

    labels: LabelSelector = _EVERY_LABEL
    fields: FieldSelector = _EVERY_FIELD
    limit: int = 0
    continuation: str = ""
    resource_version: str = ""
    version_match: Literal["", "Exact", "NotOlderThan"] = ""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """From where to watch, and for how long."""

    labels: LabelSelector = _EVERY_LABEL
    fields: FieldSelector = _EVERY_FIELD
    resource_version: str = ""
    bookmarks: bool = False
    send_initial_events: bool | None = None
    timeout: float = 0

    def narrowed_to(self, name: str) -> WatchOptions:
        """The same watch for one object only."""
        return replace(self, fields=FieldSelector((*self.fields.terms, ("metadata.name", True, name))))


class Answer(msgspec.Struct):
    """One object as it is stored: JSON without apiVersion and kind, which depend on the version asked for."""

    resource: Resource
    value: bytes
    created: bool = False
    deleted: bool = False

    def decode(self) -> Object:
        decoded: Object = json_values.decode(self.value)
        return decoded

    def body(self) -> bytes:
        return self.resource.opening + self.value[1:]


def with_type(resource: Resource, obj: Object) -> dict[str, Any]:
    """The object as its clients see it."""
    return {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
