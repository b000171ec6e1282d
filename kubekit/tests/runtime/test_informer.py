"""Informers: what the cache shows, and whom it tells."""

from __future__ import annotations

import asyncio
import warnings
from typing import Any

import pytest
from msgspec import structs

from kubekit.client.protocol import Listed, Selection, Signal, Watched
from kubekit.runtime.informer import Informer, Informers
from kubekit.runtime.objects import key_of, version_of
from kubekit.testing.deterministic_loop import Loop
from tests.runtime.world import NAMESPACE, PART, Paint, PaintSpec, WidgetSpace, paint


def item(name: str, version: int, colour: str = "red") -> dict[str, Any]:
    meta = {"name": name, "namespace": NAMESPACE, "resourceVersion": str(version), "managedFields": [{}]}
    return {"metadata": meta, "spec": {"colour": colour}}


def listed(version: int, *items: dict[str, Any]) -> Listed[Any]:
    return Listed(items, str(version))


def changed(signal: Signal, one: dict[str, Any]) -> Watched[Any]:
    return Watched(signal, version_of(one), one)


class Told:
    """A handler that remembers."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str, bool]] = []

    def __call__(self, old: Any, new: Any, news: bool) -> None:
        what = "gone" if new is None else "new" if old is None else "changed"
        self.changes.append((what, key_of(old if new is None else new).rpartition("/")[2], news))


def informer(loop: Loop) -> tuple[Informer[Any], Told]:
    made: Informer[Any] = Informer(PART, Selection(), loop.clock)
    told = Told()
    made.handle(told)
    return made, told


async def test_a_first_list_is_told_but_is_no_news(kubekit_loop: Loop) -> None:
    cache, told = informer(kubekit_loop)
    cache.take(listed(5, item("a", 3), item("b", 4)))
    assert told.changes == [("new", "a", False), ("new", "b", False)]
    assert cache.synced
    assert cache.version == 5


async def test_a_later_list_tells_only_what_differs_also_what_is_gone(kubekit_loop: Loop) -> None:
    cache, told = informer(kubekit_loop)
    cache.take(listed(5, item("a", 3), item("b", 4), item("c", 5)))
    told.changes.clear()
    cache.take(listed(9, item("a", 3), item("b", 8), item("d", 9)))
    assert told.changes == [("gone", "c", True), ("changed", "b", True), ("new", "d", True)]
    assert f"{NAMESPACE}/c" not in cache


async def test_what_comes_twice_or_late_changes_nothing(kubekit_loop: Loop) -> None:
    cache, told = informer(kubekit_loop)
    cache.take(listed(5, item("a", 5)))
    cache.take(changed(Signal.MODIFIED, item("a", 7, "blue")))
    told.changes.clear()
    cache.take(changed(Signal.MODIFIED, item("a", 6, "green")))
    cache.take(changed(Signal.DELETED, item("a", 7)))
    assert told.changes == []
    assert [one["spec"]["colour"] for one in cache] == ["blue"]


async def test_a_bookmark_moves_the_version(kubekit_loop: Loop) -> None:
    cache, _ = informer(kubekit_loop)
    cache.take(listed(5))
    reached: list[int] = []
    cache.when_at(8, lambda: reached.append(cache.version))
    cache.take(Watched(Signal.BOOKMARK, "7", None))
    assert reached == []
    cache.take(Watched(Signal.BOOKMARK, "9", None))
    assert reached == [9]


async def test_a_history_that_begins_anew_ends_all_waiting(kubekit_loop: Loop) -> None:
    cache, _ = informer(kubekit_loop)
    cache.take(listed(50))
    reached: list[bool] = []
    cache.when_at(60, lambda: reached.append(True))
    cache.take(listed(10))
    assert (reached, cache.epoch, cache.version) == ([True], 1, 10)


async def test_handlers_see_the_change_in_the_cache_and_its_indexes(kubekit_loop: Loop) -> None:
    cache, _ = informer(kubekit_loop)
    cache.index("colour", lambda obj: [obj["spec"]["colour"]])
    seen: list[list[str]] = []
    cache.handle(lambda old, new, news: seen.append(cache.keys_by("colour", "blue")))
    cache.take(listed(5, item("a", 5)))
    cache.take(changed(Signal.MODIFIED, item("a", 6, "blue")))
    cache.take(changed(Signal.DELETED, item("a", 7, "blue")))
    assert seen == [[], [f"{NAMESPACE}/a"], []]


async def test_an_index_follows_every_change(kubekit_loop: Loop) -> None:
    cache, _ = informer(kubekit_loop)
    cache.take(listed(5, item("a", 3), item("b", 4, "blue")))
    cache.index("colour", colours := lambda obj: [obj["spec"]["colour"]])
    cache.index("colour", colours)
    cache.take(changed(Signal.MODIFIED, item("b", 6, "red")))
    assert [key_of(obj) for obj in cache.by("colour", "red")] == [f"{NAMESPACE}/a", f"{NAMESPACE}/b"]
    assert cache.by("colour", "blue") == []
    with pytest.raises(ValueError, match="colour"):
        cache.index("colour", lambda obj: [])


async def test_managed_fields_are_not_kept(kubekit_loop: Loop) -> None:
    cache, _ = informer(kubekit_loop)
    cache.take(listed(5, item("a", 3)))
    assert ["managedFields" in one["metadata"] for one in cache] == [False]


async def test_a_spec_that_has_not_changed_is_kept_once(kubekit_loop: Loop) -> None:
    cache: Informer[Any] = Informer(Paint, Selection(), kubekit_loop.clock)
    cache.take(Listed((first := paint("a", "red"),), "1"))
    newer = structs.replace(first.metadata, resource_version="2")
    labelled = structs.replace(first, metadata=newer, spec=PaintSpec(colour="red"))
    cache.take(Watched(Signal.MODIFIED, "2", labelled))
    kept: Any = cache.get(f"{NAMESPACE}/a")
    assert (version_of(kept), kept.spec is first.spec) == ("2", True)
    cache.take(Watched(Signal.MODIFIED, "3", structs.replace(labelled, spec=PaintSpec(colour="blue"))))
    assert [one.spec.colour for one in cache] == ["blue"]


async def test_informers_of_one_kind_are_told_apart(kubekit_loop: Loop) -> None:
    informers = Informers(kubekit_loop.clock, kubekit_loop.chance)
    names = [informers.of(PART).name, informers.of(PART, Selection(NAMESPACE, "a=b")).name]
    assert names == ["parts.example.com", "parts.example.com[default,a=b]"]


async def test_a_late_handler_hears_of_what_there_is(kubekit_loop: Loop) -> None:
    cache, _ = informer(kubekit_loop)
    cache.take(listed(5, item("a", 3)))
    late = Told()
    cache.handle(late)
    assert late.changes == [("new", "a", False)]
    cache.stop_handling(late)
    cache.take(changed(Signal.DELETED, item("a", 6)))
    assert len(late.changes) == 1


def fail(old: Any, new: Any, news: bool) -> None:
    raise ZeroDivisionError


async def test_a_failing_handler_does_not_stop_the_others(kubekit_loop: Loop) -> None:
    cache: Informer[Any] = Informer(PART, Selection(), kubekit_loop.clock)
    cache.handle(fail)
    told = Told()
    cache.handle(told)
    cache.take(listed(5, item("a", 3)))
    assert told.changes == [("new", "a", False)]


async def test_informers_are_shared_and_follow_the_api(kubekit_loop: Loop, space: WidgetSpace) -> None:
    client = space.client()
    await client.create(paint("gloss", "blue"))
    informers = Informers(kubekit_loop.clock, kubekit_loop.chance)
    paints = informers.of(Paint)
    assert informers.of(Paint) is paints
    assert informers.of(Paint, Selection(labels="a=b")) is not paints
    following = asyncio.ensure_future(informers.run(client))
    await informers.synced()
    await client.create(paint("matt", "red"))
    await asyncio.sleep(1)
    assert [one.spec.colour for one in paints] == ["blue", "red"]
    late = informers.of(PART)
    await late.wait_synced()
    following.cancel()


async def test_an_informer_that_comes_too_late_is_refused_without_a_trace(kubekit_loop: Loop) -> None:
    informers = Informers(kubekit_loop.clock, kubekit_loop.chance)
    following = asyncio.ensure_future(informers.run(WidgetSpace(kubekit_loop.clock, kubekit_loop.chance).client()))
    await asyncio.sleep(1)
    following.cancel()
    await asyncio.wait([following])
    with warnings.catch_warnings(record=True) as seen, pytest.raises(RuntimeError):
        informers.of(Paint)
    assert seen == []
