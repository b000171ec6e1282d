"""Disk images on Proxmox: its hosts fetch them themselves, and machines import them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from butler.errors import MachineRejected

from ..contract import NOTHING_KNOWN, Known
from ..images import Image, ImageOrder, Progress
from .api import Api
from .errors import Absent
from .inventory import IMAGE_PREFIX, image_name
from .lookup import Cluster
from .provider import Proxmox
from .section import NAME, Settings

_FORMATS = {"qcow2": "qcow2", "raw": "raw"}


def connect(provider: Proxmox) -> ProxmoxImages:
    return ProxmoxImages(provider.api, provider.settings)


class ProxmoxImages:
    """The disk images of an account. On a storage that is not shared, every host gets one of its own."""

    def __init__(self, api: Api, settings: Settings) -> None:
        self._api, self._settings = api, settings

    async def ensure(self, order: ImageOrder, known: Known = NOTHING_KNOWN) -> Image:
        if known.task and await self._api.is_busy(known.task, order.name):
            return Image("", order.name, Progress.FETCHING, known.task)
        file = _file(order)
        nodes = await self._holders(order.name)
        if not nodes:
            where = f"storage {self._settings.image_storage} on {', '.join(self._settings.nodes)}"
            raise MachineRejected(NAME, order.name, f"there is no {where}")
        for node in nodes:
            if file in await self._files(node, order.name):
                continue
            task = await self._running(node, file, order.name) or await self._fetch(node, file, order)
            return Image("", order.name, Progress.FETCHING, task)
        return Image(f"{self._settings.image_storage}:import/{file}", order.name, Progress.READY)

    async def delete(self, name: str, known: Known = NOTHING_KNOWN) -> bool:
        is_gone = True
        for node in await self._holders(name):
            for end in _FORMATS.values():
                if task := await self._running(node, f"{IMAGE_PREFIX}{name}.{end}", name):
                    is_gone = False
                    await self._api.delete(f"/nodes/{node}/tasks/{quote(task, safe=':@!')}", name)
            for file, volume in (await self._files(node, name)).items():
                if image_name(file) == name:
                    is_gone = False
                    await self._remove(node, volume, name)
        return is_gone

    async def _holders(self, about: str) -> tuple[str, ...]:
        cluster = Cluster.of(await self._api.get("/cluster/resources", about))
        return cluster.holders(self._settings.image_storage, self._settings.nodes)

    async def _files(self, node: str, about: str) -> dict[str, str]:
        """Volumes by the name of the file. One that is being fetched is not among them."""
        listed = await self._api.get(f"{self._path(node)}/content", about, content="import")
        return {one["volid"].rpartition("/")[2]: one["volid"] for one in listed}

    async def _running(self, node: str, file: str, about: str) -> str:
        """The task that fetches a file, if one is at work of which we have heard nothing."""
        query = {"source": "active", "typefilter": "download"}
        tasks: list[Any] = await self._api.get(f"/nodes/{node}/tasks", about, **query)
        return next((str(one["upid"]) for one in tasks if one.get("id") == file), "")

    async def _fetch(self, node: str, file: str, order: ImageOrder) -> str:
        form = {"content": "import", "filename": file, "url": order.url}
        if order.sha256:
            form |= {"checksum": order.sha256, "checksum-algorithm": "sha256"}
        return str(await self._api.post(f"{self._path(node)}/download-url", order.name, form))

    async def _remove(self, node: str, volume: str, about: str) -> None:
        try:
            await self._api.delete(f"{self._path(node)}/content/{quote(volume, safe=':')}", about)
        except Absent:
            return

    def _path(self, node: str) -> str:
        return f"/nodes/{node}/storage/{self._settings.image_storage}"


def _file(order: ImageOrder) -> str:
    if order.format not in _FORMATS:
        message = f"machines are made from qcow2 and raw, and not from {order.format}"
        raise MachineRejected(NAME, order.name, message)
    return f"{IMAGE_PREFIX}{order.name}.{_FORMATS[order.format]}"
