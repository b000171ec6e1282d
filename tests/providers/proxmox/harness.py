"""The fake as the conformance kit sees it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.proxmox import ProxmoxSection
from butler.api.shared import ProviderType, SecretRef
from butler.providers import registry
from butler.providers.contract import ExtraDisk, MachineOrder, Provider, Surroundings
from butler.providers.images import Images
from butler.providers.testing import Harness, Seen
from butler.providers.testing.web import serving
from kubekit.model.resource import ObjectMeta

# The modules say with a decorator what they handle.
from tests.providers.proxmox import fake_cluster, fake_guests, fake_power  # noqa: F401
from tests.providers.proxmox.fake import GIB, PASSWORD, TOKEN_SECRET, TOKEN_USER, USER, Guest, Pve, Volume

TEMPLATE = 9000
TOKEN = {"token": TOKEN_USER, "secret": TOKEN_SECRET}
LOGIN = {"username": USER, "password": PASSWORD}


def cluster() -> Pve:
    """Two hosts, a template on shared storage, and a disk image on each host."""
    pve = Pve()
    pve.add_template(TEMPLATE, "talos")
    for node in pve.hosts:
        volid = "local:import/flatcar.qcow2"
        pve.storages["local"].on(node)[volid] = Volume(volid, 8 * GIB, "import", pve.now, form="qcow2")
    return pve


def config(endpoint: str, **section: Any) -> ProviderConfig:
    wanted = {"nodes": ("pve1", "pve2"), "storage": "ceph", "template_id": TEMPLATE, **section}
    spec = ProviderConfigSpec(
        provider=ProviderType.PROXMOX,
        credentials_ref=SecretRef(name="proxmox", namespace="butler-system"),
        proxmox=ProxmoxSection(endpoint=endpoint, **{key: value for key, value in wanted.items() if value is not None}),
    )
    return ProviderConfig(metadata=ObjectMeta(name="lab", namespace="butler-system"), spec=spec)


class ProxmoxHarness(Harness):
    provider_id = r"proxmox://[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    secrets = (TOKEN_SECRET, PASSWORD)
    step = 20.0
    patience = 400.0

    def __init__(self, pve: Pve, url: str, credentials: dict[str, str] = TOKEN, **section: Any) -> None:
        self.pve, self.url, self.faults = pve, url, pve.faults
        self._credentials, self._section = credentials, section

    async def connect(self) -> Provider:
        return self.connected(self._credentials)

    async def connect_wrongly(self) -> Provider:
        last = list(self._credentials)[-1]
        return self.connected({**self._credentials, last: "wrong"})

    def connected(self, credentials: dict[str, str] = TOKEN, **section: Any) -> Provider:
        surroundings = Surroundings(clock=self.pve.clock)
        return registry.connect(config(self.url, **{**self._section, **section}), credentials, surroundings)

    async def machines(self) -> list[Seen]:
        return [_seen(one) for one in self.pve.existing() if not one.is_template]

    async def leftovers(self) -> list[str]:
        """Disks and ISO images without a machine."""
        self.pve.catch_up()
        stores = self.pve.storages.values()
        volumes = {volid for store in stores for there in store.volumes.values() for volid in there}
        return sorted(volid for volid in volumes if (owner := _owner(volid)) and owner not in self.pve.guests)

    async def pass_time(self, seconds: float) -> None:
        self.pve.clock.pass_by(seconds)

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        guest = self.guest(token)
        volid = guest.conf["ide2"].partition(",")[0]
        image = self.pve.storages["local"].on(guest.node)[volid].data
        return read_iso(image)["user-data"].decode() == user_data

    async def lose(self, token: str) -> None:
        guest = self.guest(token)
        for store in self.pve.storages.values():
            for volid in [one for one in store.on(guest.node) if f":vm-{guest.vmid}-" in one]:
                del store.on(guest.node)[volid]
        del self.pve.guests[guest.vmid]

    async def stop(self, token: str) -> None:
        self.guest(token).running_since = None

    async def add_stranger(self, name: str) -> None:
        self.pve.add_guest(next(n for n in range(300, 999) if n not in self.pve.guests), "pve1", {"name": name})

    async def add_image(self, name: str) -> str:
        vmid = next(n for n in range(9001, 9999) if n not in self.pve.guests)
        self.pve.add_template(vmid, name)
        return str(vmid)

    async def add_network(self, name: str) -> str:
        self.pve.hosts["pve2"].bridges.append(name)
        return name

    def refused(self, order: MachineOrder) -> MachineOrder:
        return replace(order, extra_disks=(ExtraDisk(10, "nowhere"),))

    async def fill(self) -> None:
        for host in self.pve.hosts.values():
            host.used = host.memory

    def images(self, provider: Provider) -> Images:
        images = registry.images("proxmox", provider)
        assert images is not None
        return images

    def guest(self, token: str) -> Guest:
        self.pve.catch_up()
        return next(one for one in self.pve.guests.values() if _token(one) == token)


def _token(guest: Guest) -> str:
    text = guest.conf.get("description", "") + guest.notes
    found = re.search(r"^butler-token: (\S+),", text, re.MULTILINE)
    return found[1] if found else ""


def _seen(guest: Guest) -> Seen:
    conf = guest.conf
    disks = {name: int(value.rpartition("size=")[2][:-1]) for name, value in conf.items() if _is_disk(name, value)}
    labels = re.findall(r"^([^\s=]+)=(.*)$", conf.get("description", guest.notes), re.MULTILINE)
    return Seen(
        name=guest.name,
        token=_token(guest),
        cpu=int(conf.get("cores", 0)) or None,
        memory_mb=int(conf.get("memory", 0)) or None,
        disk_gb=disks.pop("scsi0", None),
        extra_disks=tuple(disks.values()),
        labels=dict(labels),
        image=str(TEMPLATE),
    )


def _is_disk(name: str, value: str) -> bool:
    return name.startswith("scsi") and name != "scsihw" and "size=" in value


def _owner(volid: str) -> int:
    """The VM that something was made for; 0 for what belongs to nobody."""
    found = re.search(r":vm-(\d+)-|iso/butler-[0-9a-f-]{36}-(\d+)\.iso", volid)
    return int(found[1] or found[2]) if found else 0


def read_iso(image: bytes) -> dict[str, bytes]:
    """The files of an ISO image by their long names, read the way Joliet says."""
    descriptor = image[17 * 2048 : 18 * 2048]
    assert descriptor[:7] == b"\x02CD001\x01"
    at, found = int.from_bytes(descriptor[158:162], "little") * 2048, {}
    while length := image[at]:
        record = image[at : at + length]
        name = record[33 : 33 + record[32]].decode("utf-16-be", errors="replace")
        start, size = (int.from_bytes(record[begin : begin + 4], "little") for begin in (2, 10))
        if not record[25] & 2:
            found[name] = image[start * 2048 : start * 2048 + size]
        at += length
    return found


@asynccontextmanager
async def running(credentials: dict[str, str] = TOKEN, **section: Any) -> AsyncIterator[ProxmoxHarness]:
    """A cluster that answers, and a way to look behind it."""
    pve = cluster()
    async with serving(pve.app()) as url:
        yield ProxmoxHarness(pve, url, credentials, **section)
