"""Reaching the APIs of tenant clusters: from the Secret with a kubeconfig to a client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from butler.api.model import AGENT
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.errors import InvalidConfiguration, NotFound

from .core import Secret
from .kamaji.kinds import ADMIN_CONF

VALUE = "value"
"""Key of the kubeconfig in a Secret of Cluster API."""


class Connect(Protocol):
    """A client for the current context of a kubeconfig. Connects to nothing yet. Raises InvalidConfiguration."""

    def __call__(self, content: bytes, /) -> Client: ...


def over_https(content: bytes) -> Client:
    """The `Connect` for any cluster."""
    return HttpClient(kubeconfig.self_contained(content, "kubeconfig"), agent=AGENT)


def kubeconfig_secret(cluster: str) -> str:
    """The Secret in which Cluster API expects a cluster's kubeconfig."""
    return f"{cluster}-kubeconfig"


def admin_kubeconfig_secret(cluster: str) -> str:
    """The Secret in which Kamaji keeps the administrator's kubeconfig."""
    return f"{cluster}-admin-kubeconfig"


def kubeconfig_in(secret: Secret) -> bytes:
    """The kubeconfig in a Secret of Cluster API or of Kamaji. Raises InvalidConfiguration."""
    for name in (VALUE, ADMIN_CONF):
        if name in secret.data:
            return secret.data[name]
    raise InvalidConfiguration(f"Secret {secret.key}", "data", f"has neither {VALUE} nor {ADMIN_CONF}")


@dataclass(frozen=True, slots=True)
class _Reached:
    version: str
    content: bytes
    client: Client


class Tenants:
    """Clients of tenants' APIs, one per Secret, kept until the kubeconfig in it changes or the tenant goes.

    Whoever holds on to a client over a change of its Secret finds it closed, and asks again."""

    def __init__(self, management: Client, connect: Connect = over_https) -> None:
        self._management, self._connect = management, connect
        self._reached: dict[tuple[str, str], _Reached] = {}

    async def reach(self, namespace: str, cluster: str) -> Client | None:
        """The client for a cluster; None while its kubeconfig is not there. Reads one Secret."""
        try:
            secret = await self._management.get(Secret, kubeconfig_secret(cluster), namespace)
        except NotFound:
            await self.forget(namespace, cluster)
            return None
        return await self.client_for(secret)

    async def client_for(self, secret: Secret) -> Client:
        """The client for a Secret that is at hand. Raises InvalidConfiguration."""
        meta, place = secret.metadata, (secret.metadata.namespace, secret.metadata.name)
        known = self._reached.get(place)
        if known is not None and known.version == meta.resource_version:
            return known.client
        content = kubeconfig_in(secret)
        is_same = known is not None and known.content == content
        client = known.client if known is not None and is_same else self._connect(content)
        self._reached[place] = _Reached(meta.resource_version, content, client)
        if known is not None and not is_same:
            await known.client.close()
        return client

    async def forget(self, namespace: str, cluster: str) -> None:
        """The cluster is gone: give back its connections. Nothing happens when there are none."""
        for name in (kubeconfig_secret(cluster), admin_kubeconfig_secret(cluster)):
            known = self._reached.pop((namespace, name), None)
            if known is not None:
                await known.client.close()

    async def close(self) -> None:
        """Give back all connections."""
        while self._reached:
            _, known = self._reached.popitem()
            await known.client.close()
