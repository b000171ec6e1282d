"""Messages by their tables of fields: wire bytes ↔ the JSON form of an object.

Kubernetes writes the zero of a plain field but no pointer that is not set, and its JSON leaves out the zeros of the
fields marked so. Both are facts of each field; decoding restores what Go's JSON encoder would have shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from typing import Any, Protocol

from kubekit.server.objects.go.json_text import MOST_CONTAINERS, too_many_containers

from ..builtin import data
from . import wire
from .forms import FORMS, Form, Members, wrapped_list
from .scalars import SCALARS, Scalar
from .wire import Malformed

DEPTH = 150
"""How deep messages may nest: more than any real object needs, and within Python's own limit."""


class Reading:
    """One body while it is read: how deep in it we are, and how many messages it has had."""

    def __init__(self) -> None:
        self.depth = self._messages = 0

    def count(self) -> None:
        self._messages += 1
        if self._messages > MOST_CONTAINERS:
            raise too_many_containers()

    def descend(self) -> None:
        if self.depth > DEPTH:
            raise Malformed(f"messages are nested more than {DEPTH} deep")
        self.depth += 1


class Message:
    """A message type. `form`, if any, turns its members into its JSON."""

    wire_type = wire.BYTES

    def __init__(self, name: str, fields: Iterable[data.Field], form: Form | None = None) -> None:
        self.name, self._fields, self._form = name, tuple(fields), form

    @cached_property
    def _slots(self) -> dict[int, _Slot]:
        """Field number → slot; made late because messages may contain themselves."""
        ordered = sorted(self._fields, key=lambda field: field.number)
        return {field.number: _slot(field) for field in ordered}

    @cached_property
    def _always_shown(self) -> tuple[_Slot, ...]:
        return tuple(slot for slot in self._slots.values() if slot.always_shown)

    def load(self, value: Any, reading: Reading) -> Any:
        """The JSON form of an encoded message. Raises Malformed, TooLarge."""
        reading.count()
        members: Members = {}
        self.read_into(members, value, reading)
        self.complete(members)
        return members if self._form is None else self._form.to_json(members)

    def read_into(self, members: Members, value: bytes, reading: Reading) -> None:
        if not value:
            return
        reading.descend()
        position, end, slots = 0, len(value), self._slots
        while position < end:
            tag, position = wire.read_varint(value, position)
            number, wire_type = tag >> 3, tag & 7
            if not number:
                raise Malformed(f"proto: {self.name}: illegal tag {number} (wire type {tag})")
            content, position = wire.read_value(value, position, wire_type)
            if slot := slots.get(number):
                slot.take(members, wire_type, content, reading)
        reading.depth -= 1

    def complete(self, members: Members) -> None:
        """Add what JSON shows although it was never set."""
        for slot in self._always_shown:
            slot.complete(members)

    def dump(self, value: Any) -> bytes:
        """The message behind its length; None is the empty one."""
        return wire.with_length(self.encode(value))

    def encode(self, value: Any) -> bytes:
        members = (value or {}) if self._form is None else self._form.from_json(value)
        return b"".join(slot.put(members) for slot in self._slots.values())

    def encode_only(self, name: str, members: Members) -> bytes:
        """The part of the message that a field is, and nothing of the others."""
        return next(slot.put(members) for slot in self._slots.values() if getattr(slot, "name", "") == name)

    def zero(self) -> Any:
        return self.load(b"", Reading())


class _Slot(Protocol):
    """The place of a field in a message."""

    always_shown: bool

    def take(self, members: Members, wire_type: int, content: Any, reading: Reading) -> None: ...

    def complete(self, members: Members) -> None: ...

    def put(self, members: Members) -> bytes: ...


class _One:
    """A field with at most one value."""

    def __init__(self, field: data.Field, codec: Scalar | Message) -> None:
        self.name, self._codec, self._pointer = field.name, codec, field.pointer
        drops_empty = field.omit_empty and isinstance(codec, Scalar)
        self._drops_zero = not field.pointer and (drops_empty or field.omit_zero)
        self.always_shown = not self._drops_zero and not (field.pointer and field.omit_empty)
        self._always_written = not field.pointer and codec.name not in {"bytes", "raw"}
        self._tag = _tag(field, codec)

    def take(self, members: Members, wire_type: int, content: Any, reading: Reading) -> None:
        if wire_type != self._codec.wire_type:
            raise _wrong_type(self.name, wire_type)
        loaded = self._codec.load(content, reading)
        if loaded or not self._drops_zero:
            members[self.name] = loaded
        else:
            members.pop(self.name, None)

    def complete(self, members: Members) -> None:
        if self.name not in members:
            members[self.name] = None if self._pointer else self._codec.zero()

    def put(self, members: Members) -> bytes:
        value = members.get(self.name)
        if value is None and not self._always_written:
            return b""
        return self._tag + self._codec.dump(value)


