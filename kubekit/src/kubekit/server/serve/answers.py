"""Answers on the wire: objects, lists, tables and watches, in the form the client accepts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec
from aiohttp.web import BaseRequest, Response, StreamResponse

from kubekit.errors import ApiError
from kubekit.model.resource import Object
from kubekit.server.kinds import protobuf
from kubekit.server.kinds.documents.negotiation import Form, Representation
from kubekit.server.objects.go import yaml_text
from kubekit.server.objects.long_work import LARGE, Bench
from kubekit.server.objects.request import Answer, with_type
from kubekit.server.objects.resource import Resource
from kubekit.server.pipeline.reads import Listing
from kubekit.server.pipeline.watches import Batch, Watch
from kubekit.server.store import json_values

from . import partial, tables
from .list_forms import list_form

_PUSH_LIMIT = 64 * 1024
"""Bytes that may wait in a connection before a watcher is no longer served at once but at its own pace."""
_LARGEST_PUSH = 256 * 1024
_PIECE = 64 * 1024
"""What is put into a connection at once: TLS copies it more than once."""
_WRITE_PATIENCE = 60.0
"""A watcher that takes nothing for so long is gone."""
_WARNINGS_LENGTH, _CUT_WARNING = 4 * 1024, 256
"""Letters of all warnings together, and of each once there are more."""
UNCACHED = {"Cache-Control": "no-cache, private"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How this client wants text to look."""

    is_yaml: bool = False
    pretty: bool = False
    is_protobuf: bool = False


PLAIN = Layout()


@dataclass(frozen=True, slots=True)
class View:
    """How this client wants to see objects."""

    representation: Representation
    include: tables.Include
    now: datetime
    pretty: bool = False
    warnings: tuple[str, ...] = ()
    """What there is to say about the resource itself."""

    @property
    def is_plain(self) -> bool:
        return self.representation.form is Form.FULL

    @property
    def layout(self) -> Layout:
        shown = self.representation
        return Layout(shown.is_yaml, self.pretty or shown.pretty, shown.is_protobuf)


def respond(body: bytes, status: int = 200, *, layout: Layout = PLAIN, warnings: Iterable[str] = ()) -> Response:
    """JSON bytes as a response, brought into YAML or protobuf or indented where the client wants that."""
    if layout.is_protobuf or layout.is_yaml:
        body = _encoded(json_values.decode(body), layout)
    elif layout.pretty:
        body = msgspec.json.format(body, indent=2)
    elif not body.endswith(b"\n"):
        body += b"\n"
    return _response(body, status, layout, warnings)


def _encoded(obj: Any, layout: Layout) -> bytes:
    return protobuf.encode(obj) if layout.is_protobuf else yaml_text.encode(obj)


def _response(body: bytes, status: int, layout: Layout, warnings: Iterable[str]) -> Response:
    response = Response(body=body, status=status, headers=UNCACHED, content_type=_content_type(layout))
    _warn(response, warnings)
    return response


def _warn(response: StreamResponse, warnings: Iterable[str]) -> None:
    """As many as Kubernetes sends: where they are too long together, each is cut, and then the rest."""
    texts = list(warnings)
    is_cut = sum(map(len, texts)) > _WARNINGS_LENGTH
    written = 0
    for text in texts:
        shown = text[:_CUT_WARNING] if is_cut else text
        response.headers.add("Warning", f'299 - "{_quoted(shown)}"')
        written += len(shown)
        if is_cut and written >= _WARNINGS_LENGTH:
            return


async def one(answer: Answer, view: View, bench: Bench, *, warnings: Iterable[str] = ()) -> Response:
    """One object; 201 when it is new."""
    effort = 0 if view.is_plain and view.layout == PLAIN else len(answer.value)
    return await bench.do(effort, _one, answer, view, warnings)


def _one(answer: Answer, view: View, warnings: Iterable[str]) -> Response:
    status = 201 if answer.created else 200
    if view.is_plain:
        return respond(answer.body(), status, layout=view.layout, warnings=warnings)
    obj = with_type(answer.resource, json_values.decode(answer.value))
    shown = msgspec.json.encode(_shown(answer.resource, obj, view))
    return respond(shown, status, layout=view.layout, warnings=warnings)


def made(resource: Resource, obj: Object, view: View, *, warnings: Iterable[str] = ()) -> Response:
    """An object of a kind that is never stored, in the form the client wants."""
    return document(_shown(resource, obj, view), view=view, warnings=warnings)


