"""The stand-in of Kamaji says what Kamaji says, as far as that comes without anybody to run its pods."""

from __future__ import annotations

import asyncio

import pytest

from testbed.running.embedded import kubectl_for
from testbed.running.servers import Cluster
from tests.real.standins import control_planes
from tests.real.standins.control_planes import STAGES, Json, Story
from tests.real.standins.differences import KAMAJI, Difference, Found
from tests.real.standins.views import View, view

pytestmark = [pytest.mark.real, pytest.mark.timeout(400)]
on_the_real_server = pytest.mark.parametrize("on", ["real"], indirect=True, scope="session")
NAMESPACE = "hosted"
RESOURCES = "status.kubernetesResources"
READ = (
    "metadata.labels.", "metadata.finalizers", "metadata.ownerReferences", "type", "data.",
    "status.controlPlaneEndpoint", "status.kubeconfig.admin.secretName", "status.certificates.ca.secretName",
    "status.storage.driver", "status.storage.dataStoreName", f"{RESOURCES}.version", f"{RESOURCES}.service.name",
    *(f"{RESOURCES}.deployment.{name}" for name in ("name", "selector", "replicas", "updatedReplicas")),
    *(f"{RESOURCES}.deployment.{name}Replicas" for name in ("ready", "available", "unavailable")),
)  # fmt: skip
"""Where paths begin that Butler, people or Kamaji's Cluster API provider read."""


@pytest.fixture(scope="session")
def kamaji_really(kamaji: Cluster) -> Story:
    """The life with Kamaji."""
    kubectl = kubectl_for(kamaji.kubeconfig)
    kubectl("create", "namespace", NAMESPACE)
    story = control_planes.Really(kubectl, NAMESPACE).live()
    kubectl("delete", "namespace", NAMESPACE, "--wait=false")
    return story


@pytest.fixture(scope="session")
def kamaji_simulated(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """The life with its stand-in."""
    return asyncio.run(control_planes.simulate(tmp_path_factory.mktemp("kamaji"), NAMESPACE))


def read(obj: Json) -> View:
    """What is read of an object; a count of none is not written by everybody, and each has its own port."""
    found = {path: value for path, value in view(obj).items() if path.startswith(READ)}
    if endpoint := found.get("status.controlPlaneEndpoint"):
        host, _, port = endpoint.rpartition(":")
        found["status.controlPlaneEndpoint"] = f"{host}:{'port' if port.isdecimal() else port}"
    return {path: value for path, value in found.items() if value != 0}


def found_in(really: Story, simulated: Story, stage: str) -> list[Found]:
    """Where the two are different at the end of a stage."""
    (here, secrets), (there, ours) = really.stages[stage], simulated.stages[stage]
    shared = sorted({*secrets} & {*ours})
    pairs = [("TenantControlPlane", read(here), read(there))]
    pairs += [(f"Secret {name}", read(secrets[name]), read(ours[name])) for name in shared]
    lacking = [Found(stage, "Secret", "object", name, None) for name in sorted({*secrets} - {*ours})]
    return lacking + [
        Found(stage, kind, path, one.get(path), other.get(path))
        for kind, one, other in pairs
        for path in sorted({*one, *other})
        if one.get(path) != other.get(path)
    ]


@on_the_real_server
@pytest.mark.parametrize("stage", STAGES)
def test_what_is_read_is_alike(kamaji_really: Story, kamaji_simulated: Story, stage: str) -> None:
    found = found_in(kamaji_really, kamaji_simulated, stage)
    assert [one for one in found if not any(listed.covers(one) for listed in KAMAJI)] == []


@on_the_real_server
@pytest.mark.parametrize("listed", KAMAJI, ids=lambda one: f"{one.kind}.{one.path}")
def test_a_listed_difference_is_one(kamaji_really: Story, kamaji_simulated: Story, listed: Difference) -> None:
    found = [one for stage in STAGES for one in found_in(kamaji_really, kamaji_simulated, stage)]
    assert any(listed.covers(one) for one in found), "it is no longer different"
