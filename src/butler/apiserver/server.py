"""The whole server: one data directory, one port, one root API and any number of isolated others."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from butler.errors import DataInUse
from butler.runtime.clock import Chance, Clock, SystemChance, SystemClock

from .auth import files, kubeconfig
from .auth.authentication import Authenticator
from .auth.pki import ADMIN, ROOT, Pki
from .background.housekeeping import Housekeeping
from .http import addresses
from .http.face import Face
from .served import ServedSpace
from .storage.store import Store
from .watching import Hub

log = logging.getLogger("butler.apiserver")
connections = logging.getLogger("butler.apiserver.connections")
# What is not HTTP is the client's problem, and it is told so.
connections.addFilter(lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError)))

_STOP_PATIENCE = 5.0


class Server:
    """An API server on a data directory. Use as an async context manager, or `start` and `stop`."""

    def __init__(
        self,
        data: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        names: Iterable[str] = (),
        clock: Clock | None = None,
        chance: Chance | None = None,
    ) -> None:
        self.data, self._host, self._port = data, host, port
        self._clock, self._chance = clock or SystemClock(), chance or SystemChance()
        self._names = tuple(names)
        self.spaces: dict[str, ServedSpace] = {}

    @property
    def root(self) -> ServedSpace:
        return self.spaces[ROOT]

    @property
    def url(self) -> str:
        shown = f"[{self._host}]" if ":" in self._host else self._host
        return f"https://{shown}:{self.port}"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.data / "kubeconfig"

    async def start(self) -> None:
        """Open the data and listen. Raises DataInUse, DataDamaged, DataVersion, OSError (the port)."""
        files.make_private(self.data)
        self._lock = lock(self.data)
        self.pki = Pki(self.data / "pki", self._clock, self._names)
        self.pki.open()
        self.store = Store(self.data / "state.db")
        self.hub = Hub(self.store)
        for name in {ROOT, *self.store.spaces()}:
            await self.add_space(name)
        authenticator = Authenticator(lambda space: self.spaces[space].access, self._clock)
        await self._listen(Face(self.spaces.get, authenticator, ROOT))
        self._write_kubeconfig()
        self._housekeeping = asyncio.create_task(Housekeeping(self.store, self._clock, self._renew).run())
        log.info("serving url=%s data=%s", self.url, self.data)

    async def stop(self) -> None:
        """End watches, finish requests, store everything."""
        self._housekeeping.cancel()
        self._listener.close()
        self.hub.end()
        transports = [handler.transport for handler in self._runner.connections]
        # Connections without a request go at once, the others when they are answered.
        self._runner.pre_shutdown()
        await self._runner.shutdown(_STOP_PATIENCE)
        for transport in transports:
            if transport is not None and _has_sent_everything(transport):
                # Else each would wait for its client's farewell.
                transport.abort()
        for name in list(self.spaces):
            await self.spaces.pop(name).stop()
        await self.store.close()
        os.close(self._lock)

    async def add_space(self, name: str) -> ServedSpace:
        """An isolated API under `/clusters/NAME`; the one that exists when there is one."""
        if name not in self.spaces:
            space = ServedSpace(name, self.store, self.hub, self.pki, self._clock, self._chance)
            space.prefix = f"/{addresses.SPACES}/{name}" if name != ROOT else ""
            await space.start()
            self.spaces[name] = space
        return self.spaces[name]

    async def remove_space(self, name: str) -> None:
        """Forget an isolated API with everything in it."""
        space = self.spaces.pop(name)
        for resource in space.kinds:
            self.hub.end(space.bucket(resource))
        await space.stop()
        self.store.delete_space(name)
        self.pki.remove_space(name)

    def admin_kubeconfig(self, space: str = ROOT) -> bytes:
        """An administrator's kubeconfig for a space."""
        served = self.spaces[space]
        if space == ROOT:
            credentials = self.pki.admin
        else:
            credentials = self.pki.issue_client_certificate(ADMIN, ["system:masters"], 365, space)
        name = "butler" if space == ROOT else space
        return kubeconfig.render(
            kubeconfig.Access(
                f"{self.url}{served.prefix}", self.pki.server_authority, f"{name}-admin", credentials, name
            )
        )

    async def __aenter__(self) -> Server:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _listen(self, face: Face) -> None:
        loop = asyncio.get_running_loop()
        self._runner = web.Server(
            face, keepalive_timeout=300, access_log=None, auto_decompress=False, logger=connections
        )
        self._listener = await loop.create_server(
            self._runner,
            self._host,
            self._port,
            ssl=self.pki.tls,
            backlog=1024,
            reuse_address=True,
            ssl_handshake_timeout=10,
        )
        self.port: int = self._listener.sockets[0].getsockname()[1]

    def _write_kubeconfig(self) -> None:
        files.write_private(self.kubeconfig, self.admin_kubeconfig())

    def _renew(self) -> None:
        if self.pki.renew().admin:
            self._write_kubeconfig()


def _has_sent_everything(transport: asyncio.WriteTransport) -> bool:
    try:
        return not transport.get_write_buffer_size()
    except AttributeError:
        # asyncio forgets the TLS layer of a connection that is gone, and then cannot say.
        return False


def lock(data: Path) -> int:
    """Hold the data directory for this process until the answer is closed. Raises DataInUse."""
    handle = os.open(data / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(handle, 32, 0).decode(errors="replace").strip()
        os.close(handle)
        raise DataInUse(f"{data}: already in use by process {holder or 'unknown'}; stop it first") from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


def tune_process() -> None:
    """For a process that mainly serves; call it once, after the start.

    Decoded objects come and go by the thousand without cycles, so look for garbage rarely, and never at what stays. And
    the thread that writes to disk must not wait 5 ms for its turn."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    sys.setswitchinterval(0.0005)
