"""What every kind is made of: the base classes and the scalar types of the wire."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, dataclass_transform

import msgspec
from msgspec import Meta, Struct, field

Object = dict[str, Any]
"""An object as it is on the wire, of whatever kind."""

_ACRONYMS = frozenset(["cidr", "cpu", "gb", "ha", "id", "lb", "mb", "sha256", "uri", "url", "urn", "uuid"])
_PLURAL_ACRONYMS = {"ids": "IDs", "ips": "IPs", "sans": "SANs"}


def wire_name(name: str) -> str:
    """`pod_cidr` → `podCIDR`: camel case with the acronyms that Kubernetes writes in capitals."""
    first, *rest = name.split("_")
    return first + "".join(_PLURAL_ACRONYMS.get(word) or _capitalised(word) for word in rest)


def _capitalised(word: str) -> str:
    return word.upper() if word in _ACRONYMS else word.capitalize()


class Rule(Struct, frozen=True):
    """A CEL rule the API server checks where the class that lists it stands."""

    expression: str
    message: str
    missing: str = ""
    """The field to name as required when the rule does not hold, such as `.cpu`."""
    forbidden: str = ""
    """The field to name as forbidden when the rule does not hold."""


class ModelType(msgspec.StructMeta):
    """Makes every Model keyword-only, and its defaults part of what is written."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **settings: Any) -> type:
        for field_name in namespace.get("__annotations__", ()):
            default = namespace.get(field_name)
            if isinstance(default, str | int | Enum) and default != "":
                # msgspec leaves out a plain default when encoding, but never what a factory made.
                namespace[field_name] = field(default_factory=partial(_same, default))
        return super().__new__(mcls, name, bases, namespace, kw_only=True, **settings)


def _same(value: Any) -> Any:
    return value


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Model(Struct, metaclass=ModelType, frozen=True, omit_defaults=True, rename=wire_name, gc=False):
    """A frozen value on the wire.

    A default such as 4, True or "main" is also the default of the CRD, and is written when the value is encoded.
    None, an empty string or collection, a Model and whatever is given as `field(default=…)` stand for absence:
    they are neither. The text below a field describes it to users.
    """

    rules: ClassVar[tuple[Rule, ...]] = ()


class Column(Struct, frozen=True):
    """A column of `kubectl get`."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0


AGE = Column("Age", ".metadata.creationTimestamp", "date")


class Scale(Struct, frozen=True):
    """Where `kubectl scale` finds the number of replicas."""

    spec_replicas: str
    status_replicas: str


class Address(Struct, frozen=True):
    """Where an API server keeps the objects of a kind."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @classmethod
    def of(cls, api_version: str, kind: str, *, plural: str = "", namespaced: bool = True) -> Address:
        """The address of what a manifest names: `Address.of("apps/v1", "Deployment")`. The plural is the usual one
        unless it is given."""
        group, _, version = api_version.rpartition("/")
        return cls(group, version, kind, plural or _plural(kind.lower()), namespaced)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def name(self) -> str:
        """`widgets.example.com`: the name of the CRD."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def _plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}s"


NO_LABELS: Mapping[str, str] = MappingProxyType({})


class ResourceType(ModelType):
    """Turns the class keywords of a kind into its address.

    A class without `plural` is no kind: its `group`, `version` and `labels` hold for those made of it."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        plural: str = "",
        short: str | tuple[str, ...] = (),
        group: str | None = None,
        version: str | None = None,
        namespaced: bool = True,
        columns: tuple[Column, ...] = (AGE,),
        scale: Scale | None = None,
        labels: Mapping[str, str] = NO_LABELS,
        **settings: Any,
    ) -> type:
        above = next((base for base in bases if isinstance(base, ResourceType)), None)
        group = getattr(above, "group", None) if group is None else group
        version = getattr(above, "version", None) if version is None else version
        namespace["group"], namespace["version"] = group, version
        namespace["definition_labels"] = {**getattr(above, "definition_labels", {}), **labels}
        if plural:
            if group is None or version is None:
                raise TypeError(f"{name}: a kind needs a group and a version")
            settings |= {"tag_field": "kind", "tag": name}
            namespace["address"] = Address(group, version, name, plural, namespaced)
            namespace["short_names"] = (short,) if isinstance(short, str) else short
            namespace["columns"], namespace["scale"] = columns, scale
        if (group, version) != (getattr(above, "group", None), getattr(above, "version", None)):
            namespace.setdefault("__annotations__", {})["api_version"] = "str"
            namespace["api_version"] = f"{group}/{version}" if group else version
        return super().__new__(mcls, name, bases, namespace, **settings)


class OwnerReference(Model):
    """An object that this one belongs to; when the last owner goes, this one goes too."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ObjectMeta(Model):
    """What Kubernetes keeps about every object, without managedFields."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = field(default=0)
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Mapping[str, str] = {}
    annotations: Mapping[str, str] = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()


class Resource(Model, metaclass=ResourceType):
    """A kind of object: subclass it with `plural`, `group` and `version`, a `spec` and, if it has one, a `status`."""

    address: ClassVar[Address]
    group: ClassVar[str | None]
    version: ClassVar[str | None]
    short_names: ClassVar[tuple[str, ...]]
    columns: ClassVar[tuple[Column, ...]]
    scale: ClassVar[Scale | None]
    definition_labels: ClassVar[Mapping[str, str]]
    """What other programs look for on the CRD of the kind."""

    api_version: str = ""
    metadata: ObjectMeta = ObjectMeta()

    @property
    def kind(self) -> str:
        return self.address.kind

    @property
    def key(self) -> str:
        """`namespace/name`, or just the name of a cluster-wide object."""
        meta = self.metadata
        return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name

    @property
    def deleting(self) -> bool:
        return self.metadata.deletion_timestamp is not None


REQUIRED = Meta(extra={"required": True})
"""The CRD requires the field although the class can be built, or read, without it."""


def remark(text: str) -> Meta:
    """A sentence behind the description of the field, and of every field in it."""
    return Meta(extra={"remark": text})


def keyed_by(*keys: str) -> Meta:
    """A list whose items are told apart by these fields, so that several writers can share it."""
    return Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)})


def with_format(name: str) -> Meta:
    return Meta(extra_json_schema={"format": name})


QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
Quantity = Annotated[
    str | int,
    Meta(
        extra_json_schema={
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": QUANTITY_PATTERN,
            "x-kubernetes-int-or-string": True,
        }
    ),
]
"""An amount such as `8Gi`, `500m` or 4; see `kubekit.model.quantity`."""

Time = Annotated[datetime, Meta(tz=True)]
Int64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
Positive = Annotated[int, Meta(ge=1)]
NotNegative = Annotated[int, Meta(ge=0)]
NotEmpty = Annotated[str, Meta(min_length=1)]
