"""The data file of the built-in kinds, read once and unfolded piece by piece.

The file names a definition by the last two parts of its package: `core.v1.Pod`, `meta.v1.Time`. The type of a field
is a scalar (string, int32, int64, bool, bytes, double) or such a name, after `[]` for a list or `{}` for a map;
`()` marks a list that protobuf wraps in a message of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

import msgspec

Raw = Mapping[str, Any]
NOTHING: Raw = MappingProxyType({})


class Field(msgspec.Struct, frozen=True):
    """One field of a definition."""

    name: str
    number: int
    """The field's number in protobuf."""
    type: str
    settings: Raw
    """list, keys, map, patch, by (strategic merge), default, enum, go (what Go calls the type, where not plain)."""
    pointer: bool = False
    """Kubernetes tells "not set" from zero here."""
    omit_empty: bool = False
    omit_zero: bool = False
    inline: bool = False
    """A message in protobuf whose fields stand, in JSON, among those of the definition itself."""
    required: bool = False


class Definition(msgspec.Struct, frozen=True):
    """One message of Kubernetes' API."""

    fields: tuple[Field, ...] = ()
    typed: bool = False
    """It carries apiVersion and kind."""
    inner: bool = False
    """It exists only inlined in others."""
    form: Raw | None = None
    """The OpenAPI schema of a definition whose JSON is not made of its fields, such as a time."""
    extensions: Raw = NOTHING


@cache
def contents() -> Raw:
    """The file as it is."""
    found: Raw = msgspec.json.decode(resources.files(__package__).joinpath("kinds.json").read_bytes())
    return found


def kinds() -> Mapping[str, Mapping[str, str]]:
    """apiVersion → kind → name of its definition."""
    found: Mapping[str, Mapping[str, str]] = contents()["kinds"]
    return found


@cache
def definition(name: str) -> Definition:
    """The definition of a short name. Raises KeyError when there is none; lists are made up from their items."""
    raw = contents()["definitions"].get(name)
    if raw is None:
        return _list_of(name)
    return Definition(
        tuple(_field(*one) for one in raw.get("fields", ())),
        "typed" in raw,
        "inner" in raw,
        raw.get("form"),
        raw.get("x", NOTHING),
    )


def _field(name: str, number: int, type_: str, flags: str, settings: Raw = NOTHING) -> Field:
    return Field(name, number, type_, settings, *(flag in flags for flag in "pozir"))


def _list_of(name: str) -> Definition:
    """Every list has the same two fields, so the file does not repeat them."""
    item = name.removesuffix("List")
    if item == name or not definition(item).typed:
        raise KeyError(name)
    metadata = Field("metadata", 1, "meta.v1.ListMeta", NOTHING, omit_empty=True)
    return Definition((metadata, Field("items", 2, f"[]{item}", NOTHING, required=True)), typed=True)
