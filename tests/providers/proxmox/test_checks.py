"""A check says what is missing, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from butler.providers.contract import CHECKS, Check
from tests.providers.proxmox.fake import Pve
from tests.providers.proxmox.harness import LOGIN, ProxmoxHarness, running


async def told(harness: ProxmoxHarness) -> dict[str, Check]:
    provider = await harness.connect()
    try:
        return {one.name: one for one in await provider.check()}
    finally:
        await provider.close()


@pytest.mark.parametrize("section", [{}, {"template_id": None, "image": "local:import/flatcar.qcow2"}])
async def test_everything_is_tried(section: dict[str, Any]) -> None:
    async with running(LOGIN, **section) as harness:
        checks = await told(harness)
    assert set(checks) == set(CHECKS)
    assert [one for one in checks.values() if not one.passed] == []
    assert checks["version"].value == "8.4.1"


@pytest.mark.parametrize(
    ("section", "name", "said", "remedy"),
    [
        ({"template_id": 1}, "image", "There is no template 1", "qm list"),
        ({"template_id": 300}, "image", "VM 300 is not a template.", "qm template 300"),
        ({"template_id": 301}, "image", "301 is a container.", "Name the template of a VM."),
        ({"template_id": None, "template": "nope"}, "image", "There is no template nope", "qm list"),
        ({"template_id": None, "image": "local:import/a.raw"}, "image", "local:import/a.raw is not there", "Download"),
        ({"bridge": "vmbr9"}, "network", "There is no bridge vmbr9 on pve1.", "write one of: vmbr0, vmbr1"),
        ({"storage": "nfs"}, "storage", "There is no storage nfs on pve1, pve2", "one of: ceph, local, local-lvm"),
        ({"storage": "local"}, "storage", "Storage local does not take images.", "pvesm set local --content backup,im"),
        ({"iso_storage": "ceph"}, "storage", "Storage ceph does not take iso.", "pvesm set ceph --content images,iso"),
        ({"nodes": ("pve1", "pve7")}, "capacity", "There is no host pve7.", "some of: pve1, pve2"),
    ],
)  # fmt: skip
async def test_what_the_section_names_and_is_not_there(
    section: dict[str, Any], name: str, said: str, remedy: str
) -> None:
    async with running(**section) as harness:
        harness.pve.add_guest(300, "pve1", {"name": "plain"})
        harness.pve.containers.add(301)
        harness.pve.add_guest(301, "pve1", {"name": "box"})
        checks = await told(harness)
    assert [one.name for one in checks.values() if not one.passed] == [name]
    assert said in checks[name].message
    assert remedy in checks[name].remedy


def _no_host(pve: Pve) -> None:
    for host in pve.hosts.values():
        host.is_online = False


def _no_memory(pve: Pve) -> None:
    for host in pve.hosts.values():
        host.used = host.memory


def _no_disk(pve: Pve) -> None:
    pve.storages["ceph"].used = pve.storages["ceph"].size


def _old(pve: Pve) -> None:
    pve.version = "7.4-3"


@pytest.mark.parametrize(
    ("change", "name", "said"),
    [
        (_no_host, "capacity", "No host is online."),
        (_no_memory, "capacity", "Free memory: pve1 0 MB, pve2 0 MB."),
        (_no_disk, "storage", "Storage ceph has 0 GB free."),
        (_old, "version", "Proxmox VE 7.4-3."),
    ],
)
async def test_how_the_cluster_is(change: Callable[[Pve], None], name: str, said: str) -> None:
    async with running() as harness:
        change(harness.pve)
        checks = await told(harness)
    assert [one.name for one in checks.values() if not one.passed] == [name]
    assert checks[name].message == said
    assert checks[name].remedy


@pytest.mark.parametrize(
    ("privilege", "where"),
    [
        ("VM.Clone", "/vms"),
        ("VM.Monitor", "/vms"),
        ("Datastore.AllocateSpace", "/storage/ceph"),
        ("Datastore.Allocate", "/storage/local"),
        ("Datastore.AllocateTemplate", "/storage/local"),
        ("SDN.Use", "/sdn/zones/localnetwork/vmbr1"),
    ],
)
async def test_a_privilege_that_is_missing_is_named_with_its_place(privilege: str, where: str) -> None:
    async with running(bridge="vmbr1") as harness:
        del harness.pve.acl["/"][privilege]
        checks = await told(harness)
    assert f"{privilege} on {where}" in checks["permissions"].message
    assert "pveum acl modify" in checks["permissions"].remedy
    assert "the same for its user" in checks["permissions"].remedy


async def test_privileges_may_be_given_for_a_part_and_without_what_is_below() -> None:
    async with running(pool="butler", bridge="vnet1") as harness:
        everything = harness.pve.acl.pop("/")
        places = ("/pool/butler", "/storage", "/nodes", "/vms/9000", "/sdn/zones/blue/vnet1")
        harness.pve.acl |= {path: dict(everything) for path in places}
        harness.pve.acl["/storage/ceph"] = {"Datastore.Audit": True}
        harness.pve.acl["/nodes"] = {"Sys.Audit": False}
        checks = await told(harness)
    missing = "Datastore.AllocateSpace on /storage/ceph, Sys.Audit on /nodes/pve1, Sys.Audit on /nodes/pve2"
    assert checks["permissions"].message == f"Missing: {missing}."


async def test_since_version_nine_the_agent_has_a_privilege_of_its_own() -> None:
    async with running() as harness:
        harness.pve.version = "9.0.3"
        del harness.pve.acl["/"]["VM.Monitor"]
        assert (await told(harness))["permissions"].passed
        del harness.pve.acl["/"]["VM.GuestAgent.Audit"]
        assert "VM.GuestAgent.Audit on /vms" in (await told(harness))["permissions"].message
