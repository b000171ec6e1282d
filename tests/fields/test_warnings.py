"""Whoever writes what does not act yet is told so."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from butler.api import KINDS
from butler.api.admission import BINDING, POLICY, policies
from butler.api.cluster import TenantCluster
from butler.api.fields import Effect, Field, acts_at_all, fields_of, idle_fields
from butler.api.provider import ProviderConfig
from butler.api.workspace import Workspace
from butler.local.installation import NAMESPACE, install_definitions
from butler.local.system import install_policies
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.model import crd
from kubekit.model.resource import Resource
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server

pytestmark = pytest.mark.asyncio(loop_scope="module")
SPACE = "default"
OUTDATED = "houses-not-yet"


class Writer:
    """A person, and what the server warned them of since they last looked."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def told(self) -> list[str]:
        told = [text.partition(": ")[2] for text in self.heard]
        self.heard.clear()
        return told


@pytest.fixture(scope="module")
def writer() -> Writer:
    return Writer()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(tmp_path_factory: pytest.TempPathFactory, writer: Writer) -> AsyncIterator[HttpClient]:
    """A server as a platform sets it up, on which an earlier release has left a policy."""
    async with Server(tmp_path_factory.mktemp("server") / "data") as server:
        admin = DirectClient(server.root)
        for kind, policy in policies()[-2:]:
            await admin.create(json.loads(json.dumps(policy).replace("teams-not-yet", OUTDATED)), kind)
        await install_definitions(admin, KINDS)
        await install_policies(admin)
        config = kubeconfig.load(server.kubeconfig)
        async with HttpClient(config, agent="test", warn=writer.heard.append) as made:
            yield made


