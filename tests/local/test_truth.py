"""What kubectl and butlerctl say of clusters is so, and what they are told is done."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.local.shells import Shell

SEED = Path(__file__).parent.parent / "fixtures" / "seeds" / "provider-selection.yaml"
TENANTS = "butler-tenants"


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """Someone whose platform runs."""
    one = Shell(tmp_path_factory.mktemp("truth") / "home")
    one.up("--empty")
    yield one
    one.stop()


def asked_for(user: Shell, name: str, namespace: str = TENANTS, **spec: Any) -> None:
    """A cluster that runs, as kubectl would be told to make it."""
    body = {
        "apiVersion": "butler.butlerlabs.dev/v1alpha1",
        "kind": "TenantCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
    applied = user.run(
        "kubectl", "--kubeconfig", str(user.data / "kubeconfig"), "apply", "-f", "-", answer=json.dumps(body)
    )
    assert applied.code == 0, applied.err
    is_ready(user, name, namespace)


def is_ready(user: Shell, name: str, namespace: str = TENANTS) -> None:
    waited = user.kubectl("wait", "tc", name, "-n", namespace, "--for=condition=Ready", "--timeout=30s")
    assert waited.code == 0, waited.err


def read(user: Shell, name: str, namespace: str = TENANTS) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(user.kubectl("get", "tc", name, "-n", namespace, "-o", "json").out)
    return found


def test_the_status_of_a_platform_tells_of_a_change_that_is_refused(user: Shell) -> None:
    asked_for(user, "held", kubernetesVersion="v1.31.4")
    user.kubectl("patch", "tc", "held", "-n", TENANTS, "--type=merge", "-p", '{"spec":{"kubernetesVersion":"v1.34.1"}}')
    user.kubectl("wait", "tc", "held", "-n", TENANTS, "--for=condition=Ready=false", "--timeout=30s")
    told = user.butleradm("status")
    assert (told.code, f"a change of cluster {TENANTS}/held is refused; `butlerctl cluster why" in told.out) == (
        1,
        True,
    )
    user.butlerctl("cluster", "destroy", "held", "--yes")


def test_a_cluster_whose_workers_nobody_counted_can_be_scaled(user: Shell) -> None:
    asked_for(user, "plain")
    assert read(user, "plain")["spec"]["workers"]["replicas"] == 1
    scaled = user.kubectl("scale", "tc", "plain", "-n", TENANTS, "--replicas=3")
    assert scaled.code == 0, scaled.err
    is_ready(user, "plain")
    assert read(user, "plain")["status"]["workerNodesReady"] == 3


def test_a_refused_change_is_not_ready_for_kubectl(user: Shell) -> None:
    asked_for(user, "stays", kubernetesVersion="v1.31.4")
    jump = json.dumps({"spec": {"kubernetesVersion": "v1.34.1"}})
    assert user.kubectl("patch", "tc", "stays", "-n", TENANTS, "--type=merge", "-p", jump).code == 0
    for wanted in ("condition=Ready=false", "condition=Accepted=false"):
        waited = user.kubectl("wait", "tc", "stays", "-n", TENANTS, f"--for={wanted}", "--timeout=20s")
        assert waited.code == 0, waited.err
    assert user.kubectl("wait", "tc", "stays", "-n", TENANTS, "--for=condition=Ready", "--timeout=0s").code == 1
    shown = user.kubectl("get", "tc", "stays", "-n", TENANTS, "-o", "wide").out.splitlines()[1].split()
    assert shown[:4] == ["stays", "Running", "False", "v1.31.4"]
    assert "simulated" in shown
    exported = yaml.safe_load(user.butlerctl("cluster", "export", "stays").out)
    assert exported["spec"]["kubernetesVersion"] == "v1.31.4"
    events = user.kubectl("get", "events", "-n", TENANTS, "-o", "json").out
    assert "VersionNotAllowed" in {one["reason"] for one in json.loads(events)["items"]}


def test_each_cluster_has_an_endpoint_of_its_own(user: Shell) -> None:
    found = set()
    for name in ("one", "two"):
        asked_for(user, name)
        status = read(user, name)["status"]
        secret = user.kubectl(
            "get", "secret", f"{name}-admin-kubeconfig", "-n", status["tenantNamespace"], "-o", "json"
        )
        config = yaml.safe_load(base64.b64decode(json.loads(secret.out)["data"]["admin.conf"]))
        assert config["clusters"][0]["cluster"]["server"] == f"https://{status['controlPlaneEndpoint']}"
        found.add(status["controlPlaneEndpoint"])
    assert len(found) == 2


def test_a_cluster_that_names_no_namespace_works_as_written(user: Shell, tmp_path: Path) -> None:
    account = {
        "apiVersion": "butler.butlerlabs.dev/v1alpha1",
        "kind": "ProviderConfig",
        "metadata": {"name": "harvester-prod"},
        "spec": {"provider": "simulated", "simulated": {}},
    }
    file = tmp_path / "account.yaml"
    file.write_text(yaml.safe_dump(account))
    assert user.kubectl("apply", "-f", str(file), "-f", str(SEED)).code == 0
    is_ready(user, "my-cluster", "default")


def test_an_export_applied_again_runs_the_same(user: Shell, tmp_path: Path) -> None:
    asked_for(user, "first", workers={"replicas": 2})
    exported = user.butlerctl("cluster", "export", "first", "--as", "second").out
    file = tmp_path / "second.yaml"
    file.write_text(exported)
    assert {"metadata", "spec"} == yaml.safe_load(exported).keys() - {"apiVersion", "kind"}
    assert user.kubectl("apply", "-f", str(file)).code == 0
    is_ready(user, "second")
    again = yaml.safe_load(user.butlerctl("cluster", "export", "second").out)
    assert again["spec"] == yaml.safe_load(exported)["spec"]
    assert again["spec"]["workers"]["machineTemplate"] == {"cpu": 4, "memory": "8Gi", "diskSize": "40Gi"}
