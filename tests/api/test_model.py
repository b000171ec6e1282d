"""Butler's kinds as values: what is written, and what is read."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from butler.api import KINDS
from butler.api.bootstrap.addons import BootstrapCni
from butler.api.cluster import ClusterPhase, TenantCluster, TenantClusterStatus
from butler.api.cluster_addons import CertManagerAddon
from butler.api.machine import MachineRequest, MachineResources
from butler.api.team import Team
from kubekit.model.resource import Model, ObjectMeta


def test_an_object_always_says_what_it_is() -> None:
    written = msgspec.json.decode(msgspec.json.encode(Team(metadata=ObjectMeta(name="a"))))
    assert written == {"kind": "Team", "apiVersion": "butler.butlerlabs.dev/v1alpha1", "metadata": {"name": "a"}}


def test_a_class_knows_its_address() -> None:
    address = MachineRequest.address
    assert (address.api_version, address.kind, address.plural, address.namespaced) == (
        "butler.butlerlabs.dev/v1alpha1", "MachineRequest", "machinerequests", True,
    )  # fmt: skip
    assert address.name == "machinerequests.butler.butlerlabs.dev"


@pytest.mark.parametrize(("kind", "field"), [(CertManagerAddon, "enabled"), (BootstrapCni, "hubbleEnabled")])
def test_an_explicit_false_survives_a_default_of_true(kind: type[Model], field: str) -> None:
    read: Model = msgspec.json.decode(f'{{"{field}":false}}', type=kind)
    assert msgspec.json.decode(msgspec.json.encode(read))[field] is False


def test_a_default_is_written_and_an_absence_is_not() -> None:
    assert msgspec.json.decode(msgspec.json.encode(CertManagerAddon())) == {"enabled": True}
    assert msgspec.json.encode(MachineResources()) == b"{}"


def test_a_count_of_zero_is_written() -> None:
    assert msgspec.json.encode(TenantClusterStatus(worker_nodes_ready=0)) == b'{"workerNodesReady":0}'


def test_phases_are_their_text() -> None:
    read = msgspec.json.decode(b'{"phase":"Running"}', type=TenantClusterStatus)
    assert read.phase == "Running"
    assert f"{read.phase}" == "Running"
    assert msgspec.json.encode(TenantClusterStatus(phase=ClusterPhase.RUNNING)) == b'{"phase":"Running"}'


def test_running_and_ready_are_both_usable() -> None:
    assert [phase for phase in ClusterPhase if phase.is_usable] == [ClusterPhase.READY, ClusterPhase.RUNNING]


def test_an_object_without_spec_can_be_read_where_nothing_is_required() -> None:
    assert msgspec.json.decode(b'{"kind":"TenantCluster"}', type=TenantCluster).spec.workers.replicas is None


def test_importing_the_package_imports_no_kind() -> None:
    code = "import sys, butler.api; print([m for m in sys.modules if m.startswith('butler.api.')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['butler.api.model']"


def test_every_kind_can_be_decoded() -> None:
    for kind in KINDS:
        msgspec.json.Decoder(kind)
