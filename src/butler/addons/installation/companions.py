"""What is in a cluster beside a release and because of it: its namespace, Secrets before it, and objects after it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from contextlib import suppress

from butler.api.model import GROUP
from butler.engines.core import Secret
from butler.engines.helm.objects.kinds import Kinds
from butler.engines.helm.objects.manifest import ref_of
from butler.engines.helm.protocol import Cluster, Place
from kubekit.client.protocol import Client, Selection
from kubekit.errors import AlreadyExists, ApiError, NotFound
from kubekit.model.resource import Address, Object

from ..errors import ObjectRefused
from ..model import Addon
from .messages import told

MANAGER = "butler-addons"
_NAMESPACES = Address.of("v1", "Namespace", namespaced=False)
_PRIVILEGED = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}


class Companions:
    """Writes them, by server-side apply."""

    def __init__(self) -> None:
        self._kinds = Kinds()

    async def make_namespace(self, cluster: Cluster, addon: Addon) -> None:
        """Unless it is there. One that says nothing of what pods may do says it afterwards, if the addon needs it."""
        if not addon.release.create_namespace:
            return
        name, labels = addon.place.namespace, _PRIVILEGED if addon.privileged else {}
        try:
            found = await cluster.client.get(_NAMESPACES, name)
        except NotFound:
            await _create_namespace(cluster.client, name, labels)
            return
        if labels and not labels.keys() & (found["metadata"].get("labels") or {}).keys():
            await cluster.client.patch(_NAMESPACES, name, {"metadata": {"labels": labels}}, manager=MANAGER)

    async def write(self, cluster: Cluster, addon: Addon, objects: Iterable[Object]) -> None:
        """Raises ObjectRefused."""
        for obj, address in await self._addressed(cluster, addon, objects):
            try:
                await _apply(cluster.client, obj, address)
            except ApiError as error:
                # Its cause would repeat what the object holds.
                raise ObjectRefused(addon.name, f"{ref_of(obj)}: {told(error)}", again=error.retryable) from None

    async def missing(self, cluster: Cluster, addon: Addon, objects: Iterable[Object]) -> tuple[str, ...]:
        """Which of them are not there. Raises ObjectRefused."""
        found = []
        for obj, address in await self._addressed(cluster, addon, objects):
            ref = ref_of(obj)
            try:
                await cluster.client.get(address, ref.name, ref.namespace)
            except NotFound:
                found.append(str(ref))
        return tuple(found)

    async def forget(self, cluster: Cluster, place: Place) -> None:
        """Remove the Secrets that were written for a release."""
        labels = ",".join(f"{name}={text}" for name, text in _labels(place).items())
        for secret in (await cluster.client.list(Secret, Selection(labels=labels))).items:
            with suppress(NotFound):
                await cluster.client.delete(Secret, secret.metadata.name, secret.metadata.namespace)

    async def _addressed(
        self, cluster: Cluster, addon: Addon, objects: Iterable[Object]
    ) -> list[tuple[Object, Address]]:
        wanted = [copy.deepcopy(one) for one in objects]
        addresses = await self._kinds.addresses(
            cluster, {(ref_of(one).api_version, ref_of(one).kind) for one in wanted}
        )
        found = []
        for obj in wanted:
            ref = ref_of(obj)
            address = addresses.get((ref.api_version, ref.kind))
            if address is None:
                raise ObjectRefused(addon.name, f"{ref}: the cluster does not know this kind", again=True)
            meta = obj.setdefault("metadata", {})
            meta["labels"] = {**(meta.get("labels") or {}), **_labels(addon.place)}
            if address.namespaced:
                meta.setdefault("namespace", addon.place.namespace)
            found.append((obj, address))
        return found


async def _apply(client: Client, obj: Object, address: Address) -> None:
    try:
        await client.apply(obj, address, manager=MANAGER)
    except NotFound:
        if not address.namespaced:
            raise
        await _create_namespace(client, obj["metadata"]["namespace"], {})
        await client.apply(obj, address, manager=MANAGER)


async def _create_namespace(client: Client, name: str, labels: dict[str, str]) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    with suppress(AlreadyExists):
        await client.create(namespace, _NAMESPACES, manager=MANAGER)


def _labels(place: Place) -> dict[str, str]:
    return {f"{GROUP}/release-name": place.name, f"{GROUP}/release-namespace": place.namespace}
