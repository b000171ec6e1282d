"""What is asked of Azure is what Azure's own models describe: every name, every type, every word."""

from __future__ import annotations

import types
from collections.abc import AsyncIterator, Iterator, MutableMapping
from dataclasses import replace
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from butler.providers.contract import ExtraDisk
from butler.providers.loadbalancer import BalancerTarget
from butler.providers.testing.driver import connected, driving, made
from tests.providers.azure.fake_market import SOLD
from tests.providers.azure.harness import AzureHarness, running
from tests.providers.azure.test_loadbalancer import ORDER, ensured

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

MODELS = {
    "virtualMachines": ("compute", "VirtualMachine"),
    "networkInterfaces": ("network", "NetworkInterface"),
    "publicIPAddresses": ("network", "PublicIPAddress"),
    "loadBalancers": ("network", "LoadBalancer"),
    "backendAddressPools": ("network", "BackendAddressPool"),
    "disks": ("compute", "Disk"),
}
OPEN = ("VirtualMachineSizeTypes",)
"""Lists of words that are not complete, as Azure says itself."""


@pytest.fixture
async def harness() -> AsyncIterator[AzureHarness]:
    async with running() as harness:
        yield harness


async def test_every_request_in_the_life_of_a_machine_is_described(harness: AzureHarness) -> None:
    section = {"zone": "1", "security_group_name": "nodes"}
    order = replace(harness.order("one"), image=SOLD, extra_disks=(ExtraDisk(30), ExtraDisk(50, "Standard_LRS")))
    provider = harness.connected(section)
    await provider.create(order)
    await provider.close()
    async with driving(harness) as driver:
        await driver.bring_up(order)
        await driver.take_down(order)
    sent = list(requests(harness))
    assert {kind for kind, _ in sent} == {"networkInterfaces", "virtualMachines"}
    assert [found for kind, body in sent for found in wrong(body, model(*MODELS[kind]), kind)] == []


@pytest.mark.parametrize("where", ["public", "internal"])
async def test_every_request_in_the_life_of_a_load_balancer_is_described(harness: AzureHarness, where: str) -> None:
    provider = harness.connected({"load_balancer": where})
    await ensured(harness, provider, replace(ORDER, targets=(BalancerTarget(address="10.9.0.9"),)))
    await ensured(harness, provider, replace(ORDER, port=443))
    await provider.close()
    sent = list(requests(harness))
    assert {"loadBalancers", "backendAddressPools"} <= {kind for kind, _ in sent}
    assert [found for kind, body in sent for found in wrong(body, model(*MODELS[kind]), kind)] == []


async def test_every_call_says_which_version_it_speaks(harness: AzureHarness) -> None:
    async with connected(harness) as provider:
        await provider.create(harness.order("one"))
    assert all("api-version" in query for _, _, query, _ in harness.azure.requests)


async def test_what_the_fake_shows_is_described_too(harness: AzureHarness) -> None:
    await made(harness, "one")
    async with connected(harness) as provider:
        await ensured(harness, provider, replace(ORDER, targets=(BalancerTarget(address="10.9.0.9"),)))
    kinds = {kind.lower(): names for kind, names in MODELS.items()}
    shown = [(one.kind, harness.azure.shown(one, "instanceView")) for one in harness.azure.existing()]
    ours = [(kind, body) for kind, body in shown if kind in kinds]
    assert {kind for kind, _ in ours} == {*kinds} - {"backendaddresspools"}
    found = [said for kind, body in ours for said in wrong(body, model(*kinds[kind]), kind)]
    assert [one for one in found if not one.endswith("only Azure writes it")] == []


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"properties": {"hardwareProfile": {"vmsize": "x"}}}, "vm.properties.hardwareProfile.vmsize: nobody knows it"),
        ({"location": 5}, "vm.location: 5 is no str"),
        ({"etag": "x"}, "vm.etag: only Azure writes it"),
        ({"properties": {"storageProfile": {"osDisk": {"createOption": "Fresh"}}}}, "createOption: 'Fresh' is no"),
        ({"zones": "1"}, "vm.zones: '1' is no list"),
    ],
)
def test_what_is_not_described_is_noticed(body: dict[str, Any], said: str) -> None:
    (found,) = wrong(body, model("compute", "VirtualMachine"), "vm")
    assert said in found


def requests(harness: AzureHarness) -> Iterator[tuple[str, Any]]:
    """What was put, by kind."""
    for method, path, _, body in harness.azure.requests:
        assert method == "PUT"
        yield path.split("/")[-2], body


def wrong(value: Any, kind: Any, path: str) -> Iterator[str]:
    """What the models do not describe."""
    if isinstance(kind, type) and issubclass(kind, MutableMapping):
        yield from _wrong_model(value, kind, path)
    elif get_origin(kind) in (Union, types.UnionType):
        yield from _wrong_choice(value, [one for one in get_args(kind) if one is not type(None)], path)
    elif get_origin(kind) in (list, dict):
        if not isinstance(value, get_origin(kind)):
            yield f"{path}: {value!r} is no {get_origin(kind).__name__}"
            return
        inner = get_args(kind)[-1]
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, one in items:
            yield from wrong(one, inner, f"{path}.{name}")
    elif isinstance(kind, type) and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
        yield f"{path}: {value!r} is no {kind.__name__}"


def _wrong_model(value: Any, kind: type, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: {value!r} is no {kind.__name__}"
        return
    known = fields(kind)
    for name, one in value.items():
        if name not in known:
            yield f"{path}.{name}: nobody knows it"
        elif known[name][1] == ["read"]:
            yield f"{path}.{name}: only Azure writes it"
        else:
            yield from wrong(one, known[name][0], f"{path}.{name}")


def _wrong_choice(value: Any, kinds: list[Any], path: str) -> Iterator[str]:
    words = [one for one in kinds if isinstance(one, type) and issubclass(one, Enum)]
    if words:
        if words[0].__name__ not in OPEN and value not in [word.value for word in words[0]]:
            yield f"{path}: {value!r} is no {words[0].__name__}"
    else:
        yield from wrong(value, kinds[0], path)


@cache
def fields(kind: type) -> dict[str, tuple[Any, Any]]:
    """The type of each field, by its name on the wire, and who may write it."""
    package = import_module(kind.__module__.rpartition(".")[0])
    hints = get_type_hints(kind, localns={"_models": package})
    kind({})
    found: dict[str, Any] = kind._attr_to_rest_field  # type: ignore[attr-defined]
    return {one._rest_name: (hints[name], one._visibility) for name, one in found.items()}


@cache
def model(service: str, name: str) -> Any:
    return getattr(import_module(f"azure.mgmt.{service}.models"), name)
