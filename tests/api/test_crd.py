"""The generated CRDs are structural, complete and say what the kinds say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from butler.api import GROUP, KINDS, VERSION
from butler.api.cluster import TenantCluster
from butler.api.machine import MachineRequest
from butler.api.model import Resource
from kubekit.model import crd
from kubekit.server.objects.schema.width import is_wide

Node = dict[str, Any]


def walk(schema: Node, path: str) -> Iterator[tuple[str, Node]]:
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from walk(child, f"{path}.{name}")
    for word in ("items", "additionalProperties"):
        if word in schema:
            yield from walk(schema[word], f"{path}[]")


def all_nodes() -> list[tuple[str, Node]]:
    return [found for kind in KINDS for found in walk(crd.schema_of(kind), kind.address.kind)]


def version_of(kind: type[Resource]) -> Node:
    (version,) = crd.definition(kind)["spec"]["versions"]
    assert isinstance(version, dict)
    return version


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_objects_are_judged_by_the_event_loop(kind: type[Resource]) -> None:
    """What is wide is judged beside it, which takes four times as long."""
    assert not is_wide(crd.schema_of(kind))


def test_there_are_nineteen_kinds_in_one_group() -> None:
    assert len(KINDS) == 19
    assert {(kind.address.group, kind.address.version) for kind in KINDS} == {(GROUP, VERSION)}


def test_every_node_has_a_type_or_is_int_or_string() -> None:
    untyped = [path for path, node in all_nodes() if "type" not in node and not node.get("x-kubernetes-int-or-string")]
    assert untyped == []


def test_no_node_refers_elsewhere_or_allows_null() -> None:
    words = {"$ref", "oneOf", "allOf", "nullable", "definitions"}
    assert [path for path, node in all_nodes() if words & node.keys()] == []


def test_any_of_appears_only_with_quantities() -> None:
    assert [path for path, node in all_nodes() if "anyOf" in node and "x-kubernetes-int-or-string" not in node] == []


def test_every_required_field_is_declared() -> None:
    missing = [
        (path, name)
        for path, node in all_nodes()
        for name in node.get("required", ())
        if name not in node["properties"]
    ]
    assert missing == []


def test_every_default_is_valid_and_a_leaf() -> None:
    wrong = [
        path
        for path, node in all_nodes()
        if "default" in node and (node.get("type") == "object" or not jsonschema_rs.is_valid(node, node["default"]))
    ]
    assert wrong == []


def test_status_has_no_defaults() -> None:
    assert [path for path, node in all_nodes() if ".status" in path and "default" in node] == []


def test_spec_is_never_required() -> None:
    assert [kind.address.kind for kind in KINDS if "required" in crd.schema_of(kind)] == []


def test_every_field_is_described() -> None:
    plain = [
        path for path, node in all_nodes() if not path.endswith(("metadata", "[]")) and not node.get("description")
    ]
    assert plain == []


def test_descriptions_speak_to_users_not_to_programmers() -> None:
    assert [path for path, node in all_nodes() if "normalise" in node.get("description", "")] == []


def test_catalogue_kinds_have_no_status() -> None:
    without = {kind.address.kind for kind in KINDS if "subresources" not in version_of(kind)}
    assert without == {"AddonDefinition", "WorkspaceTemplate"}


def test_a_tenant_cluster_can_be_scaled() -> None:
    assert version_of(TenantCluster)["subresources"]["scale"] == {
        "specReplicasPath": ".spec.workers.replicas",
        "statusReplicasPath": ".status.workerNodesReady",
    }


_FILTER = re.compile(r"\[\?.*?\]")


def test_column_paths_exist_in_the_schema() -> None:
    lost = []
    for kind in KINDS:
        paths = {path.partition(".")[2] for path, _ in walk(crd.schema_of(kind), kind.address.kind)}
        lost += [
            column.path
            for column in kind.columns
            if not column.path.startswith(".metadata.") and _FILTER.sub("[]", column.path[1:]) not in paths
        ]
    assert lost == []


AGE_COLUMN = "Age:date=.metadata.creationTimestamp"
TABLE = {
    "TenantCluster": 'Phase:string=.status.phase; Ready:string=.status.conditions[?(@.type=="Ready")].status; '
    "K8s Version:string=.status.observedState.kubernetesVersion; "
    "Workers:string=.status.observedState.workers.ready; Endpoint:string=.status.controlPlaneEndpoint; "
    "Provider:string=.status.providerConfigRef.name (priority 1)",
    "TenantAddon": "Cluster:string=.spec.clusterRef.name; Addon:string=.spec.addon; Version:string=.spec.version; "
    "Phase:string=.status.phase; Installed:string=.status.installedVersion; "
    "Message:string=.status.message (priority 1)",
    "ProviderConfig": "Provider:string=.status.provider; Scope:string=.status.scope; Mode:string=.status.networkMode; "
    "Ready:boolean=.status.ready; Validated:boolean=.status.validated",
    "MachineRequest": "Machine:string=.spec.machineName; Role:string=.spec.role; Phase:string=.status.phase; "
    "IP:string=.status.ipAddress",
    "LoadBalancerRequest": "Cluster:string=.spec.clusterName; Phase:string=.status.phase; "
    "Endpoint:string=.status.endpoint; Targets:integer=.status.registeredTargets",
    "ImageSync": "Phase:string=.status.phase; Schematic:string=.spec.factoryRef.schematicID (priority 1); "
    "Version:string=.spec.factoryRef.version; Provider:string=.spec.providerConfigRef.name; "
    "Image Ref:string=.status.providerImageRef",
    "ClusterBootstrap": "Cluster:string=.spec.cluster.name; Topology:string=.spec.cluster.topology; "
    "Phase:string=.status.phase; Endpoint:string=.status.controlPlaneEndpoint",
    "ButlerConfig": "Mode:string=.status.tenancyMode; Git:string=.spec.gitProvider.type; "
    "Teams:integer=.status.teamCount; Clusters:integer=.status.clusterCount",
    "Team": "Display Name:string=.spec.displayName; Phase:string=.status.phase; Namespace:string=.status.namespace; "
    "Clusters:integer=.status.clusterCount; Quota:string=.status.quotaStatus",
    "User": "Email:string=.spec.email; Display Name:string=.spec.displayName; Auth:string=.spec.authType; "
    "Platform Admin:boolean=.spec.isPlatformAdmin; Phase:string=.status.phase; Last Login:date=.status.lastLoginTime",
    "IdentityProvider": "Type:string=.spec.type; Issuer:string=.spec.oidc.issuerURL; Phase:string=.status.phase",
    "AddonDefinition": "Display Name:string=.spec.displayName; Category:string=.spec.category; "
    "Chart:string=.spec.chart.name; Version:string=.spec.chart.defaultVersion; Platform:boolean=.spec.platform",
    "ManagementAddon": "Addon:string=.spec.addon; Version:string=.spec.version; Phase:string=.status.phase; "
    "Installed:string=.status.installedVersion; "
    "Message:string=.status.message (priority 1)",
    "AddonProfile": "Matched:integer=.status.matched; Updated:integer=.status.updated; Ready:integer=.status.ready; "
    "Failed:integer=.status.failed; Wave:string=.status.wave; "
    'Stopped:string=.status.conditions[?(@.type=="Stopped")].status',
    "NetworkPool": "CIDR:string=.spec.cidr; Available:integer=.status.availableIPs; "
    "Allocated:integer=.status.allocatedIPs; Total:integer=.status.totalIPs",
    "IPAllocation": "Pool:string=.spec.poolRef.name; Cluster:string=.spec.tenantClusterRef.name; "
    "Type:string=.spec.type; Phase:string=.status.phase; Start:string=.status.startAddress; "
    "End:string=.status.endAddress",
    "Workspace": "Phase:string=.status.phase; Cluster:string=.spec.clusterRef.name; Owner:string=.spec.owner; "
    "Image:string=.spec.image; Connected:boolean=.status.connected",
    "WorkspaceTemplate": "Display Name:string=.spec.displayName; Image:string=.spec.template.image; "
    "Category:string=.spec.category; Scope:string=.spec.scope",
    "ClusterCreationPolicy": "Team:string=.spec.scope.team.teamRef.name; "
    "Env:string=.spec.scope.teamAndEnvironment.environmentName; Providers:string=.spec.targetProviders",
}
NAMES = {
    "TenantCluster": "tenantclusters tc",
    "TenantAddon": "tenantaddons ta",
    "ProviderConfig": "providerconfigs pc",
    "MachineRequest": "machinerequests mr",
    "LoadBalancerRequest": "loadbalancerrequests lbr",
    "ImageSync": "imagesyncs is",
    "ClusterBootstrap": "clusterbootstraps cb",
    "ButlerConfig": "butlerconfigs bc",
    "Team": "teams tm",
    "User": "users usr",
    "IdentityProvider": "identityproviders idp",
    "AddonDefinition": "addondefinitions ad adddef",
    "ManagementAddon": "managementaddons ma maddon",
    "AddonProfile": "addonprofiles ap",
    "NetworkPool": "networkpools np",
    "IPAllocation": "ipallocations ipa",
    "Workspace": "workspaces ws",
    "WorkspaceTemplate": "workspacetemplates wst",
    "ClusterCreationPolicy": "clustercreationpolicies ccp",
}
CLUSTER_WIDE = {
    "ButlerConfig", "Team", "User", "IdentityProvider", "AddonDefinition", "ManagementAddon", "AddonProfile",
    "ClusterCreationPolicy",
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.address.kind)
def test_kubectl_shows_the_documented_columns(kind: type[Resource]) -> None:
    shown = [
        f"{column['name']}:{column['type']}={column['jsonPath']}"
        + (f" (priority {column['priority']})" if "priority" in column else "")
        for column in version_of(kind)["additionalPrinterColumns"]
    ]
    assert "; ".join(shown) == f"{TABLE[kind.address.kind]}; {AGE_COLUMN}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.address.kind)
def test_names_and_scope_are_the_documented_ones(kind: type[Resource]) -> None:
    definition = crd.definition(kind)
    names = definition["spec"]["names"]
    assert " ".join([names["plural"], *names["shortNames"]]) == NAMES[names["kind"]]
    assert (definition["spec"]["scope"] == "Cluster") == (names["kind"] in CLUSTER_WIDE)
    assert definition["metadata"]["name"] == f"{names['plural']}.{GROUP}"
    assert definition["metadata"]["labels"] == {"app.kubernetes.io/part-of": "butler"}


def test_a_stand_in_for_absence_is_no_default() -> None:
    spec = crd.schema_of(MachineRequest)["properties"]["spec"]["properties"]
    assert [name for name, node in spec.items() if "default" in node] == []


def test_a_field_that_has_two_names_is_required_by_a_rule_that_names_it() -> None:
    rules = crd.schema_of(MachineRequest)["properties"]["spec"]["x-kubernetes-validations"]
    assert {
        "rule": "has(self.cpu) || (has(self.resources) && has(self.resources.cpu))",
        "message": "here or as resources.cpu",
        "reason": "FieldValueRequired",
        "fieldPath": ".cpu",
    } in rules
