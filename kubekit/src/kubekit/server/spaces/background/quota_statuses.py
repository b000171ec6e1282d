"""The status of ResourceQuotas: what there may be, and how much of it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kubekit.errors import NotFound
from kubekit.model.resource import Object
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import writes
from kubekit.server.pipeline.space import Space
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event

from .worker import Worker

_MANAGER = "kube-controller-manager"
_USER = UserInfo("system:serviceaccount:kube-system:resourcequota-controller", groups=("system:masters",))


class QuotaStatuses:
    """Counts what quotas limit, and writes it down."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.worker: Worker[str] = Worker("quotas", self._write, space.clock)
        space.quotas.tell = self.worker.add

    def see(self, event: Event) -> None:
        if event.change is Change.DELETED:
            self._space.quotas.note(event.key, None, self._stored)
        else:
            self.take_in(event.key, event.object)

    def take_in(self, key: str, obj: Object) -> None:
        self._space.quotas.note(key, obj["spec"], self._stored)
        quota = self._space.quotas.find(*key.split("/", 1))
        if quota is not None and quota.status() != obj.get("status"):
            self.worker.add(key)

    def _stored(self, resource: str, namespace: str) -> Iterator[tuple[str, int, Object]]:
        prefix = f"{namespace}/"
        bucket = self._space.store.bucket(self._space.name, resource)
        for row in self._space.store.page(bucket, prefix, count=False).rows:
            yield row.key.removeprefix(prefix), row.revision, row.decode()

    async def _write(self, key: str) -> None:
        namespace, _, name = key.partition("/")

        def build(live: Object) -> Object:
            quota = self._space.quotas.find(namespace, name)
            return live if quota is None else {**live, "status": quota.status()}

        with suppress(NotFound):
            target = Target(self._kind, namespace, name, "status")
            await writes.rebuild(self._space, target, build, WriteOptions(_USER, _MANAGER))

    @property
    def _kind(self) -> Resource:
        found = self._space.kinds.at("", "v1", "resourcequotas")
        assert found is not None
        return found
