"""What a machine needs on Nutanix, tried one by one."""

from __future__ import annotations

from typing import Protocol

from butler import advice
from butler.api.sections.nutanix import Entity
from butler.errors import CredentialsInvalid, MachineRejected

from ..contract import Check
from .api import Api, Kind
from .lookup import only
from .section import Settings

_NAMES = {Kind.CLUSTER: "capacity", Kind.SUBNET: "network", Kind.IMAGE: "image", Kind.CONTAINER: "storage"}
_REMEDIES = {
    Kind.CLUSTER: "Set spec.nutanix.cluster to one that Prism Central manages.",
    Kind.SUBNET: f"Set spec.nutanix.subnet to one of `{advice.provider_networks(advice.NAME)}`.",
    Kind.IMAGE: (
        f"Set spec.nutanix.image to one of `{advice.provider_images(advice.NAME)}`, or bring one with an ImageSync."
    ),
    Kind.CONTAINER: "Set spec.nutanix.storageContainer to a container of the cluster, or leave it out.",
}
_WHO = "Put a user and a password that Prism Central takes into the Secret."
_ROLE = "Give the user a role with the permissions in docs/howto/providers/nutanix.md."


class Account(Protocol):
    """What the checks need of a provider."""

    settings: Settings

    async def api(self, about: str) -> Api: ...


async def all_of(account: Account) -> tuple[Check, ...]:
    """Raises ProviderError when nothing can be tried."""
    reachable = Check("reachable", True, f"Prism Central answers at {account.settings.url}.")
    user = account.settings.username
    try:
        api = await account.api("")
    except CredentialsInvalid as error:
        return (reachable, Check("credentials", False, str(error), _WHO))
    version = f"It is {api.product or 'a version it does not tell'}, and speaks {api.version} of its API."
    tried = _Tried(api, account.settings)
    needed = await tried.everything()
    if tried.sees_nothing:
        return (reachable, Check("credentials", False, f"User {user} is refused whatever it asks for.", _WHO))
    return (
        reachable,
        Check("version", True, version, value=api.product),
        Check("credentials", True, f"User {user} is let in."),
        tried.permissions(),
        *needed,
    )


class _Tried:
    """The checks of one account, and what it was not allowed to see meanwhile."""

    def __init__(self, api: Api, settings: Settings) -> None:
        self._api, self._settings = api, settings
        self._denied: list[str] = []
        self._cluster = ""

    async def everything(self) -> list[Check]:
        settings = self._settings
        await self._machines()
        return [
            await self._capacity(settings.cluster),
            await self._thing(Kind.SUBNET, settings.subnet),
            await self._image(settings.image),
            await self._storage(settings.storage_container),
        ]

    @property
    def sees_nothing(self) -> bool:
        return {"machines", "clusters", "subnets"} <= set(self._denied)

    def permissions(self) -> Check:
        if self._denied:
            return Check("permissions", False, f"The user may not see {', '.join(self._denied)}.", _ROLE)
        return Check("permissions", True, "The user may see machines and all they are made from.")

    async def _machines(self) -> None:
        try:
            await self._api.vms("", "butler-looks-whether-it-may")
        except CredentialsInvalid:
            self._denied.append("machines")

    async def _capacity(self, cluster: Entity) -> Check:
        check = await self._thing(Kind.CLUSTER, cluster)
        if not check.passed:
            return check
        try:
            hosts = await self._api.hosts(self._cluster, "")
        except CredentialsInvalid:
            return self._unseen(Kind.CLUSTER, "hosts")
        gib = hosts.memory_mb // 1024
        message = f"{check.message} It has {hosts.count} hosts with {hosts.cores} cores and {gib} GiB of memory."
        return Check("capacity", hosts.count > 0, message, "Add hosts to the cluster, or name another.")

    async def _image(self, image: Entity | None) -> Check:
        if image is None:
            return Check("image", True, "No image is named: each request has to name its own.")
        return await self._thing(Kind.IMAGE, image)

    async def _storage(self, container: Entity | None) -> Check:
        if container is None:
            return Check("storage", True, "No storage container is named: disks go where the cluster puts them.")
        return await self._thing(Kind.CONTAINER, container)

    async def _thing(self, kind: Kind, entity: Entity) -> Check:
        try:
            found = await only(self._api, kind, entity, self._cluster, "")
        except MachineRejected as error:
            return Check(_NAMES[kind], False, str(error), _REMEDIES[kind])
        except CredentialsInvalid:
            return self._unseen(kind, f"{kind.value}s")
        if kind is Kind.CLUSTER:
            self._cluster = found.uuid
        shown = f"{kind.value.capitalize()} {found.name}"
        if found.problem:
            return Check(_NAMES[kind], False, f"{shown} cannot be used: {found.problem}.", _REMEDIES[kind])
        if self._cluster and found.clusters and self._cluster not in found.clusters:
            return Check(_NAMES[kind], False, f"{shown} is not on the cluster of the machines.", _REMEDIES[kind])
        return Check(_NAMES[kind], True, f"{shown} is there" + (f": {found.detail}." if found.detail else "."))

    def _unseen(self, kind: Kind, what: str) -> Check:
        self._denied.append(what)
        return Check(_NAMES[kind], False, f"The user may not see {what}.", _ROLE)
