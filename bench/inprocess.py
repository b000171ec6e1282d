"""What the server does without HTTP: the same verbs, called in the same process."""

from __future__ import annotations

import asyncio
import gc
import shutil
import tempfile
import time
from pathlib import Path

import yaml

from bench.measures import NAMESPACE, cluster
from bench.table import Table
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import reads, writes
from kubekit.server.serve.server import Server, tune_process
from kubekit.server.spaces.served_space import ServedSpace

_CRD = Path(__file__).parent.parent / "deploy" / "crds" / "tenantclusters.yaml"
_USER = UserInfo("bench", groups=("system:masters",))


async def all_of(table: Table, scale: float, _peer: bool) -> None:
    data = Path(tempfile.mkdtemp(prefix="butler-bench-"))
    async with Server(data) as server:
        clusters = await _prepare(server.root)
        tune_process()
        await _creates(server.root, clusters, "first", 1000)
        rate = await _creates(server.root, clusters, "a", int(10_000 * scale))
        table.add("creates, 64 at a time", "butler", rate, "/s")
        started, count = time.perf_counter(), int(20_000 * scale)
        for index in range(count):
            await reads.get(server.root, Target(clusters, NAMESPACE, f"first-{index % 1000}"))
        table.add("gets", "butler", count / (time.perf_counter() - started), "/s")
        await _flatness(server.root, clusters, table, scale)
        _resuming(server.root, table, int(20_000 * scale))
    shutil.rmtree(data)


async def _flatness(space: ServedSpace, clusters: Resource, table: Table, scale: float) -> None:
    """What one create costs when much is stored already."""
    for total in (int(1_000 + 11_000 * scale), int(100_000 * scale)):
        missing = total - space.store.count()
        if missing > 0:
            await _creates(space, clusters, f"fill{total}", missing)
        rate = await _creates(space, clusters, f"at{total}", int(5_000 * scale))
        table.add(f"cost per create at {total:,} objects", "butler", 1e6 / rate, "µs", more_is_better=False)


def _resuming(space: ServedSpace, table: Table, others: int) -> None:
    """What a watch that was away finds out about its own resource when others have changed much meanwhile."""
    quiet, started = space.store.bucket(space.name, "/secrets"), time.perf_counter()
    space.store.events(quiet, "", space.store.committed - others)
    taken = (time.perf_counter() - started) * 1000
    table.add(f"watch resumes after {others:,} other changes", "butler", taken, "ms", more_is_better=False)


async def _prepare(space: ServedSpace) -> Resource:
    options = WriteOptions(_USER, manager="bench")
    namespaces = space.kinds.at("", "v1", "namespaces")
    crds = space.kinds.at("apiextensions.k8s.io", "v1", "customresourcedefinitions")
    assert namespaces is not None
    assert crds is not None
    await writes.create(space, Target(namespaces), {"metadata": {"name": NAMESPACE}}, options)
    await writes.create(space, Target(crds), yaml.safe_load(_CRD.read_text()), options)
    await space.settled()
    clusters = space.kinds.at("butler.butlerlabs.dev", "v1alpha1", "tenantclusters")
    assert clusters is not None
    return clusters


async def _creates(space: ServedSpace, clusters: Resource, prefix: str, count: int) -> float:
    objects = [cluster(f"{prefix}-{index}") for index in range(count)]
    waiting, target = iter(objects), Target(clusters, NAMESPACE)
    # What was prepared here must not be searched for garbage, nor freed, at the server's expense.
    gc.freeze()

    async def client() -> None:
        for obj in waiting:
            await writes.create(space, target, obj, WriteOptions(_USER, manager="bench"))

    started = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(64)))
    taken = time.perf_counter() - started
    return len(objects) / taken
