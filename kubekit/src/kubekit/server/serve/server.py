"""The whole server: one data directory, one port, one root API and any number of isolated others."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import socket
import sys
from asyncio import sslproto
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType

from kubekit.clock import Chance, Clock, SystemChance, SystemClock
from kubekit.errors import StorageError
from kubekit.server.access import kubeconfig
from kubekit.server.access.authentication import Authenticator, SpaceAccess
from kubekit.server.access.pki import ROOT, Pki
from kubekit.server.objects.user import NOBODY, UserInfo
from kubekit.server.pipeline.service_addresses import SERVICE_NETWORK
from kubekit.server.pipeline.watches import Hub
from kubekit.server.spaces.background.housekeeping import Housekeeping
from kubekit.server.spaces.beginnings import NOTHING_ELSE, Contents
from kubekit.server.spaces.kubernetes_service import Location
from kubekit.server.spaces.product import Product
from kubekit.server.spaces.served_space import ServedSpace
from kubekit.server.spaces.spaces import Spaces
from kubekit.server.store import data_lock, inspection, private_files
from kubekit.server.store.store import Store

from .connections import Connections
from .handler import Handler

log = logging.getLogger("kubekit.server")

_OURS = ("lock", "state.*", "pki", "kubeconfig")
"""What a server keeps in its data directory."""
_STOP_PATIENCE = 5.0
_BACKLOG = 1024
"""Connections that may wait to be accepted."""


class Server:
    """An API server on a data directory. Use as an async context manager, or `start` and `stop`."""

    def __init__(
        self,
        data: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        names: Iterable[str] = (),
        product: Product | None = None,
        clock: Clock | None = None,
        chance: Chance | None = None,
    ) -> None:
        self.data, self._host, self._port = data, host, port
        self._known_as = _outer_address(host) if _is_unspecified(host) else host
        """Where it is found: nobody finds anything at an address that means all of them."""
        self._clock, self._chance = clock or SystemClock(), chance or SystemChance()
        self._names, self.product = tuple(names), product or Product()
        self.looked_at: Callable[[str], None] = lambda _: None
        """Called with the name of the space whenever one of its users asks it for something from outside."""

    @property
    def root(self) -> ServedSpace:
        return self.spaces[ROOT]

    @property
    def url(self) -> str:
        shown = f"[{self._known_as}]" if ":" in self._known_as else self._known_as
        return f"https://{shown}:{self.port}"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's."""
        return self.data / "kubeconfig"

    async def start(self) -> None:
        """Open the data and listen. Raises DataInUse, DataDamaged, DataVersion, StorageError, OSError (the port)."""
        async with AsyncExitStack() as undo:
            with _writing_to(self.data):
                private_files.make_private(self.data)
                private_files.close_to_others(self.data, *_OURS)
                self._lock = data_lock.take(self.data)
                undo.callback(os.close, self._lock)
                # Until here and in here, nothing is written: what is damaged stays as it is.
                revision = inspection.check(self.data / "state.db")
                self.pki = Pki(self.data / "pki", self._clock, (self._known_as, *self._names))
                self.pki.open(is_new=not revision)
                data_lock.note_holder(self._lock)
            await self._bind()
            undo.callback(self._listener.close)
            self.store = Store(self.data / "state.db")
            undo.push_async_callback(self.store.close)
            self.hub = Hub(self.store)
            self.spaces = Spaces(
                self.store, self.hub, self.pki, self._location(), self._clock, self._chance, self.product
            )
            undo.push_async_callback(self.spaces.stop)
            await self.spaces.open()
            with _writing_to(self.kubeconfig):
                self._write_kubeconfig()
            undo.pop_all()
        await self._listener.start_serving()
        for listener in self._listener.sockets:
            with socket.socket(fileno=os.dup(listener.fileno())) as same:
                same.listen(_BACKLOG)
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
        await self.spaces.stop()
        await self.store.close()
        os.close(self._lock)

    async def add_space(
        self, name: str, service_network: str = SERVICE_NETWORK, contents: Contents = NOTHING_ELSE
    ) -> ServedSpace:
        """An isolated API under `/clusters/NAME`; the one that exists when there is one.

        Its Services get addresses of `service_network`, the API's own the first one, and `contents` are in it from the
        first moment. Durable when this returns, and all or nothing. Raises ValueError for what is no network."""
        return await self.spaces.add(name, service_network, contents)

    async def remove_space(self, name: str, words: str = "") -> None:
        """Forget an isolated API with everything in it, keys included; nothing happens when there is none.

        Its watches end, requests under way are finished or told that it is gone. Whoever shows a certificate of it
        later is told these `words`, and nobody else is. An API that is made under the same name has nothing in common
        with it."""
        await self.spaces.remove(name, words)

    def admin_kubeconfig(self, space: str = ROOT) -> bytes:
        """An administrator's kubeconfig for a space: the same bytes at every call, unless the server's address has
        changed or the certificate in it was about to end."""
        served, name = self.spaces.find(space), self.product.name if space == ROOT else space
        url, credentials = f"{self.url}{served.prefix}", self.spaces.admin(space)
        return kubeconfig.render(kubeconfig.Access(url, self.pki.server_authority, f"{name}-admin", credentials, name))

    async def __aenter__(self) -> Server:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _bind(self) -> None:
        """Take the port, without answering yet: objects tell which one it is."""
        authenticator = Authenticator(self._access, self._clock)
        self._runner = Connections(Handler(self._find, authenticator, ROOT))
        self._listener = await asyncio.get_running_loop().create_server(
            self._runner,
            self._host,
            self._port,
            ssl=self.pki.tls,
            # So many asyncio accepts at a time; and so often it fails and logs that when no file can be opened.
            backlog=4,
            reuse_address=True,
            ssl_handshake_timeout=10,
            start_serving=False,
        )
        self.port: int = self._listener.sockets[0].getsockname()[1]

    def _access(self, name: str) -> SpaceAccess:
        return self.spaces.access(name)

    def _find(self, name: str, user: UserInfo) -> ServedSpace:
        """Where a user is served who is recognised there; who shows nothing learns nothing of it, and wakes nobody."""
        if user is NOBODY:
            return self.spaces.for_strangers(name)
        self.spaces.tombstones.check(name)
        self.looked_at(name)
        return self.spaces.find(name)

    def _location(self) -> Location:
        address = self._listener.sockets[0].getsockname()[0]
        return Location(_outer_address(address) if _is_unspecified(address) else address, self.port)

    def _write_kubeconfig(self) -> None:
        private_files.write_private(self.kubeconfig, self.admin_kubeconfig())

    def _renew(self) -> None:
        if self.pki.renew().admin:
            self._write_kubeconfig()


@contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    """What the disk refuses is told apart from what the network does. Raises StorageError."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{error.filename or path}: {error.strerror or error}") from error


def _is_unspecified(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False


def _outer_address(unspecified: str) -> str:
    """The address by which this computer is known to others, or to itself if there are none."""
    family, elsewhere, loopback = (
        (socket.AF_INET6, "2001:db8::1", "::1") if ":" in unspecified else (socket.AF_INET, "192.0.2.1", "127.0.0.1")
    )
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            # Sends nothing: it only asks which way it would go.
            probe.connect((elsewhere, 9))
        except OSError:
            return loopback
        return str(probe.getsockname()[0])


def _has_sent_everything(transport: asyncio.WriteTransport) -> bool:
    try:
        return not transport.get_write_buffer_size()
    except AttributeError:
        # asyncio forgets the TLS layer of a connection that is gone, and then cannot say.
        return False


def tune_process() -> None:
    """For a process that mainly serves; call it once, after the start.

    Decoded objects come and go by the thousand without cycles, so look for garbage rarely, and never at what stays. And
    the thread that writes to disk must not wait 5 ms for its turn, nor a connection hold a quarter of a megabyte for
    what might arrive at once: most are watches, on which nothing does. There may be as many of them as the system lets
    a process open files."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    sys.setswitchinterval(0.001)
    sslproto.SSLProtocol.max_size = 32 * 1024
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
