"""Nutanix's own clients understand the fake: one that only our client understands proves nothing."""

from __future__ import annotations

from typing import Any

from butler.providers.testing.web import serving
from tests.providers.nutanix.clients import answer_of, needs_clients
from tests.providers.nutanix.fake import CLUSTER, IMAGE, PASSWORD, SUBNET, USER, Prism
from tests.providers.nutanix.fake_web import app

pytestmark = needs_clients


async def driven(prism: Prism) -> Any:
    async with serving(app(prism)) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        return await answer_of("client_driver.py", host, port, USER, PASSWORD, CLUSTER, SUBNET, IMAGE)


async def test_the_ecosystems_own_client_drives_the_fake() -> None:
    prism = Prism(pace=3.0)
    seen = await driven(prism)
    assert seen["vm"] == {
        "made": "SUCCEEDED",
        "read": ["driven", 2, 4 * 2**30, "OFF"],
        "disk": 20 * 2**30,
        "on": "SUCCEEDED",
        "addresses": ["169.254.0.2", "10.9.0.2"],
        "listed": ["driven"],
        "running": "ON",
        "off": "SUCCEEDED",
        "stopped": "OFF",
        "stale": [412, "PRECONDITION_FAILED"],
        "deleted": "SUCCEEDED",
        "gone": [404, "ENTITY_NOT_FOUND"],
    }
    assert seen["image"] == ["SUCCEEDED", "brought", "SUCCEEDED"]
    assert (seen["clusters"], seen["hosts"], seen["subnet"]) == (["cluster-01", "cluster-02", "Unnamed"], 2, 100)
    assert prism.existing() == []
