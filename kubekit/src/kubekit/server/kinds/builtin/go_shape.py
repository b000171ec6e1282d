"""Objects of built-in kinds as Go writes them: zero values left out or spelt out, quantities in one spelling."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from kubekit.model.resource import Object

from . import data, quantities

_SCALARS: dict[str, Any] = {"string": "", "int32": 0, "int64": 0, "bool": False, "double": 0}
_FORMS: dict[str, Any] = {
    "meta.v1.Time": None,
    "meta.v1.MicroTime": None,
    "api.resource.Quantity": "0",
    "util.intstr.IntOrString": 0,
    "pkg.runtime.RawExtension": None,
}
"""Values that are structs in Go but not in JSON, and what they are when not set."""
_QUANTITY = "api.resource.Quantity"
_LEFT_ALONE = ("meta.v1.ManagedFieldsEntry", "apiextensions.v1.JSON")
"""Definitions nobody fills in: written by the server itself, or any JSON."""
_SCHEMA = "apiextensions.v1.JSONSchemaProps"
_SCHEMA_UNIONS = (f"{_SCHEMA}OrBool", f"{_SCHEMA}OrArray")
_TOLD_FROM_NONE = {
    ("autoscaling.v2.HPAScalingRules", "policies"),
    ("networking.v1.IngressSpec", "rules"),
    (_SCHEMA, "dependencies"),
}
"""What may be left out, but whose checks see whether it was given and is empty."""
_OFF = {
    ("apps.v1.RollingUpdateStatefulSetStrategy", "maxUnavailable"),
    ("coordination.v1.LeaseSpec", "preferredHolder"),
    ("coordination.v1.LeaseSpec", "strategy"),
    ("core.v1.Lifecycle", "stopSignal"),
    ("core.v1.NodeSpec", "configSource"),
    ("core.v1.PodSpec", "schedulingGroup"),
    ("core.v1.VolumeProjection", "clusterTrustBundle"),
    ("core.v1.VolumeProjection", "podCertificate"),
    ("discovery.v1.Endpoint", "deprecatedTopology"),
    ("resource.v1.DeviceAttribute", "bools"),
    ("resource.v1.DeviceAttribute", "ints"),
    ("resource.v1.DeviceAttribute", "strings"),
    ("resource.v1.DeviceAttribute", "versions"),
    ("storage.v1.CSIDriverSpec", "preventPodSchedulingIfMissing"),
}
"""Fields of features that are off unless somebody turns them on: who writes them owns them, but they are not kept."""

Change = Callable[[Any], None]


class Shape:
    """One definition, compiled. `apply` makes an object look as it would after a round through Go."""

    def __init__(self) -> None:
        self._droppable: set[str] = set()
        self._changes: dict[str, Change] = {}
        self._replacements: dict[str, Callable[[Any], Any]] = {}
        self._scalars: list[tuple[str, Any]] = []
        self._structs: list[tuple[str, Shape]] = []
        self._required: list[str] = []
        """Lists and maps that are always written, null when there are none."""
        self._off: list[str] = []
        self._inner: list[tuple[str, str, Shape]] = []
        """What is below: the name, `[]`, `{}` or nothing, and the shape."""
        self._concerned: list[tuple[str, str, Shape]] | None = None

    def apply(self, obj: Object) -> None:
        surplus: list[str] = []
        for name, value in obj.items():
            if value:
                if change := self._changes.get(name):
                    change(value)
                elif replace := self._replacements.get(name):
                    obj[name] = replace(value)
            elif value is None or name in self._droppable:
                surplus.append(name)
            elif change := self._changes.get(name):
                change(value)
        for name in surplus:
            del obj[name]
        for name, value in self._scalars:
            if name not in obj:
                obj[name] = value
        for name, shape in self._structs:
            if name not in obj:
                obj[name] = {}
                shape.apply(obj[name])

    def settle(self, obj: Object) -> bool:
        """Write null, in place, for required lists that are empty, drop what is off, and say whether there was any.

        While a request is under way they are a value that somebody owns; stored, they are the same as none."""
        is_changed = False
        for name in self._off:
            is_changed |= obj.pop(name, None) is not None
        for name in self._required:
            if not obj.get(name, True) and obj[name] is not None:
                obj[name] = None
                is_changed = True
        for name, collection, shape in self._concerning():
            value = obj.get(name)
            if value:
                inner = (value,) if not collection else value if collection == "[]" else value.values()
                for one in inner:
                    is_changed |= shape.settle(one)
        return is_changed

    def _concerning(self) -> list[tuple[str, str, Shape]]:
        """Those below that have something to settle."""
        if self._concerned is None:
            self._concerned = [one for one in self._inner if one[2].settles({id(self)})]
        return self._concerned

    def settles(self, seen: set[int]) -> bool:
        """Whether there may be something to settle here or below."""
        if id(self) in seen:
            return False
        seen.add(id(self))
        return bool(self._required or self._off) or any(shape.settles(seen) for _, _, shape in self._inner)

    def below(self, name: str) -> Shape | None:
        """The shape of a struct that is always there, such as the status."""
        return next((shape for one, shape in self._structs if one == name), None)

    def learn(self, name: str) -> None:
        for field in data.definition(name).fields:
            if field.inline:
                self.learn(field.type)
            else:
                self._learn_field(field)
                if (name, field.name) in _TOLD_FROM_NONE:
                    self._droppable.remove(field.name)
                if (name, field.name) in _OFF:
                    self._off.append(field.name)

    def _learn_field(self, field: data.Field) -> None:
        name, kind = field.name, field.type
        if kind[:2] in ("[]", "{}") or kind == "bytes":
            self._learn_collection(field)
        elif kind in _SCALARS or kind in _FORMS:
            self._learn_value(field)
        elif kind in _SCHEMA_UNIONS:
            self._changes[name] = _schema_or_other
        elif not _is_left_alone(kind):
            inner = shape_of(kind)
            self._changes[name] = inner.apply
            self._inner.append((name, "", inner))
            if field.pointer:
                self._learn_absence(field, None)
            elif field.omit_zero:
                self._droppable.add(name)
            else:
                self._structs.append((name, inner))

    def _learn_collection(self, field: data.Field) -> None:
        collection, item = field.type[:2], field.type[2:].removeprefix("()")
        if field.omit_empty or field.type == "bytes":
            self._droppable.add(field.name)
        else:
            self._required.append(field.name)
        self._learn_absence(field, None)
        if field.type == "bytes":
            return
        if collection == "{}" and item == _QUANTITY:
            self._changes[field.name] = quantities.settle
        elif item not in _SCALARS and item not in _FORMS and item != "bytes" and not _is_left_alone(item):
            inner = shape_of(item)
            self._changes[field.name] = _each(inner) if collection == "[]" else _each_value(inner)
            self._inner.append((field.name, collection, inner))

    def _learn_value(self, field: data.Field) -> None:
        if field.type == _QUANTITY:
            self._replacements[field.name] = quantities.canonical
        is_form = field.type in _FORMS
        if field.pointer:
            self._learn_absence(field, None)
        elif is_form:
            # Go leaves out an empty struct only when told to leave out zeros.
            if not field.omit_zero:
                self._scalars.append((field.name, _FORMS[field.type]))
        elif field.omit_empty:
            self._droppable.add(field.name)
        else:
            self._scalars.append((field.name, _SCALARS[field.type]))

    def _learn_absence(self, field: data.Field, value: Any) -> None:
        if not field.omit_empty:
            self._scalars.append((field.name, value))


def _is_left_alone(kind: str) -> bool:
    return kind != _SCHEMA and kind.startswith(_LEFT_ALONE)


def _schema_or_other(value: Any) -> None:
    """A schema, a list of them, or what may stand in its place."""
    for one in value if isinstance(value, list) else (value,):
        if isinstance(one, dict):
            shape_of(_SCHEMA).apply(one)


def _each(inner: Shape) -> Change:
    def change(items: list[Object]) -> None:
        for item in items:
            inner.apply(item)

    return change


def _each_value(inner: Shape) -> Change:
    def change(items: dict[str, Object]) -> None:
        for item in items.values():
            inner.apply(item)

    return change


_known: dict[str, Shape] = {}


def shape_of(name: str) -> Shape:
    """The shape of a definition; definitions may contain themselves."""
    if name not in _known:
        _known[name] = Shape()
        _known[name].learn(name)
    return _known[name]


@cache
def shape_of_kind(api_version: str, kind: str) -> Shape | None:
    """The shape of a kind, None when the catalogue does not have it."""
    name = data.kinds().get(api_version, {}).get(kind)
    return None if name is None else shape_of(name)
