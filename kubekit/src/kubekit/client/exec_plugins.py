"""Exec plug-ins: programs that print credentials, as `client.authentication.k8s.io` describes."""

from __future__ import annotations

import asyncio
import base64
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from datetime import datetime
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta, Struct

from kubekit.errors import Unauthorized

from .config import Config, ExecPlugin

_PATIENCE = 120.0
"""Seconds a program that asks nobody anything may take."""
_LONGEST_COMPLAINT = 500


class Clock(Protocol):
    """What time it is."""

    def now(self) -> datetime: ...


class Printed(Struct, rename="camel"):
    """`status` of what the program prints."""

    expiration_timestamp: Annotated[datetime, Meta(tz=True)] | None = None
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""

    def __repr__(self) -> str:
        return f"Printed(expiration_timestamp={self.expiration_timestamp})"


class _Document(Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: Printed | None = None


async def run(config: Config) -> Printed:
    """Ask the program. Raises Unauthorized, which shows what it complained of and never what it printed."""
    plugin = config.user.plugin
    assert plugin is not None
    interactive = _is_interactive(plugin)
    environment = {**os.environ, **plugin.env, "KUBERNETES_EXEC_INFO": _told(config, plugin, interactive)}
    try:
        process = await asyncio.create_subprocess_exec(
            plugin.command,
            *plugin.args,
            env=environment,
            stdin=None if interactive else DEVNULL,
            stdout=PIPE,
            # Someone has to see what an interactive program asks.
            stderr=None if interactive else PIPE,
        )
    except FileNotFoundError:
        hint = f"; {' '.join(plugin.install_hint.split())}" if plugin.install_hint else ""
        raise _failed(plugin, f"there is no such program{hint}") from None
    except OSError as error:
        raise _failed(plugin, error.strerror or str(error)) from error
    printed, complaint = await _finished(process, plugin, None if interactive else _PATIENCE)
    if process.returncode != 0:
        raise _failed(plugin, f"it ended with {process.returncode}{complaint}")
    return _understood(plugin, printed)


async def _finished(
    process: asyncio.subprocess.Process, plugin: ExecPlugin, patience: float | None
) -> tuple[bytes, str]:
    """What it printed, and what it complained of."""
    try:
        async with asyncio.timeout(patience):
            printed, complaint = await process.communicate()
    except TimeoutError:
        raise _failed(plugin, f"it did not end within {patience:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text = " ".join((complaint or b"").decode(errors="replace").split())
    return printed, f": {text[-_LONGEST_COMPLAINT:]}" if text else ""


def _understood(plugin: ExecPlugin, printed: bytes) -> Printed:
    try:
        document = msgspec.json.decode(printed, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Not shown nor chained: it may be a token.
        raise _failed(plugin, "what it printed is not an ExecCredential") from None
    if document.api_version != plugin.api_version or document.kind != "ExecCredential":
        raise _failed(plugin, f"it did not print an ExecCredential of {plugin.api_version}")
    status = document.status
    if status is None or not (status.token or status.client_certificate_data or status.client_key_data):
        raise _failed(plugin, "it printed neither a token nor a certificate")
    if bool(status.client_certificate_data) != bool(status.client_key_data):
        raise _failed(plugin, "it printed a certificate or a key, but not both")
    return status


def _is_interactive(plugin: ExecPlugin) -> bool:
    if plugin.interactive_mode == "Never":
        return False
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    if plugin.interactive_mode == "Always" and not has_terminal:
        raise _failed(plugin, "it has to ask someone, and standard input is not a terminal")
    return has_terminal


def _told(config: Config, plugin: ExecPlugin, interactive: bool) -> str:
    """KUBERNETES_EXEC_INFO."""
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.provide_cluster_info:
        cluster = config.cluster
        shown = {
            "server": cluster.server,
            "tls-server-name": cluster.tls_server_name,
            "insecure-skip-tls-verify": cluster.insecure,
            "certificate-authority-data": base64.b64encode(cluster.authority.read()).decode(),
            "proxy-url": cluster.proxy_url,
            "disable-compression": cluster.disable_compression,
            "config": cluster.exec_config,
        }
        spec["cluster"] = {name: value for name, value in shown.items() if value}
    told = {"apiVersion": plugin.api_version, "kind": "ExecCredential", "spec": spec}
    return msgspec.json.encode(told).decode()


def _failed(plugin: ExecPlugin, why: str) -> Unauthorized:
    return Unauthorized(f"exec plug-in {plugin.command}: {why}")
