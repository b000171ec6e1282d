"""Objects to bytes and back: one set of decoders per kind, no dicts on the way to a typed object."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Raw, Struct

from kubekit.errors import ApiError, InvalidConfiguration, error_from_status
from kubekit.model.resource import Address, Object

from .protocol import Signal, Watched, address_for

Kind = type[Any] | Address


class ListMeta(Struct, rename="camel", frozen=True):
    """`metadata` of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class Page(Struct):
    """One page of a list; `items` are typed by the kind's own subclass."""

    metadata: ListMeta = ListMeta()
    items: Any = None


class _Line(Struct):
    type: str
    object: Raw = Raw(b"null")


class _Head(Struct):
    metadata: _HeadMeta


class _HeadMeta(Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class NotAnObject(ValueError):
    """The bytes are not what a Kubernetes API would send."""


_line = msgspec.json.Decoder(_Line)
_head = msgspec.json.Decoder(_Head)
_anything = msgspec.json.Decoder()
_SIGNALS = {signal.value: signal for signal in Signal}
_CHANGES = tuple(f'{{"type":"{name}"'.encode() for name in ("ADDED", "MODIFIED", "DELETED"))
"""How the lines of a watch begin that carry a whole object."""


class Codec:
    """How objects of one kind are written and read."""

    def __init__(self, kind: Kind) -> None:
        self.address = kind if isinstance(kind, Address) else kind.address
        self._is_typed = not isinstance(kind, Address)
        made: Any = kind if self._is_typed else Object
        self._one: msgspec.json.Decoder[Any] = msgspec.json.Decoder(made)
        self._event: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
            msgspec.defstruct("TypedLine", [("type", str), ("object", made)])
        )
        self._page: msgspec.json.Decoder[Any] = msgspec.json.Decoder(
            msgspec.defstruct("TypedPage", [("items", list[made] | None, None)], bases=(Page,))
        )

    def one(self, content: bytes | Raw) -> Any:
        """Raises NotAnObject, InvalidConfiguration (not of this class)."""
        try:
            return self._one.decode(content)
        except msgspec.ValidationError as error:
            raise self._unreadable(content, error) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise NotAnObject(str(error)) from error

    def page(self, content: bytes) -> Page:
        """One page, its items complete. Raises NotAnObject, InvalidConfiguration."""
        try:
            page: Page = self._page.decode(content)
        except msgspec.ValidationError as error:
            raise self._unreadable_item(content, error) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise NotAnObject(str(error)) from error
        if page.items is None:
            page.items = []
        if not self._is_typed:
            for item in page.items:
                # Lists of built-in kinds do not repeat what their items are.
                item.setdefault("apiVersion", self.address.api_version)
                item.setdefault("kind", self.address.kind)
        return page

    def event(self, content: bytes) -> Watched[Any]:
        """One line of a watch. Raises what an ERROR says, NotAnObject, InvalidConfiguration."""
        if content.startswith(_CHANGES):
            try:
                line = self._event.decode(content)
            except msgspec.DecodeError:
                return self._unusual_event(content)
            return Watched(_SIGNALS[line.type], _version(line.object) or _head_of(content), line.object)
        return self._unusual_event(content)

    def _unusual_event(self, content: bytes) -> Watched[Any]:
        """Step by step: for what is no object of the kind, and to find out what is wrong with it."""
        try:
            line = _line.decode(content)
            signal = _SIGNALS.get(line.type)
            if signal is None:
                raise _error(line)
            version = _head.decode(line.object).metadata.resource_version
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise NotAnObject(str(error)) from error
        return Watched(signal, version, None if signal is Signal.BOOKMARK else self.one(line.object))

    def body(self, obj: Any) -> bytes:
        """An object as it is sent: it says what it is, even if it did not."""
        if isinstance(obj, Struct):
            if _says_what_it_is(type(obj)):
                return msgspec.json.encode(obj)
            obj = msgspec.to_builtins(obj)
        return msgspec.json.encode({"apiVersion": self.address.api_version, "kind": self.address.kind, **obj})

    def _unreadable(self, content: bytes | Raw, error: msgspec.ValidationError) -> Exception:
        """An object that is not as its class says: a newer version's, or another's."""
        message, _, path = str(error).partition(" - at ")
        try:
            meta = _head.decode(content).metadata
        except (msgspec.DecodeError, UnicodeDecodeError):
            return NotAnObject(str(error))
        key = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        return InvalidConfiguration(f"{self.address.kind} {key}", path.strip("`$.") or "object", message)

    def _unreadable_item(self, content: bytes, error: msgspec.ValidationError) -> Exception:
        try:
            items = msgspec.json.decode(content, type=_RawPage).items or []
        except (msgspec.DecodeError, UnicodeDecodeError):
            return NotAnObject(str(error))
        for item in items:
            try:
                self._one.decode(item)
            except msgspec.ValidationError as found:
                return self._unreadable(item, found)
        return NotAnObject(str(error))


class _RawPage(Struct):
    items: list[Raw] | None = None


def codec_for(kind: Kind) -> Codec:
    """The codec of a kind, made once."""
    key: Any = kind  # a frozen Struct has a hash, but mypy does not know
    return _codec(key)


_codec = lru_cache(maxsize=512)(Codec)


def part_codec(kind: Kind, subresource: str) -> Codec:
    """Status is read as the whole object; other parts are something else, and then plain."""
    if subresource not in ("", "status") and not isinstance(kind, Address):
        raise TypeError(f"{subresource} of a {kind.__name__} is not a {kind.__name__}: ask by its address")
    return codec_for(kind)


def object_codec(obj: Any, kind: Address | None) -> Codec:
    """For an object that is given, by its class or by the address it comes with."""
    return codec_for(address_for(obj, kind) if isinstance(obj, Mapping) else type(obj))


@lru_cache(maxsize=512)
def _says_what_it_is(kind: type[Struct]) -> bool:
    """Whether a class writes apiVersion and kind by itself, as every Resource does."""
    names = kind.__struct_encode_fields__
    tag = kind.__struct_config__.tag_field
    return "apiVersion" in names and (tag == "kind" or "kind" in names)


def decoded(content: bytes) -> Any:
    """Any JSON. Raises NotAnObject."""
    try:
        return _anything.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotAnObject(str(error)) from error


def _error(line: _Line) -> ApiError | NotAnObject:
    status = _anything.decode(line.object)
    if line.type != "ERROR" or not isinstance(status, dict):
        return NotAnObject(f"a watch event of type {line.type!r}")
    code = status.get("code")
    return error_from_status(status, code if isinstance(code, int) else 500)


def _version(item: Any) -> str:
    """An object's resourceVersion, if its class keeps that."""
    if isinstance(item, dict):
        return str((item.get("metadata") or {}).get("resourceVersion", ""))
    return getattr(getattr(item, "metadata", None), "resource_version", "")


def _head_of(content: bytes) -> str:
    return _head.decode(_line.decode(content).object).metadata.resource_version
