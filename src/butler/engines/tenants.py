"""Reaching the APIs of tenant clusters: from the Secret with a kubeconfig to a client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from butler.api.model import AGENT
from kubekit.client import kubeconfig
from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import ObjectMeta

from .core import Secret
from .helm.protocol import Cluster
from .kamaji.kinds import ADMIN_CONF

HTTPS = 443
VALUE = "value"
"""Key of the kubeconfig in a Secret of Cluster API."""


Endpoint = tuple[str, int]
"""Host and port of an API server."""


class Connect(Protocol):
    """A client for what a kubeconfig says. Connects to nothing yet. Raises InvalidConfiguration."""

    def __call__(self, config: Config, /) -> Client: ...


def over_https(config: Config) -> Client:
    """The `Connect` for any cluster."""
    return HttpClient(config, agent=AGENT)


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


def tenant_config(content: bytes, subject: str, endpoint: Endpoint) -> Config:
    """What a tenant's kubeconfig says. It must lead to the tenant's own API: whoever can write the Secret would
    otherwise choose whom Butler talks to. Raises InvalidConfiguration."""
    config = kubeconfig.self_contained(content, subject)
    try:
        url = urlsplit(config.cluster.server)
        found = (url.hostname or "").lower(), url.port or HTTPS
    except ValueError:
        found = "", 0
    if found != (endpoint[0].strip("[]").lower(), endpoint[1]):
        message = f"leads elsewhere than to the cluster's endpoint, {endpoint[0]}:{endpoint[1]}"
        raise InvalidConfiguration(subject, "server", message)
    return config


@dataclass(frozen=True, slots=True)
class _Reached:
    version: str
    endpoint: Endpoint
    content: bytes
    cluster: Cluster


class Tenants:
    """Clients of tenants' APIs, one per Secret, kept until the kubeconfig in it changes or the tenant goes.

    Whoever holds on to a client over a change of its Secret finds it closed, and asks again."""

    def __init__(self, connect: Connect = over_https) -> None:
        self._connect = connect
        self._reached: dict[tuple[str, str], _Reached] = {}

    async def client_for(self, secret: Secret, endpoint: Endpoint) -> Client:
        """The client for a Secret that is at hand, of a cluster that is there. Raises InvalidConfiguration."""
        return (await self.cluster_for(secret, endpoint)).client

    async def cluster_for(self, secret: Secret, endpoint: Endpoint) -> Cluster:
        """The client, and what it was made from. Raises InvalidConfiguration."""
        meta, place = secret.metadata, (secret.metadata.namespace, secret.metadata.name)
        known = self._reached.get(place)
        if known is not None and (known.version, known.endpoint) == (meta.resource_version, endpoint):
            return known.cluster
        content = kubeconfig_in(secret)
        is_same = known is not None and (known.content, known.endpoint) == (content, endpoint)
        cluster = known.cluster if known is not None and is_same else self._new(secret, content, endpoint)
        self._reached[place] = _Reached(meta.resource_version, endpoint, content, cluster)
        if known is not None and not is_same:
            await known.cluster.client.close()
        return cluster

    def known(self, secret: ObjectMeta, endpoint: Endpoint) -> Cluster | None:
        """What was reached by this version of a Secret, of which only the metadata is at hand; None when nobody did."""
        known = self._reached.get((secret.namespace, secret.name))
        is_current = known is not None and (known.version, known.endpoint) == (secret.resource_version, endpoint)
        return known.cluster if known is not None and is_current else None

    def _new(self, secret: Secret, content: bytes, endpoint: Endpoint) -> Cluster:
        config = tenant_config(content, f"Secret {secret.key}", endpoint)
        return Cluster(config, self._connect(config))

    async def forget(self, namespace: str, cluster: str) -> None:
        """The cluster is gone: give back its connections. Nothing happens when there are none."""
        for name in (kubeconfig_secret(cluster), admin_kubeconfig_secret(cluster)):
            known = self._reached.pop((namespace, name), None)
            if known is not None:
                await known.cluster.client.close()

    async def close(self) -> None:
        """Give back all connections."""
        while self._reached:
            _, known = self._reached.popitem()
            await known.cluster.client.close()
