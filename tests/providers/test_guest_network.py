"""Name servers of an account reach machines that are told nothing else of their network."""

from __future__ import annotations

import json

from butler.providers.contract import MachineOrder
from butler.providers.guest_network import with_name_servers

ORDER = MachineOrder("web", "token", 2, 4096, 20)


def test_a_machine_gets_an_address_by_dhcp_and_the_name_servers() -> None:
    (device,) = json.loads(with_name_servers(ORDER, ("10.0.0.53",)).network_data)["ethernets"].values()
    assert (device["dhcp4"], device["nameservers"]) == (True, {"addresses": ["10.0.0.53"]})
    # Whatever the first network card is called on a machine.
    assert device["match"] == {"name": "e*"}


def test_network_data_of_its_own_stays_as_it_is() -> None:
    own = MachineOrder("web", "token", 2, 4096, 20, network_data="version: 2\n")
    assert with_name_servers(own, ("10.0.0.53",)) is own
    assert with_name_servers(ORDER, ()) is ORDER
