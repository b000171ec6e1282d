"""Roles that gather the rules of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

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
_GATHERS = b'"aggregationRule"'
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
        if self._selectors is None or any(_is_gathered(self._selectors, one["metadata"].get("labels")) for one in seen):
            self.worker.add("")

    async def _gather(self, _key: str) -> None:
        kind = self._space.kinds.at(_RBAC, "v1", "clusterroles")
        assert kind is not None
        found, _ = await self._roles(kind, lambda row: _GATHERS in row.value)
        gathering = [role for role in found if role.get("aggregationRule")]
        selectors = self._selectors = [selector for role in gathering for selector in gathered_by(role)]
        gathered, size = await self._roles(kind, lambda row: _is_gathered(selectors, _labels_in(row.value)))
        for role in gathering:
            rules = await self._space.bench.do(size, aggregated_rules, role, gathered)
            if rules != (role.get("rules") or []):
                await self._write(kind, role["metadata"]["name"], rules)

    async def _roles(self, kind: Resource, matters: Callable[[Row], bool]) -> tuple[list[Object], int]:
        """Those that matter and are not damaged, and how many bytes they are. Others have a turn in between, and those
        that do not matter are never taken apart: there may be very many."""
        roles: list[Object] = []
        size = 0
        for rows in self._space.stored(kind.storage_key):
            for row in filter(matters, rows):
                if (role := self._read(kind, row)) is not None:
                    roles.append(role)
                    size += len(row.value)
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


def _is_gathered(selectors: Iterable[LabelSelector], labels: Mapping[str, str] | None) -> bool:
    return any(selector.matches(labels) for selector in selectors)


class _Metadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Head(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_head = msgspec.json.Decoder(_Head)


def _labels_in(value: bytes) -> dict[str, str] | None:
    try:
        return _head.decode(value).metadata.labels
    except msgspec.ValidationError:
        # It was damaged, and is not gathered.
        return None