def document(obj: Any, status: int = 200, *, view: View | None = None, warnings: Iterable[str] = ()) -> Response:
    """A value that was made for this answer."""
    layout = view.layout if view is not None else PLAIN
    if layout.is_protobuf or layout.is_yaml:
        return _response(_encoded(obj, layout), status, layout, warnings)
    return respond(msgspec.json.encode(obj), status, layout=layout, warnings=warnings)


async def in_pieces(request: BaseRequest, response: Response) -> StreamResponse:
    """The same answer; a long one is sent as fast as the client takes it, since TLS copies what it is given."""
    body = response.body
    if not isinstance(body, bytes) or len(body) <= _PIECE or request.method not in ("GET", "POST"):
        # Others, such as HEAD, may get an answer without its body.
        return response
    streamed = StreamResponse(status=response.status, headers=response.headers)
    streamed.content_length = len(body)
    await _begin(streamed, request)
    await _send(streamed, body)
    await streamed.write_eof()
    return streamed


def refusal(error: ApiError, layout: Layout = PLAIN, warnings: Iterable[str] = ()) -> Response:
    status = error.status()
    response = respond(msgspec.json.encode(status), status["code"], layout=layout, warnings=warnings)
    if error.details and error.details.retry_after:
        response.headers["Retry-After"] = str(error.details.retry_after)
    return response


async def list_in_parts(
    request: BaseRequest, found: AsyncGenerator[Listing, None], view: View, bench: Bench
) -> StreamResponse:
    """A list of any length without ever holding all of it."""
    part = await anext(found)
    while not part.values and not part.is_last:
        # A list without items may look different, so that none is begun before there is an item.
        part = await anext(found)
    if part.is_last:
        return await bench.do(_effort(part, view), listing, part, view)
    form = list_form(view.layout)
    response = _streamed(view, _content_type(view.layout))
    await _begin(response, request)
    try:
        await _send(response, form.begin(*_head(replace(part, values=[]), view)))
        while True:
            for some in _pieces(await bench.do(_effort(part, view), _part, part, view)):
                await _send(response, await bench.do(_effort(part, view), form.items, some))
            following = await anext(found, None)
            if following is None:
                break
            part = following
        metadata = _list_metadata(part, view)
        for piece in form.end(metadata if view.is_plain else partial.list_metadata(metadata)):
            await _send(response, piece)
        await response.write_eof()
    except (ApiError, ConnectionError, TimeoutError, OSError):
        # It cannot be said any more, but nobody may take this for the whole list.
        if request.transport is not None:
            request.transport.abort()
    finally:
        await found.aclose()
    return response


def _effort(part: Listing, view: View) -> int:
    """How many bytes have to be looked into; none where stored ones are sent as they are."""
    return 0 if view.is_plain and view.layout == PLAIN else sum(map(len, part.values))


def _pieces(items: list[bytes]) -> Iterator[list[bytes]]:
    """The items, some at a time, so that they are never held twice."""
    start = size = 0
    for end, item in enumerate(items, 1):
        size += len(item)
        if size >= _PIECE or end == len(items):
            yield items[start:end]
            start, size = end, 0


def _head(found: Listing, view: View) -> tuple[Object, str]:
    """What a list is besides its items and its metadata, and what its items are called."""
    if view.is_plain:
        return _list_head(found.resource), "items"
    shown = _transformed(found, {}, view)
    name = "rows" if "rows" in shown else "items"
    del shown["metadata"], shown[name]
    return shown, name


def _part(found: Listing, view: View) -> list[bytes]:
    """The items of a part of a list, as JSON."""
    if view.is_plain:
        return _items(found)
    shown = _transformed(found, {}, view)
    return [msgspec.json.encode(item) for item in shown.get("rows") or shown.get("items") or ()]


def _content_type(layout: Layout) -> str:
    if layout.is_protobuf:
        return protobuf.CONTENT_TYPE
    return "application/yaml" if layout.is_yaml else "application/json"


def _streamed(view: View, content_type: str) -> StreamResponse:
    response = StreamResponse(headers={**UNCACHED, "Content-Type": content_type})
    _warn(response, view.warnings)
    response.enable_chunked_encoding()
    return response


async def _begin(response: StreamResponse, request: BaseRequest) -> None:
    await response.prepare(request)
    if request.transport is not None:
        # By default TLS lets half a megabyte wait for a client that does not read.
        request.transport.set_write_buffer_limits(_PIECE)


