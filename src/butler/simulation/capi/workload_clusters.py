"""The nodes of tenants' clusters, each followed from when its control plane answers until the cluster goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from kubekit.client.protocol import EVERYTHING, Client, Listed, Selection, Watched
from kubekit.clock import Chance, Clock
from kubekit.errors import Expired, ServiceUnavailable
from kubekit.runtime.client_wrapper import WrappedClient
from kubekit.runtime.informer import Informer
from kubekit.runtime.objects import Kind, key

from ..reached_tenants import ReachedTenants
from .machines.nodes import Node, essence, provider_ids

PROVIDER_ID = "provider"
"""The index by which a node is found from its machine."""
_PATIENCE = 5.0
"""Seconds in which an API that can be reached has told of its nodes."""

Heard = Callable[[str, Node], None]
"""Called with the key of a cluster and a node of it that changed or went."""


class _Reaching(WrappedClient):
    """Asks for the tenant's client each time anew, so that a kubeconfig that changed is noticed."""

    def __init__(self, tenants: ReachedTenants, management: Client, namespace: str, cluster: str) -> None:
        super().__init__(management)
        self._tenants, self._namespace, self._cluster = tenants, namespace, cluster
        self._listed: Client | None = None

    async def reached(self) -> Client:
        client = await self._tenants.reach(self._namespace, self._cluster)
        if client is None:
            raise ServiceUnavailable(f"cluster {self._namespace}/{self._cluster} has no kubeconfig")
        return client

    async def list(self, kind: Kind, selection: Selection = EVERYTHING, *, page: int = 500) -> Listed[Any]:
        self._listed = await self.reached()
        listed: Listed[Any] = await self._listed.list(kind, selection, page=page)
        return listed

    async def watch(
        self, kind: Kind, selection: Selection = EVERYTHING, *, version: str = ""
    ) -> AsyncGenerator[Watched[Any], None]:
        client = await self.reached()
        if client is not self._listed:
            # Another kubeconfig may lead to another API, in which what was listed never was.
            raise Expired(f"cluster {self._namespace}/{self._cluster} has another kubeconfig")
        async with aclosing(client.watch(kind, selection, version=version)) as events:
            async for event in events:
                yield event


class Workloads:
    """Caches of nodes by cluster. They fill, and stay fresh, while `run` runs."""

    def __init__(self, management: Client, tenants: ReachedTenants, clock: Clock, chance: Chance) -> None:
        self._management, self._clock, self._chance = management, clock, chance
        self._tenants = tenants
        self._nodes: dict[str, Informer[Node]] = {}
        self._following: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._heard: list[Heard] = []

    def on_change(self, heard: Heard) -> None:
        """Tell of every change of a node that matters to its machine."""
        self._heard.append(heard)

    async def run(self) -> None:
        """Follow what is, or will be, asked for, until cancelled."""
        try:
            async with asyncio.TaskGroup() as self._group:
                for cluster in self._nodes:
                    self._start(cluster)
                await asyncio.get_running_loop().create_future()
        finally:
            self._group = None
            self._following.clear()
            await self._tenants.close()

    def nodes(self, cluster: str) -> Informer[Node] | None:
        """The nodes of a cluster; None while they are not known."""
        informer = self._nodes.get(cluster)
        return informer if informer is not None and informer.synced else None

    async def connect(self, namespace: str, name: str) -> bool:
        """Follow the nodes of a cluster from now on. Answers whether they are known, having waited a little."""
        cluster = key(namespace, name)
        informer = self._nodes.get(cluster)
        if informer is None:
            if await self._tenants.reach(namespace, name) is None:
                return False
            informer = self._nodes[cluster] = self._new(cluster)
            self._start(cluster)
        try:
            async with asyncio.timeout(_PATIENCE):
                await informer.wait_synced()
        except TimeoutError:
            return False
        return True

    async def client(self, namespace: str, name: str) -> Client | None:
        """The client of a tenant's API; None while there is no kubeconfig for it."""
        return await self._tenants.reach(namespace, name)

    async def forget(self, namespace: str, name: str) -> None:
        """The cluster is gone, and its nodes with it."""
        cluster = key(namespace, name)
        self._nodes.pop(cluster, None)
        following = self._following.pop(cluster, None)
        if following is not None:
            following.cancel()
        await self._tenants.forget(namespace, name)

    def _new(self, cluster: str) -> Informer[Node]:
        # Metrics of its own, because one gauge for each tenant would drown all others.
        informer: Informer[Node] = Informer(Node, EVERYTHING, self._clock)
        informer.index(PROVIDER_ID, provider_ids)

        def tell(old: Any | None, new: Any | None, _: bool) -> None:
            if old is not None and new is not None and essence(old) == essence(new):
                return
            for node in (one for one in (old, new) if one is not None):
                for heard in self._heard:
                    heard(cluster, node)

        informer.handle(tell)
        return informer

    def _start(self, cluster: str) -> None:
        if self._group is None or cluster in self._following:
            return
        namespace, _, name = cluster.partition("/")
        reaching = _Reaching(self._tenants, self._management, namespace, name)
        work = self._nodes[cluster].run(reaching, self._chance)
        self._following[cluster] = self._group.create_task(work, name=f"nodes of {cluster}")
