"""Helm values that are kept in Secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from butler.api.addon import ValuesSource
from kubekit.errors import NotFound
from kubekit.server.objects.go.yaml_text import decode
from kubekit.server.objects.schema.decoding import Malformed

from .credentials import ReadSecret
from .errors import InvalidValues, ValuesMissing

_MOST = 256 * 1024
"""Bytes of such values, as they are written and with every alias spelled out: Helm keeps them in one Secret too."""


async def read(
    read_secret: ReadSecret, addon: str, sources: Sequence[ValuesSource], namespace: str
) -> tuple[Mapping[str, Any], ...]:
    """A layer for each source. Raises ValuesMissing, InvalidValues; neither says anything of what is in a Secret."""
    return tuple([await _layer(read_secret, addon, source, namespace) for source in sources])


async def _layer(read_secret: ReadSecret, addon: str, source: ValuesSource, namespace: str) -> Mapping[str, Any]:
    name, key = source.secret_ref.name, source.key
    where = f"Secret {namespace}/{name}, which is to hold values,"
    try:
        data = await read_secret(namespace, name)
    except NotFound:
        raise ValuesMissing(addon, f"{where} is not there") from None
    content = data.get(key)
    if content is None:
        raise ValuesMissing(addon, f"{where} has no key {key}", data)
    values = await asyncio.to_thread(_parsed, content)
    if values is None:
        raise InvalidValues(addon, f"{where} has no map in YAML under {key}, or one larger than {_MOST >> 10} KiB")
    return values


def _parsed(content: bytes) -> Mapping[str, Any] | None:
    if len(content) > _MOST:
        return None
    try:
        values = decode(content)
        is_fit = isinstance(values, dict) and len(msgspec.json.encode(values)) <= _MOST
    except (Malformed, ValueError, msgspec.MsgspecError):
        return None
    return values if is_fit else {} if values is None else None
