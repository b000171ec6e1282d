"""Flux and Argo CD as far as a cluster shows them: their kinds, and objects of those."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from kubekit.client.protocol import Client
from kubekit.errors import NotFound
from kubekit.model.resource import Address, Object
from tests.addons.helm.site import Site
from tests.engines.helm.world import DEFINITIONS

READY = {"conditions": [{"type": "Ready", "status": "True", "reason": "UpgradeSucceeded", "message": "s3cret"}]}
RELEASE = {"releaseName": "web", "targetNamespace": "addons"}


def definition(kind: Address) -> Object:
    free = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": free, "status": free}}},
    }
    names = {"plural": kind.plural, "kind": kind.kind}
    spec = {"group": kind.group, "scope": "Namespaced", "names": names, "versions": [version]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.name},
        "spec": spec,
    }


@asynccontextmanager
async def served(site: Site, kind: Address) -> AsyncIterator[None]:
    """A kind that the cluster knows for a while."""
    client = site.cluster.client
    await client.create(definition(kind), DEFINITIONS)
    await until(lambda: _is_listed(client, kind))
    try:
        yield
    finally:
        await client.delete(DEFINITIONS, kind.name)
        await until(lambda: _is_gone(client, kind))


async def until(happened: Callable[[], Awaitable[bool]]) -> None:
    """A real server begins and ends to serve a kind a moment after it said so."""
    async with asyncio.timeout(40):
        while not await happened():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.05)


async def _is_listed(client: Client, kind: Address) -> bool:
    try:
        await client.list(kind)
    except NotFound:
        return False
    return True


async def _is_gone(client: Client, kind: Address) -> bool:
    try:
        await client.get(DEFINITIONS, kind.name)
    except NotFound:
        return not await _is_listed(client, kind)
    return False


async def keep(site: Site, kind: Address, spec: dict[str, Any], status: dict[str, Any]) -> None:
    obj = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "kept", "namespace": "default"}}
    await site.cluster.client.create({**obj, "spec": spec, "status": status}, kind)
