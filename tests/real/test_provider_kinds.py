"""The kinds of Cluster API, of its providers and of Kamaji are such that an API server takes them."""

from __future__ import annotations

import pytest

from testbed.parts import MANIFESTS, Manifests
from tests.conftest import Kubectl
from tests.real import managers

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

each_provider = pytest.mark.parametrize("manifests", MANIFESTS, ids=lambda one: one.name)


@each_provider
def test_an_api_server_takes_their_definitions(manifests: Manifests, kubectl: Kubectl) -> None:
    definitions = managers.manifests(manifests.name, "crds")
    arguments = ("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-o", "name")
    taken = kubectl(*arguments, "-f", "-", stdin=managers.listed(definitions), timeout=60)
    assert taken.out.split() == [f"customresourcedefinition.apiextensions.k8s.io/{name_of(one)}" for one in definitions]
    assert [line for line in taken.err.splitlines() if "unrecognized format" not in line] == []


@each_provider
def test_the_newest_contract_they_follow_names_versions_that_are_served(manifests: Manifests) -> None:
    for definition in managers.manifests(manifests.name, "crds"):
        labels = definition["metadata"].get("labels", {})
        followed = {contract: labels.get(f"cluster.x-k8s.io/{contract}") for contract in manifests.contracts}
        assert followed == dict(manifests.contracts)
        served = {version["name"] for version in definition["spec"]["versions"] if version["served"]}
        assert not followed or served & set(followed[max(followed)].split("_")), name_of(definition)


def name_of(definition: managers.Json) -> str:
    return str(definition["metadata"]["name"])
