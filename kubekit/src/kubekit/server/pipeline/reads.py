"""get and list: what is durable now, or a consistent list as of an earlier revision, page by page."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from kubekit.errors import ApiError, BadRequest, Cause, Details, Expired, Timeout, Unclassified, go_quoted
from kubekit.model.selectors import FieldSelector, LabelSelector
from kubekit.server.kinds.builtin.selectable_fields import not_selectable, selected_text
from kubekit.server.objects import refusals
from kubekit.server.objects.go import json_text
from kubekit.server.objects.request import Answer, ListOptions, Target
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.decoding import Malformed, go_kind
from kubekit.server.store import json_values
from kubekit.server.store.rows import Row

from .space import Space

_LONGEST_VERSION = 20
"""Digits of the largest number of 64 bits."""
_CHUNK = 500
_CHUNK_BYTES = 512 * 1024
"""How much of a list is read at once, and held for a client that takes its time."""


@dataclass(slots=True)
class Listing:
    """Objects of one resource as of one revision."""

    resource: Resource
    values: list[bytes]
    revision: int
    continuation: str = ""
    remaining: int = 0
    is_last: bool = True
    """Whether nothing more belongs to the answer."""


async def get(space: Space, target: Target, version: str = "") -> Answer:
    """The newest durable version. Raises NotFound; Timeout when it is older than wanted, Unclassified."""
    if version and (wanted := start_of(version)) > space.store.committed:
        raise too_new(wanted, space.store.committed)
    row = space.store.get(space.bucket(target.resource), target.key)
    if row is None:
        raise refusals.not_found(target.resource, target.name)
    return Answer(target.resource, await space.converter.value(target.resource, row))


async def list_objects(space: Space, resource: Resource, namespace: str, options: ListOptions) -> Listing:
    """The objects that match, all at once. Raises BadRequest, Expired, Timeout (a version that is not there yet)."""
    whole = Listing(resource, [], 0)
    async for part in parts(space, resource, namespace, options):
        whole = replace(part, values=whole.values + part.values)
    return whole


async def parts(
    space: Space, resource: Resource, namespace: str, options: ListOptions
) -> AsyncGenerator[Listing, None]:
    """The same list in parts small enough to hold; the last one says how to go on. Raises like `list_objects`."""
    matcher = Matcher(resource, options.labels, options.fields)
    after, revision = _position(space, options)
    bucket, prefix = space.bucket(resource), prefix_for(resource, namespace, options.fields)
    wanted, more = options.limit, True
    while more:
        size = _CHUNK if matcher.selective or not wanted else min(_CHUNK, wanted)
        is_counted = not matcher.selective and size == wanted
        try:
            page = space.store.page(
                bucket, prefix, after=after, limit=size, size=_CHUNK_BYTES, revision=revision, count=is_counted
            )
        except Expired as error:
            raise _expired_continuation(options, after) from error
        revision, more = page.revision, page.more
        rows, values = await _matching(space, resource, matcher, page.rows)
        if wanted and len(values) >= wanted:
            rows, values = rows[:wanted], values[:wanted]
            more = more or rows[-1] is not page.rows[-1]
            token = _token(revision, rows[-1].key) if more else ""
            yield Listing(resource, values, revision, token, page.remaining)
            return
        wanted -= len(values) if wanted else 0
        yield Listing(resource, values, revision, is_last=not more)
        after = page.rows[-1].key if page.rows else ""
        if more:
            await space.store.turns.take(space.name)


async def _matching(
    space: Space, resource: Resource, matcher: Matcher, rows: list[Row]
) -> tuple[list[Row], list[bytes]]:
    values = await values_of(space, resource, rows)
    if not matcher.selective:
        return rows, values
    chosen = [index for index, value in enumerate(values) if matcher.matches_value(value)]
    return [rows[index] for index in chosen], [values[index] for index in chosen]


async def values_of(space: Space, resource: Resource, rows: list[Row]) -> list[bytes]:
    """Stored objects as this version shows them."""
    if not resource.is_converted:
        return [row.value for row in rows]
    return await space.converter.shown(resource, rows)


def prefix_for(resource: Resource, namespace: str, fields: FieldSelector) -> str:
    """The narrowest key range that holds everything asked for."""
    if resource.namespaced:
        namespace = namespace or fields.exactly("metadata.namespace") or ""
        return f"{namespace}/" if namespace else ""
    return ""


class Matcher:
    """Label and field selectors against stored objects, decoding no more than they need."""

    def __init__(self, resource: Resource, labels: LabelSelector, fields: FieldSelector) -> None:
        for path, _, _ in fields.terms:
            if path not in ("metadata.name", "metadata.namespace") and path not in resource.selectable_fields:
                raise _unknown_field(resource, path)
        self._labels, self._fields, self._qualified = labels, fields, resource.qualified
        self.selective = bool(labels) or bool(fields)
        self._needs_all = any(not path.startswith("metadata.") for path, _, _ in fields.terms)

    def matching(self, values: list[bytes]) -> list[bytes]:
        return [value for value in values if self.matches_value(value)]

    def matches_value(self, value: bytes) -> bool:
        if self._needs_all:
            return self.matches(json_values.decode(value))
        meta = _head.decode(value).metadata
        named = {"metadata.name": meta.name, "metadata.namespace": meta.namespace}
        return self._labels.matches(meta.labels) and self._fields.matches(lambda path: named[path])

    def matches(self, obj: dict[str, Any]) -> bool:
        return self._labels.matches(obj["metadata"].get("labels")) and self._fields.matches(
            lambda path: selected_text(self._qualified, obj, path)
        )


def _unknown_field(resource: Resource, path: str) -> BadRequest:
    if resource.is_custom or resource.selectable_fields:
        return BadRequest(not_selectable(resource.qualified, path))
    known = 'only "metadata.name", "metadata.namespace"'
    return BadRequest(f"{go_quoted(path)} is not a known field selector: {known}")


class _HeadMeta(msgspec.Struct):
    name: str = ""
    namespace: str = ""
    labels: dict[str, str] | None = None


class _Head(msgspec.Struct):
    metadata: _HeadMeta = msgspec.field(default_factory=_HeadMeta)


_head = msgspec.json.Decoder(_Head)


class _Token(msgspec.Struct, rename={"version": "v", "revision": "rv"}):
    version: str = ""
    revision: int = 0
    start: str = ""


def _token(revision: int, key: str) -> str:
    encoded = msgspec.json.encode(_Token("meta.k8s.io/v1", revision, f"{key}\x00"))
    return base64.urlsafe_b64encode(encoded).decode().rstrip("=")


def _position(space: Space, options: ListOptions) -> tuple[str, int]:
    """The key to go on behind, and the revision to read at (0 = the newest)."""
    wanted = parse_version(options.resource_version)
    if options.continuation:
        token = _parse_token(options.continuation)
        if wanted:
            raise BadRequest("specifying resource version is not allowed when using continue")
        if token.revision > space.store.committed:
            raise too_new(token.revision, space.store.committed)
        return token.start.removesuffix("\x00"), max(token.revision, 0)
    if wanted > space.store.committed:
        raise too_new(wanted, space.store.committed)
    exact = options.version_match == "Exact" or (options.limit > 0 and not options.version_match and wanted > 0)
    return "", wanted if exact else 0


def _parse_token(text: str) -> _Token:
    wrong = next(
        (place for place, char in enumerate(text) if not (char.isascii() and (char.isalnum() or char in "-_"))), -1
    )
    if wrong < 0 and len(text) % 4 == 1:
        wrong = len(text) - 1
    if wrong >= 0:
        raise _bad_token(f"illegal base64 data at input byte {wrong}")
    token = _decode_token(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    if token.version != "meta.k8s.io/v1":
        raise _bad_token(f"server does not recognize this encoded version {token.version}")
    if token.revision == 0:
        raise _bad_token(f"incorrect encoded start resourceVersion (version {token.version})")
    if not token.start:
        raise _bad_token(f"encoded start key empty (version {token.version})")
    if not -(2**63) <= token.revision < 2**63:
        raise _bad_token("a number is out of range")
    places = token.start.removeprefix("/").split("/")
    if token.start != "/" and any(place in ("", ".", "..") for place in places):
        raise _bad_token(token.start)
    return token


def _decode_token(content: bytes) -> _Token:
    try:
        value = json_text.decode(content)
    except (Malformed, RecursionError) as error:
        raise _bad_token(str(error)) from error
    if not isinstance(value, dict):
        raise _bad_token(f"json: cannot unmarshal {go_kind(value)} into Go value of type storage.continueToken")
    try:
        return msgspec.convert(value, _Token)
    except msgspec.ValidationError:
        named = {"v": ("string", str), "rv": ("int64", int), "start": ("string", str)}
        for name, (wanted, kind) in named.items():
            if not isinstance(value.get(name, kind()), kind):
                found = f"{go_kind(value[name])} into Go struct field continueToken.{name} of type {wanted}"
                raise _bad_token(f"json: cannot unmarshal {found}") from None
        raise _bad_token("a number is out of range") from None


def _bad_token(why: str) -> BadRequest:
    return BadRequest(f"invalid continue token: continue key is not valid: {why}")


def parse_version(text: str) -> int:
    """A resourceVersion a client sent; empty and "0" mean any."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        raise _bad_version(text, "invalid syntax")
    digits = text.lstrip("0") or "0"
    if len(digits) > _LONGEST_VERSION or int(digits) >= 2**64:
        raise _bad_version(text, "value out of range")
    return int(digits)


