"""Load balancers of the simulated infrastructure: an address each, and nobody behind it."""

from __future__ import annotations

import hashlib
from ipaddress import IPv4Address, IPv4Network

import msgspec

from ..contract import NOTHING_KNOWN, Known, Provider
from ..loadbalancer import Balancer, BalancerOrder
from .assets import Item
from .provider import SCHEME, Simulated

_KIND = "loadbalancer"
_NETWORK = IPv4Network("198.18.0.0/15")
"""A network that is nobody's, for measurements and the like."""


def connect(provider: Provider) -> SimulatedLoadBalancers:
    assert isinstance(provider, Simulated)
    return SimulatedLoadBalancers(provider)


class SimulatedLoadBalancers:
    """Load balancers of one account; they take as long as a machine takes to boot."""

    def __init__(self, account: Simulated) -> None:
        self._account = account

    async def ensure(self, order: BalancerOrder, known: Known = NOTHING_KNOWN) -> Balancer:
        account = self._account
        content = msgspec.json.encode([order.port, order.health_check_port, order.targets]).decode()
        item = await account.desk.ask(
            "ensure load balancer",
            order.name,
            account.knobs,
            lambda: account.shelf.put(account.account, _KIND, order.name, order.token, content, account.knobs.boot),
        )
        return self._shown(item)

    async def delete(self, name: str, token: str, known: Known = NOTHING_KNOWN) -> bool:
        account = self._account
        return await account.desk.ask(
            "delete load balancer",
            name,
            account.knobs,
            lambda: account.shelf.remove(account.account, _KIND, name, token, account.knobs.removal),
        )

    def _shown(self, item: Item) -> Balancer:
        is_ready = self._account.shelf.is_ready(item)
        return Balancer(
            id=SCHEME + item.id,
            name=item.name,
            token=item.token,
            endpoint=_address(item) if is_ready else "",
            targets=len(msgspec.json.decode(item.content)[2]),
            is_ready=is_ready,
        )


def _address(item: Item) -> str:
    drawn = int.from_bytes(hashlib.sha256(item.id.encode()).digest()[:4], "big")
    return str(IPv4Address(int(_NETWORK[0]) + 1 + drawn % (_NETWORK.num_addresses - 2)))
