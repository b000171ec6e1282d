"""Every request with a body that is made of version 4 is one that Nutanix's own models take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec

from butler.providers.contract import ExtraDisk, MachineOrder
from butler.providers.images import ImageOrder, Progress
from butler.providers.testing.driver import driving, until
from butler.providers.testing.web import serving
from tests.providers.nutanix.clients import answer_of, needs_clients
from tests.providers.nutanix.fake import CONTAINER, Prism
from tests.providers.nutanix.fake_web import app
from tests.providers.nutanix.harness import PLACES, NutanixHarness, connected

pytestmark = needs_clients

VM, IMAGE = "vmm.v4.ahv.config.Vm", "vmm.v4.content.Image"
MODELS = {"/ahv/config/vms": VM, "/content/images": IMAGE}
PICTURE = ImageOrder(
    "talos", "99999999-9999-4999-8999-999999999999", "https://factory.example.com/image/x/talos.qcow2", "qcow2",
    sha256="ab" * 32,
)  # fmt: skip


async def judged(requests: Iterable[tuple[str, Any]]) -> list[list[str]]:
    lines = b"\n".join(msgspec.json.encode(one) for one in requests)
    answer: list[list[str]] = await answer_of("client_models.py", given=lines)
    return answer


async def lives(harness: NutanixHarness) -> None:
    """Machines of every shape and an image, from their beginning to their end."""
    plain = harness.order("plain")
    full = replace(harness.order("full"), extra_disks=(ExtraDisk(30, CONTAINER),), network_data="version: 2")
    for order in (plain, full, replace(harness.order("bare"), user_data="")):
        async with driving(harness) as driver:
            await driver.bring_up(order)
            await driver.take_down(order)
    await boots_otherwise(harness, harness.order("other"))
    await brings_an_image(harness)


async def boots_otherwise(harness: NutanixHarness, order: MachineOrder) -> None:
    provider = connected(harness.url, **PLACES, boot_type="uefi", storage_container_uuid=CONTAINER)
    await provider.create(order)
    await provider.close()


async def brings_an_image(harness: NutanixHarness) -> None:
    provider = await harness.connect()
    images = harness.images(provider)

    async def is_ready() -> bool | None:
        return True if (await images.ensure(PICTURE)).progress is Progress.READY else None

    await until(harness, is_ready, "the image does not come")
    await images.delete(PICTURE.name)
    await provider.close()


async def test_every_request_is_one_that_the_published_models_take() -> None:
    prism = Prism()
    async with serving(app(prism)) as url:
        await lives(NutanixHarness(prism, url))
    sent = [(path, body) for _, path, body in prism.recorded if body is not None]
    requests = [(MODELS["/" + path.split("/", 4)[4]], body) for path, body in sent]
    assert [kind for kind, _ in requests].count(VM) >= 4
    assert IMAGE in [kind for kind, _ in requests]
    assert [wrong for wrong in await judged(requests) if wrong] == []


async def test_the_models_refuse_what_is_wrong() -> None:
    wrong = [
        (VM, {"name": "x", "sockets": 2}),
        (VM, {"name": "x", "numSockets": "2"}),
        (VM, {"name": "x" * 81}),
        (VM, {"name": "x", "nics": [{"networkInfo": {"nicType": "FAST"}}]}),
        (IMAGE, {"name": "x", "checksum": {"$objectType": "vmm.v4.content.ImageSha256Checksum", "hexDigest": "ab"}}),
    ]
    found = await judged(wrong)
    assert [bool(one) for one in found] == [True] * 5, found
