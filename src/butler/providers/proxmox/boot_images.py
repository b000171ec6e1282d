"""The ISO images that machines boot with: one for each, named by token and number."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from ..contract import MachineOrder
from . import boot_volume, vm
from .api import Api
from .errors import Absent
from .lookup import Cluster


@dataclass(frozen=True, slots=True)
class Iso:
    """One of them, on the storage of one host."""

    node: str
    volume: str
    token: str
    vmid: int
    made: datetime


class Isos:
    """Those of one account. Each is written before its machine is asked for, and removed after it."""

    def __init__(self, api: Api, storage: str, settles_in: float) -> None:
        self._api, self._storage, self._settling = api, storage, timedelta(seconds=settles_in)

    async def of(
        self, cluster: Cluster, nodes: tuple[str, ...], about: str, token: str = ""
    ) -> tuple[list[Iso], datetime]:
        """Those of a token, or all, and what time it is over there."""
        found, now = [], datetime.min.replace(tzinfo=UTC)
        for node in cluster.holders(self._storage, nodes):
            listed, now = await self._api.listed(f"{self._path(node)}/content", about, content="iso")
            for entry in listed:
                if (parts := vm.iso_parts(entry["volid"].rpartition("/")[2])) is None:
                    continue
                if not token or parts[0] == vm.identity(token):
                    made = datetime.fromtimestamp(int(entry.get("ctime") or 0), UTC)
                    found.append(Iso(node, entry["volid"], *parts, made))
        return found, now

    async def found_on(self, node: str, order: MachineOrder, vmid: int) -> str:
        """The volume for a machine if a host has it, else nothing."""
        wanted = f"{self._storage}:iso/{vm.iso_name(order.token, vmid)}"
        listed = await self._api.get(f"{self._path(node)}/content", order.name, content="iso")
        return wanted if wanted in {one["volid"] for one in listed} else ""

    async def put(self, node: str, order: MachineOrder, vmid: int) -> str:
        """Write one. Answers its volume."""
        name = vm.iso_name(order.token, vmid)
        content = boot_volume.volume(order, vm.identity(order.token))
        await self._api.upload(f"{self._path(node)}/upload", order.name, name, content)
        return f"{self._storage}:iso/{name}"

    async def remove(self, iso: Iso, about: str) -> None:
        try:
            await self._api.delete(f"{self._path(iso.node)}/content/{quote(iso.volume, safe=':')}", about)
        except Absent:
            return

    def is_young(self, iso: Iso, now: datetime) -> bool:
        return now - iso.made < self._settling

    def _path(self, node: str) -> str:
        return f"/nodes/{node}/storage/{self._storage}"