class _Many:
    """A repeated field."""

    def __init__(self, field: data.Field, codec: Scalar | Message) -> None:
        self.name, self._codec = field.name, codec
        self.always_shown = not field.omit_empty
        self._tag = _tag(field, codec)

    def take(self, members: Members, wire_type: int, content: Any, reading: Reading) -> None:
        listed = members.setdefault(self.name, [])
        if wire_type == self._codec.wire_type:
            listed.append(self._codec.load(content, reading))
        elif wire_type == wire.BYTES and self._codec.wire_type == wire.VARINT:
            position = 0
            while position < len(content):
                number, position = wire.read_varint(content, position)
                listed.append(self._codec.load(number, reading))
        else:
            raise _wrong_type(self.name, wire_type)

    def complete(self, members: Members) -> None:
        members.setdefault(self.name, None)

    def put(self, members: Members) -> bytes:
        return b"".join(self._tag + self._codec.dump(value) for value in members.get(self.name) or ())


class _Map:
    """A map: on the wire, a repeated message of key and value."""

    def __init__(self, field: data.Field, value_type: str) -> None:
        self.name = field.name
        self.always_shown = not field.omit_empty
        # Unlike a field, a value of a map is never "not set".
        value_type = "filled bytes" if value_type == "bytes" else value_type
        members = (data.Field("key", 1, "string", data.NOTHING), data.Field("value", 2, value_type, data.NOTHING))
        self._entry = Message(field.name, members)
        self._tag = _tag(field, self._entry)

    def take(self, members: Members, wire_type: int, content: Any, reading: Reading) -> None:
        if wire_type != wire.BYTES:
            raise _wrong_type(self.name, wire_type)
        entry: Members = {}
        self._entry.read_into(entry, content, reading)
        self._entry.complete(entry)
        members.setdefault(self.name, {})[entry["key"]] = entry["value"]

    def complete(self, members: Members) -> None:
        members.setdefault(self.name, None)

    def put(self, members: Members) -> bytes:
        entries = sorted((members.get(self.name) or {}).items())
        return b"".join(self._tag + self._entry.dump({"key": key, "value": value}) for key, value in entries)


class _Inline:
    """A message whose members stand among those of the message around it."""

    always_shown = True

    def __init__(self, field: data.Field, codec: Message) -> None:
        self._codec, self._tag = codec, _tag(field, codec)

    def take(self, members: Members, wire_type: int, content: Any, reading: Reading) -> None:
        if wire_type != wire.BYTES:
            raise _wrong_type(self._codec.name, wire_type)
        self._codec.read_into(members, content, reading)

    def complete(self, members: Members) -> None:
        self._codec.complete(members)

    def put(self, members: Members) -> bytes:
        return self._tag + self._codec.dump(members)


def _slot(field: data.Field) -> _Slot:
    container, type_ = field.type[:2], field.type[2:]
    if container == "[]":
        return _Many(field, _codec(type_))
    if container == "{}":
        return _Map(field, type_)
    if field.inline:
        return _Inline(field, message(field.type))
    return _One(field, _codec(field.type))


def _codec(type_: str) -> Scalar | Message:
    return SCALARS.get(type_) or message(type_)


@cache
def message(name: str) -> Message:
    """The message of a definition of the data file, or of `()` and the type of a wrapped list."""
    if name.startswith("()"):
        form: Form | None = wrapped_list(name[2:])
    else:
        form = FORMS.get(name)
    fields = data.definition(name).fields if form is None else form.fields
    return Message(name.rpartition(".")[2], fields, form)


def _tag(field: data.Field, codec: Scalar | Message) -> bytes:
    return wire.varint(field.number << 3 | codec.wire_type)


def _wrong_type(field: str, wire_type: int) -> Malformed:
    return Malformed(f"proto: wrong wireType = {wire_type} for field {field[:1].upper()}{field[1:]}")
