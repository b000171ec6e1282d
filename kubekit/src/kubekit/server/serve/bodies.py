"""Request bodies: read with limits, decoded by their content type."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
from aiohttp.web import BaseRequest

from kubekit.errors import BadRequest, Details, Timeout, TooLarge, UnsupportedMediaType
from kubekit.server.kinds import protobuf
from kubekit.server.objects.go import json_text, yaml_text
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.decoding import TYPE_STRUCT, Malformed, go_kind

BODY_LIMIT = 3 * 1024 * 1024
BODY_PATIENCE = 60.0

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
_UNKNOWN_FORMAT = "the body of the request was in an unknown format - accepted media types include: "
_NO_TYPE = "couldn't get version/kind; json parse error: "


async def read(request: BaseRequest) -> bytes:
    """The whole body. Raises TooLarge, or Timeout when the client does not send it."""
    if not request.can_read_body:
        return b""
    if (request.content_length or 0) > BODY_LIMIT:
        raise _too_large()
    content = bytearray()
    try:
        async with asyncio.timeout(BODY_PATIENCE):
            async for chunk in request.content.iter_any():
                content += chunk
                if len(content) > BODY_LIMIT:
                    raise _too_large()
    except TimeoutError:
        raise Timeout("the body of the request did not arrive in time") from None
    return bytes(content)


def decode_object(content: bytes, media_type: str, resource: Resource) -> Any:
    """The object a client sent for a resource, not yet looked into. Raises BadRequest or UnsupportedMediaType."""
    try:
        return decode(content, media_type, resource)
    except Malformed as error:
        shown = f"{error} ({protobuf.summary(content)})"
        raise BadRequest(f"the object provided is unrecognized (must be of type {resource.kind}): {shown}") from error


def decode(content: bytes, media_type: str, resource: Resource) -> Any:
    """The same, which says only what is wrong. Raises Malformed, UnsupportedMediaType; BadRequest for protobuf."""
    match media_type:
        case "application/json" | "":
            value = _decode_json_object(content)
        case "application/vnd.kubernetes.protobuf" if not resource.is_custom:
            return protobuf.decode(content, (resource.api_version, resource.kind))
        case "application/yaml":
            value = decode_yaml(content)
        case _:
            raise unsupported()
    return _recognized(value, content, resource)


def _recognized(value: Any, content: bytes, resource: Resource) -> Any:
    """The value, if what it says about its own type can be read. Raises Malformed."""
    if value is None and not resource.is_custom:
        return {}
    if not isinstance(value, dict):
        if value is not None:
            raise Malformed(f"{_NO_TYPE}json: cannot unmarshal {go_kind(value)} into Go value of type {TYPE_STRUCT}")
        raise Malformed("Object 'Kind' is missing in 'null'")
    for name in ("kind", "apiVersion"):
        if not isinstance(value.get(name) or "", str):
            found = go_kind(value[name])
            raise Malformed(f"{_NO_TYPE}json: cannot unmarshal {found} into Go struct field .{name} of type string")
    if (value.get("apiVersion") or "").count("/") > 1:
        raise Malformed(f"unexpected GroupVersion string: {value['apiVersion']}")
    if resource.is_custom and not value.get("kind"):
        raise Malformed(f"Object 'Kind' is missing in '{content.decode(errors='replace')}'")
    return value


def _decode_json_object(content: bytes) -> Any:
    try:
        return json_text.decode(content)
    except Malformed as error:
        raise Malformed(f"{_NO_TYPE}{error}") from error


def decode_configuration(content: bytes) -> Any:
    """What is applied. Raises BadRequest."""
    try:
        return decode_yaml(content)
    except Malformed as error:
        raise BadRequest(f"error decoding YAML: error converting YAML to JSON: {error}") from error


def decode_yaml(content: bytes) -> Any:
    """YAML, of which JSON is the common case. Raises Malformed."""
    if content.lstrip()[:1] == b"{":
        try:
            return json_text.well_formed(content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            # Most of what is not JSON may still be YAML.
            return yaml_text.decode(content)
    return yaml_text.decode(content)


def unsupported() -> UnsupportedMediaType:
    return UnsupportedMediaType(f"{_UNKNOWN_FORMAT}{', '.join((JSON, YAML, PROTOBUF))}")


def unsupported_patch(resource: Resource, accepted: Iterable[str]) -> UnsupportedMediaType:
    if resource.is_custom:
        return UnsupportedMediaType(f"{_UNKNOWN_FORMAT}{', '.join(accepted)}")
    return UnsupportedMediaType("415: Unsupported Media Type", Details())


def _too_large() -> TooLarge:
    return TooLarge(f"Request entity too large: limit is {BODY_LIMIT}")
