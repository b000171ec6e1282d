"""Custom kinds in an API: their definitions brought there, and what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import aclosing

from kubekit.client.protocol import DEFAULT_MANAGER, Client, Watched
from kubekit.model import crd
from kubekit.model.crd import DEFINITION
from kubekit.model.resource import Object, Resource


async def install(client: Client, *kinds: type[Resource], manager: str = DEFAULT_MANAGER) -> None:
    """Bring the definitions of these kinds up to date, and wait until the API has accepted them."""
    await install_all(client, map(crd.definition, kinds), manager=manager)


async def install_all(client: Client, definitions: Iterable[Object], *, manager: str = DEFAULT_MANAGER) -> None:
    """The same for definitions however they were made."""
    wanted = list(definitions)
    await asyncio.gather(*(client.apply(one, DEFINITION, manager=manager) for one in wanted))
    await _established(client, {one["metadata"]["name"] for one in wanted})


async def _established(client: Client, names: set[str]) -> None:
    listed = await client.list(DEFINITION)
    waiting = names - {item["metadata"]["name"] for item in listed.items if _is_established(item)}
    version = listed.version
    while waiting:
        # The server ends a watch when it likes; what comes next begins where it ended.
        async with aclosing(client.watch(DEFINITION, version=version)) as events:
            async for event in events:
                version = event.version
                waiting -= _established_by(event)
                if not waiting:
                    return


def _established_by(event: Watched[Object]) -> set[str]:
    return {event.item["metadata"]["name"]} if event.item is not None and _is_established(event.item) else set()


def _is_established(definition: Object) -> bool:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)
