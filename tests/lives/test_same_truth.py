"""One life of a cluster, lived three times: by kubectl, by butlerctl and by the client of the original Butler. After
each step all three look, and see the same."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.lives.witnesses import TENANTS, Truth, Witnesses, done
from tests.local.shells import Shell

pytestmark = pytest.mark.timeout(600)

OLD, NEW = "v1.31.4", "v1.32.2"


@pytest.fixture(scope="module")
def witnesses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Witnesses]:
    shell = Shell(tmp_path_factory.mktemp("lives") / "home")
    shell.up("--empty")
    yield Witnesses(shell)
    shell.stop()


def document(name: str) -> str:
    """A cluster as a file describes it."""
    spec = {"kubernetesVersion": OLD, "workers": {"replicas": 2}, "providerConfigRef": {"name": "simulated"}}
    meta = {"name": name, "namespace": TENANTS}
    return yaml.safe_dump(
        {"apiVersion": "butler.butlerlabs.dev/v1alpha1", "kind": "TenantCluster", "metadata": meta, "spec": spec}
    )


def wait(shell: Shell, name: str, *conditions: str) -> None:
    """As scripts do: nothing but what kubectl can see."""
    for one in conditions:
        done(shell.kubectl("wait", f"tenantcluster/{name}", "-n", TENANTS, f"--for={one}", "--timeout=100s"))


def settled(shell: Shell, name: str, workers: int, version: str) -> None:
    counts = (f"jsonpath={{.status.workerNodes{which}}}={workers}" for which in ("Ready", "Desired"))
    wait(shell, name, *counts, f"jsonpath={{.status.observedState.kubernetesVersion}}={version}", "condition=Ready")


def is_well(truth: Truth, version: str, workers: int) -> bool:
    return (truth.phase, truth.version, truth.ready, truth.desired, truth.is_ready) == (
        "Running", version, workers, workers, True,
    )  # fmt: skip


def test_what_kubectl_does_everybody_sees(witnesses: Witnesses, tmp_path: Path) -> None:
    shell, kubectl, name = witnesses.shell, witnesses.shell.kubectl, "by-kubectl"
    (tmp_path / "cluster.yaml").write_text(document(name))
    done(kubectl("create", "-f", str(tmp_path / "cluster.yaml")))
    wait(shell, name, "condition=Ready")
    made = witnesses.together(name)
    assert is_well(made, OLD, 2)

    done(kubectl("scale", f"tenantcluster/{name}", "-n", TENANTS, "--replicas=3"))
    wait(shell, name, "jsonpath={.status.workerNodesReady}=3", "condition=Ready")
    assert is_well(witnesses.together(name), OLD, 3)

    change = json.dumps({"spec": {"kubernetesVersion": NEW}})
    done(kubectl("patch", "tenantcluster", name, "-n", TENANTS, "--type=merge", "-p", change))
    wait(shell, name, "condition=Ready")
    upgraded = witnesses.together(name)
    assert is_well(upgraded, NEW, 3)
    assert (upgraded.endpoint, upgraded.namespace) == (made.endpoint, made.namespace)

    path = r"jsonpath={.data.admin\.conf}"
    secret = done(kubectl("get", "secret", f"{name}-admin-kubeconfig", "-n", made.namespace, "-o", path)).out
    inside = witnesses.inside(base64.b64decode(secret).decode(), tmp_path)
    assert list(inside.values()) == [NEW] * 3
    assert sorted(inside) == sorted(witnesses.object(name)["status"]["observedState"]["workers"]["nodes"])
    assert witnesses.exported(name)["spec"]["workers"]["replicas"] == 3

    done(kubectl("delete", "tenantcluster", name, "-n", TENANTS, "--wait", "--timeout=100s"))
    assert shell.butlerctl("cluster", "get", name).code == 3
    assert witnesses.upstream.is_gone(name)
    assert made.namespace not in done(kubectl("get", "namespaces", "-o", "name")).out


def test_what_butlerctl_does_everybody_sees(witnesses: Witnesses, tmp_path: Path) -> None:
    shell, butlerctl, name = witnesses.shell, witnesses.shell.butlerctl, "by-butlerctl"
    (tmp_path / "cluster.yaml").write_text(document(name))
    done(butlerctl("cluster", "create", "-f", str(tmp_path / "cluster.yaml"), "--wait"))
    made = witnesses.together(name)
    assert is_well(made, OLD, 2)

    done(butlerctl("cluster", "scale", name, "--workers", "3", "--wait"))
    assert is_well(witnesses.together(name), OLD, 3)
    done(butlerctl("cluster", "upgrade", name, "--version", NEW, "--wait"))
    assert is_well(witnesses.together(name), NEW, 3)

    kubeconfig = done(butlerctl("cluster", "kubeconfig", name)).out
    assert list(witnesses.inside(kubeconfig, tmp_path).values()) == [NEW] * 3
    exported = witnesses.exported(name)
    exported["metadata"]["name"] = "again"
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(exported))
    done(shell.kubectl("create", "-f", str(tmp_path / "again.yaml")))
    settled(shell, "again", 3, NEW)
    assert is_well(witnesses.together("again"), NEW, 3)

    for one in (name, "again"):
        done(butlerctl("cluster", "destroy", one, "--yes"))
        assert shell.kubectl("get", "tenantcluster", one, "-n", TENANTS).code == 1
        assert witnesses.upstream.is_gone(one)


def test_what_the_original_client_does_everybody_sees(witnesses: Witnesses, tmp_path: Path) -> None:
    shell, upstream, name = witnesses.shell, witnesses.upstream, "by-upstream"
    upstream.create(name, workers=2, version=OLD, lb_pool="10.127.14.40-10.127.14.50")
    settled(shell, name, 2, OLD)
    made = witnesses.together(name)
    assert is_well(made, OLD, 2)
    assert upstream.get(name)[0].provider == "simulated"

    upstream.scale(name, 3)
    settled(shell, name, 3, OLD)
    assert upstream.is_scaled(name, 3)
    assert is_well(witnesses.together(name), OLD, 3)
    upstream.upgrade(name, NEW)
    settled(shell, name, 3, NEW)
    assert is_well(witnesses.together(name), NEW, 3)

    assert list(witnesses.inside(upstream.kubeconfig(name), tmp_path).values()) == [NEW] * 3
    assert witnesses.exported(name)["spec"]["networking"]["loadBalancerPool"]["end"] == "10.127.14.50"
    upstream.destroy(name)
    wait(shell, name, "delete")
    assert upstream.is_gone(name)
    assert shell.butlerctl("cluster", "get", name).code == 3


def test_what_does_not_come_along_everybody_sees(witnesses: Witnesses) -> None:
    """A data centre that is full: nobody takes what was asked for as what there is."""
    shell, name = witnesses.shell, "held"
    done(shell.butlerctl("cluster", "create", name, "--workers", "1", "--k8s-version", NEW, "--wait"))
    full = {"spec": {"simulated": {"capacity": 1}}}
    change = ("patch", "providerconfig", "simulated", "-n", "butler-system", "--type=merge", "-p")
    done(shell.kubectl(*change, json.dumps(full)))
    try:
        done(shell.kubectl("scale", f"tenantcluster/{name}", "-n", TENANTS, "--replicas=2"))
        wait(shell, name, "jsonpath={.status.workerNodesDesired}=2", "condition=Ready=false")
        truth = witnesses.together(name)
        assert (truth.ready, truth.desired, truth.is_ready) == (1, 2, False)
        assert not witnesses.upstream.is_scaled(name, 2)
    finally:
        done(shell.kubectl(*change, json.dumps({"spec": {"simulated": {"capacity": None}}})))
    settled(shell, name, 2, NEW)
    assert is_well(witnesses.together(name), NEW, 2)
    done(shell.butlerctl("cluster", "destroy", name, "--yes"))
