"""What a check says, failure by failure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from butler.providers.contract import CHECKS, Check
from tests.providers.gcp.fake import Google
from tests.providers.gcp.fake_issuer import EMAIL
from tests.providers.gcp.fake_project import IMAGE, PROJECT, subnetwork
from tests.providers.gcp.worlds import connected, google_cloud

Change = Callable[[Google], object]


async def checked(change: Change, **section: Any) -> dict[str, Check]:
    async with google_cloud(**section) as world, connected(world) as provider:
        change(world.google)
        return {one.name: one for one in await provider.check()}


def nothing(google: Google) -> None:
    """All is well."""


def image(**body: Any) -> Change:
    return lambda google: google.things[IMAGE].body.update(body)


def full(google: Google) -> None:
    region = google.things[f"projects/{PROJECT}/regions/us-central1"]
    region.body["quotas"] = [{"metric": "CPUS", "limit": 24.0, "usage": 24.0}]


def elsewhere(google: Google) -> None:
    added = subnetwork("far", region="europe-west1")
    google.things[added.path] = added


def zone_down(google: Google) -> None:
    google.things[f"projects/{PROJECT}/zones/us-central1-a"].body["status"] = "DOWN"


async def test_everything_is_tried() -> None:
    checks = await checked(nothing)
    assert tuple(checks) == CHECKS
    assert checks["version"].value == "v1"
    assert checks["image"].message == "Image talos-v1-11 has 10 GB and is for X86_64."
    assert checks["capacity"].message == "us-central1-a is up; used are CPUS 0 of 240, INSTANCES 0 of 240."


@pytest.mark.parametrize(
    ("change", "section", "name", "said"),
    [
        (nothing, {"project_id": "no-such"}, "reachable", "There is no project no-such."),
        (nothing, {"region": "us-mars1"}, "capacity", "There is no region us-mars1."),
        (nothing, {"image_family": None}, "image", "No image is named."),
        (nothing, {"image": "no-such"}, "image", "There is no projects/talos-images/global/images/no-such."),
        (nothing, {"image": "No Such"}, "image", "cannot be used: gcp: 400"),
        (image(status="FAILED"), {}, "image", "Image talos-v1-11 is FAILED, ACTIVE."),
        (image(deprecated={"state": "OBSOLETE"}), {}, "image", "Image talos-v1-11 is READY, OBSOLETE."),
        (image(architecture="ARM64"), {}, "image", "is for ARM64, and machines are X86_64."),
        (nothing, {"subnetwork": "no-such"}, "network", "There is no projects/butler-test/regions/us-central1/"),
        (nothing, {"network": "custom"}, "network", "Network custom has no subnetworks of Google's making."),
        (elsewhere, {"subnetwork": "regions/europe-west1/subnetworks/far"}, "network", "far is in europe-west1."),
        (nothing, {"disk_type": "tape"}, "storage", "There is no zones/us-central1-a/diskTypes/tape."),
        (nothing, {"machine_type": "z9-huge"}, "capacity", "There is no zones/us-central1-a/machineTypes/z9-huge."),
        (full, {}, "capacity", "Used up: CPUS 24 of 24."),
        (zone_down, {}, "capacity", "Zone us-central1-a is not up."),
        (lambda google: google.denied.add("compute.instances.create"), {}, "permissions", "compute.instances.create"),
        (
            lambda google: google.denied.add("compute.projects.get"),
            {},
            "credentials",
            "Required 'compute.projects.get'",
        ),
    ],
)
async def test_what_is_wrong_is_said_with_what_to_do(
    change: Change, section: dict[str, Any], name: str, said: str
) -> None:
    checks = await checked(change, **section)
    assert [one.name for one in checks.values() if not one.passed] == [name]
    assert said in checks[name].message
    assert checks[name].remedy


async def test_permissions_that_cannot_be_looked_at_are_no_failure() -> None:
    checks = await checked(lambda google: setattr(google, "is_resource_manager_enabled", False))
    assert checks["permissions"].passed
    assert "Cloud Resource Manager API is not enabled" in checks["permissions"].message
    assert EMAIL in checks["credentials"].message