def _bad_version(text: str, why: str) -> BadRequest:
    problem = f"strconv.ParseUint: parsing {go_quoted(text)}: {why}"
    return BadRequest(f"invalid resource version: resourceVersion: Invalid value: {go_quoted(text)}: {problem}")


def start_of(text: str) -> int:
    """The same for a watch or one object, which say it otherwise. Raises Unclassified."""
    try:
        return parse_version(text)
    except BadRequest as error:
        raise Unclassified(error.message.removeprefix("invalid resource version: ")) from error


def too_new(wanted: int, current: int) -> Timeout:
    cause = Cause("ResourceVersionTooLarge", "Too large resource version")
    text = f"Timeout: Too large resource version: {wanted}, current: {current}"
    return Timeout(text, Details(causes=(cause,), retry_after=1))


class _ExpiredContinuation(Expired):
    """Carries the token with which the client may go on, if it accepts that the list is no longer consistent."""

    def __init__(self, message: str, token: str) -> None:
        super().__init__(message)
        self.token = token

    def status(self) -> dict[str, Any]:
        return {**super().status(), "metadata": {"continue": self.token}}


def _expired_continuation(options: ListOptions, after: str) -> ApiError:
    if not options.continuation:
        return Expired("The resourceVersion for the provided list is too old.")
    return _ExpiredContinuation(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
        "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
        "modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        _token(-1, after),
    )
