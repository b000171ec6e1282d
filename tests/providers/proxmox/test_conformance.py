"""Proxmox keeps the provider contract, by an API token and by a password, with templates and with disk images."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from butler.providers.testing import ConformanceKit, Fault, Harness
from butler.providers.testing.web import serving
from tests.providers.proxmox.harness import LOGIN, ProxmoxHarness, cluster


class TestProxmox(ConformanceKit):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        pve = cluster()
        async with serving(pve.app()) as url:
            yield ProxmoxHarness(pve, url)


@pytest.mark.parametrize(
    ("rule", "given"),
    [
        ("test_every_answer_may_be_lost", {}),
        ("test_the_controller_may_die_between_any_two_calls", {"fault": Fault.AFTER}),
        ("test_a_half_made_machine_can_be_deleted", {"fault": Fault.AFTER}),
        ("test_further_disks_come_and_go_with_the_machine", {}),
        ("test_many_machines_come_at_the_same_time", {}),
        ("test_wrong_credentials_are_nothing_to_try_again", {}),
        ("test_no_secret_is_ever_told", {}),
    ],
)
async def test_disk_images_and_passwords_keep_it_too(
    rule: str, given: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    pve = cluster()
    given = given | ({"caplog": caplog} if "secret" in rule else {})
    async with serving(pve.app()) as url:
        harness = ProxmoxHarness(pve, url, LOGIN, template_id=None, image="local:import/flatcar.qcow2")
        await getattr(ConformanceKit(), rule)(harness, **given)


@pytest.mark.parametrize("rule", ["test_every_answer_may_be_lost", "test_every_call_may_fail_before_it_takes_effect"])
async def test_local_disks_and_linked_clones_keep_it_too(rule: str) -> None:
    pve = cluster()
    for vmid, node in ((9100, "pve1"), (9200, "pve2")):
        pve.add_template(vmid, "golden", node, "local-lvm")
    async with serving(pve.app()) as url:
        harness = ProxmoxHarness(pve, url, template_id=None, template="golden", full_clone=False, storage="local-lvm")
        await getattr(ConformanceKit(), rule)(harness)
