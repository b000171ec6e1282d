"""What an infrastructure has and what the API says it should have, compared both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from butler.api.machine import ImageSync, LoadBalancerPhase, LoadBalancerRequest, MachinePhase, MachineRequest
from butler.api.provider import ProviderConfig
from butler.providers import registry
from butler.providers.contract import Asset, Provider
from kubekit.client.protocol import Client
from kubekit.errors import NotFound
from kubekit.model.resource import Address

from .image import image_name
from .requests import Request, config_of


@dataclass(frozen=True, slots=True)
class Absent:
    """A request whose machine or load balancer is not there."""

    kind: str
    key: str
    id: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What does not match."""

    checked: int
    """Things on the infrastructure that were looked at."""
    orphans: tuple[Asset, ...]
    """Things that nobody asks for any more."""
    absent: tuple[Absent, ...]


async def audit(client: Client, config: ProviderConfig, provider: Provider) -> Audit:
    """Compare an account with the API. Raises ProviderError.

    The infrastructure is asked first: what is made meanwhile has its request before it exists."""
    assets = await provider.inventory()
    tokens = await _tokens(client, config)
    images = {image_name(one) for one in (await client.list(ImageSync)).items if config_of(one) == config.key}
    orphans = [one for one in assets if not (one.name in images if one.kind == "image" else one.token in tokens)]
    return Audit(len(assets), tuple(orphans), tuple(await _absent(client, config, {one.token for one in assets})))


async def discard(config: ProviderConfig, provider: Provider, orphan: Asset) -> bool:
    """Remove something that nobody asks for. Answers whether it is gone; if not, ask again later."""
    name = config.spec.infrastructure
    if orphan.kind == "image":
        images = registry.images(name, provider)
        return images is None or await images.delete(orphan.name)
    if orphan.kind == "loadbalancer":
        balancers = registry.load_balancers(name, provider)
        return balancers is None or await balancers.delete(orphan.name, orphan.token)
    return await provider.delete(orphan.name, orphan.token)


async def _tokens(client: Client, config: ProviderConfig) -> set[str]:
    """Whoever may have asked for something: our own requests, and the machines of Cluster API."""
    found = {one.metadata.uid for one in (await client.list(MachineRequest)).items}
    found |= {one.metadata.uid for one in (await client.list(LoadBalancerRequest)).items}
    name = config.spec.infrastructure
    if registry.offers_clusters(name):
        machines = await _all_of(client, registry.templates(name).machine_kind)
        found |= {one["metadata"]["uid"] for one in machines}
    return found


async def _all_of(client: Client, kind: Address) -> list[Any]:
    try:
        return list((await client.list(kind)).items)
    except NotFound:
        # Nobody installed that kind, so there is nothing of it.
        return []


async def _absent(client: Client, config: ProviderConfig, tokens: set[str]) -> list[Absent]:
    machines = [
        (one, one.status.provider_id)
        for one in (await client.list(MachineRequest)).items
        if one.status.phase is MachinePhase.RUNNING
    ]
    balancers = [
        (one, one.status.resource_id)
        for one in (await client.list(LoadBalancerRequest)).items
        if one.status.phase is LoadBalancerPhase.READY
    ]
    asked: list[tuple[Request, str | None]] = [*machines, *balancers]
    return [
        Absent(one.kind, one.key, id_ or "")
        for one, id_ in asked
        if config_of(one) == config.key and one.metadata.uid not in tokens
    ]
