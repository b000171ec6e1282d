"""Answers on the wire: objects, lists, tables and watches, in the form the client accepts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import yaml
from aiohttp.web import BaseRequest, Response, StreamResponse

from butler.apiserver import partial, tables
from butler.apiserver.negotiation import Form, Representation
from butler.apiserver.reading import Listing
from butler.apiserver.requests import Answer, prefix_of, with_type
from butler.apiserver.resources import Object, Resource
from butler.apiserver.watching import Signal, Watch
from butler.errors import ApiError

_WRITE_PATIENCE = 60.0
"""A watcher that takes nothing for so long is gone."""
_YamlDumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_HEADERS = {"Cache-Control": "no-cache, private"}


@dataclass(frozen=True, slots=True)
class View:
    """How this client wants to see objects."""

    representation: Representation
    include: tables.Include
    now: datetime
    pretty: bool = False

    @property
    def is_plain(self) -> bool:
        return self.representation.form is Form.FULL


def respond(body: bytes, status: int = 200, *, view: View | None = None, warnings: Iterable[str] = ()) -> Response:
    """JSON bytes as a response, brought into YAML or indented where the client wants that."""
    content_type = "application/json"
    if view is not None and view.representation.is_yaml:
        body = yaml.dump(msgspec.json.decode(body), Dumper=_YamlDumper, sort_keys=True).encode()
        content_type = "application/yaml"
    elif view is not None and (view.pretty or view.representation.pretty):
        body = msgspec.json.format(body, indent=2) + b"\n"
    response = Response(body=body, status=status, headers=_HEADERS, content_type=content_type)
    for text in warnings:
        response.headers.add("Warning", f'299 - "{_quoted(text)}"')
    return response


def one(answer: Answer, view: View, *, warnings: Iterable[str] = ()) -> Response:
    """One object; 201 when it is new."""
    status = 201 if answer.created else 200
    if view.is_plain:
        return respond(answer.body(), status, view=view, warnings=warnings)
    obj = with_type(answer.resource, msgspec.json.decode(answer.value))
    return respond(msgspec.json.encode(_shown(answer.resource, obj, view)), status, view=view, warnings=warnings)


def document(obj: Any, status: int = 200, *, view: View | None = None, warnings: Iterable[str] = ()) -> Response:
    """A value that was made for this answer."""
    return respond(msgspec.json.encode(obj), status, view=view, warnings=warnings)


def refusal(error: ApiError, view: View | None = None) -> Response:
    status = error.status()
    response = respond(msgspec.json.encode(status), status["code"], view=view)
    if error.details and error.details.retry_after:
        response.headers["Retry-After"] = str(error.details.retry_after)
    return response


def listing(found: Listing, view: View) -> Response:
    metadata: dict[str, Any] = {"resourceVersion": str(found.revision)}
    if found.continuation:
        metadata["continue"] = found.continuation
        if found.remaining:
            metadata["remainingItemCount"] = found.remaining
    if view.is_plain:
        return respond(_list_body(found, metadata), view=view)
    items = [with_type(found.resource, msgspec.json.decode(value)) for value in found.values]
    match view.representation.form:
        case Form.TABLE:
            options = tables.TableOptions(view.representation.version, view.include)
            shown = tables.table_of_list(found.resource, items, metadata, view.now, options)
        case Form.PARTIAL_LIST:
            shown = partial.partial_list(items, metadata, view.representation.version)
        case _:
            raise partial.object_asked_of_list(found.resource)
    return respond(msgspec.json.encode(shown), view=view)


def _list_body(found: Listing, metadata: dict[str, Any]) -> bytes:
    """The list by putting stored bytes side by side; items of built-in kinds do not repeat their type."""
    resource = found.resource
    head = msgspec.json.encode(
        {"kind": resource.list_kind or f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": metadata}
    )
    if not resource.is_custom:
        return b'%b,"items":[%b]}' % (head[:-1], b",".join(found.values))
    prefix = prefix_of(resource)
    return b'%b,"items":[%b]}' % (head[:-1], b",".join([prefix + value[1:] for value in found.values]))


def _shown(resource: Resource, obj: Object, view: View, *, headers: bool = True) -> Object:
    match view.representation.form:
        case Form.TABLE:
            options = tables.TableOptions(view.representation.version, view.include, headers)
            return tables.table_of_object(resource, obj, view.now, options)
        case Form.PARTIAL:
            return partial.partial(obj, view.representation.version)
        case Form.PARTIAL_LIST:
            raise partial.list_asked_of_object(resource)
    return obj


async def stream(request: BaseRequest, watch: Watch, view: View) -> StreamResponse:
    """Send a watch until it ends or the client is gone."""
    response = StreamResponse(headers={**_HEADERS, "Content-Type": "application/json"})
    response.enable_chunked_encoding()
    await response.prepare(request)
    signals = watch.signals()
    is_first = True
    try:
        async for batch in signals:
            if batch:
                async with asyncio.timeout(_WRITE_PATIENCE):
                    await response.write(_frames(watch.resource, batch, view, is_first))
                is_first = False
        await response.write_eof()
    except (ConnectionError, TimeoutError):
        if request.transport is not None:
            request.transport.abort()
    finally:
        await signals.aclose()
    return response


def _frames(resource: Resource, batch: list[Signal], view: View, is_first: bool) -> bytes:
    if view.is_plain:
        return b"".join([signal.frame(resource) for signal in batch])
    lines: list[bytes] = []
    for signal in batch:
        obj: Object = msgspec.json.decode(signal.value)
        if signal.type != "ERROR":
            obj = _shown(resource, with_type(resource, obj), view, headers=is_first and not lines)
        lines.append(msgspec.json.encode({"type": signal.type, "object": obj}) + b"\n")
    return b"".join(lines)


def _quoted(text: str) -> str:
    """A warning's text inside its quotes; control characters cannot stand in a header."""
    return "".join(c if c.isprintable() else " " for c in text).replace("\\", "\\\\").replace('"', '\\"')
