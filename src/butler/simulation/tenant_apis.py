"""The APIs of tenants in the local platform: one isolated space of the embedded server each."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from urllib.parse import unquote

from butler.api.model import AGENT
from butler.engines.tenants import Connect, over_https
from kubekit.client.config import NOBODY_ELSE, Config
from kubekit.client.protocol import Client
from kubekit.clock import Clock, SystemClock
from kubekit.server.access.authentication import Authenticator
from kubekit.server.access.identities import KeyPair
from kubekit.server.access.tokens import TokenRefused
from kubekit.server.client import DirectClient
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline.service_addresses import SERVICE_NETWORK
from kubekit.server.serve.server import Server
from kubekit.server.spaces.addresses import SPACES
from kubekit.server.spaces.beginnings import NOTHING_ELSE, Contents
from kubekit.server.spaces.served_space import ServedSpace

Wrap = Callable[[Client], Client]
"""What goes around every client, such as faults in a test."""


def unwrapped(client: Client) -> Client:
    return client


class TenantApi:
    """One tenant's API."""

    def __init__(self, server: Server, space: ServedSpace, wrap: Wrap = unwrapped) -> None:
        self._server, self._space = server, space
        self.client = wrap(DirectClient(space, agent=AGENT))
        """Straight onto it, as its administrator."""

    @property
    def name(self) -> str:
        return self._space.name

    @property
    def url(self) -> str:
        return f"{self._server.url}{self._space.prefix}"

    @property
    def endpoint(self) -> str:
        """Host and port; that of all tenants, whose URLs differ in their path."""
        return self._server.url.removeprefix("https://")

    @property
    def authority(self) -> bytes:
        """PEM of the authority by which clients recognise the server."""
        return _pem(self._server.pki.server_authority)

    @property
    def client_authority(self) -> KeyPair:
        """The authority whose certificates open this API and no other."""
        pair = self._space.access.authority.pair
        return KeyPair(_pem(pair.certificate), pair.key)

    @property
    def version(self) -> str:
        """The Kubernetes version it says it is of."""
        return self._space.version

    def began_with(self, contents: Contents) -> bool:
        """Whether these objects were in it from its first moment."""
        return self._space.began_with(contents)

    async def pass_for(self, version: str) -> None:
        """Say from now on that it is of that Kubernetes version."""
        await self._space.pass_for(version)

    @property
    def admin(self) -> KeyPair:
        """The credentials of its administrator; others only when they were about to end."""
        return self._server.spaces.admin(self.name)

    def kubeconfig(self) -> bytes:
        """The administrator's; the same bytes at every call while neither credentials nor URL change."""
        return self._server.admin_kubeconfig(self.name)


class TenantApis:
    """All tenants' APIs, by name."""

    def __init__(self, server: Server, wrap: Wrap = unwrapped) -> None:
        self._server, self._wrap = server, wrap
        self._open: dict[str, TenantApi] = {}
        self.leaving: Callable[[str], Awaitable[None]] = _nobody_cares
        """Called with the name of an API before it is forgotten, so that whoever works on it can end that first."""

    @property
    def endpoint(self) -> str:
        """Where every tenant's API is, or will be, reached: host and port."""
        return self._server.url.removeprefix("https://")

    async def open(
        self, name: str, service_network: str = SERVICE_NETWORK, contents: Contents = NOTHING_ELSE
    ) -> TenantApi:
        """The API of that name, made if need be, with these addresses for its Services and these objects in it.

        Durable when this returns.

        Raises ValueError for what is no network."""
        await self._server.add_space(name, service_network, contents)
        found = self.get(name)
        assert found is not None
        return found

    async def close(self, name: str, words: str = "") -> None:
        """Forget an API with everything in it; nothing happens when there is none. Its users are told these words."""
        await self.leaving(name)
        self._open.pop(name, None)
        await self._server.remove_space(name, words)

    def get(self, name: str) -> TenantApi | None:
        space = self._server.spaces.get(name)
        if space is None:
            return None
        known = self._open.get(name)
        if known is None or known._space is not space:
            known = self._open[name] = TenantApi(self._server, space, self._wrap)
        return known


async def _nobody_cares(_: str) -> None:
    """What happens when nobody works on an API."""


class LocalConnect:
    """A `Connect` that goes straight to the APIs of a server in this process, with the rights of whoever the
    kubeconfig is for; and over HTTPS to all others."""

    def __init__(self, server: Server, *, clock: Clock | None = None, others: Connect = over_https) -> None:
        self._server, self._others = server, others
        self._authenticator = Authenticator(lambda space: server.spaces[space].access, clock or SystemClock())

    def __call__(self, config: Config, /) -> Client:
        space = self._space_of(config)
        user = self._user_of(config, space) if space is not None else None
        if space is None or user is None:
            return self._others(config)
        return DirectClient(space, user, agent=AGENT)

    def _space_of(self, config: Config) -> ServedSpace | None:
        """The space a URL of our own leads to."""
        path = config.cluster.server.removeprefix(self._server.url)
        if path == config.cluster.server or config.cluster.authority.read() != _pem(self._server.pki.server_authority):
            return None
        before, _, name = path.rpartition("/")
        return self._server.spaces.get(unquote(name)) if before == f"/{SPACES}" else None

    def _user_of(self, config: Config, space: ServedSpace) -> UserInfo | None:
        """Who a certificate or token is of; None for whoever only the server itself can recognise."""
        user = config.user
        if user.impersonation != NOBODY_ELSE or user.plugin or user.token_file or user.username:
            return None
        if user.certificate and is_pair(user.certificate.read(), user.key.read()):
            der = ssl.PEM_cert_to_DER_cert(user.certificate.read().decode())
            return self._authenticator.user_of_certificate(der, space.name)
        if user.token and not user.certificate:
            try:
                return space.access.user_of_token(user.token).user
            except TokenRefused:
                return None
        return None


def is_pair(certificate: bytes, key: bytes) -> bool:
    """Whether a key is that of a certificate: to show a certificate proves nothing."""
    from cryptography import x509  # noqa: PLC0415 - slow to load
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        public = load_pem_private_key(key, None).public_key()
        return x509.load_pem_x509_certificate(certificate).public_key() == public
    except (ValueError, TypeError):
        return False


def _pem(content: bytes) -> bytes:
    """A certificate without the notes above it."""
    return content[content.index(b"-----BEGIN") :]
