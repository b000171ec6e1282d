"""What the catalogue has can be had."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import jsonschema_rs
import msgspec
import pytest
import yaml

from butler.addons import builtin, placeholders, schemas
from butler.addons.builtin.entry import CATEGORY, SOURCE
from butler.addons.bundled import FOLDER, REPOSITORY, located
from butler.addons.resolution import Wish, resolve
from butler.api.addon import AddonDefinition
from butler.api.cluster_addons import CniAddon, IngressAddon, LoadBalancerAddon, StorageAddon
from butler.engines.helm import program
from butler.engines.helm.charts import Chart
from butler.local.installation import apply_gently, install_definitions
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from testbed.running.servers import Cluster
from tests.addons.clusters import SECTIONS, facts, provider

DEFINITIONS = builtin.definitions()
BY_NAME = {one.metadata.name: one for one in DEFINITIONS}
BUNDLED = [one for one in DEFINITIONS if one.spec.chart.repository == REPOSITORY]
CERTIFICATES = {"identityTrustAnchorsPEM": "…", "identity": {}}
NEEDED: dict[str, dict[str, Any]] = {"linkerd": CERTIFICATES}
"""Values that a definition cannot know."""
each = pytest.mark.parametrize("definition", DEFINITIONS, ids=BY_NAME)
each_bundled = pytest.mark.parametrize("definition", BUNDLED, ids=lambda one: one.metadata.name)


def infrastructures(definition: AddonDefinition) -> tuple[str, ...]:
    return definition.spec.providers or tuple(SECTIONS)


def wish(definition: AddonDefinition) -> Wish:
    name = definition.metadata.name
    return Wish(name, values=(NEEDED.get(name, {}),))


def nulls(value: Any, path: str = "") -> set[str]:
    """Where they are."""
    if isinstance(value, dict):
        return {found for name, one in value.items() for found in nulls(one, f"{path}.{name}")}
    if isinstance(value, list):
        return {found for at, one in enumerate(value) for found in nulls(one, f"{path}[{at}]")}
    return {path} if value is None else set()


@each
@pytest.mark.parametrize("account", [False, True], ids=["alone", "account"])
def test_every_addon_resolves_on_every_infrastructure_it_is_for(definition: AddonDefinition, account: bool) -> None:
    for name in infrastructures(definition):
        config = provider(name, account=account and name != "simulated")
        for workers in (1, 5):
            addon = resolve(wish(definition), definition, facts(config, workers))
            assert addon.version == definition.spec.chart.default_version
            addon.place.check()
            addon.release.chart.check()
            assert "$(" not in json.dumps([addon.release.values, addon.resources])


@each
def test_every_version_is_exactly_one(definition: AddonDefinition) -> None:
    chart = definition.spec.chart
    versions = (chart.default_version, *chart.available_versions)
    assert len(set(versions)) == len(versions)
    for version in versions:
        Chart(located(chart.repository), chart.name, version).check()


@each
def test_every_schema_is_one_and_refuses_something(definition: AddonDefinition) -> None:
    schema = definition.spec.values_schema
    assert schema is not None
    validator = jsonschema_rs.validator_for(dict(schema))
    assert not validator.is_valid([])
    known = schema.get("properties", {})
    for name in known:
        assert not validator.is_valid({name: 1.5}), name
    schemas.check("it", {"a-key-that-nobody-knows": 1, **NEEDED.get(definition.metadata.name, {})}, schema)


@each
def test_every_value_of_a_definition_is_known_to_its_schema(definition: AddonDefinition) -> None:
    """A misspelled key is seen, as far as the schema goes."""
    schema: Any = definition.spec.values_schema
    assert set(definition.spec.defaults.values or {}) - set(schema.get("properties", {})) <= {
        "nodeSelector", "affinity", "tolerations", "chunksCache", "resultsCache", "global",
    }  # fmt: skip


def test_names_are_unique_and_refer_to_each_other() -> None:
    assert len(BY_NAME) == len(DEFINITIONS)
    for one in DEFINITIONS:
        named = (*one.spec.depends_on, *one.spec.conflicts)
        assert set(named) <= BY_NAME.keys()
        assert one.metadata.name not in named
        assert one.metadata.labels[SOURCE] == "builtin"
        assert one.metadata.labels[CATEGORY] == one.spec.category
        for other in one.spec.conflicts:
            assert one.metadata.name in BY_NAME[other].spec.conflicts, (one.metadata.name, other)


def test_nothing_depends_on_what_comes_later_for_nodes() -> None:
    """What is there before nodes waits for nothing that needs them."""
    for one in DEFINITIONS:
        if one.spec.for_nodes:
            assert all(BY_NAME[name].spec.for_nodes for name in one.spec.depends_on)


def test_no_dependency_goes_round() -> None:
    def depth(name: str, seen: tuple[str, ...] = ()) -> int:
        assert name not in seen
        return 1 + max((depth(other, (*seen, name)) for other in BY_NAME[name].spec.depends_on), default=0)

    assert max(map(depth, BY_NAME)) < 5


def test_a_dependency_is_for_all_infrastructures_that_ask_for_it() -> None:
    for one in DEFINITIONS:
        for other in one.spec.depends_on:
            assert set(infrastructures(one)) <= set(infrastructures(BY_NAME[other]))


def test_whatever_a_cluster_may_name_is_there() -> None:
    sections = (CniAddon, StorageAddon, LoadBalancerAddon, IngressAddon)
    offered = {name for section in sections for name in choices(get_type_hints(section)["provider"])}
    assert {"cilium", "longhorn", "linstor", "metallb", "traefik", "nginx"} <= offered <= BY_NAME.keys()


def choices(kind: Any) -> Iterator[str]:
    """The texts of a Literal, wherever it is in a type."""
    for part in get_args(kind):
        if isinstance(part, str):
            yield part
        else:
            yield from choices(part)


def test_workers_are_all_that_tenants_have() -> None:
    """What is for nodes waits neither for a node of the control plane nor for one that is ready."""
    for one in DEFINITIONS:
        if one.spec.for_nodes and one.spec.chart.repository != REPOSITORY:
            values = msgspec.to_builtins(one.spec.defaults.values)
            tolerated = json.dumps(values)
            assert '"operator": "Exists"' in tolerated
            assert "control-plane" not in tolerated or 'node-role.kubernetes.io/control-plane": null' in tolerated


def test_a_null_stays_in_json() -> None:
    definition = BY_NAME["aws-cloud-controller-manager"]
    again = msgspec.json.decode(msgspec.json.encode(definition), type=AddonDefinition)
    assert again.spec.defaults.values == msgspec.to_builtins(definition.spec.defaults.values)
    assert nulls(msgspec.to_builtins(again.spec.defaults.values)) == {
        ".nodeSelector.node-role.kubernetes.io/control-plane"
    }


async def kept(client: Client) -> None:
    """Whether an API keeps definitions as they are written, nulls included, also the second time."""
    for _ in range(2):
        await install_definitions(client, (AddonDefinition,))
        for one in DEFINITIONS:
            await apply_gently(client, one)
    for one in DEFINITIONS:
        found = await client.get(AddonDefinition, one.metadata.name)
        assert msgspec.to_builtins(found.spec) == msgspec.to_builtins(one.spec), one.metadata.name


async def test_the_api_keeps_every_null(server: Server) -> None:
    await kept(DirectClient(server.root))


@pytest.mark.real
async def test_kubernetes_itself_keeps_every_null(real_server: Cluster) -> None:
    async with HttpClient(kubeconfig.load(real_server.kubeconfig)) as client:
        try:
            await kept(client)
        finally:
            # Others use the same server, and write definitions of the same names.
            for one in (await client.list(AddonDefinition)).items:
                await client.delete(AddonDefinition, one.metadata.name)


def test_variables_of_kubernetes_are_no_placeholders() -> None:
    assert placeholders.filled("$(NODE_NAME)-$(cluster.name)", facts().named) == "$(NODE_NAME)-shop"


@each_bundled
@pytest.mark.parametrize("account", [False, True], ids=["alone", "account"])
def test_helm_renders_the_charts_that_come_along(definition: AddonDefinition, account: bool) -> None:
    spec = definition.spec
    chart = FOLDER / spec.chart.name
    about = yaml.safe_load((chart / "Chart.yaml").read_text())
    assert (about["name"], about["version"]) == (spec.chart.name, spec.chart.default_version)
    helm = program.find()
    subprocess.run([helm, "lint", "--strict", chart], check=True, capture_output=True)
    (name,) = spec.providers
    addon = resolve(wish(definition), definition, facts(provider(name, account=account)))
    place = addon.place
    told = subprocess.run(
        [helm, "template", place.name, chart, "--namespace", place.namespace, "--values", "-"],
        input=yaml.safe_dump(addon.release.values), text=True, check=True, capture_output=True,
    )  # fmt: skip
    objects = [one for one in yaml.safe_load_all(told.stdout) if one]
    pods = [one["spec"]["template"]["spec"] for one in objects if one["kind"] in ("Deployment", "DaemonSet")]
    assert pods
    assert not [pod for pod in pods if "affinity" in pod or "control-plane" in str(pod)]
    assert all(pod["tolerations"] for pod in pods)
    if name == "gcp":
        assert all(pod["hostNetwork"] for pod in pods)
        assert ("GOOGLE_APPLICATION_CREDENTIALS" in told.stdout) is account


def test_every_key_of_a_bundled_schema_is_a_value_of_the_chart() -> None:
    for definition in BUNDLED:
        defaults = yaml.safe_load((FOLDER / definition.spec.chart.name / "values.yaml").read_text())
        assert unknown(definition.spec.values_schema, defaults) == set()
        assert missing(definition.spec.defaults.values, defaults) == set()


def unknown(schema: Any, defaults: Any, path: str = "") -> set[str]:
    found = set()
    for name, inner in schema.get("properties", {}).items():
        if name not in defaults:
            found.add(f"{path}.{name}")
        elif isinstance(defaults[name], dict):
            found |= unknown(inner, defaults[name], f"{path}.{name}")
    return found


def missing(values: Any, defaults: Any) -> set[str]:
    found = set()
    for name, value in values.items():
        if name not in defaults:
            found.add(name)
        elif isinstance(value, dict) and isinstance(defaults[name], dict):
            found |= missing(value, defaults[name])
    return found