async def _send(response: StreamResponse, data: bytes) -> None:
    """Send it as fast as the client takes it. Raises TimeoutError for one that takes nothing."""
    for start in range(0, len(data), _PIECE):
        async with asyncio.timeout(_WRITE_PATIENCE):
            await response.write(data[start : start + _PIECE])


def _list_metadata(found: Listing, view: View) -> dict[str, Any]:
    metadata: dict[str, Any] = {"resourceVersion": str(found.revision)}
    if found.resource.is_custom and view.is_plain:
        metadata["continue"] = ""
    if found.continuation:
        metadata["continue"] = found.continuation
        if found.remaining:
            metadata["remainingItemCount"] = found.remaining
    return metadata


def listing(found: Listing, view: View) -> Response:
    metadata = _list_metadata(found, view)
    if view.is_plain:
        return respond(_list_body(found, metadata), layout=view.layout, warnings=view.warnings)
    return respond(msgspec.json.encode(_transformed(found, metadata, view)), layout=view.layout, warnings=view.warnings)


def _transformed(found: Listing, metadata: dict[str, Any], view: View) -> Object:
    """A list as a Table or of metadata only. Raises NotAcceptable."""
    items = [with_type(found.resource, json_values.decode(value)) for value in found.values]
    match view.representation.form:
        case Form.TABLE:
            options = tables.TableOptions(view.representation.version, view.include)
            return tables.table_of_list(found.resource, items, metadata, view.now, options)
        case Form.PARTIAL_LIST:
            return partial.partial_list(items, metadata, view.representation.version)
        case _:
            raise partial.object_asked_of_list(found.resource)


def _list_body(found: Listing, metadata: dict[str, Any]) -> bytes:
    """The list by putting stored bytes side by side."""
    head = msgspec.json.encode(_list_head(found.resource))[:-1] + b',"metadata":' + msgspec.json.encode(metadata)
    return b'%b,"items":[%b]}\n' % (head, b",".join(_items(found)))


def _list_head(resource: Resource) -> Object:
    return {"kind": resource.list_kind or f"{resource.kind}List", "apiVersion": resource.api_version}


def _items(found: Listing) -> list[bytes]:
    """Items of built-in kinds do not repeat their type."""
    if not found.resource.is_custom:
        return found.values
    prefix = found.resource.opening
    return [prefix + value[1:] for value in found.values]


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


async def stream(request: BaseRequest, watch: Watch, view: View, bench: Bench) -> StreamResponse:
    """Send a watch until it ends or the client is gone."""
    content_type = f"{protobuf.CONTENT_TYPE};stream=watch" if view.representation.is_protobuf else "application/json"
    response = _streamed(view, content_type)
    await _begin(response, request)
    is_first, transport = True, request.transport
    is_plain = view.is_plain and not view.representation.is_protobuf

    def push(batch: Batch) -> bool:
        nonlocal is_first
        if transport is None or transport.is_closing() or transport.get_write_buffer_size() > _PUSH_LIMIT:
            return False
        if not is_plain and batch.size > LARGE:
            return False
        data = batch.lines(watch.resource) if is_plain else _frames(watch.resource, batch, view, is_first)
        if len(data) > _LARGEST_PUSH:
            return False
        is_first = False
        transport.write(b"%x\r\n%b\r\n" % (len(data), data))
        return True

    signals = watch.signals(push)
    try:
        async for batch in signals:
            if batch.signals:
                if is_plain:
                    data = batch.lines(watch.resource)
                else:
                    data = await bench.do(batch.size, _frames, watch.resource, batch, view, is_first)
                is_first = False
                await _send(response, data)
        await response.write_eof()
    except (ConnectionError, TimeoutError):
        if transport is not None:
            transport.abort()
    finally:
        await signals.aclose()
    return response


def _frames(resource: Resource, batch: Batch, view: View, is_first: bool) -> bytes:
    """A batch in a form of the client's own."""
    frames: list[bytes] = []
    for signal in batch.signals:
        obj: Object = json_values.decode(signal.value)
        if signal.type != "ERROR":
            obj = _shown(resource, with_type(resource, obj), view, headers=is_first and not frames)
        if view.representation.is_protobuf:
            frames.append(protobuf.watch_frame(signal.type, obj))
        else:
            frames.append(msgspec.json.encode({"type": signal.type, "object": obj}) + b"\n")
    return b"".join(frames)


def _quoted(text: str) -> str:
    """A warning's text inside its quotes; control characters cannot stand in a header."""
    return "".join(c if c.isprintable() else " " for c in text).replace("\\", "\\\\").replace('"', '\\"')
