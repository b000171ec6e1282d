"""Request bodies: read with limits, decoded by their content type."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import yaml
from aiohttp.web import BaseRequest

from butler.apiserver import protobuf
from butler.errors import BadRequest, Timeout, TooLarge, UnsupportedMediaType

BODY_LIMIT = 3 * 1024 * 1024
BODY_PATIENCE = 60.0

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
_ACCEPTED = f"{JSON}, {YAML}, {PROTOBUF}"

_YamlLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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


def decode(content: bytes, media_type: str) -> Any:
    """The value in a body of one of the accepted types. Raises BadRequest or UnsupportedMediaType."""
    match media_type:
        case "application/json" | "":
            return decode_json(content)
        case "application/vnd.kubernetes.protobuf":
            return protobuf.decode(content)
        case "application/yaml":
            return decode_yaml(content)
    raise unsupported(media_type, _ACCEPTED)


def decode_json(content: bytes) -> Any:
    try:
        value = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise BadRequest(f"couldn't get version/kind; json parse error: {error}") from error
    except RecursionError:
        raise too_deep() from None
    return value


def decode_yaml(content: bytes) -> Any:
    """YAML, of which JSON is the common case."""
    if content.lstrip()[:1] == b"{":
        return decode_json(content)
    try:
        # What is not JSON after all (dates, binary, keys that are no strings) is brought into its form.
        loaded = yaml.load(content, Loader=_YamlLoader)  # noqa: S506 - the C twin of SafeLoader
        return msgspec.json.decode(json.dumps(loaded, default=str))
    except (yaml.YAMLError, ValueError, TypeError, msgspec.DecodeError) as error:
        raise BadRequest(f"error converting YAML to JSON: yaml: {_first_line(error)}") from error
    except RecursionError:
        raise too_deep() from None


def duplicate_fields(content: bytes) -> list[str]:
    """The names of fields that stand twice in one object of a JSON body, as paths."""
    found: list[str] = []

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(members)
        if len(seen) < len(members):
            names = [name for name, _ in members]
            found.extend(name for name in seen if names.count(name) > 1)
        return seen

    if content.lstrip()[:1] == b"{":
        json.loads(content, object_pairs_hook=pairs)
    return found


def unsupported(media_type: str, accepted: str) -> UnsupportedMediaType:
    return UnsupportedMediaType(
        f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    )


def too_deep() -> BadRequest:
    return BadRequest("the object provided is nested too deeply: exceeded max depth")


def _too_large() -> TooLarge:
    return TooLarge(f"Request entity too large: limit is {BODY_LIMIT}")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
