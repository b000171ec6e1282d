"""Whether a Harvester account is able to make machines, and what to do when it is not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from butler.errors import CredentialsInvalid, MachineRejected
from kubekit.model.quantity import parse
from kubekit.model.resource import Address, Object

from ..contract import Check
from . import boot_image, kinds
from .api import Api
from .section import ObjectName, Settings

_NEEDED: tuple[tuple[Address, tuple[str, ...]], ...] = (
    (kinds.VIRTUAL_MACHINE, ("create", "get", "list", "patch", "delete")),
    (kinds.INSTANCE, ("get",)),
    (kinds.CLAIM, ("list", "delete")),
    (kinds.SECRET, ("create", "list", "patch", "delete")),
)
"""What machines need, in the namespace they are in."""
_VERSION = ObjectName("", "server-version")
_GRANT = "Grant it with the role in docs/howto/providers/harvester.md."


class Checking:
    """One look at everything; each answer is a Check."""

    def __init__(self, api: Api, settings: Settings) -> None:
        self._api, self._settings = api, settings

    async def all(self) -> tuple[Check, ...]:
        """Raises ProviderError when nothing answers, or nobody is known."""
        kubernetes = await self._api.version()
        missing = await self._missing()
        return (
            Check("reachable", True, f"The API answers; it is Kubernetes {kubernetes}."),
            await self._looked("version", self._version),
            Check("credentials", True, "The kubeconfig is accepted."),
            _permissions(self._settings.namespace, missing),
            await self._looked("image", self._image),
            await self._looked("network", self._network),
            await self._looked("storage", self._storage),
            await self._looked("capacity", self._capacity),
        )

    async def _looked(self, name: str, look: Callable[[], Awaitable[Check]]) -> Check:
        """What may not be looked at does not keep the others from being told."""
        try:
            return await look()
        except (CredentialsInvalid, MachineRejected) as error:
            return Check(name, False, str(error), _GRANT)

    async def _missing(self) -> list[str]:
        """Raises CredentialsInvalid when the credentials are nobody's."""
        needed = [(verb, kind) for kind, verbs in _NEEDED for verb in verbs]
        return [f"{verb} {kind.name}" for verb, kind in needed if not await self._may(verb, kind)]

    async def _may(self, verb: str, kind: Address) -> bool:
        asked = {"namespace": self._settings.namespace, "verb": verb, "group": kind.group, "resource": kind.plural}
        review = {
            "apiVersion": kinds.ACCESS_REVIEW.api_version,
            "kind": kinds.ACCESS_REVIEW.kind,
            "spec": {"resourceAttributes": asked},
        }
        answer = await self._api.create(review, kinds.ACCESS_REVIEW)
        return bool(((answer or {}).get("status") or {}).get("allowed"))

    async def _version(self) -> Check:
        setting = await self._api.get(kinds.SETTING, _VERSION)
        if setting is None:
            message = "The API answers, but it is not that of Harvester: it has no setting server-version."
            return Check("version", False, message, "Use the kubeconfig that Harvester offers under Support.")
        version = str(setting.get("value") or setting.get("default") or "unknown")
        return Check("version", True, f"Harvester {version}.", value=version)

    async def _image(self) -> Check:
        place = self._settings.image
        if place is None:
            return Check("image", True, "No image is configured; every request has to name one.")
        found = await boot_image.image(self._api, place)
        if found is None:
            return Check("image", False, f"There is no image {place}.", await self._others(kinds.IMAGE, "imageName"))
        if problem := boot_image.unfit(found):
            return Check("image", False, f"Image {place} {problem}.", "Import another one, and name it in imageName.")
        if failure := boot_image.failed(found):
            return Check(
                "image", False, f"Image {place} was not imported: {failure}.", "Delete it and import it again."
            )
        if not boot_image.is_ready(found):
            message = f"Image {place} is still being imported: {boot_image.progress(found)} %."
            return Check("image", False, message, "Wait until Harvester has it.")
        return Check("image", True, f"Image {place} is imported{_class_of(found)}.")

    async def _network(self) -> Check:
        place = self._settings.network
        if await self._api.get(kinds.NETWORK, place) is None:
            remedy = await self._others(kinds.NETWORK, "networkName")
            return Check("network", False, f"There is no VM network {place}.", remedy)
        return Check("network", True, f"VM network {place} is there.")

    async def _others(self, kind: Address, field: str) -> str:
        listed = sorted(
            f"{one['metadata']['namespace']}/{one['metadata']['name']}" for one in await self._api.list(kind)
        )
        return f"Name another one in spec.harvester.{field}: {', '.join(listed[:10]) or 'there is none yet'}."

    async def _storage(self) -> Check:
        name = self._settings.storage_class
        if not name:
            return Check("storage", True, "Disks are of the storage class of their image, or of the default one.")
        if await self._api.get(kinds.STORAGE_CLASS, ObjectName("", name)) is None:
            remedy = "Name another one in spec.harvester.storageClassName, or none."
            return Check("storage", False, f"There is no storage class {name}.", remedy)
        return Check("storage", True, f"Storage class {name} is there.")

    async def _capacity(self) -> Check:
        quotas = await self._api.list(kinds.QUOTA, self._settings.namespace)
        if used_up := [f"{quota['metadata']['name']} ({name})" for quota in quotas for name in _used_up(quota)]:
            message = f"Nothing is left of ResourceQuota {', '.join(used_up)}."
            return Check("capacity", False, message, f"Raise the quota of namespace {self._settings.namespace}.")
        nodes = await self._api.list(kinds.NODE)
        able = [node for node in nodes if _runs_machines(node)]
        message = f"{len(able)} of {len(nodes)} hosts take virtual machines."
        return Check("capacity", bool(able), message, "Let a host be ready and schedulable.")


def _permissions(namespace: str, missing: list[str]) -> Check:
    if missing:
        message = f"In namespace {namespace} these are not allowed: {', '.join(missing)}."
        return Check("permissions", False, message, _GRANT)
    return Check("permissions", True, f"Machines may be made in namespace {namespace}.")


def _class_of(image: Object) -> str:
    """What to write into imageStorageClassName."""
    name = (image.get("status") or {}).get("storageClassName")
    return f"; its storage class is {name}" if name else ""


def _used_up(quota: Object) -> list[str]:
    status = quota.get("status") or {}
    hard, used = status.get("hard") or {}, status.get("used") or {}
    return [name for name, limit in hard.items() if name in used and parse(str(used[name])) >= parse(str(limit))]


def _runs_machines(node: Object) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    is_ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
    return is_ready and not (node.get("spec") or {}).get("unschedulable")
