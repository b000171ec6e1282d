"""Harvester as a provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from butler.api.provider import ProviderConfig
from butler.errors import MachineRejected, ProviderUnavailable
from kubekit.model.resource import Address, Object

from ..contract import (
    NOTHING_KNOWN,
    Asset,
    Check,
    Choice,
    Known,
    Machine,
    MachineOrder,
    Power,
    Surroundings,
    by_name,
)
from ..guest_network import with_name_servers
from . import boot_image, kinds, vm, vm_state
from .api import Api
from .checks import Checking
from .section import NAME, ObjectName, Settings, settings


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Harvester:
    """The account a normalised ProviderConfig stands for. Raises InvalidConfiguration and CredentialsInvalid."""
    return Harvester(settings(config, credentials), surroundings.patience)


class Harvester:
    """One namespace of one Harvester cluster.

    A machine is a VirtualMachine with a Secret to boot with; Harvester makes its disks from the VM, KubeVirt the
    instance that runs. All of it carries the token as a label, and by that it is found."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = 30.0
    """A request whose answer was lost may still be at some webhook for so long."""

    def __init__(self, settings: Settings, patience: float) -> None:
        self.settings, self.api = settings, Api(settings, patience)

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        order = with_name_servers(order, self.settings.name_servers)
        if found := await self._vm(order.name, order.token):
            return await self._helped(found)
        wanted = vm.machine(order, self.settings, await self._boot(order))
        secret = vm.secret(order, self.settings)
        if secret is not None:
            await self.api.apply(secret, kinds.SECRET, order.name, _hidden(order))
        try:
            made = await self._made(order, wanted)
        except MachineRejected:
            await self._without_secret(order.name, order.token)
            raise
        if secret is not None:
            place = ObjectName(self.settings.namespace, secret["metadata"]["name"])
            await self.api.patch(kinds.SECRET, place, vm.owned_by(made), order.name)
        return vm_state.machine(made, None)

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        found = await self._vm(name, token)
        return await self._shown(found) if found is not None else None

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        found = await self._vm(name, token)
        if found is not None:
            if not vm_state.is_going(found):
                await self.api.delete(kinds.VIRTUAL_MACHINE, self._place(found), name, found["metadata"]["uid"])
            return False
        # Harvester keeps the disks of a VM that is gone, and refuses to part with those of one that is not.
        claims = await self._marked(kinds.CLAIM, token, name)
        for claim in claims:
            if not vm_state.is_going(claim):
                await self.api.delete(_origin(claim), self._place(claim), name)
        has_no_secret = await self._without_secret(name, token)
        return has_no_secret and not claims

    async def check(self) -> tuple[Check, ...]:
        return await Checking(self.api, self.settings).all()

    async def inventory(self) -> tuple[Asset, ...]:
        vms = await self._marked(kinds.VIRTUAL_MACHINE)
        claims, secrets = await self._marked(kinds.CLAIM), await self._marked(kinds.SECRET)
        images = await self._marked(kinds.IMAGE)
        return (
            *(vm_state.asset(one) for one in vms),
            *(_asset("disk", one, one["spec"]["resources"]["requests"]["storage"]) for one in claims),
            *(_asset("secret", one) for one in secrets),
            *(_asset("image", one) for one in images),
        )

    async def images(self) -> tuple[Choice, ...]:
        listed = [
            one for one in await self.api.list(kinds.IMAGE) if boot_image.is_ready(one) and not boot_image.unfit(one)
        ]
        return by_name(_image_choice(one) for one in listed)

    async def networks(self) -> tuple[Choice, ...]:
        return by_name(_network_choice(one) for one in await self.api.list(kinds.NETWORK))

    async def close(self) -> None:
        await self.api.close()

    async def _vm(self, name: str, token: str) -> Object | None:
        found = await self._marked(kinds.VIRTUAL_MACHINE, token, name)
        return found[0] if found else None

    async def _marked(self, kind: Address, token: str = "", about: str = "") -> tuple[Object, ...]:
        labels = f"{vm.MARK}={token}" if token else vm.MARK
        return await self.api.list(kind, self.settings.namespace, labels, about)

    async def _shown(self, found: Object) -> Machine:
        instance = None
        if vm_state.power_of(found) is Power.RUNNING:
            instance = await self.api.get(kinds.INSTANCE, self._place(found), found["metadata"]["name"])
        return vm_state.machine(found, instance)

    async def _helped(self, found: Object) -> Machine:
        """A VM that is there already. Raises what keeps it from starting."""
        trouble = vm_state.trouble(found)
        if trouble is None:
            return await self._shown(found)
        if vm_state.power_of(found) is Power.STOPPED:
            # Harvester has stopped it for want of room, and looks no more; started again, it does.
            change = {"spec": {"runStrategy": vm.RUN_STRATEGY}}
            await self.api.patch(kinds.VIRTUAL_MACHINE, self._place(found), change, trouble.machine)
        raise trouble

    async def _boot(self, order: MachineOrder) -> vm.Boot:
        place = ObjectName.of(order.image, self.settings.namespace) if order.image else self.settings.image
        if place is None:
            raise MachineRejected(NAME, order.name, "neither the request nor spec.harvester.imageName names an image")
        found = await boot_image.image(self.api, place, order.name)
        if found is None:
            raise MachineRejected(NAME, order.name, f"there is no image {place}")
        return boot_image.boot(found, order.name, self.settings.storage_class)

    async def _made(self, order: MachineOrder, wanted: Object) -> Object:
        made = await self.api.create(wanted, kinds.VIRTUAL_MACHINE, order.name, _hidden(order))
        made = made or await self._vm(order.name, order.token)
        if made is not None:
            return made
        other = await self.api.get(kinds.VIRTUAL_MACHINE, ObjectName(self.settings.namespace, order.name), order.name)
        if other is None or vm_state.is_going(other):
            raise ProviderUnavailable(NAME, order.name, "a VM of this name is just going")
        message = f"the name {order.name} is taken in namespace {self.settings.namespace}"
        raise MachineRejected(NAME, order.name, message)

    async def _without_secret(self, name: str, token: str) -> bool:
        """Answers whether it was gone before."""
        place = ObjectName(self.settings.namespace, vm.part_name(name, token, "init"))
        return await self.api.delete(kinds.SECRET, place, name)

    def _place(self, found: Object) -> ObjectName:
        return ObjectName(self.settings.namespace, found["metadata"]["name"])


