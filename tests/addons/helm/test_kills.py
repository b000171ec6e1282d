"""A platform that is killed while Helm is at work: whoever starts it again finds no release locked, and all of it done.

The APIs of its clusters die with it, so that no run of Helm can still write down how it ended."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from butler.api.cluster import ObservedAddon, TenantCluster
from butler.engines.core import Secret
from butler.engines.tenants import admin_kubeconfig_secret, kubeconfig_in
from butler.local.home import Home
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client, Selection, Signal, Watched
from kubekit.errors import NotFound
from kubekit.model.resource import Address
from testbed.running.helm import helm_of
from tests.engines.helm.world import processes_of
from tests.engines.helm.world import until as until_so
from tests.local.shells import Shell
from tests.local.worlds import NAME, TENANTS, create, until

ADDONS = {"cert-manager", "cilium", "longhorn", "metallb", "metrics-server", "traefik"}
SECRET = Address.of("v1", "Secret")
KINDS = (
    Address.of("apps/v1", "Deployment"),
    Address.of("apps/v1", "DaemonSet"),
    Address.of("v1", "Service"),
    Address.of("networking.k8s.io/v1", "IngressClass", namespaced=False),
    Address.of("storage.k8s.io/v1", "StorageClass", namespaced=False),
)


Act = Callable[[int], Awaitable[None]]
"""By the number of earlier attempts."""


async def nothing(attempt: int) -> None:
    """What is waited for comes by itself."""


async def _first(events: AsyncIterator[Watched[Any]]) -> None:
    async for event in events:
        if event.item is not None and event.signal is not Signal.DELETED:
            return


def _send(number: signal.Signals, *processes: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


class Victim:
    """A platform that is killed and started again on the same data."""

    def __init__(self, home: Path) -> None:
        self.shell = Shell(home)
        self.place = Home(self.shell.data)
        self.runs = self.place.helm / "runs"

    async def up(self, *arguments: str) -> None:
        ran = await asyncio.to_thread(self.shell.butleradm, "up", "--detach", "--fast", *arguments)
        assert ran.code == 0, ran.err

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        async with HttpClient(kubeconfig.load(self.place.kubeconfig)) as client:
            yield client

    @asynccontextmanager
    async def tenant(self) -> AsyncIterator[Client]:
        """Of the cluster, as soon as it has an administrator."""
        async with asyncio.timeout(60), self.client() as client:
            while (content := await _kubeconfig(client)) is None:  # noqa: ASYNC110 -- two objects, of which one names the other
                await asyncio.sleep(0.05)
        self.config.write_bytes(content)
        async with HttpClient(kubeconfig.self_contained(content, NAME)) as tenant:
            yield tenant

    @property
    def config(self) -> Path:
        return self.shell.home / "tenant"

    async def die(self, status: str, act: Act = nothing, *, runs: signal.Signals = signal.SIGKILL) -> None:
        """As soon as a release has that status: killed, and then every run of Helm, too, or they go on with nobody to
        talk to. `act` brings it there; a run may be too quick to be caught, and then it acts again."""
        attempts = 0
        while not await self._caught(status, partial(act, attempts)):
            attempts += 1
            assert attempts < 20, f"no release was {status} for long enough"
        _send(signal.SIGKILL, self.shell.announcement()["pid"])
        await until_so(lambda: not self.place.is_held())
        _send(runs, *processes_of(self.runs))

    async def _caught(self, status: str, act: Callable[[], Awaitable[None]]) -> bool:
        """Whether the runs of Helm could be halted while a release has that status; else they go on."""
        releases = Selection(labels=f"owner=helm,status={status}")
        async with self.tenant() as tenant, aclosing(tenant.watch(SECRET, releases)) as events:
            waiting = asyncio.ensure_future(_first(events))
            await act()
            async with asyncio.timeout(60):
                await waiting
            halted = processes_of(self.runs)
            _send(signal.SIGSTOP, *halted)
            is_so = bool((await tenant.list(SECRET, releases)).items)
            if not is_so:
                _send(signal.SIGCONT, *halted)
            return is_so

    async def change(self, addons: dict[str, Any]) -> None:
        async with self.client() as client:
            await client.patch(TenantCluster, NAME, {"spec": {"addons": addons}}, TENANTS)

    async def settled(self, wanted: set[str]) -> None:
        """Until the cluster has just these addons and all are healthy; then everything is looked at."""

        def is_settled(cluster: TenantCluster | None) -> bool:
            assert cluster is not None
            addons = _addons(cluster)
            ready = cluster.status.condition("Ready")
            return (
                cluster.status.observed_generation == cluster.metadata.generation
                and ready is not None
                and ready.status == "True"
                and set(addons) == wanted
                and {one.status for one in addons.values()} == {"Healthy"}
            )

        async with asyncio.timeout(100), self.client() as client:
            await until(client, is_settled)
        async with self.tenant() as tenant:
            await self.check(tenant, wanted)

    async def check(self, tenant: Client, wanted: set[str]) -> None:
        """One release each that is deployed, what it says is there, and nothing else that Helm wrote."""
        revisions = (await tenant.list(SECRET, Selection(labels="owner=helm"))).items
        labels = sorted((one["metadata"]["labels"] for one in revisions), key=lambda one: int(one["version"]))
        assert {one["name"]: one["status"] for one in labels} == dict.fromkeys(wanted, "deployed"), labels
        assert Counter(one["name"] for one in labels if one["status"] == "deployed") == Counter(wanted)
        declared = Counter[tuple[str, ...]]()
        for one in json.loads(await self.helm("list", "--all-namespaces", "--output", "json")):
            manifest = await self.helm("get", "manifest", one["name"], "--namespace", one["namespace"])
            declared.update(_identity(obj, one["name"]) for obj in yaml.safe_load_all(manifest) if obj)
        known = {kind.kind for kind in KINDS}
        found = Counter[tuple[str, ...]]()
        for kind in KINDS:
            for obj in (await tenant.list(kind)).items:
                if release := obj["metadata"].get("annotations", {}).get("meta.helm.sh/release-name"):
                    found[_identity({**obj, "kind": kind.kind}, release)] += 1
        assert found == Counter({key: count for key, count in declared.items() if key[1] in known})
        assert set(found.values()) == {1}
        assert not list(self.runs.iterdir())
        assert not list((self.place.helm / "locks").iterdir())

    async def helm(self, *arguments: str) -> str:
        """What stock Helm says."""
        process = await asyncio.create_subprocess_exec(
            str(helm_of("3")), *arguments, "--kubeconfig", str(self.config), stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        assert process.returncode == 0
        return output.decode()


def _identity(obj: dict[str, Any], release: str) -> tuple[str, ...]:
    return release, obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _addons(cluster: TenantCluster) -> dict[str, ObservedAddon]:
    state = cluster.status.observed_state
    return {one.name: one for one in state.addons} if state is not None else {}


async def _kubeconfig(client: Client) -> bytes | None:
    try:
        cluster = await client.get(TenantCluster, NAME, TENANTS)
        return kubeconfig_in(
            await client.get(Secret, admin_kubeconfig_secret(NAME), cluster.status.tenant_namespace or "none")
        )
    except NotFound:
        return None


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Victim]:
    one = Victim(tmp_path / "home")
    yield one
    one.shell.stop()


async def test_a_killed_installation_is_finished(victim: Victim) -> None:
    await victim.up("--empty", "--port", "0")
    async with victim.client() as client:
        await create(client)
    for status, runs in (("pending-install", signal.SIGKILL), ("deployed", signal.SIGCONT)):
        await victim.die(status, runs=runs)
        await victim.up()
    await victim.settled(ADDONS)


async def test_killed_changes_are_finished(victim: Victim) -> None:
    await victim.up("--empty", "--port", "0")
    async with victim.client() as client:
        await create(client)
    await victim.settled(ADDONS)

    asked: list[dict[str, Any]] = []

    async def more_replicas(attempt: int) -> None:
        asked.append({"deployment": {"replicas": attempt + 2}})
        await victim.change({"ingress": {"values": asked[-1]}})

    await victim.die("pending-upgrade", more_replicas)
    await victim.up()
    await victim.settled(ADDONS)
    values = json.loads(await victim.helm("get", "values", "traefik", "--namespace", "traefik", "--output", "json"))
    assert values["deployment"] == asked[-1]["deployment"]

    async def without_metrics(attempt: int) -> None:
        if attempt:
            await victim.change({"metricsServer": {"enabled": True}})
            await victim.settled(ADDONS)
        await victim.change({"metricsServer": {"enabled": False}})

    await victim.die("uninstalling", without_metrics)
    await victim.up()
    await victim.settled(ADDONS - {"metrics-server"})
