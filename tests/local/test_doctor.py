"""Everything the doctor can find, with its remedy."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from butler.api.cluster import TenantCluster
from butler.api.machine import MachineRequest
from butler.api.provider import ProviderConfig
from butler.api.sections.simulated import SimulatedSection
from butler.api.team import Team
from butler.local.checks import computer, inside
from butler.local.checks.finding import Finding, Verdict
from butler.local.home import Home, Remembered, Running
from butler.local.installation import install_definitions
from butler.local.platform import Options, Platform, answering_health, running
from butler.providers.contract import MachineOrder
from butler.providers.simulated.datacentre import DataCentre
from butler.providers.simulated.section import Knobs
from butler.simulation.delays import NONE
from kubekit.client.protocol import Client
from kubekit.model.crd import DEFINITION
from kubekit.model.resource import ObjectMeta
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from kubekit.server.store import data_lock
from tests.local.worlds import a_machine_request

LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("BUTLER_HOME", str(tmp_path / "home"))
    place = Home(tmp_path / "home" / "local")
    place.remember(Remembered())
    return place


def the_failure(findings: Iterable[Finding]) -> Finding:
    failures = [one for one in findings if one.verdict is Verdict.FAIL]
    assert len(failures) == 1, findings
    assert failures[0].remedy
    return failures[0]


def test_a_data_directory_that_is_open_to_all(place: Home) -> None:
    place.data.chmod(0o755)
    assert the_failure(computer.data_directory(place)).remedy == f"chmod 700 {place.data}"


def test_a_data_directory_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "--data" in the_failure(computer.data_directory(Home(tmp_path / "file"))).remedy


def test_a_data_directory_that_is_not_there_yet_is_well(tmp_path: Path) -> None:
    assert [one.verdict for one in computer.data_directory(Home(tmp_path / "new" / "one"))] == [Verdict.PASS]


def test_a_full_disk(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer, "_LEAST_SPACE", 10**18)
    assert "make room" in the_failure(computer.free_space(place)).remedy


def test_an_old_python(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computer, "_OLDEST_PYTHON", (4, 0))
    assert "install Python" in the_failure(computer.python(place)).remedy


def test_a_port_of_another_program(place: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        place.remember(Remembered(port=port))
        assert f"{port} is used by another program" in the_failure(computer.port(place)).message


def test_a_process_on_the_data_that_is_no_platform(place: Home) -> None:
    held = data_lock.take(place.data)
    data_lock.note_holder(held)
    found = the_failure(computer.lock(place))
    os.close(held)
    assert f"kill {os.getpid()}" in found.remedy


def test_a_kubeconfig_that_others_can_read(place: Home) -> None:
    place.kubeconfig.write_text("")
    place.kubeconfig.chmod(0o644)
    assert the_failure(computer.access(place)).remedy == f"chmod 600 {place.kubeconfig}"


def test_a_kubeconfig_that_is_none(place: Home) -> None:
    place.kubeconfig.write_text("{")
    place.kubeconfig.chmod(0o600)
    assert "written at the start" in the_failure(computer.access(place)).remedy


async def test_a_kubeconfig_that_is_missing(place: Home) -> None:
    async with Server(place.data):
        pass
    place.kubeconfig.unlink()
    assert "is missing" in the_failure(computer.access(place)).message


async def test_a_kubeconfig_of_another_platform(place: Home) -> None:
    async with Server(place.data) as server:
        place.announce(announcement(place, "https://127.0.0.1:1"))
        assert server.url in the_failure(computer.access(place)).message


async def test_certificates_that_are_about_to_expire(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Server(place.data):
        pass
    assert [one.verdict for one in computer.certificates(place)] == [Verdict.PASS]
    monkeypatch.setattr(computer, "_EXPIRES_SOON", timedelta(days=366))
    assert "renewed" in next(iter(computer.certificates(place))).remedy


def test_a_clock_that_went_back(place: Home) -> None:
    later = (datetime.now(UTC) + timedelta(days=1)).timestamp()
    os.utime(place.data / "settings.json", (later, later))
    assert "set the clock" in the_failure(computer.clock(place)).remedy


def announcement(place: Home, url: str, health: str = "") -> Running:
    return Running(
        data=str(place.data),
        kubeconfig=str(place.kubeconfig),
        pid=os.getpid(),
        url=url,
        health=health,
        started=datetime.now(UTC),
        version="1",
    )


@pytest.fixture
async def platform(place: Home) -> AsyncIterator[Platform]:
    async with running(place, Options(delays=NONE)) as platform, answering_health(platform) as health:
        place.announce(announcement(place, platform.url, health))
        yield platform


async def test_a_definition_of_another_version(place: Home, platform: Platform) -> None:
    change = {"spec": {"names": {"shortNames": ["crew"]}}}
    await platform.client.patch(DEFINITION, "teams.butler.butlerlabs.dev", change)
    assert "teams" in the_failure(await inside.definitions(place, platform.client)).message


async def test_a_definition_that_is_missing(place: Home, platform: Platform) -> None:
    await platform.client.delete(DEFINITION, "workspaces.butler.butlerlabs.dev")
    assert "workspaces" in the_failure(await inside.definitions(place, platform.client)).message


async def test_a_controller_with_a_problem(place: Home, platform: Platform) -> None:
    platform.managers[0].informers.of(Team).heard = -1e9
    assert "has heard nothing" in the_failure(await inside.controllers(place, platform.client)).message


async def test_a_platform_whose_health_cannot_be_asked(place: Home, platform: Platform) -> None:
    place.announce(announcement(place, platform.url, "http://127.0.0.1:1"))
    assert "does not answer" in the_failure(await inside.controllers(place, platform.client)).message


async def test_a_provider_that_is_not_ready(place: Home, platform: Platform) -> None:
    change = {"status": {"ready": False}}
    await platform.client.patch(ProviderConfig, "simulated", change, "butler-system", subresource="status")
    failure = the_failure(await inside.providers(place, platform.client))
    assert "simulated" in failure.message
    assert failure.remedy == "butleradm provider get simulated"


@pytest.fixture
async def requests(place: Home, server: Server) -> Client:
    """An API that knows a MachineRequest, and on which no controller acts."""
    client = DirectClient(server.root)
    await install_definitions(client, [MachineRequest])
    await server.root.settled()
    await client.create(a_machine_request())
    return client


async def say(client: Client, **status: object) -> None:
    """As its controller would."""
    await client.patch(MachineRequest, "cp-0", {"status": status}, "default", subresource="status")


async def test_machines_that_were_asked_for_and_are_well(place: Home, requests: Client) -> None:
    assert [one.verdict for one in await inside.requests(place, requests)] == [Verdict.PASS], "it has just begun"
    ready = {"type": "Ready", "status": "True", "reason": "VMRunning", "message": "", "lastTransitionTime": LONG_AGO}
    await say(requests, phase="Running", conditions=[ready])
    assert [one.verdict for one in await inside.requests(place, requests)] == [Verdict.PASS]


@pytest.mark.parametrize(
    ("reason", "message", "remedy"),
    [
        ("MachineRejected", "no such image", "kubectl describe machinerequest cp-0 -n default"),
        ("VMDeleted", "The machine is gone.", "kubectl delete machinerequest cp-0 -n default"),
    ],
)
async def test_a_machine_that_was_refused_or_lost(
    place: Home, requests: Client, reason: str, message: str, remedy: str
) -> None:
    await say(requests, phase="Failed", failureReason=reason, failureMessage=message)
    found = the_failure(await inside.requests(place, requests))
    assert f"default/cp-0 has failed: {message}" in found.message
    assert remedy in found.remedy


async def test_a_machine_that_does_not_come(place: Home, requests: Client) -> None:
    late = {"type": "Ready", "status": "False", "reason": "Creating", "message": "no address yet"}
    await say(requests, phase="Creating", conditions=[{**late, "lastTransitionTime": LONG_AGO}])
    found = the_failure(await inside.requests(place, requests))
    assert "default/cp-0 is Creating for too long: no address yet" in found.message


async def test_a_deletion_that_is_stuck(place: Home, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = TenantCluster(metadata=ObjectMeta(name="shop", namespace="default", finalizers=("mine.example/wait",)))
    await platform.client.create(stuck)
    await platform.client.delete(TenantCluster, "shop", "default")
    assert [one.verdict for one in await inside.deletions(place, platform.client)] == [Verdict.PASS]
    monkeypatch.setattr(inside, "_STUCK", timedelta(seconds=-10))
    found = the_failure(await inside.deletions(place, platform.client))
    assert "default/shop" in found.message
    assert found.remedy.startswith("`butlerctl cluster why default/shop")


async def test_a_machine_that_nobody_owns(place: Home, platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    order = MachineOrder("stray", "a-token", 1, 1024, 10)
    datacentre = DataCentre(place.datacentre)
    datacentre.create("somebody", order, Knobs.of(SimulatedSection(), "test"))
    datacentre.close()
    monkeypatch.setattr(inside, "_SETTLED", timedelta(seconds=-10))
    assert "stray" in the_failure(await inside.leftovers(place, platform.client)).message
