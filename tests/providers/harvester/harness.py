"""Harvester under test, and a way to look behind it."""

from __future__ import annotations

import base64
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.harvester import HarvesterSection
from butler.api.shared import ProviderType, SecretRef
from butler.api.units import GIB, MIB, whole
from butler.providers import registry
from butler.providers.contract import MachineOrder, Provider, Surroundings
from butler.providers.harvester import images, kinds
from butler.providers.harvester.vm import IMAGE_ID, MARK, USER_DATA_LIMIT
from butler.providers.images import Images
from butler.providers.testing import Harness, Seen
from kubekit.client import kubeconfig
from kubekit.client.protocol import Selection
from kubekit.model.resource import Address, Object, ObjectMeta
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from tests.providers.harvester.fake import IMAGE, NETWORK, Fake, Upstream, harvester

"""Seconds; a call over TLS on a busy computer takes a while."""


def config(namespace: str = "default", *, key: str | None = None, **section: Any) -> ProviderConfig:
    given = {"network_name": f"{namespace}/{NETWORK}", "image_name": f"{namespace}/{IMAGE}", **section}
    spec = ProviderConfigSpec(
        provider=ProviderType.HARVESTER,
        credentials_ref=SecretRef(name="harvester-kubeconfig", namespace="butler-system", key=key),
        harvester=HarvesterSection(namespace=namespace, **given),
    )
    return ProviderConfig(metadata=ObjectMeta(name="harvester-prod", namespace="butler-system"), spec=spec)


class HarvesterHarness(Harness):
    provider_id = r"harvester://[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    user_data_limit = USER_DATA_LIMIT
    step = 10.0

    def __init__(self, fake: Fake, **section: Any) -> None:
        self.fake, self.faults, self._section = fake, fake.gate.faults, section
        # Every API server gives out a token of its own.
        self.secrets = (fake.token,)  # type: ignore[misc]

    async def connect(self) -> Provider:
        return self.connected(self.fake.token)

    async def connect_wrongly(self) -> Provider:
        return self.connected("nobody-knows-this-token")

    def connected(self, token: str, **section: Any) -> Provider:
        credentials = {"kubeconfig": self.fake.kubeconfig(token)}
        wanted = config(self.fake.namespace, **{**self._section, **section})
        return registry.connect(wanted, credentials, Surroundings())

    async def machines(self) -> list[Seen]:
        claims = {one["metadata"]["name"]: one for one in await self.all(kinds.CLAIM)}
        return [_seen(vm, claims) for vm in await self.all(kinds.VIRTUAL_MACHINE)]

    async def leftovers(self) -> list[str]:
        tokens = {_token(vm) for vm in await self.all(kinds.VIRTUAL_MACHINE)}
        found = [*await self.all(kinds.CLAIM), *await self.all(kinds.DATA_VOLUME), *await self.all(kinds.SECRET)]
        return sorted(one["metadata"]["name"] for one in found if _token(one) not in tokens)

    async def pass_time(self, seconds: float) -> None:
        await self.fake.controllers.pass_time(seconds)

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        volumes = (await self.vm(token))["spec"]["template"]["spec"]["volumes"]
        given = next((one["cloudInitNoCloud"] for one in volumes if "cloudInitNoCloud" in one), None)
        if given is None:
            return not user_data
        secret = await self.fake.client.get(kinds.SECRET, given["secretRef"]["name"], self.fake.namespace)
        return base64.b64decode(secret["data"]["userdata"]) == user_data.encode()

    async def lose(self, token: str) -> None:
        vm = await self.vm(token)
        await self.change(vm, {"metadata": {"finalizers": None}})
        for kind in (kinds.INSTANCE, kinds.VIRTUAL_MACHINE):
            await self.fake.client.delete(kind, vm["metadata"]["name"], self.fake.namespace)

    async def stop(self, token: str) -> None:
        await self.change(await self.vm(token), {"spec": {"runStrategy": "Halted"}})
        await self.pass_time(0)

    async def add_stranger(self, name: str) -> None:
        domain = {"devices": {}, "memory": {"guest": "1Gi"}}
        meta = {"name": name, "namespace": self.fake.namespace}
        spec = {"runStrategy": "Halted", "template": {"spec": {"domain": domain}}}
        kind = kinds.VIRTUAL_MACHINE
        made = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}
        await self.fake.client.create(made, kind)

    async def add_image(self, name: str) -> str:
        return await self.fake.add_image(name)

    async def add_network(self, name: str) -> str:
        return await self.fake.add_network(name)

    def refused(self, order: MachineOrder) -> MachineOrder:
        return replace(order, labels={"purpose": "no label may be written like this!"})

    async def fill(self) -> None:
        self.fake.admission.is_full = True

    def images(self, provider: Provider) -> Images:
        return images.connect(provider)

    async def all(self, kind: Address) -> tuple[Object, ...]:
        return (await self.fake.client.list(kind, Selection(self.fake.namespace))).items

    async def vm(self, token: str) -> Object:
        (found,) = [one for one in await self.all(kinds.VIRTUAL_MACHINE) if _token(one) == token]
        return found

    async def change(self, vm: Object, change: Object, subresource: str = "") -> None:
        name, namespace = vm["metadata"]["name"], self.fake.namespace
        await self.fake.client.patch(kinds.VIRTUAL_MACHINE, name, change, namespace, subresource=subresource)


@asynccontextmanager
async def embedded(keys: Path, folder: Path, **section: Any) -> AsyncIterator[HarvesterHarness]:
    """On Butler's own API server. `keys` are a server's keys, to be used again: to make new ones takes long."""
    shutil.copytree(keys, folder / "pki")
    async with Server(folder) as server:
        admin = kubeconfig.load(server.kubeconfig)
        upstream = Upstream(admin, DirectClient(server.root), server.pki.server_authority, server.pki.tls)
        async with harvester(upstream) as fake:
            yield HarvesterHarness(fake, **section)


def _seen(vm: Object, claims: dict[str, Object]) -> Seen:
    meta, spec = vm["metadata"], vm["spec"]["template"]["spec"]
    disks = [claims[name] for name in map(_claim, spec.get("volumes") or ()) if name in claims]
    sizes = [whole(one["spec"]["resources"]["requests"]["storage"], GIB) for one in disks]
    return Seen(
        meta["name"],
        _token(vm),
        cpu=spec["domain"].get("cpu", {}).get("cores"),
        memory_mb=whole(spec["domain"]["memory"]["guest"], MIB),
        disk_gb=sizes[0] if sizes else None,
        extra_disks=tuple(sizes[1:]),
        labels=meta.get("labels") or {},
        image=next((one["metadata"].get("annotations", {}).get(IMAGE_ID) for one in disks), None),
    )


def _claim(volume: Object) -> str:
    claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
    return str(claim or (volume.get("dataVolume") or {}).get("name"))


def _token(obj: Object) -> str:
    return str((obj["metadata"].get("labels") or {}).get(MARK, ""))
