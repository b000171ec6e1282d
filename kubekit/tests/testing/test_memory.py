"""The API in memory: what it does by itself, and what a test can do with it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kubekit import Address, NotFound, Outcome, Reconciler, owner_reference, status_with
from kubekit.errors import Invalid
from kubekit.runtime.manager import Manager
from kubekit.testing.memory import MemoryApi, Restless
from tests.runtime.world import PART, Paint, Part, Widget, paint, widget

CONFIG_MAP = Address.of("v1", "ConfigMap")
NAMESPACE = Address.of("v1", "Namespace", namespaced=False)


class Counters(Reconciler[Widget]):
    """Counts its visits, and makes a part of every widget."""

    kind = Widget

    def __init__(self, manager: Manager) -> None:
        self.client = manager.client

    async def reconcile(self, obj: Widget) -> Outcome:
        meta = {"name": obj.metadata.name, "namespace": "default", "ownerReferences": [owner_reference(obj)]}
        await self.client.apply({"metadata": meta, "spec": {"number": 1}}, PART, manager="test")
        return Outcome(status_with(obj, parts=obj.spec.size))


async def test_a_controller_works_on_it(api: MemoryApi) -> None:
    await api.define(Part)
    await api.start(Counters)
    await api.client.create(widget("a", 3))
    await api.settle()
    assert (await api.client.get(Widget, "a", "default")).status.parts == 3


async def test_what_belongs_to_an_object_goes_with_it(api: MemoryApi) -> None:
    await api.define(Part)
    await api.start(Counters)
    await api.client.create(widget("a"))
    await api.settle()
    assert len((await api.client.list(PART)).items) == 1
    await api.client.delete(Widget, "a", "default")
    await api.settle()
    assert (await api.client.list(PART)).items == ()


async def test_objects_are_checked_against_their_definition(api: MemoryApi) -> None:
    await api.define(Paint)
    with pytest.raises(Invalid, match=r"spec\.colour"):
        await api.client.create({"metadata": {"name": "a", "namespace": "default"}, "spec": {}}, Paint.address)


async def test_a_namespace_takes_what_is_in_it_along(api: MemoryApi) -> None:
    await api.namespace("elsewhere")
    await api.client.create({"metadata": {"name": "a", "namespace": "elsewhere"}}, CONFIG_MAP)
    await api.client.delete(NAMESPACE, "elsewhere")
    await api.settle()
    with pytest.raises(NotFound):
        await api.client.get(NAMESPACE, "elsewhere")


async def test_typed_kinds_are_defined_for_a_controller_and_others_are_not(api: MemoryApi) -> None:
    class Others(Reconciler[dict[str, Any]]):
        kind = PART

    with pytest.raises(LookupError, match=r"parts\.example\.com in version v1"):
        await api.start(Others)
    await api.start(Counters)
    assert (await api.client.list(Widget)).items == ()


async def test_time_passes_when_it_is_told_to(api: MemoryApi) -> None:
    before = api.clock.now()
    await api.advance(timedelta(hours=2))
    await api.advance(0.5)
    assert api.clock.now() - before == timedelta(hours=2, seconds=0.5)


async def test_what_polls_and_changes_nothing_settles(api: MemoryApi) -> None:
    visits: list[float] = []

    class Polling(Reconciler[Paint]):
        kind = Paint

        async def reconcile(self, obj: Paint) -> Outcome:
            visits.append(api.clock.monotonic())
            return Outcome(again=timedelta(seconds=10))

    await api.start(Polling())
    await api.client.create(paint("a", "red"))
    await api.settle(quiet=100)
    assert 10 <= len(visits) <= 12


class Flapping(Reconciler[Widget]):
    """Never says the same twice."""

    kind = Widget
    pause = timedelta(seconds=5)

    async def reconcile(self, obj: Widget) -> Outcome:
        return Outcome(status_with(obj, parts=(obj.status.parts or 0) + 1), again=self.pause)


@pytest.mark.parametrize("pause", [timedelta(seconds=5), timedelta()])
async def test_what_flaps_is_named(api: MemoryApi, pause: timedelta) -> None:
    flapping = Flapping()
    flapping.pause = pause
    await api.start(flapping)
    await api.client.create(widget("a"))
    with pytest.raises(Restless, match=r"still change: example\.com/widgets default/a \(\d+ times\)"):
        await api.settle()


async def test_controllers_can_be_stopped_and_started_again(api: MemoryApi) -> None:
    await api.define(Part)
    await api.start(Counters)
    await api.stop()
    await api.client.create(widget("a", 2))
    await api.settle()
    assert (await api.client.get(Widget, "a", "default")).status.parts is None
    await api.start(Counters)
    await api.crash()
    await api.start(Counters)
    await api.settle()
    assert (await api.client.get(Widget, "a", "default")).status.parts == 2


@pytest.mark.parametrize("kubekit_seed", range(5))
async def test_calls_of_controllers_fail_while_they_are_disturbed(api: MemoryApi) -> None:
    await api.define(Part)
    manager = await api.start(Counters)
    with api.disturbed(lost=1.0):
        await api.client.create(widget("a", 2))
        await api.advance(60)
        assert manager.metrics.errors.get("widgets") > 1
        assert (await api.client.get(Widget, "a", "default")).status.parts is None
    await api.settle(quiet=600)
    assert (await api.client.get(Widget, "a", "default")).status.parts == 2


async def test_a_fault_that_there_is_not_is_refused(api: MemoryApi) -> None:
    with pytest.raises(TypeError, match="no such fault: lots; there are conflict, cut, "), api.disturbed(lots=1.0):
        pass


@pytest.mark.parametrize("name", ["first", "second"])
async def test_each_test_has_an_api_of_its_own(api: MemoryApi, name: str) -> None:
    made = await api.client.create({"metadata": {"name": name, "namespace": "default"}}, CONFIG_MAP)
    assert made["metadata"]["creationTimestamp"] == "2030-01-01T00:00:00Z"
    await api.settle()
    assert {one["metadata"]["name"] for one in (await api.client.list(CONFIG_MAP)).items} == {name, "kube-root-ca.crt"}
