"""Butler's own kinds under kubectl: the seed documents, columns, status, scale and refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from testbed.running.embedded import Kubectl

ROOT = Path(__file__).parents[2]
CRDS = ROOT / "deploy" / "crds"
SEEDS = ROOT / "tests" / "fixtures" / "seeds"
WHOLE = sorted(path for path in SEEDS.glob("*.yaml") if "fragment" not in path.name)

pytestmark = pytest.mark.usefixtures("butler_kinds")


@pytest.fixture
def system(kubectl: Kubectl, butler_kinds: None) -> Iterator[Kubectl]:
    """kubectl, with the namespace `butler-system` of the seed documents for one test."""
    kubectl("create", "namespace", "butler-system")
    yield kubectl
    kubectl("delete", "namespace", "butler-system")


def cluster(name: str, **spec: object) -> str:
    kind = {"apiVersion": "butler.butlerlabs.dev/v1alpha1", "kind": "TenantCluster"}
    return json.dumps({**kind, "metadata": {"name": name}, "spec": spec})


def seed(path: Path) -> tuple[str, str]:
    """How kubectl names the object of a document, and the namespace it goes to."""
    document = yaml.safe_load(path.read_text())
    group = document["apiVersion"].rpartition("/")[0]
    kind = f"{document['kind'].lower()}.{group}" if group else document["kind"].lower()
    return f"{kind}/{document['metadata']['name']}", document["metadata"].get("namespace", "default")


@pytest.mark.parametrize(
    ("mode", "first", "then"),
    [("--server-side", "serverside-applied", "serverside-applied"), ("--server-side=false", "created", "unchanged")],
)
def test_every_seed_document_applies_unchanged(system: Kubectl, mode: str, first: str, then: str) -> None:
    assert len(WHOLE) >= 8
    for path in WHOLE:
        name, namespace = seed(path)
        apply = ("apply", mode, "--validate=strict", "-f", str(path))
        made = system(*apply)
        assert (made.out, made.err) == (f"{name} {first}\n", ""), path.name
        # `stringData` is never stored, so that client-side apply always sees a change.
        expected = "configured" if "secret" in name and then == "unchanged" else then
        assert system(*apply).out == f"{name} {expected}\n", path.name
        system("delete", "-n", namespace, name)


def test_definitions_can_be_applied_either_way_again_and_again(kubectl: Kubectl) -> None:
    path = str(CRDS / "teams.yaml")
    name = "customresourcedefinition.apiextensions.k8s.io/teams.butler.butlerlabs.dev"
    assert kubectl("apply", "-f", path).out.startswith(f"{name} ")
    assert kubectl("apply", "-f", path).out == f"{name} unchanged\n"
    assert kubectl("apply", "--server-side", "-f", path).out == f"{name} serverside-applied\n"
    conditions = kubectl("get", "crd/teams.butler.butlerlabs.dev", "-o", "jsonpath={.status.conditions[*].type}").out
    assert conditions == "NamesAccepted Established"


def test_a_machine_request_shows_its_columns_and_takes_a_status(system: Kubectl) -> None:
    system("apply", "-f", str(SEEDS / "machinerequest.yaml"))
    table = ("get", "mr", "-n", "butler-system", "--no-headers")
    assert system(*table).out.split()[:3] == ["cluster-cp-0", "cluster-cp-0", "control-plane"]
    patch = ("patch", "mr", "-n", "butler-system", "cluster-cp-0", "--subresource=status", "--type=merge")
    incomplete = system(*patch, "--patch-file", str(SEEDS / "machinerequest-status.fragment.yaml"), fails=True).err
    assert "* status.conditions[0].lastTransitionTime: Required value\n" in incomplete
    system(*patch, "-p", '{"status":{"phase":"Running","ipAddress":"10.40.1.50"},"spec":{"cpu":64}}')
    assert system(*table).out.split()[:5] == ["cluster-cp-0", "cluster-cp-0", "control-plane", "Running", "10.40.1.50"]
    shown = "jsonpath={.spec.cpu} {.metadata.generation} {.status.phase}"
    assert system("get", "mr", "-n", "butler-system", "cluster-cp-0", "-o", shown).out == "4 1 Running"
    system("wait", "mr/cluster-cp-0", "-n", "butler-system", "--for=jsonpath={.status.phase}=Running", "--timeout=60s")


def test_a_tenant_cluster_scales_its_workers(here: Kubectl) -> None:
    here("create", "-f", "-", stdin=cluster("demo", workers={"replicas": 3}))
    assert here("scale", "tc", "demo", "--replicas=5").out == "tenantcluster.butler.butlerlabs.dev/demo scaled\n"
    assert here("scale", "tc/demo", "--replicas=6", "--current-replicas=9", fails=True).err == (
        "error: Expected replicas to be 9, was 5\n"
    )
    patch = ("patch", "tc", "demo", "--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":-5}}')
    assert ".spec.workers.replicas: Invalid value: -5: should be a non-negative integer" in here(*patch, fails=True).err
    assert here("get", "tc", "demo", "-o", "jsonpath={.spec.workers.replicas} {.metadata.generation}").out == "5 2"
    assert here("get", "tc", "demo", "--subresource=scale", "--no-headers").out.split()[:3] == ["demo", "5", "0"]


def test_a_fragment_is_merged_and_unknown_or_wrong_fields_are_refused(here: Kubectl) -> None:
    here("create", "-f", "-", stdin=cluster("demo"))
    patch = ("patch", "tc", "demo", "--type=merge")
    here(*patch, "--patch-file", str(SEEDS / "worker-override.fragment.yaml"))
    assert here("get", "tc", "demo", "-o", "jsonpath={.spec.workers.machineTemplate.memory}").out == "16Gi"
    strategic = here("patch", "tc", "demo", "-p", '{"spec":{}}', fails=True).err
    assert strategic.startswith(
        "error: application/strategic-merge-patch+json is not supported by "
        "butler.butlerlabs.dev/v1alpha1, Kind=TenantCluster: the body of the request was in an unknown format"
    )
    unknown = here(*patch, "-p", '{"spec":{"bogus":1}}')
    assert unknown.err == 'Warning: unknown field "spec.bogus"\n'
    wrong = here(*patch, "-p", '{"spec":{"workers":{"replicas":"many"}}}', fails=True).err
    assert 'spec.workers.replicas: Invalid value: "string"' in wrong
    refused = here("create", "-f", "-", stdin=cluster("other", bogus=1), fails=True).err
    assert 'strict decoding error: unknown field "spec.bogus"' in refused
    warned = here("create", "-f", "-", "--validate=warn", stdin=cluster("other", bogus=1))
    assert warned.err == 'Warning: unknown field "spec.bogus"\n'


def test_custom_objects_go_through_every_everyday_command(here: Kubectl, namespace: str) -> None:
    here("create", "-f", "-", stdin=cluster("demo"))
    here("label", "tc", "demo", "tier=gold")
    here("annotate", "tc", "demo", "note=hi")
    assert here("get", "tc", "-l", "tier=gold", "-o", "name").out == "tenantcluster.butler.butlerlabs.dev/demo\n"
    assert here("get", "tenantclusters", "-o", "custom-columns=N:.metadata.name", "--no-headers").out == "demo\n"
    here("apply", "--server-side", "--field-manager=ops", "-f", "-", stdin=cluster("demo", kubernetesVersion="v1.36.0"))
    other = cluster("demo", kubernetesVersion="v1.35.0")
    conflict = here("apply", "--server-side", "--field-manager=dev", "-f", "-", stdin=other, fails=True).err
    assert 'conflict with "ops": .spec.kubernetesVersion' in conflict
    changed = here("diff", "--server-side", "--field-manager=ops", "-f", "-", stdin=other, fails=True).out
    assert "-  kubernetesVersion: v1.36.0\n+  kubernetesVersion: v1.35.0\n" in changed
    deleted = here("delete", "tc", "demo").out
    assert deleted == f'tenantcluster.butler.butlerlabs.dev "demo" deleted from {namespace} namespace\n'


def test_explain_shows_the_descriptions_of_custom_kinds(kubectl: Kubectl) -> None:
    cluster = kubectl("explain", "tc").out
    assert cluster.startswith("GROUP:      butler.butlerlabs.dev\nKIND:       TenantCluster\nVERSION:    v1alpha1\n")
    assert "DESCRIPTION:\n    A Kubernetes cluster for a tenant.\n" in cluster
    assert "    Worker machines.\n" in kubectl("explain", "tc.spec").out
    workers = kubectl("explain", "tenantclusters.spec.workers", "--recursive").out
    assert re.search(r"^  machineTemplate\t<Object>\n    \w+\t<", workers, re.MULTILINE)
    role = kubectl("explain", "mr.spec.role").out
    assert "FIELD: role <string>" in role
    assert "control-plane" in role
    plain = kubectl("explain", "tc.spec", "--output=plaintext-openapiv2").out
    assert "Worker machines." in plain


def test_api_resources_list_them(kubectl: Kubectl) -> None:
    ours = kubectl("api-resources", "--api-group=butler.butlerlabs.dev", "-o", "wide", "--no-headers").out.splitlines()
    cluster = next(line.split() for line in ours if line.startswith("tenantclusters "))
    assert cluster[1:5] == ["tc", "butler.butlerlabs.dev/v1alpha1", "true", "TenantCluster"]
    assert cluster[5] == "delete,deletecollection,get,list,patch,create,update,watch"
    everywhere = kubectl("api-resources", "--namespaced=false", "--verbs=list,get", "-o", "name").out.split()
    assert "teams.butler.butlerlabs.dev" in everywhere
    assert "butler.butlerlabs.dev/v1alpha1" in kubectl("api-versions").out.split()
