"""Keeps the Service of the API itself, which leads to where the server listens now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kubekit.model.resource import Object
from kubekit.server.objects.request import Target
from kubekit.server.objects.resource import Resource
from kubekit.server.pipeline import commit, writes
from kubekit.server.pipeline.space import Space
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event

from .. import kubernetes_service
from ..beginnings import Filling, Pattern
from ..kubernetes_service import KEY, KINDS, NAME, NAMESPACE, Location
from .worker import Worker


class OwnService:
    """The Service `kubernetes` of one space."""

    def __init__(self, space: Space, server: Location, pattern: Callable[[], Awaitable[Pattern]]) -> None:
        self._space, self._server, self._pattern = space, server, pattern
        self.worker: Worker[str] = Worker("the API's own service", self._settle, space.clock)

    def check(self) -> None:
        """Set to work if the server listens elsewhere than before, or something is missing."""
        for resource in self._resources():
            found = self._space.find(resource, NAMESPACE, NAME)
            if found is None or kubernetes_service.pointed_at(found, self._server) != found:
                self.worker.add(KEY)
                return

    def see(self, event: Event) -> None:
        if event.change is Change.DELETED and event.key == KEY:
            self.worker.add(KEY)

    async def _settle(self, _: str) -> None:
        for resource in self._resources():
            target = Target(resource, NAMESPACE, NAME)
            if self._space.latest(target) is None:
                await self._create(target)
            else:
                await self._point(target)

    async def _create(self, target: Target) -> None:
        pattern = (await self._pattern()).only(target.resource.storage_key)
        space, store = self._space, self._space.store
        if space.latest(target) is None:
            filling = Filling(space.timestamp(), kubernetes_service.first_address(space.addresses.network))
            for _, value in pattern.written(filling, space.new_uid, store.next_revision()):
                await store.write(space.bucket(target.resource), KEY, Change.ADDED, value)

    async def _point(self, target: Target) -> None:
        """Not by the ordinary way: it would refuse the address of a server that serves its own computer only."""
        row = self._space.existing(target)
        old: Object = row.decode()
        obj = kubernetes_service.pointed_at(row.decode(), self._server)
        if obj != old:
            writes.record(self._space, target, obj, old, "kube-apiserver")
            await commit.stage(self._space, target, Change.MODIFIED, obj, row)

    def _resources(self) -> list[Resource]:
        found = [self._space.kinds.at(group, "v1", plural) for group, plural in KINDS]
        return [one for one in found if one is not None]
