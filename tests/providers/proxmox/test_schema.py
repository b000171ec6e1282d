"""Every request that is made in the life of a machine and of an image is one that Proxmox's parameters allow.

Proxmox publishes its parameters as documentation only, so the schema is one of our own: `fake_schema`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from butler.api.sections.proxmox import VmidRange
from butler.providers.contract import ExtraDisk
from butler.providers.images import ImageOrder
from butler.providers.testing.driver import connected, driving
from butler.providers.testing.rules.images import bring, remove
from tests.providers.proxmox import fake_schema
from tests.providers.proxmox.fake import HANDLERS, Call
from tests.providers.proxmox.harness import LOGIN, TOKEN, running

EVERYTHING = {
    "bridge": "vmbr1", "vlan": 40, "cpu_type": "host", "pool": "butler", "vmid_range": VmidRange(start=500, end=600),
}  # fmt: skip
IMAGE = ImageOrder(
    "talos-v1", "99999999-9999-4999-8999-999999999999", "https://factory.test/a.raw", "raw", "amd64", "ab"
)


async def calls(credentials: dict[str, str], **section: Any) -> list[Call]:
    """All that is asked in the life of a machine with everything that an order can say, and of an image."""
    async with running(credentials, **section) as harness:
        order = replace(
            harness.order("web"), extra_disks=(ExtraDisk(5), ExtraDisk(6, "ceph")), network_data="version: 2\n"
        )
        async with driving(harness) as driver:
            await driver.bring_up(order)
            await bring(harness, IMAGE)
            async with connected(harness) as provider:
                for look in (provider.check, provider.inventory, provider.images, provider.networks):
                    await look()
                await provider.find(order.name, order.token)
            await remove(harness, IMAGE)
            await driver.take_down(order)
        return harness.pve.calls


@pytest.mark.parametrize("credentials", [TOKEN, LOGIN], ids=["token", "password"])
@pytest.mark.parametrize(
    "section",
    [{}, EVERYTHING, {"full_clone": False}, {**EVERYTHING, "template_id": None, "image": "local:import/flatcar.qcow2"}],
    ids=["template", "everything", "linked", "image"],
)
async def test_every_request_is_within_the_schema(section: dict[str, Any], credentials: dict[str, str]) -> None:
    made = await calls(credentials, **section)
    assert len(made) > 30
    assert [(one, found) for one in made if (found := fake_schema.wrong(one.method, one.route, one.given))] == []


async def test_numbers_and_switches_are_written_as_proxmox_reads_them() -> None:
    clone = next(one for one in await calls(TOKEN) if one.route.endswith("/clone"))
    assert {name: clone.given[name] for name in ("full", "storage", "name")} == {
        "full": "1", "storage": "ceph", "name": "web",
    }  # fmt: skip


def test_the_schema_has_every_method_of_the_fake() -> None:
    assert set(fake_schema.PARAMETERS) == set(HANDLERS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, {"newid": "property is missing and it is not optional"}),
        ({"newid": "99"}, {"newid": "value must have a minimum value of 100"}),
        ({"newid": "x"}, {"newid": "type check ('integer') failed - got 'x'"}),
        ({"newid": "100", "full": "yes"}, {"full": "type check ('boolean') failed - got 'yes'"}),
        ({"newid": "100", "tags": "a"}, {"tags": fake_schema.UNKNOWN}),
        ({"newid": "100", "name": "a_b"}, {"name": "invalid format - value does not look like a valid DNS name"}),
        (
            {"newid": "100", "format": "iso"},
            {"format": "value 'iso' does not have a value in the enumeration 'raw, qcow2, vmdk'"},
        ),
    ],
)
def test_the_schema_refuses_what_proxmox_refuses(given: dict[str, str], said: dict[str, str]) -> None:
    assert fake_schema.wrong("POST", "/nodes/{node}/qemu/{vmid}/clone", given) == said
