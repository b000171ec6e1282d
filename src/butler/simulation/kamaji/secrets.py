"""The Secrets of Kamaji and its provider: written when what they are made from changes, and never otherwise."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from butler.engines import core
from kubekit.client.protocol import Selection, address_of
from kubekit.errors import AlreadyExists
from kubekit.model.resource import ObjectMeta, OwnerReference, Resource
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import Kind, identity_of, key, wire

PROJECT = "kamaji.clastix.io/project"
NAME = "kamaji.clastix.io/name"
COMPONENT = "kamaji.clastix.io/component"
LIFECYCLE = "kamaji.clastix.io/certificate_lifecycle_controller"
"""Label of what expires one day."""
CHECKSUM = "kamaji.clastix.io/checksum"

OURS = Selection(labels=COMPONENT)
"""Every Secret that Kamaji or its provider made."""


class Secret(Resource, plural="secrets", group="", version="v1"):
    """A Secret without what is in it: that it is there, and what it was made from."""


class Secrets:
    """Sees to Secrets by their checksum."""

    def __init__(self, manager: Manager) -> None:
        self._client = manager.client
        self._seen = manager.informers.of(Secret, OURS)

    def checksum(self, namespace: str, name: str) -> str:
        """What a Secret was made from; empty when it is not there."""
        found: Secret | None = self._seen.get(key(namespace, name))
        return found.metadata.annotations.get(CHECKSUM, "") if found is not None else ""

    async def put(self, secret: core.Secret) -> None:
        """Create it or make it as it is to be."""
        meta = secret.metadata
        try:
            await self._client.create(secret, manager="kamaji")
        except AlreadyExists:
            change = {"metadata": wire(meta), "data": wire(secret.data)}
            await self._client.patch(core.Secret, meta.name, change, meta.namespace, manager="kamaji")


def made_from(*parts: bytes) -> str:
    """The checksum of what a Secret is made from."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:32]


def meta_for(owner: Any, kind: Kind, name: str, labels: dict[str, str], checksum: str) -> ObjectMeta:
    """The metadata of a Secret that goes when its owner goes."""
    address, identity = address_of(kind), identity_of(owner)
    reference = OwnerReference(
        api_version=address.api_version,
        kind=address.kind,
        name=identity.name,
        uid=identity.uid,
        controller=True,
        block_owner_deletion=True,
    )
    return ObjectMeta(
        name=name,
        namespace=identity.namespace,
        labels=labels,
        annotations={CHECKSUM: checksum},
        owner_references=(reference,),
    )


def owner_keys(*kinds: str) -> Callable[[Secret], Iterable[str]]:
    """The keys of a Secret's owners that are of these kinds."""

    def keys(secret: Secret) -> Iterable[str]:
        meta = secret.metadata
        return [key(meta.namespace, owner.name) for owner in meta.owner_references if owner.kind in kinds]

    return keys
