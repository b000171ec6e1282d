"""Releases as a cluster keeps them: one Secret for each revision, as stock Helm writes and reads them."""

from __future__ import annotations

import asyncio
import base64
import binascii
import zlib
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from butler.engines.core import Secret
from kubekit.client.protocol import Client, Selection

from .errors import RecordDamaged

_GZIP = b"\x1f\x8b\x08"
_LARGEST = 64 * 1024 * 1024
"""Bytes of a record: a Secret holds at most one MiB of it packed, but who writes Secrets may pack what they like."""
_OF_HELM = frozenset(["name", "owner", "status", "version", "createdAt", "modifiedAt"])
"""Labels that Helm itself writes."""
_GZIP_WINDOW = zlib.MAX_WBITS | 16


class ReleaseStatus(StrEnum):
    """What Helm says of a revision."""

    UNKNOWN = "unknown"
    DEPLOYED = "deployed"
    UNINSTALLED = "uninstalled"
    SUPERSEDED = "superseded"
    FAILED = "failed"
    UNINSTALLING = "uninstalling"
    PENDING_INSTALL = "pending-install"
    PENDING_UPGRADE = "pending-upgrade"
    PENDING_ROLLBACK = "pending-rollback"


UNFINISHED = frozenset(
    [
        ReleaseStatus.PENDING_INSTALL,
        ReleaseStatus.PENDING_UPGRADE,
        ReleaseStatus.PENDING_ROLLBACK,
        ReleaseStatus.UNINSTALLING,
    ]
)
"""Somebody is at work, or was when they were killed."""


class _Info(Struct, frozen=True):
    status: ReleaseStatus = ReleaseStatus.UNKNOWN
    description: str = ""
    last_deployed: str = ""
    deleted: str = ""


class _ChartMetadata(Struct, frozen=True, rename="camel"):
    name: str = ""
    version: str = ""
    app_version: str = ""


class _Chart(Struct, frozen=True):
    metadata: _ChartMetadata = _ChartMetadata()


class _Release(Struct, frozen=True):
    name: str
    namespace: str = ""
    version: int = 0
    info: _Info = _Info()
    chart: _Chart = _Chart()
    config: dict[str, Any] | None = None
    manifest: str = ""


class Record(Struct, frozen=True):
    """One revision. `str()` and `repr()` show no values."""

    name: str
    namespace: str
    revision: int
    status: ReleaseStatus
    description: str
    begun_at: datetime | None
    """When the last change of it began."""
    chart: str
    chart_version: str
    app_version: str
    values: Mapping[str, Any]
    manifest: str
    labels: Mapping[str, str] = {}
    """Those that whoever deployed it gave it."""

    @property
    def is_unfinished(self) -> bool:
        return self.status in UNFINISHED

    def __repr__(self) -> str:
        return f"Record({self.namespace}/{self.name} revision {self.revision} {self.status})"

    __str__ = __repr__


async def newest(client: Client, name: str, namespace: str) -> Record | None:
    """The newest revision. Those that others superseded are not even sent, and the newest is never one of them."""
    found = await _secrets(client, name, namespace, ",status!=superseded")
    return await asyncio.to_thread(decoded, found[-1]) if found else None


async def history(client: Client, name: str, namespace: str) -> tuple[Record, ...]:
    """All revisions, the oldest first."""
    found = await _secrets(client, name, namespace, "")
    return tuple([await asyncio.to_thread(decoded, one) for one in found])


async def _secrets(client: Client, name: str, namespace: str, more: str) -> list[Secret]:
    listed = await client.list(Secret, Selection(namespace, labels=f"owner=helm,name={name}{more}"))
    return sorted((one for one in listed.items if one.type == "helm.sh/release.v1"), key=_revision)


def _revision(secret: Secret) -> int:
    text = secret.metadata.labels.get("version", "")
    return int(text) if text.isdecimal() else 0


def decoded(secret: Secret) -> Record:
    """Raises RecordDamaged."""
    try:
        found = msgspec.json.decode(_unpacked(secret.data.get("release", b"")), type=_Release)
    except (ValueError, RecursionError, binascii.Error, zlib.error, msgspec.DecodeError) as error:
        raise RecordDamaged(f"Secret {secret.key}", f"is no record of Helm: {type(error).__name__}") from None
    chart = found.chart.metadata
    return Record(
        found.name,
        found.namespace or secret.metadata.namespace,
        found.version,
        found.info.status,
        found.info.description,
        _moment(found.info.deleted) or _moment(found.info.last_deployed),
        chart.name,
        chart.version,
        chart.app_version,
        found.config or {},
        found.manifest,
        {name: text for name, text in secret.metadata.labels.items() if name not in _OF_HELM},
    )


def _moment(text: str) -> datetime | None:
    """Helm writes nothing, or nanoseconds, in whatever zone it runs in."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None and found.year > 1 else None


def _unpacked(data: bytes) -> bytes:
    raw = base64.b64decode(data, validate=True)
    if not raw.startswith(_GZIP):
        return raw
    reader = zlib.decompressobj(_GZIP_WINDOW)
    content = reader.decompress(raw, _LARGEST)
    if not reader.eof:
        raise ValueError("too large, or cut")
    return content
