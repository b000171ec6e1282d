"""The operators under measurement, each a process of its own: `python -m bench.operators NAME KUBECONFIG NAMESPACE`.

Every TenantCluster gets one field of status. What they are asked on stdin they answer in a line of JSON on stdout.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SENT = "bench.butlerlabs.dev/sent"
"""The annotation that says when a change was sent, by the clock all processes of a machine share."""

Answers = dict[str, Callable[[], Any]]


def main() -> None:
    name, kubeconfig, namespace = sys.argv[1:]
    os.environ["KUBECONFIG"] = kubeconfig
    asyncio.run({"butler": butler, "kopf": kopf}[name](namespace))


async def butler(namespace: str) -> None:
    from msgspec import structs

    from butler.api.cluster import ClusterPhase, TenantCluster
    from kubekit.client import kubeconfig
    from kubekit.client.http import HttpClient
    from kubekit.client.protocol import Selection
    from kubekit.runtime.leader import LEASE, Election
    from kubekit.runtime.manager import Manager, ManagerSettings
    from kubekit.runtime.reconciler import Outcome, Reconciler

    latencies = Latencies()

    class Clusters(Reconciler[TenantCluster]):
        kind = TenantCluster
        selection = Selection(namespace=namespace)
        workers = 32

        async def reconcile(self, obj: TenantCluster) -> Outcome:
            latencies.note(obj.metadata.annotations.get(SENT))
            return Outcome(structs.replace(obj.status, phase=ClusterPhase.READY))

    async with HttpClient(kubeconfig.load()) as client:
        await client.list(LEASE, Clusters.selection)
        sync = Sync()
        manager = Manager(client, ManagerSettings("bench", Election("bench", namespace)))
        manager.add(Clusters())
        cache = manager.informers.of(TenantCluster, Clusters.selection)
        cache.handle(lambda old, new, news: sync.note(len(cache)))
        answers: Answers = {
            "sync": lambda: sync.figures,
            "requests": lambda: sum(manager.metrics.requests.values.values()),
            "latencies": latencies.take,
        }
        async with asyncio.TaskGroup() as group:
            group.create_task(manager.run())
            group.create_task(answering(answers))


async def kopf(namespace: str) -> None:
    import kopf as peer

    latencies = Latencies()
    registry = peer.OperatorRegistry()

    @peer.on.login(registry=registry)
    def log_in(**context: Any) -> Any:
        return peer.login_with_kubeconfig(**context)

    @peer.on.startup(registry=registry)
    def settle(settings: peer.OperatorSettings, **_: Any) -> None:
        settings.posting.enabled = False

    place = ("butler.butlerlabs.dev", "v1alpha1", "tenantclusters")

    @peer.on.create(*place, registry=registry)
    @peer.on.resume(*place, registry=registry)
    @peer.on.update(*place, registry=registry)
    async def reconcile(annotations: Any, patch: Any, **_: Any) -> None:
        latencies.note(annotations.get(SENT))
        patch.status["phase"] = "Ready"

    async with asyncio.TaskGroup() as group:
        group.create_task(peer.operator(registry=registry, namespaces=[namespace], standalone=True))
        group.create_task(answering({"latencies": latencies.take}))


class Sync:
    """What it took to fill a cache."""

    def __init__(self) -> None:
        self._empty, self._started = resident(), time.monotonic()
        self.figures: dict[str, float] = {}

    def note(self, objects: int) -> None:
        if not self.figures:
            seconds, megabytes = time.monotonic() - self._started, resident() - self._empty
            self.figures = {"seconds": seconds, "objects": objects, "megabytes": megabytes}


class Latencies:
    """Seconds from sending a change to the call it causes."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def note(self, sent: str | None) -> None:
        if sent:
            self._seen.setdefault(sent, time.monotonic() - float(sent))

    def take(self) -> list[float]:
        return list(self._seen.values())


async def answering(answers: Answers) -> None:
    """Say that it has begun, and then answer questions."""
    print(json.dumps("begun"), flush=True)
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, lambda: _answer(answers, sys.stdin.readline().strip()))
    await asyncio.Event().wait()


def _answer(answers: Answers, question: str) -> None:
    print(json.dumps(answers[question]() if question in answers else None), flush=True)


def resident() -> float:
    """MB of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
