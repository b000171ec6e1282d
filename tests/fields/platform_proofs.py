"""Fields whose effect shows only where something runs: on a whole simulated platform, or beside a data centre."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.machine import ImageSync
from butler.engines.core import Secret
from butler.engines.tenants import Tenants, admin_kubeconfig_secret
from butler.local.home import Home
from butler.local.platform import Options, running
from butler.simulation.delays import NONE
from kubekit.client.protocol import Client, Selection
from kubekit.model.resource import Address
from kubekit.testing.deterministic_loop import Loop
from tests.controllers.requests_world import SYSTEM, World
from tests.fields.cluster_world import put
from tests.fields.proof import Observe, Proof, in_virtual_time
from tests.local.worlds import NAME, TENANTS, runs, until

SERVICE = Address("", "v1", "Service", "services", True)
VERSION = "v1.31.4"
POOL = {"start": "10.9.0.1", "end": "10.9.0.2"}


def addresses(path: str, **networking: Any) -> Observe:
    """Which addresses the Services of a cluster get."""

    async def observe(value: Any) -> object:
        spec = {"kubernetesVersion": VERSION, "workers": {"replicas": 1}, "networking": networking}
        document: dict[str, Any] = {"metadata": {"name": NAME, "namespace": TENANTS}, "spec": spec}
        put(document, path.split(".")[1:], value)
        with tempfile.TemporaryDirectory() as place:
            async with running(Home(Path(place)), Options(delays=NONE)) as platform:
                await platform.client.create(document, TenantCluster.address)
                await until(platform.client, runs(VERSION, 1))
                return await _balanced(await _inside(platform.client))

    return observe


async def _inside(client: Client) -> Client:
    status = (await client.get(TenantCluster, NAME, TENANTS)).status
    secret = await client.get(Secret, admin_kubeconfig_secret(NAME), status.tenant_namespace or "")
    host, _, port = (status.control_plane_endpoint or "").partition("/")[0].rpartition(":")
    return await Tenants().client_for(secret, (host, int(port)))


async def _balanced(tenant: Client) -> dict[str, Any]:
    """One Service wishes for an address, and two more come after it: by then it has what it will get."""
    try:
        await _service(tenant, "wish", loadBalancerIP="10.9.0.3")
        for name in ("first", "second"):
            await _service(tenant, name)
            await _addressed(tenant, name)
        listed = await tenant.list(SERVICE, Selection("default"))
        return {one["metadata"]["name"]: one.get("status") for one in listed.items}
    finally:
        await tenant.close()


async def _service(tenant: Client, name: str, **spec: Any) -> None:
    wanted = {"type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"app": name}}
    await tenant.create({"metadata": {"name": name, "namespace": "default"}, "spec": {**wanted, **spec}}, SERVICE)


async def _addressed(tenant: Client, name: str) -> None:
    listed = await tenant.list(SERVICE, Selection("default"))
    async for event in tenant.watch(SERVICE, Selection("default"), version=listed.version):
        found: Any = event.item
        if found["metadata"]["name"] == name and found["status"].get("loadBalancer"):
            return


async def factory(url: str) -> object:
    """What becomes of an image that is asked for."""

    async def ask(loop: Loop) -> object:
        world = World(loop)
        world.start()
        spec = {"imageFactory": {"url": url}}
        await world.client.create({"metadata": {"name": "butler"}, "spec": spec}, ButlerConfig.address)
        await world.config()
        wanted = {
            "factoryRef": {"schematicID": "376567988ad3", "version": "v1.9.0"},
            "providerConfigRef": {"name": "lab"},
        }
        await world.client.create(
            {"metadata": {"name": "talos", "namespace": SYSTEM}, "spec": wanted}, ImageSync.address
        )
        await asyncio.sleep(300)
        status = (await world.now(ImageSync, "talos")).status
        await world.end()
        return status.artifact_url

    return await in_virtual_time(ask)


_SPEC = "TenantCluster.spec"
_ONE, _OTHER = "10.9.0.1-10.9.0.2", "10.9.0.1-10.9.0.3"
PROOFS: dict[str, Proof] = {
    f"{_SPEC}.networking.loadBalancerPool.start": Proof(
        addresses(f"{_SPEC}.networking.loadBalancerPool.start", loadBalancerPool={**POOL, "end": "10.9.0.6"}),
        "10.9.0.1",
        "10.9.0.4",
    ),
    f"{_SPEC}.networking.loadBalancerPool.end": Proof(
        addresses(f"{_SPEC}.networking.loadBalancerPool.end", loadBalancerPool=POOL), "10.9.0.2", "10.9.0.3"
    ),
    f"{_SPEC}.addons.loadBalancer.addressPool": Proof(
        addresses(f"{_SPEC}.addons.loadBalancer.addressPool"), _ONE, _OTHER
    ),
    f"{_SPEC}.platform.metalLBPool": Proof(addresses(f"{_SPEC}.platform.metalLBPool"), _ONE, f"{_OTHER},10.9.1.1"),
    "ButlerConfig.spec.imageFactory.url": Proof(factory, "https://one.example.com", "https://two.example.com"),
}
