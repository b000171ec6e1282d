"""Helm values that are kept in Secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from butler.addons.errors import AddonRefused, InvalidValues
from butler.api.addon import ValuesSource
from butler.engines.core import Secret
from kubekit.client.protocol import Client
from kubekit.errors import NotFound
from kubekit.server.objects.go.yaml_text import decode
from kubekit.server.objects.schema.decoding import Malformed

_MOST = 256 * 1024
"""Bytes of such values, as they are written and with every alias spelled out: Helm keeps them in one Secret too."""


class ValuesMissing(AddonRefused):
    """They may come yet."""

    reason = "ValuesMissing"


async def read(
    client: Client, addon: str, sources: Sequence[ValuesSource], namespace: str
) -> tuple[Mapping[str, Any], ...]:
    """A layer for each source. Raises ValuesMissing, InvalidValues; neither says anything of what is in a Secret."""
    return tuple([await _layer(client, addon, source, namespace) for source in sources])


async def _layer(client: Client, addon: str, source: ValuesSource, namespace: str) -> Mapping[str, Any]:
    name, key = source.secret_ref.name, source.key
    try:
        secret: Secret = await client.get(Secret, name, namespace)
    except NotFound:
        raise ValuesMissing(addon, f"its values are to come from Secret {name}, which is not there") from None
    content = secret.data.get(key)
    if content is None:
        raise ValuesMissing(addon, f"its values are to come from Secret {name}, which has no key {key}")
    values = await asyncio.to_thread(_parsed, content)
    if values is None:
        raise InvalidValues(
            addon, f"what Secret {name} has under {key} is not a map in YAML, or is larger than {_MOST >> 10} KiB"
        )
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
