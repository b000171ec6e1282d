"""butlerctl cluster create: what it sends, and what it refuses before anything is sent."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import PROVIDER, User, condition


def new_name() -> str:
    return f"n-{uuid.uuid4().hex[:8]}"


def test_a_name_is_enough(user: User) -> None:
    name = new_name()
    made = user("cluster", "create", name)
    assert made.out == f"✓ cluster butler-tenants/{name} requested\n"
    assert f"butlerctl cluster kubeconfig {name} --merge" in made.err
    assert user.read(name)["spec"] == {"providerConfigRef": {"name": "simulated"}}
    assert "workers      1: 4 cores, 8Gi memory, 40Gi disk" in made.err


def test_every_flag_goes_where_it_belongs(user: User) -> None:
    name = new_name()
    user(
        "cluster", "create", name, "-p", "butler-system/simulated", "-w", "2", "--cpu", "8", "--memory", "16384",
        "--disk", "100", "--image", "img", "--k8s-version", "v1.32.2", "--pod-cidr", "10.1.0.0/16",
        "--service-cidr", "10.2.0.0/16", "--lb-pool", "10.3.0.1-10.3.0.9", "--environment", "prod",
        "--cp-apiserver-cpu-request", "500m", "--cp-controller-manager-memory-limit", "1Gi",
    )  # fmt: skip
    found = user.read(name)
    assert found["metadata"]["labels"] == {"butler.butlerlabs.dev/environment": "prod"}
    spec = found["spec"]
    assert spec["providerConfigRef"] == {"name": "simulated", "namespace": "butler-system"}
    assert spec["kubernetesVersion"] == "v1.32.2"
    template = spec["workers"]["machineTemplate"]
    assert (spec["workers"]["replicas"], template["cpu"], template["memory"], template["diskSize"]) == (
        2, 8, "16384Mi", "100Gi",
    )  # fmt: skip
    assert template["os"]["imageRef"] == "img"
    assert spec["networking"] == {
        "podCIDR": "10.1.0.0/16",
        "serviceCIDR": "10.2.0.0/16",
        "loadBalancerPool": {"start": "10.3.0.1", "end": "10.3.0.9"},
    }
    assert spec["controlPlane"]["resources"] == {
        "apiServer": {"requests": {"cpu": "500m"}},
        "controllerManager": {"limits": {"memory": "1Gi"}},
    }


def test_flags_win_over_the_file(user: User, tmp_path: Path) -> None:
    name, file = new_name(), tmp_path / "cluster.yaml"
    file.write_text(
        "kind: Namespace\napiVersion: v1\nmetadata: {name: other}\n---\n"
        "apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: TenantCluster\nmetadata: {name: in-file}\n"
        "spec: {kubernetesVersion: v1.31.0, workers: {replicas: 4, machineTemplate: {disk: 50Gi}}}\n"
    )
    user("cluster", "create", name, "-f", str(file), "--workers", "2", "--disk", "60Gi")
    spec = user.read(name)["spec"]
    assert (spec["kubernetesVersion"], spec["workers"]["replicas"]) == ("v1.31.0", 2)
    assert spec["workers"]["machineTemplate"] == {"diskSize": "60Gi"}


def test_a_dry_run_prints_what_would_be_sent_and_sends_nothing(user: User) -> None:
    name = new_name()
    shown = user("cluster", "create", name, "--workers", "2", "--dry-run").out
    assert yaml.safe_load(shown) == {
        "apiVersion": "butler.butlerlabs.dev/v1alpha1",
        "kind": "TenantCluster",
        "metadata": {"name": name, "namespace": "butler-tenants"},
        "spec": {"workers": {"replicas": 2}, "providerConfigRef": {"name": "simulated"}},
    }
    assert not user.exists(name)


def test_a_dry_run_needs_no_platform(user: User) -> None:
    shown = user("cluster", "create", "a", "--dry-run", KUBECONFIG="", BUTLER_HOME=str(user.home))
    assert yaml.safe_load(shown.out)["metadata"]["name"] == "a"
    assert "not checked against a platform" in shown.err


@pytest.mark.usefixtures("own_providers")
def test_a_provider_that_is_not_ready_is_no_secret(user: User) -> None:
    ill = PROVIDER | {"metadata": {"name": "ill", "namespace": "butler-system"}}
    user.kubectl("create", "-f", "-", stdin=json.dumps(ill))
    status = json.dumps({"status": {"conditions": [condition("Ready", False, "the password is wrong")]}})
    user.kubectl(
        "patch", "providerconfig", "ill", "-n", "butler-system", "--subresource=status", "--type=merge", "-p", status
    )
    said = user("cluster", "create", new_name(), "--provider", "ill").err
    assert "Warning: provider ill is not ready, and the cluster waits for it: the password is wrong\n" in said


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--k8s-version", "1.32"], 'spec.kubernetesVersion (--k8s-version): Invalid value: "1.32": must look like'),
        (["--k8s-version", "v1.99.0"], 'spec.kubernetesVersion (--k8s-version): Invalid value: "v1.99.0": must be'),
        (["--pod-cidr", "10.0.0.1/8"], 'spec.networking.podCIDR (--pod-cidr): Invalid value: "10.0.0.1/8":'),
        (["--service-cidr", "10.244.0.0/20"], "spec.networking.serviceCIDR (--service-cidr): Invalid value:"),
        (["--provider", "nope"], 'spec.providerConfigRef.name (--provider): Not found: "nope": there are: simulated'),
        (["--workers", "100000"], "spec.workers.replicas (--workers): Invalid value: 100000: must be at most"),
        (["--workers", "0"], "spec.workers.replicas (--workers): Invalid value: 0: must be a whole number, at least 1"),
        (["--memory", "12"], 'spec.workers.machineTemplate.memory (--memory): Invalid value: "12Mi": must be at least'),
        (
            ["--cp-scheduler-cpu-limit", "5x"],
            "spec.controlPlane.resources.scheduler.limits.cpu (--cp-scheduler-cpu-limit): Invalid value: \"5x\": '5x'",
        ),
        (["--team", "nope"], 'spec.teamRef.name (--team): Not found: "nope"'),
    ],
)
def test_what_cannot_work_is_refused_by_field(user: User, flags: list[str], said: str) -> None:
    name = new_name()
    code = 7 if "Not found" in said else 2
    refused = user("cluster", "create", name, *flags, fails=code).err.splitlines()
    assert refused[0] == f"butlerctl: cluster butler-tenants/{name} cannot be created:"
    assert refused[1].strip().startswith(said)
    assert not user.exists(name)


def test_all_problems_are_told_at_once(user: User) -> None:
    refused = user("cluster", "create", "Bad_Name", "--k8s-version", "x", "--cpu", "0", "--pod-cidr", "x", fails=2)
    fields = [line.split()[0] for line in refused.err.splitlines()[1:]]
    assert sorted(fields) == [
        "metadata.name:",
        "spec.kubernetesVersion",
        "spec.networking.podCIDR",
        "spec.workers.machineTemplate.cpu",
    ]


def test_wrong_flags_are_wrong_usage(user: User) -> None:
    for flags in (
        ["a", "--workers", "many"],
        ["a", "--no-such-flag"],
        [],
        ["a", "--lb-pool", "1.1.1.1", "--lb-pool-start", "1.1.1.1"],
        ["a", "--lb-pool-start", "1.1.1.1"],
        ["a", "--timeout", "soon"],
    ):
        user("cluster", "create", *flags, fails=2)


def test_a_slip_in_a_file_is_noticed(user: User, tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    body = "apiVersion: butler.butlerlabs.dev/v1alpha1\nkind: TenantCluster\nmetadata: {name: a}\n"
    for spec, said in (
        ("spec: {workers: {replica: 3}}", "spec.workers.replica: Forbidden: there is no such field; did you mean"),
        ("spec: {workers: {pools: [{name: a, replicas: x}]}}", 'spec.workers.pools[0].replicas: Invalid value: "x"'),
        ("spec: [", "this is not YAML: line"),
        ("spec: 7", "spec: must be a mapping"),
        ("spec: {workers: {machineTemplate: {disk: 1Gi, diskSize: 2Gi}}}", "spec.workers.machineTemplate"),
    ):  # fmt: skip
        file.write_text(f"{body}{spec}\n")
        assert said in user("cluster", "create", "-f", str(file), fails=2).err
    assert "No such file" in user("cluster", "create", "-f", str(tmp_path / "gone"), fails=2).err
    assert "needs exactly one TenantCluster" in user("cluster", "create", "-f", "-", stdin="a: b\n", fails=2).err


def test_a_name_that_is_taken_is_an_error_that_names_it(user: User) -> None:
    name = user.cluster()
    refused = user("cluster", "create", name, fails=7).err
    assert refused.startswith(f"butlerctl: cluster butler-tenants/{name} cannot be created: there is one already")


def test_a_dry_run_notices_that_a_name_is_taken(user: User) -> None:
    name = user.cluster()
    refused = user("cluster", "create", name, "--dry-run", fails=7).err
    assert refused.startswith(f"butlerctl: cluster butler-tenants/{name} cannot be created: there is one already")


def test_a_name_that_is_being_given_up_is_told_apart(user: User) -> None:
    name = user.cluster()
    change = json.dumps({"metadata": {"finalizers": ["example.com/stays"]}})
    user.kubectl("patch", "tenantcluster", name, "-n", "butler-tenants", "--type=merge", "-p", change)
    user.kubectl("delete", "tenantcluster", name, "-n", "butler-tenants", "--wait=false")
    assert "the one of that name is still being deleted" in user("cluster", "create", name, fails=7).err
    user.kubectl(
        "patch", "tenantcluster", name, "-n", "butler-tenants", "--type=merge", "-p", '{"metadata":{"finalizers":[]}}'
    )


def test_who_may_not_look_may_still_create(user: User, tmp_path: Path) -> None:
    name, where = new_name(), ("-n", "butler-tenants")
    content = json.loads(user.kubectl("config", "view", "--raw", "-o", "json").out)
    content["users"][0]["user"]["as"] = "joe"
    (tmp_path / "joe").write_text(json.dumps(content))
    user.kubectl("create", "role", name, *where, "--verb=create", "--resource=tenantclusters")
    user.kubectl("create", "rolebinding", name, *where, f"--role={name}", "--user=joe")
    made = user("cluster", "create", name, "--kubeconfig", str(tmp_path / "joe"))
    user.kubectl("delete", "rolebinding", name, *where)
    assert "not everything can be checked beforehand: providerconfigs" in made.err
    assert user.read(name)["spec"] == {}


def test_without_a_provider_named_there_must_be_only_one(user: User) -> None:
    second = {**PROVIDER, "metadata": {"name": "second", "namespace": "butler-system"}}
    user.kubectl("create", "-f", "-", stdin=json.dumps(second))
    try:
        refused = user("cluster", "create", new_name(), fails=2).err
    finally:
        user.kubectl("delete", "providerconfig", "second", "-n", "butler-system")
    assert refused == "butlerctl: name a provider with --provider; there are: second, simulated\n"


def test_a_namespace_that_is_not_for_clusters_is_refused(user: User) -> None:
    assert "metadata.namespace" in user("cluster", "create", "a", "-n", "butler-system", fails=7).err


@pytest.fixture
def tight(user: User, own_providers: None) -> str:
    """A provider on which a team may have two clusters, with three workers together."""
    limited: dict[str, Any] = json.loads(json.dumps(PROVIDER))
    limited["metadata"]["name"] = "tight"
    limited["spec"]["limits"] = {"maxClustersPerTeam": 2, "maxNodesPerTeam": 3}
    user.kubectl("create", "-f", "-", stdin=json.dumps(limited))
    return "tight"


def test_a_quota_that_is_used_up_is_told_before_anything_is_sent(user: User, tight: str) -> None:
    name, other = new_name(), new_name()
    told = user("cluster", "create", name, "-p", tight, "-w", "4", fails=7).err
    assert f"cluster butler-tenants/{name} cannot be created: 4 workers on this provider, and 3 are allowed; " in told
    assert "`butlerctl cluster list` shows what there is" in told
    assert "4 workers" in user("cluster", "create", name, "-p", tight, "-w", "4", "--dry-run", fails=7).err
    assert not user.exists(name)
    user("cluster", "create", name, "-p", tight, "-w", "1")
    user.status(name, acceptedSpec=user.read(name)["spec"])
    assert "there is one already" in user("cluster", "create", name, "-p", tight, "-w", "9", fails=7).err
    user("cluster", "create", other, "-p", tight, "-w", "1")
    assert "3 clusters on this provider, and 2 are allowed" in user(
        "cluster", "create", new_name(), "-p", tight, fails=7
    ).err  # fmt: skip
    assert "4 workers on this provider, and 3 are allowed" in user("cluster", "scale", other, "-w", "3", fails=7).err
    assert user.read(other)["spec"]["workers"]["replicas"] == 1
    user("cluster", "scale", other, "-w", "2")
    user.kubectl("delete", "tenantclusters", name, other, "-n", "butler-tenants", "--wait=false")