def cluster(name: str = "shop", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": SPACE}, "spec": spec}


async def test_a_field_that_does_not_act_is_warned_of_when_it_is_written(client: HttpClient, writer: Writer) -> None:
    await client.create(cluster(workspaces={"enabled": True}, networking={"lbPoolSize": 3}), TenantCluster.address)
    assert writer.told() == ["spec.networking.lbPoolSize, spec.workspaces do not act yet"]
    change = {"spec": {"workspaces": None}}
    await client.patch(TenantCluster, "shop", change, SPACE)
    assert writer.told() == ["spec.networking.lbPoolSize does not act yet"]


async def test_a_cluster_without_such_fields_brings_no_warning(client: HttpClient, writer: Writer) -> None:
    template = {"os": {"imageRef": "default/rocky"}}
    workers = {"replicas": 2, "machineTemplate": template, "pools": [{"name": "gpu", "replicas": 1}]}
    await client.create(cluster("plain", workers=workers), TenantCluster.address)
    assert writer.told() == []


async def test_whoever_does_not_touch_the_spec_is_not_warned_again(client: HttpClient, writer: Writer) -> None:
    await client.create(cluster("kept", workspaces={"enabled": True}), TenantCluster.address)
    writer.told()
    await client.patch(TenantCluster, "kept", {"metadata": {"finalizers": ["example.com/mine"]}}, SPACE)
    await client.patch(TenantCluster, "kept", {"status": {"phase": "Failed"}}, SPACE, subresource="status")
    assert writer.told() == []


async def test_a_kind_that_does_not_act_is_warned_of(client: HttpClient, writer: Writer) -> None:
    spec = {"clusterRef": {"name": "shop"}, "owner": "me@example.com", "image": "busybox"}
    await client.create({"metadata": {"name": "w", "namespace": SPACE}, "spec": spec}, Workspace.address)
    assert writer.told() == ["nothing acts on a Workspace yet"]
    await client.create({"metadata": {"name": "elsewhere"}}, NAMESPACE)
    assert writer.told() == []


def sample(field: Field) -> Any:
    """A value that is not the default."""
    schema = field.schema
    if "enum" in schema:
        return next(one for one in schema["enum"] if one != schema.get("default"))
    if "x-kubernetes-int-or-string" in schema:
        return "4"
    match schema["type"]:
        case "boolean":
            return not schema.get("default", False)
        case "integer":
            return schema.get("default", 0) + 100
        case "array":
            return [sample(Field(field.prefix, schema["items"]))]
        case "object":
            needed = [one for one in fields_below(field) if one.required]
            return {one.path.rpartition(".")[2]: sample(one) for one in needed}
    return "https://example.com" if "http" in schema.get("pattern", "") else "something"


def fields_below(field: Field) -> list[Field]:
    required = field.inside.get("required", ())
    return [
        Field(f"{field.prefix}.{name}", schema, name in required)
        for name, schema in field.inside.get("properties", {}).items()
    ]


def document(kind: type[Resource], path: str, value: Any) -> Any:
    """A spec with everything that is required, and this field."""
    schema = crd.schema_of(kind)["properties"]["spec"]
    made = at(Field("spec", schema), path.split(".")[1:], value)
    if kind.address.kind == "ProviderConfig":
        made |= {"provider": "local" if path.startswith("spec.local") else "simulated"}
        if "nutanix" in made:
            made |= {"provider": "nutanix", "credentialsRef": {"name": "login"}}
            made["nutanix"] |= {"endpoint": "https://prism.example.com", "clusterUUID": "a", "subnetUUID": "b"}
        if "poolRefs" in path:
            made["network"]["mode"] = "ipam"
    return made


def at(parent: Field, names: list[str], value: Any) -> Any:
    made = sample(Field(parent.path, parent.inside))
    name = names[0].removesuffix("[]")
    child = next(one for one in fields_below(parent) if one.path.endswith(f".{name}"))
    inner = at(child, names[1:], value) if names[1:] else value
    if parent.path.endswith("pools"):
        made["replicas"] = 1
    return {**made, name: [inner] if names[0].endswith("[]") else inner}


async def test_every_field_that_does_not_act_is_warned_of(client: HttpClient, writer: Writer) -> None:
    tried = 0
    for kind in KINDS:
        for number, field in enumerate(idle_fields(kind) if acts_at_all(kind) else ()):
            place = {"namespace": SPACE} if kind.address.namespaced else {}
            spec = document(kind, field.path, sample(field))
            await client.create({"metadata": {"name": f"n{number}", **place}, "spec": spec}, kind.address)
            assert writer.told() == [f"{field.path} does not act yet"]
            tried += 1
    assert tried > 20


async def test_what_is_in_a_field_that_does_not_act_does_not_either() -> None:
    for kind in KINDS:
        for field in idle_fields(kind):
            inside = [one for one in fields_of(kind) if one.path.startswith(f"{field.prefix}.")]
            assert all(one.effect is Effect.NOT_YET for one in inside)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"provider": "simulated"}, ["spec.network.subnet, spec.network.gateway, spec.network.dnsServers do"]),
        (
            {"type": "harvester", "harvester": {"networkName": "a/b"}, "credentialsRef": {"name": "login"}},
            ["spec.network.subnet, spec.network.gateway do"],
        ),
        ({"provider": "external", "external": {"name": "tinycloud"}}, []),
    ],
    ids=["simulated", "harvester", "external"],
)
async def test_so_is_a_field_that_means_nothing_on_a_provider(
    client: HttpClient, writer: Writer, spec: dict[str, Any], told: list[str]
) -> None:
    network = {"subnet": "10.0.0.0/24", "gateway": "10.0.0.1", "dnsServers": ["10.0.0.53"], "timeServers": ["ntp"]}
    kind = spec.get("provider") or spec["type"]
    wanted = {"metadata": {"name": kind, "namespace": SPACE}, "spec": {**spec, "network": network}}
    await client.create(wanted, ProviderConfig.address)
    assert writer.told() == [f"{text} not act on provider {kind}" for text in told]


async def test_what_an_earlier_release_warned_of_is_forgotten(client: HttpClient) -> None:
    for kind in (POLICY, BINDING):
        there = {one["metadata"]["name"] for one in (await client.list(kind)).items}
        assert there == {one["metadata"]["name"] for other, one in policies() if other is kind}
