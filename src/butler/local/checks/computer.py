"""What a platform needs from the computer it runs on, and from its data directory."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509

from butler import advice
from kubekit.client import kubeconfig
from kubekit.clock import SystemClock
from kubekit.errors import KubeError

from ..home import DEFAULT_PORT, Home
from .finding import Finding, failed, noted, passed

_OLDEST_PYTHON = (3, 11)
_LEAST_SPACE = 500 * 1000 * 1000
_EXPIRES_SOON = timedelta(days=14)
_SLACK = timedelta(minutes=5)
"""How far a file may seem to be from the future before the clock is blamed."""


def python(_: Home) -> Iterable[Finding]:
    shown = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _OLDEST_PYTHON:
        yield failed("Python", f"{shown} is too old", f"install Python 3.11 or newer, then `{advice.reinstall()}`")
    else:
        yield passed("Python", shown)


def data_directory(place: Home) -> Iterable[Finding]:
    """Existing and writable, or at least possible."""
    there = _nearest(place.data)
    if not there.is_dir():
        yield failed("data", f"{there} is a file", "choose another directory with --data")
    elif not os.access(there, os.W_OK | os.X_OK):
        remedy = f"`{advice.own_directory(there)}`, or choose another with --data"
        yield failed("data", f"{there} is not writable", remedy)
    elif there == place.data and place.data.stat().st_mode & 0o077:
        yield failed("data", f"{place.data} is open to other users", advice.close_directory(place.data))
    else:
        yield passed("data", f"{place.data}{'' if there == place.data else ' (not there yet)'}")


def free_space(place: Home) -> Iterable[Finding]:
    free = shutil.disk_usage(_nearest(place.data)).free
    if free < _LEAST_SPACE:
        yield failed("space", f"{free // 10**6} MB free", f"make room: a platform wants {_LEAST_SPACE // 10**6} MB")
    else:
        yield passed("space", f"{free / 10**9:.1f} GB free")


def _nearest(path: Path) -> Path:
    """The path, or what exists of it."""
    return next(one for one in (path, *path.parents) if one.exists())


def lock(place: Home) -> Iterable[Finding]:
    """Who holds the data, and whether that is a platform."""
    running = place.running()
    if running is not None:
        yield passed("platform", f"runs as process {running.pid}")
    elif place.is_held():
        holder = (place.data / "lock").read_text().strip() or "unknown"
        remedy = f"stop it, if it is not just starting: `{advice.end_process(holder)}`"
        yield failed("platform", f"process {holder} holds the data, but is no platform that can be asked", remedy)
    else:
        yield noted("platform", "does not run", advice.start(place.flag))


def port(place: Home) -> Iterable[Finding]:
    """Free, or ours."""
    number = place.remembered().port or DEFAULT_PORT
    if place.running() is not None:
        yield passed("port", f"{number} is ours")
    elif _is_taken(number):
        remedy = f"`{advice.who_listens(number)}` shows which; stop it, or `{advice.start_elsewhere(place.flag)}`"
        yield failed("port", f"{number} is used by another program", remedy)
    else:
        yield passed("port", f"{number} is free")


def _is_taken(number: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", number))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def access(place: Home) -> Iterable[Finding]:
    """The administrator's kubeconfig."""
    running = place.running()
    path = Path(running.kubeconfig) if running is not None else place.kubeconfig
    written_again = f"`{place.again}`: it is written at the start"
    if not path.exists():
        if running is not None or not place.is_new:
            yield failed("kubeconfig", f"{path} is missing", written_again)
        return
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        yield failed("kubeconfig", f"{path} can be read by others ({mode:o})", advice.close_file(path))
        return
    try:
        server = kubeconfig.load(path).cluster.server
    except KubeError as error:
        yield failed("kubeconfig", str(error), written_again)
        return
    if running is not None and server != running.url:
        yield failed("kubeconfig", f"is for {server}, and the API is on {running.url}", written_again)
    else:
        yield passed("kubeconfig", str(path))


def certificates(place: Home) -> Iterable[Finding]:
    """None that is about to expire, or of a clock that was ahead: a platform that runs renews its own in time."""
    found = [(path, x509.load_pem_x509_certificate(path.read_bytes())) for path in (place.data / "pki").rglob("*.crt")]
    if not found:
        return
    now = SystemClock().now()
    ending = [(path, one) for path, one in found if one.not_valid_after_utc < now + _EXPIRES_SOON]
    early = [(path, one) for path, one in found if one.not_valid_before_utc > now]
    remedy = f"`{place.again}`: certificates are renewed at the start"
    for path, one in ending:
        yield failed("certificates", f"{path} is valid only until {one.not_valid_after_utc:%Y-%m-%d}", remedy)
    for path, one in early:
        yield failed("certificates", f"{path} is valid only from {one.not_valid_before_utc:%Y-%m-%d} on", remedy)
    if not ending and not early:
        first = min(one.not_valid_after_utc for _, one in found)
        yield passed("certificates", f"all {len(found)} are valid until {first:%Y-%m-%d} or longer")


def clock(place: Home) -> Iterable[Finding]:
    """Not behind what was written before."""
    now = SystemClock().now()
    moments = [datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in _files(place)]
    ahead = [moment for moment in moments if moment > now + _SLACK]
    if ahead:
        message = f"says {now:%Y-%m-%d %H:%M} UTC, but files here are from {max(ahead):%Y-%m-%d %H:%M}"
        yield failed("clock", message, f"set the clock: `{advice.set_clock()}`")
    else:
        yield passed("clock", f"{now:%Y-%m-%d %H:%M} UTC")


def _files(place: Home) -> Iterator[Path]:
    return (path for path in place.data.glob("*") if path.is_file())


def programs(_: Home) -> Iterable[Finding]:
    """Nothing here needs them, but people do."""
    for name, why in (("kubectl", "to look into clusters"), ("helm", "to install charts yourself")):
        path = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
        yield passed(name, path) if path else noted(name, f"not found; it is optional, {why}")


Check = Callable[[Home], Iterable[Finding]]
CHECKS: tuple[Check, ...] = (python, data_directory, free_space, lock, port, access, certificates, clock, programs)
