"""A resource the server offers: its names, its schema and the little that differs between kinds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from kubekit.errors import FieldError
from kubekit.model.resource import Object

from .schema.model import Schema

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Column:
    """One printer column of `kubectl get`; `path` is a JSONPath such as `.status.phase`."""

    name: str
    type: str
    path: str
    format: str = ""
    description: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Conversion:
    """The webhook that brings objects of a custom kind from one version into another."""

    client: Object
    """Its `clientConfig`."""
    review_version: str
    """The version of ConversionReview it understands."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a kind keeps what its scale subresource shows (JSONPaths such as `.spec.replicas`)."""

    spec_replicas: str
    status_replicas: str
    label_selector: str = ""


class Behaviour(Protocol):
    """What a built-in kind does beyond its schema. All methods work on plain objects and never do I/O."""

    def default(self, obj: Object) -> None:
        """Fill in, in place, what Kubernetes fills in for this kind."""

    def prepare_create(self, obj: Object) -> None:
        """Drop or set, in place, what a client may not choose (status, for most kinds)."""

    def prepare_update(self, obj: Object, old: Object) -> None:
        """Carry over, in place, what an update may not change silently."""

    def settle(self, obj: Object) -> bool:
        """Forget, in place, what matters only while a request is under way; says whether there was any."""

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        """What a client should know about what it writes, though it is no problem."""

    def validate(self, obj: Object) -> list[FieldError]: ...

    def validate_update(self, obj: Object, old: Object, part: str = "") -> list[FieldError]:
        """`part`: the subresource by which it is changed."""


class Translation(Protocol):
    """How a built-in kind that is stored in another form is brought into it and back. Both answer new objects."""

    def shown(self, obj: Object) -> Object: ...

    def stored(self, obj: Object) -> Object: ...


@dataclass(slots=True, eq=False)
class Resource:
    """One kind in one version of one group, as offered to clients."""

    group: str
    version: str
    kind: str
    plural: str
    schema: Schema
    namespaced: bool = True
    singular: str = ""
    list_kind: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    status: bool = False
    scale: Scale | None = None
    subresources: tuple[str, ...] = ()
    """Further subresources by name, such as `token` or `eviction`."""
    columns: tuple[Column, ...] = ()
    selectable_fields: tuple[str, ...] = ()
    """Fields beside metadata.name and metadata.namespace that field selectors may name, such as `spec.nodeName`."""
    storage_version: str = ""
    """The version objects are stored in, when it is not this one."""
    oldest_version: str = ""
    """For custom kinds, the version of stored objects that do not say which they are in."""
    schema_since: int = 0
    """For custom kinds, the revision since which this schema holds; older objects have not been through it."""
    conversion: Conversion | None = None
    """Versions of a custom kind without one differ in nothing but their name and schema."""
    translation: Translation | None = None
    """For a built-in kind that is stored in another form."""
    stored_at: str = ""
    """The storage key, when it is not that of the group and the name."""
    unconditional_update: bool = True
    """Whether an update need not say which version it is of."""
    behaviour: Behaviour | None = None
    is_custom: bool = False
    """Defined by a CustomResourceDefinition rather than built in."""
    deprecation: str = ""
    """The warning a client gets when it uses this version."""

    api_version: str = field(init=False)
    qualified: str = field(init=False)
    """`deployments.apps`, `pods`: how error messages name the resource."""
    storage_key: str = field(init=False)
    """What all versions of one kind share in the store."""
    opening: bytes = field(init=False)
    """What stands before the stored part of an object."""

    def __post_init__(self) -> None:
        self.api_version = f"{self.group}/{self.version}" if self.group else self.version
        self.qualified = f"{self.plural}.{self.group}" if self.group else self.plural
        self.storage_key = self.stored_at or f"{self.group}/{self.plural}"
        self.opening = f'{{"apiVersion":"{self.api_version}","kind":"{self.kind}",'.encode()

    @property
    def is_converted(self) -> bool:
        """Whether what is stored may look different from what is shown."""
        return self.is_custom or self.translation is not None
