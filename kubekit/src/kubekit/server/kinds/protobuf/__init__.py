"""Objects in Kubernetes' protobuf encoding, `application/vnd.kubernetes.protobuf`."""

from __future__ import annotations

from collections.abc import Iterable

from kubekit.errors import BadRequest
from kubekit.model.resource import Object

from ..builtin import data
from .messages import Message, Reading, message
from .wire import Malformed, varint

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\x00"

_SHOWN_BYTES = 30
_IN_EVERY_VERSION = {"DeleteOptions", "WatchEvent"}


def _field(number: int, name: str, type_: str) -> data.Field:
    return data.Field(name, number, type_, data.NOTHING)


_TYPE = Message("TypeMeta", (_field(1, "apiVersion", "string"), _field(2, "kind", "string")))
_ENVELOPE = Message(
    "Unknown",
    (
        _field(1, "typeMeta", "raw"),
        _field(2, "raw", "raw"),
        _field(3, "contentEncoding", "string"),
        _field(4, "contentType", "string"),
    ),
)


_RAW_TAG = b"\x12"
"""What stands before the length of the message in the envelope."""
LIST_END = _ENVELOPE.encode({})
_RAW = Message("RawExtension", (_field(1, "raw", "raw"),))
_EVENT = Message("WatchEvent", (_field(1, "type", "string"), _field(2, "object", "raw")))


def decode(body: bytes, expected: tuple[str, str] = ("", "")) -> Object:
    """The object in a body; `expected` is the apiVersion and kind of one that does not name its own.

    Raises BadRequest, and nothing else, for bytes that are not such an object.
    """
    try:
        api_version, kind, content = _unwrap(body)
    except Malformed as error:
        wanted = f" (must be of type {expected[1]})" if expected[1] else ""
        raise BadRequest(f"the object provided is unrecognized{wanted}: {error} ({summary(body)})") from None
    api_version, kind = api_version or expected[0], kind or expected[1]
    try:
        members = _message(api_version, kind).load(content, Reading())
    except Malformed as error:
        version = api_version.rpartition("/")[2]
        raise BadRequest(
            f'{kind} in version "{version}" cannot be handled as a {expected[1] or kind}: {error}'
        ) from None
    return {"apiVersion": api_version, "kind": kind, **members}


def _no_form(obj: Object, error: Exception) -> BadRequest:
    return BadRequest(f"{obj['kind']} in version {obj['apiVersion']!r} has no protobuf form: {error}")


def encode(obj: Object) -> bytes:
    """An object as a body. It must be valid and of a kind that `knows` knows; BadRequest otherwise, if noticed."""
    try:
        content = _message(obj["apiVersion"], obj["kind"]).encode(obj)
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _no_form(obj, error) from error
    return MAGIC + _ENVELOPE.encode({"typeMeta": _TYPE.encode(obj), "raw": content})


def list_items(head: Object, items: Iterable[Object]) -> bytes:
    """Some items of a list, of which `head` says what it is. Raises BadRequest like `encode`."""
    try:
        return _message(head["apiVersion"], head["kind"]).encode_only("items", {"items": items})
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _no_form(head, error) from error


def list_opening(head: Object, metadata: Object, size: int) -> bytes:
    """The body of a list up to its items, which take so many bytes, and after which comes LIST_END."""
    content = _message(head["apiVersion"], head["kind"]).encode_only("metadata", {"metadata": metadata})
    kind = _ENVELOPE.encode_only("typeMeta", {"typeMeta": _TYPE.encode(head)})
    return MAGIC + kind + _RAW_TAG + varint(len(content) + size) + content


def watch_frame(event: str, obj: Object) -> bytes:
    """One event of a watch: its length, and the event without an envelope around it."""
    content = _EVENT.encode({"type": event, "object": _RAW.encode({"raw": encode(obj)})})
    return len(content).to_bytes(4, "big") + content


def _unwrap(body: bytes) -> tuple[str, str, bytes]:
    """apiVersion, kind and message of a body."""
    if not body:
        raise Malformed("empty data")
    if not body.startswith(MAGIC):
        prefix = " ".join(str(byte) for byte in MAGIC)
        raise Malformed(f"provided data does not appear to be a protobuf message, expected prefix [{prefix}]")
    if body == MAGIC:
        raise Malformed("empty body")
    envelope = _ENVELOPE.load(body[len(MAGIC) :], Reading())
    types = _TYPE.load(envelope["typeMeta"] or b"", Reading())
    return types["apiVersion"], types["kind"], envelope["raw"] or b""


def _message(api_version: str, kind: str) -> Message:
    name = _definition(api_version, kind)
    if not name:
        scheme = "pkg/runtime/scheme.go:111"
        raise Malformed(f'no kind "{kind}" is registered for version "{api_version}" in scheme "{scheme}"')
    return message(name)


def _definition(api_version: str, kind: str) -> str:
    """The definition of a kind or of its list; empty when there is none."""
    if kind in _IN_EVERY_VERSION:
        return f"meta.v1.{kind}"
    kinds = data.kinds().get(api_version, {})
    if kind in kinds:
        return kinds[kind]
    item = kinds.get(kind.removesuffix("List"), "") if kind.endswith("List") else ""
    return f"{item}List" if item else ""


def summary(body: bytes) -> str:
    """How messages show a body that cannot be read."""
    if not body:
        return "<empty>"
    shown = body[:_SHOWN_BYTES]
    text = shown.decode("utf-8", "replace") if body.startswith(b"{") else shown.hex()
    return text if shown == body else f"{text} ..."
