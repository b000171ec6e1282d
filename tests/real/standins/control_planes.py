"""The same life of a hosted control plane with the real Kamaji and with its stand-in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from butler.engines.core import Secret
from butler.engines.kamaji.kinds import TenantControlPlane
from butler.local.installation import NAMESPACE, install_definitions
from butler.simulation.delays import Delays
from butler.simulation.kamaji.control_planes import TenantControlPlanes
from butler.simulation.tenant_apis import TenantApis
from kubekit.client.endless_watch import follow
from kubekit.client.protocol import Client, Selection
from kubekit.clock import SystemChance, SystemClock
from kubekit.runtime.manager import Manager
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from testbed.running.embedded import Kubectl
from testbed.running.processes import eventually
from tests.real.test_kamaji_manager import CONTROL_PLANE

Json = dict[str, Any]
VERSION = "v1.30.2"
SECRETS = ("shop-admin-kubeconfig", "shop-ca")
# Times in objects are whole seconds, so nothing shorter would be seen.
_BRIEFLY = Delays(control_plane=2, upgrade=0, scale=0, removal=0)
_READY = {"type": "Ready", "status": "True"}


@dataclass
class Story:
    """What there was at the end of each stage: the control plane, and Secrets by name."""

    stages: dict[str, tuple[Json, dict[str, Json]]] = field(default_factory=dict)


REPLICAS = {"ready": 1, "scaled": 2}
"""What is asked for, one after the other. For another version Kamaji would have to reach the tenant's API."""
STAGES = ("provisioning", *REPLICAS)


def _wanting(replicas: int) -> Json:
    return {"spec": {"controlPlane": {"deployment": {"replicas": replicas}}}}


class Really:
    """Kamaji with nobody to run its pods but this."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self._kubectl, self._namespace = kubectl, namespace
        self.story = Story()

    def live(self) -> Story:
        self._run("create", "-f", "-", stdin=json.dumps(CONTROL_PLANE))
        self._until(lambda plane: _state(plane)[0] == "Provisioning" and _unavailable(plane) == 1)
        self._note("provisioning")
        for stage, replicas in REPLICAS.items():
            self._run("patch", "tenantcontrolplane", "shop", "--type=merge", "-p", json.dumps(_wanting(replicas)))
            self._until(partial(self._is_reached, replicas))
            self._note(stage)
        self._run("delete", "tenantcontrolplane", "shop", "--timeout=60s", timeout=70)
        return self.story

    def _is_reached(self, replicas: int, plane: Json) -> bool:
        self._run_pods()
        return _is_reached(replicas, plane)

    def _run_pods(self) -> None:
        """What a kubelet would report."""
        for pod in self._items("pods"):
            if pod["status"].get("phase") != "Running":
                status = {"status": {"phase": "Running", "conditions": [_READY]}}
                name = pod["metadata"]["name"]
                self._run("patch", "pod", name, "--subresource=status", "--type=merge", "-p", json.dumps(status))

    def _until(self, holds: Callable[[Json], bool]) -> None:
        eventually(lambda: holds(self._plane()), "the control plane is as it should be", 90, pause=0.5)

    def _note(self, stage: str) -> None:
        secrets = {one["metadata"]["name"]: one for one in self._items("secrets")}
        self.story.stages[stage] = (self._plane(), {name: secrets[name] for name in SECRETS if name in secrets})

    def _plane(self) -> Json:
        plane: Json = json.loads(self._run("get", "tenantcontrolplane", "shop", "-o", "json"))
        return plane

    def _items(self, kind: str) -> list[Json]:
        items: list[Json] = json.loads(self._run("get", kind, "-o", "json"))["items"]
        return items

    def _run(self, *arguments: str, **options: Any) -> str:
        return self._kubectl("-n", self._namespace, *arguments, **options).out


def _state(plane: Json) -> tuple[str, str]:
    version = plane.get("status", {}).get("kubernetesResources", {}).get("version", {})
    return version.get("status", ""), version.get("version", "")


def _deployment(plane: Json) -> Json:
    deployment: Json = plane.get("status", {}).get("kubernetesResources", {}).get("deployment", {})
    return deployment


def _unavailable(plane: Json) -> int:
    return int(_deployment(plane).get("unavailableReplicas", 0))


def _is_reached(replicas: int, plane: Json) -> bool:
    deployment = _deployment(plane)
    counts = [deployment.get(name) for name in ("replicas", "readyReplicas", "updatedReplicas")]
    return _state(plane) == ("Ready", VERSION) and counts == [replicas] * 3


async def simulate(data: Path, namespace: str) -> Story:
    """The life with the stand-in."""
    story = Story()
    async with Server(data, port=0) as server:
        client = DirectClient(server.root)
        await install_definitions(client, (TenantControlPlane,))
        manager = Manager(client)
        manager.add(TenantControlPlanes(manager, TenantApis(server), _BRIEFLY, SystemClock()))
        async with asyncio.TaskGroup() as group:
            running = group.create_task(manager.run())
            await client.create({"metadata": {"name": namespace}}, NAMESPACE)
            obj = {**CONTROL_PLANE, "metadata": {"name": "shop", "namespace": namespace}}
            await client.create(obj, TenantControlPlane.address)
            await _noted(client, namespace, story, "provisioning", lambda plane: _state(plane)[0] == "Provisioning")
            for stage, replicas in REPLICAS.items():
                await client.patch(TenantControlPlane.address, "shop", _wanting(replicas), namespace)
                await _noted(client, namespace, story, stage, partial(_is_reached, replicas))
            running.cancel()
    return story


async def _noted(client: Client, namespace: str, story: Story, stage: str, holds: Callable[[Json], bool]) -> None:
    here = Selection(namespace=namespace)
    async with asyncio.timeout(20):
        async for _ in follow(client, TenantControlPlane.address, here, clock=SystemClock(), chance=SystemChance()):
            plane = await client.get(TenantControlPlane.address, "shop", namespace)
            if holds(plane):
                break
    secrets = {one["metadata"]["name"]: one for one in (await client.list(Secret.address, here)).items}
    story.stages[stage] = (plane, {name: secrets[name] for name in SECRETS if name in secrets})
