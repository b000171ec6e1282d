"""Fields that do not act yet are warned of, and explained: on Kubernetes itself and on the embedded server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from butler.api.admission import BINDING, POLICY, policies
from butler.api.model import DOES_NOT_ACT, GROUP, VERSION
from testbed.running.embedded import Kubectl, kubectl_for
from testbed.running.servers import Cluster
from tests.real import managers
from tests.real.test_own_kinds import knows_our_kinds

__all__ = ["knows_our_kinds"]
pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

WARNING = [(kind, one) for kind, one in policies()[2:]]
NAMES = [one["metadata"]["name"] for kind, one in WARNING if kind is POLICY]


@pytest.fixture(scope="module")
def warning(kubernetes: Cluster, knows_our_kinds: str) -> Iterator[None]:
    """A server with the policies that warn, for as long as these tests take."""
    kubectl = kubectl_for(kubernetes.kubeconfig)
    said = kubectl("apply", "--server-side", "-f", "-", stdin=managers.listed([one for _, one in WARNING])).err
    assert said == ""
    for _ in range(100):
        # A server takes a moment to notice a policy.
        if all("act" in tried(kubectl, one).err for one in (cluster("probe", workspaces={"enabled": True}), WORKSPACE)):
            break
    yield
    for kind in (BINDING, POLICY):
        kubectl("delete", kind.kind.lower(), *NAMES)


def cluster(name: str, **spec: Any) -> dict[str, Any]:
    head = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "TenantCluster"}
    return {**head, "metadata": {"name": name, "namespace": "team-a"}, "spec": spec}


WORKSPACE: dict[str, Any] = {
    "apiVersion": f"{GROUP}/{VERSION}",
    "kind": "Workspace",
    "metadata": {"name": "mine", "namespace": "team-a"},
    "spec": {"clusterRef": {"name": "shop"}, "owner": "me@example.com", "image": "busybox"},
}


def tried(kubectl: Kubectl, document: dict[str, Any]) -> Any:
    return kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(document))


def test_who_writes_a_field_that_does_not_act_is_warned(warning: None, kubectl: Kubectl) -> None:
    pool = {"name": "gpu", "replicas": 1, "machineTemplate": {"os": {"type": "flatcar"}}}
    wanted = cluster("shop", workspaces={"enabled": True}, workers={"pools": [pool]})
    name = f"tenantclusters-not-yet.{GROUP}"
    assert tried(kubectl, wanted).err.strip() == (
        f"Warning: Validation failed for ValidatingAdmissionPolicy '{name}' with binding '{name}':"
        " spec.workers.pools[].machineTemplate.os.type, spec.workspaces do not act yet"
    )


def test_who_writes_none_is_not(warning: None, kubectl: Kubectl) -> None:
    template = {"os": {"imageRef": "default/rocky"}}
    assert tried(kubectl, cluster("shop", workers={"replicas": 1, "machineTemplate": template})).err == ""


def test_a_kind_that_does_not_act_is_warned_of(warning: None, kubectl: Kubectl) -> None:
    assert tried(kubectl, WORKSPACE).err.strip().endswith(": nothing acts on a Workspace yet")


def test_only_a_changed_spec_is_warned_of(warning: None, kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=json.dumps(cluster("kept", workspaces={"enabled": True})))
    where = ("tenantcluster", "kept", "-n", "team-a")
    assert kubectl("label", *where, "seen=yes").err == ""
    status = json.dumps({"status": {"phase": "Failed"}})
    assert kubectl("patch", *where, "--subresource=status", "--type=merge", "-p", status).err == ""
    spec = json.dumps({"spec": {"kubernetesVersion": "v1.31.4"}})
    assert "spec.workspaces does not act yet" in kubectl("patch", *where, "--type=merge", "-p", spec).err
    kubectl("delete", *where)


def test_the_expressions_fit_the_kinds(warning: None, kubectl: Kubectl) -> None:
    for name in NAMES:
        found = json.loads(kubectl("get", "validatingadmissionpolicy", name, "-o", "json").out)
        assert not found.get("status", {}).get("typeChecking", {}).get("expressionWarnings")


def test_a_field_that_does_not_act_is_explained_so(knows_our_kinds: str, kubectl: Kubectl) -> None:
    for path in ("tenantcluster.spec.workspaces", "workspace", "workspace.spec.image"):
        assert DOES_NOT_ACT in " ".join(kubectl("explain", path).out.split())
