"""Tinycloud as a provider of Butler."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from butler.api.provider import ProviderConfig
from butler.errors import CapacityExhausted, MachineRejected, ProviderError
from butler.providers import account_fields
from butler.providers.contract import (
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
from butler.providers.rest import Reply, Rest, Trust

NAME = "tinycloud"
MARK = "butler-token"
"""The tag that says for whom a server was made."""
USER_DATA_LIMIT = 32 * 1024
POWER = {"building": Power.STARTING, "running": Power.RUNNING, "stopped": Power.STOPPED, "deleting": Power.DELETING}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `spec.external.settings` of a ProviderConfig says."""

    endpoint: str
    image: str = "talos"
    network: str = "net-1"
    ca: str = ""


def connect(config: ProviderConfig, credentials: Mapping[str, str], surroundings: Surroundings) -> Tinycloud:
    """Rule 21: asks nobody yet. Rule 22: what is wrong is said by field."""
    settings = account_fields.settings(config, Settings)
    (key,) = account_fields.needed(config, credentials, "apiKey")
    return Tinycloud(settings, key, surroundings.patience)


class Tinycloud:
    """An account of Tinycloud."""

    name: ClassVar[str] = NAME
    settles_in: ClassVar[float] = 0.0

    def __init__(self, settings: Settings, key: str, patience: float) -> None:
        self._settings = settings
        self._api = Rest(
            NAME,
            settings.endpoint,
            trust=Trust(ca=settings.ca),
            patience=patience,
            headers={"Authorization": f"Bearer {key}"},
            secrets=(key,),
            judge=_judged,
        )

    async def create(self, order: MachineOrder, known: Known = NOTHING_KNOWN) -> Machine:
        if found := await self.find(order.name, order.token):
            return found
        if len(order.user_data.encode()) > USER_DATA_LIMIT:
            raise MachineRejected(NAME, order.name, f"userData is larger than the {USER_DATA_LIMIT} bytes it may have")
        encoded = base64.b64encode(order.user_data.encode()).decode()
        body = {
            "name": order.name,
            "cores": order.cpu,
            "memory_mb": order.memory_mb,
            "disks_gb": [order.disk_gb, *(disk.size_gb for disk in order.extra_disks)],
            "image": order.image or self._settings.image,
            "network": self._settings.network,
            "user_data": encoded,
            "tags": {**order.labels, MARK: order.token},
        }
        # The key makes the cloud itself recognise an order whose answer was lost.
        once = {"Idempotency-Key": order.token}
        hidden = (order.user_data, encoded)
        return _shown(await self._api.call("POST", "/v1/servers", order.name, body, headers=once, hidden=hidden))

    async def find(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> Machine | None:
        servers = await self._all("servers", name, tag=f"{MARK}={token}")
        return _shown(servers[0]) if servers else None

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        servers = await self._all("servers", name, tag=f"{MARK}={token}")
        for server in servers:
            if server["status"] != "deleting":
                await self._api.call("DELETE", f"/v1/servers/{server['id']}", name, expected=(404,))
        return not servers

    async def check(self) -> tuple[Check, ...]:
        account = await self._api.call("GET", "/v1/account")
        used, limit = account["servers"]["used"], account["servers"]["limit"]
        images = {one.id for one in await self.images()}
        return (
            Check("version", True, "Tinycloud answers.", value=account["version"]),
            Check("credentials", True, "The key is accepted."),
            Check("capacity", used < limit, f"{used} of {limit} servers are used.", "Ask for a higher limit."),
            Check("image", self._settings.image in images, f"Image {self._settings.image}.", "Upload it first."),
        )

    async def inventory(self) -> tuple[Asset, ...]:
        servers = await self._all("servers", tag=MARK)
        return tuple(Asset("vm", _id(one), one["name"], one["tags"][MARK], f"{one['cores']} cores") for one in servers)

    async def images(self) -> tuple[Choice, ...]:
        return by_name(Choice(one, one) for one in await self._all("images"))

    async def networks(self) -> tuple[Choice, ...]:
        return by_name(Choice(one["id"], one["name"], one["range"]) for one in await self._all("networks"))

    async def close(self) -> None:
        await self._api.close()

    async def _all(self, kind: str, about: str = "", **query: str) -> list[Any]:
        found, page = [], "1"
        while page:
            answer = await self._api.call("GET", f"/v1/{kind}", about, query={**query, "page": page})
            found += answer[kind]
            page = answer["next"]
        return found


def _shown(server: Any) -> Machine:
    power = POWER[server["status"]]
    addresses = (*server["private"], *server["public"]) if power is Power.RUNNING else ()
    return Machine(_id(server), server["name"], server["tags"][MARK], power, addresses, (server["mac"],))


def _id(server: Any) -> str:
    return f"{NAME}://{server['id']}"


def _judged(reply: Reply) -> type[ProviderError] | None:
    """What the status code alone does not say."""
    code = reply.body.get("error", {}).get("code") if isinstance(reply.body, dict) else None
    return CapacityExhausted if code == "limit_reached" else None
