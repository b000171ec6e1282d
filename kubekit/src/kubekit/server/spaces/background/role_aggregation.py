"""Roles that gather the rules of others."""

from __future__ import annotations

from collections.abc import Mapping

from kubekit.clock import give_way
from kubekit.model.resource import Object
from kubekit.model.selectors import LabelSelector
from kubekit.server.access.rules import aggregated_rules, gathered_by
from kubekit.server.objects.request import Target
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.decoding import Malformed
from kubekit.server.pipeline import commit
from kubekit.server.pipeline.space import Space
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.rows import Row

from .worker import Worker

_RBAC = "rbac.authorization.k8s.io"
_GATHERER = "clusterrole-aggregation-controller"


class Aggregation:
    """ClusterRoles with an aggregationRule hold the rules of the roles it selects."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._selectors: list[LabelSelector] | None = None
        """Which roles are gathered by others; None when that has to be looked up."""
        self.worker: Worker[str] = Worker("role aggregation", self._gather, space.clock)

    def see(self, event: Event) -> None:
        """Notice a role that gathers or is gathered: there are few, and looking at all of them takes a while."""
        seen = [one for one in (event.object, event.previous) if one is not None]
        if any(one.get("aggregationRule") for one in seen):
            self._selectors = None
        if self._selectors is None or any(self._is_gathered(one["metadata"].get("labels")) for one in seen):
            self.worker.add("")

    def _is_gathered(self, labels: Mapping[str, str] | None) -> bool:
        return any(selector.matches(labels) for selector in self._selectors or ())

    async def _gather(self, _: str) -> None:
        kind = self._space.kinds.at(_RBAC, "v1", "clusterroles")
        assert kind is not None
        roles, size = await self._roles(kind)
        gathering = [role for role in roles if role.get("aggregationRule")]
        self._selectors = [selector for role in gathering for selector in gathered_by(role)]
        for role in gathering:
            rules = await self._space.bench.do(size, aggregated_rules, role, roles)
            if rules != (role.get("rules") or []):
                await self._write(kind, role["metadata"]["name"], rules)

    async def _roles(self, kind: Resource) -> tuple[list[Object], int]:
        """All that are not damaged, and how many bytes they are. Others have a turn in between."""
        roles: list[Object] = []
        size = 0
        for rows in self._space.stored(kind.storage_key):
            roles += [role for role in (self._read(kind, row) for row in rows) if role is not None]
            size += sum(len(row.value) for row in rows)
            await give_way()
        return roles, size

    def _read(self, kind: Resource, row: Row) -> Object | None:
        """One that was damaged gathers nothing, and is not gathered."""
        try:
            return self._space.undamaged(kind, row)
        except Malformed:
            return None

    async def _write(self, kind: Resource, name: str, rules: list[Object]) -> None:
        target = Target(kind, name=name)
        row = self._space.latest(target)
        if row is None:
            return
        obj = row.decode()
        obj["rules"] = rules or None
        _record_gathered(obj, kind.api_version, self._space.timestamp())
        await commit.stage(self._space, target, Change.MODIFIED, obj, row)


def _record_gathered(role: Object, api_version: str, now: str) -> None:
    """In Kubernetes a controller applies the rules it has gathered, and gives up those it no longer finds."""
    others = [one for one in role["metadata"].get("managedFields") or () if one["manager"] != _GATHERER]
    for one in others:
        one["fieldsV1"].pop("f:rules", None)
    mine = {
        "manager": _GATHERER,
        "operation": "Apply",
        "apiVersion": api_version,
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:rules": {}},
    }
    kept = [one for one in others if one["fieldsV1"]]
    role["metadata"]["managedFields"] = [mine, *kept] if role["rules"] else kept
