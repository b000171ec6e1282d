"""Names of clusters, subnets, images and storage containers, and the UUIDs they stand for."""

from __future__ import annotations

from butler.api.sections.nutanix import Entity
from butler.errors import MachineRejected

from ..contract import MachineOrder
from .api import Api, Kind, Places, Thing
from .section import NAME, Settings
from .vm import is_uuid


class Atlas:
    """What an account calls its places. Each name is looked up once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: dict[tuple[Kind, str], str] = {}

    def forget(self) -> None:
        self._known.clear()

    async def places(self, api: Api, order: MachineOrder) -> Places:
        """Raises MachineRejected for a name that stands for nothing, or for more than one thing."""
        settings, about = self._settings, order.name
        image = named(order.image) if order.image else settings.image
        if image is None:
            raise MachineRejected(NAME, about, "neither the request nor spec.nutanix.image says what to boot from")
        usual = settings.storage_container
        wanted = [usual, *(named(disk.storage_class) or usual for disk in order.extra_disks)]
        return Places(
            cluster=await self.cluster(api, about),
            subnet=await self._uuid(api, Kind.SUBNET, settings.subnet, about),
            image=await self._uuid(api, Kind.IMAGE, image, about),
            containers=tuple(
                [await self._uuid(api, Kind.CONTAINER, one, about) if one is not None else "" for one in wanted]
            ),
            boot_type=settings.boot_type,
        )

    async def cluster(self, api: Api, about: str) -> str:
        return await self._uuid(api, Kind.CLUSTER, self._settings.cluster, about)

    async def _uuid(self, api: Api, kind: Kind, entity: Entity, about: str) -> str:
        if entity.uuid:
            return entity.uuid
        key = (kind, entity.name or "")
        if key not in self._known:
            cluster = "" if kind is Kind.CLUSTER else await self.cluster(api, about)
            self._known[key] = (await only(api, kind, entity, cluster, about)).uuid
        return self._known[key]


def named(text: str) -> Entity | None:
    """What a text stands for that may be a UUID or a name."""
    if not text:
        return None
    return Entity(uuid=text) if is_uuid(text) else Entity(name=text)


async def only(api: Api, kind: Kind, entity: Entity, cluster: str, about: str) -> Thing:
    """The one thing that is meant; of several with a name, that on the cluster. Raises MachineRejected."""
    if entity.uuid:
        found = [one for one in (await api.thing(kind, entity.uuid, about),) if one is not None]
    else:
        found = await api.things(kind, about, entity.name or "")
    if len(found) > 1:
        found = [one for one in found if not cluster or not one.clusters or cluster in one.clusters]
    if len(found) == 1:
        return found[0]
    shown = f"{kind.value} with the UUID {entity.uuid}" if entity.uuid else f"{kind.value} named {entity.name!r}"
    if not found:
        raise MachineRejected(NAME, about, f"there is no {shown}")
    raise MachineRejected(NAME, about, f"there are {len(found)} of {shown}; say which by its UUID")