def _hidden(order: MachineOrder) -> tuple[str, ...]:
    return order.user_data, order.network_data


def _origin(claim: Object) -> Address:
    """What has to go so that a disk goes: CDI makes one again as long as its data volume is there."""
    owners = claim["metadata"].get("ownerReferences") or ()
    is_cloned = any(one.get("kind") == kinds.DATA_VOLUME.kind for one in owners)
    return kinds.DATA_VOLUME if is_cloned else kinds.CLAIM


def _asset(kind: str, obj: Object, size: str = "") -> Asset:
    meta = obj["metadata"]
    return Asset(kind, str(ObjectName(meta["namespace"], meta["name"])), meta["name"], vm_state.token_of(obj), size)


def _image_choice(found: Object) -> Choice:
    place, status = boot_image.place_of(found), found.get("status") or {}
    size = f"{int(status['virtualSize']) / 2**30:.1f} GB disk" if status.get("virtualSize") else ""
    return Choice(str(place), found["spec"].get("displayName") or place.name, size)


def _network_choice(found: Object) -> Choice:
    meta = found["metadata"]
    labels = meta.get("labels") or {}
    kind, vlan = labels.get("network.harvesterhci.io/type", ""), labels.get("network.harvesterhci.io/vlan-id", "")
    detail = f"VLAN {vlan}" if vlan and vlan != "0" else kind
    return Choice(str(ObjectName(meta["namespace"], meta["name"])), meta["name"], detail)
