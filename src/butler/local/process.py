"""A platform as a process: in the foreground until someone stops it, or in the background."""

from __future__ import annotations

import asyncio
import errno
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
from msgspec import structs

from butler import __version__, advice
from butler.cli.session import home
from butler.simulation.delays import NONE, REALISTIC
from kubekit.client import kubeconfig
from kubekit.clock import Clock, SystemClock
from kubekit.server.serve.server import tune_process
from kubekit.server.store import private_files

from . import first_cluster, logs
from .home import DEFAULT_PORT, LOOPBACK, Home, Running
from .on_cluster import attached
from .platform import Options, Platform, answering_health, running

READY = "ready"
"""What a background process says once it can be used."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for on the command line."""

    place: Home
    port: int | None = None
    host: str | None = None
    empty: bool = False
    fast: bool = False
    kubeconfig: Path | None = None
    """Of an existing cluster to run on."""
    simulate: bool = False
    """On that cluster, simulate what it does not have."""
    record_addons: bool = False
    """Only write down which addons simulated clusters have."""

    def chosen_port(self) -> int:
        return self.place.remembered().port or DEFAULT_PORT if self.port is None else self.port

    def chosen_host(self) -> str:
        return self.host or self.place.remembered().host or LOOPBACK

    def arguments(self) -> list[str]:
        """The same as words of a command line."""
        named = (("data", self.place.data), ("port", self.port), ("host", self.host), ("kubeconfig", self.kubeconfig))
        flags = (
            ("empty", self.empty),
            ("fast", self.fast),
            ("simulate", self.simulate),
            ("record-addons", self.record_addons),
        )
        words = [word for name, value in named if value is not None for word in (f"--{name}", str(value))]
        return [*words, *(f"--{name}" for name, is_set in flags if is_set)]

    def flags(self) -> str:
        """What a further start on the same data has to say."""
        simulate = " --simulate" if self.simulate else ""
        attached = f" --kubeconfig {shlex.quote(str(self.kubeconfig))}{simulate}" if self.kubeconfig else ""
        return self.place.flag + attached

    def platform(self) -> AbstractAsyncContextManager[Platform]:
        options = Options(
            self.chosen_port(),
            NONE if self.fast else REALISTIC,
            host=self.chosen_host(),
            record_addons=self.record_addons,
        )
        if self.kubeconfig is None:
            return running(self.place, options)
        return attached(self.place, options, kubeconfig.load(self.kubeconfig), simulate=self.simulate)


Started = Callable[[Platform, Running, asyncio.Event], Awaitable[None]]


async def serve(wanted: Wanted, started: Started) -> None:
    """Run a platform in this process until it is told to stop. `started` is called once it can be used."""
    stop = _asked_to_stop()
    async with _leaving_no_trace(wanted.place) as came_up, _platform(wanted) as platform:
        came_up()
        await _announced(wanted, platform, started, stop)


async def _announced(wanted: Wanted, platform: Platform, started: Started, stop: asyncio.Event) -> None:
    async with answering_health(platform) as health:
        tune_process()
        await first_cluster.ensure(wanted.place, platform.client)
        announcement = _announcement(wanted, platform, health, SystemClock())
        wanted.place.announce(announcement)
        try:
            await started(platform, announcement, stop)
            await stop.wait()
        finally:
            wanted.place.withdraw()


@asynccontextmanager
async def _leaving_no_trace(place: Home) -> AsyncIterator[Callable[[], None]]:
    """A data directory, which goes again if it is new and no platform came up on it."""
    has_come_up, is_new_home, is_new = asyncio.Event(), not home().exists(), not place.data.exists()
    try:
        yield has_come_up.set
    finally:
        # What somebody else holds was made by them meanwhile.
        if is_new and not has_come_up.is_set() and not place.is_held():
            logs.end()
            shutil.rmtree(place.data, ignore_errors=True)
            if is_new_home:
                with suppress(OSError):
                    home().rmdir()


@asynccontextmanager
async def _platform(wanted: Wanted) -> AsyncIterator[Platform]:
    private_files.make_private(home())
    wanted.place.close_to_others()
    logs.write_to(wanted.place.log)
    _prepare(wanted)
    port, host = wanted.chosen_port(), wanted.chosen_host()
    try:
        async with wanted.platform() as platform:
            if platform.port is not None:
                wanted.place.remember(structs.replace(wanted.place.remembered(), port=platform.port, host=host))
            yield platform
    except OSError as error:
        if isinstance(error, socket.gaierror):
            raise click.ClickException(f"{host} is not known: {error.strerror}; name another with --host") from error
        if error.errno == errno.EADDRNOTAVAIL:
            raise click.ClickException(f"{host} is no address of this computer; name another with --host") from error
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "is used by another program" if error.errno == errno.EADDRINUSE else "may not be used"
        other = f"choose another with --port, or any: `{advice.start_elsewhere(wanted.place.flag)}`"
        raise click.ClickException(f"port {port} {why}; {other}") from error


def _prepare(wanted: Wanted) -> None:
    """Note what this start is to achieve, so that the next one can go on if this one is interrupted."""
    if wanted.place.is_new and (wanted.kubeconfig is None or wanted.simulate):
        known = wanted.place.remembered()
        wanted.place.remember(structs.replace(known, first_cluster="" if wanted.empty else "wanted"))


def _announcement(wanted: Wanted, platform: Platform, health: str, clock: Clock) -> Running:
    return Running(
        data=str(wanted.place.data),
        kubeconfig=str(wanted.kubeconfig or wanted.place.kubeconfig),
        context=kubeconfig.load(wanted.kubeconfig).context if wanted.kubeconfig else "",
        pid=os.getpid(),
        url=platform.url,
        health=health,
        started=clock.now(),
        version=__version__,
        fast=wanted.fast,
        simulated=wanted.kubeconfig is None or wanted.simulate,
        remarks=platform.remarks,
    )


def _asked_to_stop() -> asyncio.Event:
    """Set by the first Ctrl-C or SIGTERM; the second ends the process at once, which loses nothing."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def asked(number: int) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, asked, number)
    return stop


def start_in_background(arguments: list[str]) -> None:
    """Start `butleradm up` as a process of its own and wait until it can be used. Raises ClickException."""
    program = [sys.executable, "-P", "-m", "butler.local", "up", "--background", *arguments]
    process = subprocess.Popen(  # noqa: S603 - our own program with arguments of our own
        program,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    said = []
    with process.stdout:
        for line in process.stdout:
            if line.strip() == READY:
                return
            said.append(line.removeprefix("butleradm: "))
    process.wait()
    raise click.ClickException("".join(said).strip() or f"the platform ended with exit code {process.returncode}")


async def go_to_background(platform: Platform, running: Running, stop: asyncio.Event) -> None:
    """Say that the platform is ready, and from now on write only to the log."""
    click.echo(READY)
    sys.stdout.flush()
    handle = private_files.open_private(Home(Path(running.data)).log, os.O_WRONLY | os.O_APPEND)
    for standard in (1, 2):
        os.dup2(handle, standard)
    os.close(handle)
