"""What cannot be meant by a ProviderConfig is refused by the API, before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from butler.api import KINDS
from butler.api.provider import ProviderConfig
from kubekit.errors import Invalid
from kubekit.testing.deterministic_loop import Loop
from kubekit.testing.memory import MemorySpace
from tests.api.documents import SECTIONS

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "providers"
EACH_NEED = [(kind, field) for kind, fields in SECTIONS.items() for field in fields]


def spec_for(kind: str, **more: Any) -> dict[str, Any]:
    return {"provider": kind, "credentialsRef": {"name": "login"}, kind: SECTIONS[kind], **more}


@pytest.fixture
def space(kubekit_loop: Loop) -> MemorySpace:
    kinds = tuple(kind for kind in KINDS if kind is ProviderConfig)
    return MemorySpace(kubekit_loop.clock, kubekit_loop.chance, kinds=kinds, namespaces=("butler-system",))


async def refusals(space: MemorySpace, spec: dict[str, Any]) -> list[tuple[str, str]]:
    """The fields that are wrong, and why; nothing is there afterwards if there are any."""
    client = space.client()
    wanted = {"metadata": {"name": "lab", "namespace": "butler-system"}, "spec": spec}
    try:
        await client.create(wanted, ProviderConfig.address)
    except Invalid as error:
        causes = error.details.causes if error.details is not None else ()
    else:
        return []
    assert (await client.list(ProviderConfig)).items == ()
    # Without a field it is said that rules were not tried on a shape that is wrong.
    return [(cause.field, cause.message) for cause in causes if cause.field != "<nil>"]


@pytest.mark.parametrize("kind", SECTIONS)
async def test_a_provider_with_what_it_needs_is_taken(space: MemorySpace, kind: str) -> None:
    assert await refusals(space, spec_for(kind)) == []


@pytest.mark.parametrize(("kind", "field"), EACH_NEED)
async def test_one_that_lacks_something_is_not(space: MemorySpace, kind: str, field: str) -> None:
    lacking = {name: value for name, value in SECTIONS[kind].items() if name != field}
    found = await refusals(space, {**spec_for(kind), kind: lacking})
    assert [path for path, _ in found] == [f"spec.{kind}.{field}"]
    assert "Required value" in found[0][1]


@pytest.mark.parametrize("spelling", ["provider", "type"])
@pytest.mark.parametrize("kind", SECTIONS)
async def test_nor_one_without_its_section(space: MemorySpace, kind: str, spelling: str) -> None:
    found = await refusals(space, {spelling: kind, "credentialsRef": {"name": "login"}})
    assert found == [(f"spec.{kind}", f"Required value: provider {kind} needs it")]


@pytest.mark.parametrize("kind", SECTIONS)
async def test_a_section_of_another_provider_is_refused(space: MemorySpace, kind: str) -> None:
    found = await refusals(space, {"provider": "simulated", kind: SECTIONS[kind]})
    assert found == [(f"spec.{kind}", f"Forbidden: it is for provider {kind} alone")]


TEAM = {"name": "a"}
POOLS = [{"name": "main"}]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"scope": {"type": "team"}}, "spec.scope.teamRef: Required value: type team needs the team's name"),
        ({"scope": {"teamRef": TEAM}}, "spec.scope.teamRef: Forbidden: a team is for type team alone"),
        ({"network": {"mode": "ipam"}}, "spec.network.poolRefs: Required value: mode ipam needs a NetworkPool"),
        ({"network": {"poolRefs": POOLS}}, "spec.network.poolRefs: Forbidden: NetworkPools are for mode ipam"),
    ],
)
async def test_what_would_have_no_effect_is_refused(space: MemorySpace, spec: dict[str, Any], said: str) -> None:
    ((path, message),) = await refusals(space, {"provider": "simulated", **spec})
    assert f"{path}: {message}".startswith(said)


@pytest.mark.parametrize("kind", ["azure", "aws", "gcp"])
async def test_a_cloud_takes_no_addresses_from_pools(space: MemorySpace, kind: str) -> None:
    found = await refusals(space, spec_for(kind, network={"mode": "ipam", "poolRefs": POOLS}))
    assert [path for path, _ in found] == ["spec.network.mode"]


@pytest.mark.parametrize("kind", ["azure", "aws"])
async def test_one_key_is_not_enough_where_several_are_needed(space: MemorySpace, kind: str) -> None:
    reference = {"credentialsRef": {"name": "login", "key": "mine"}}
    said = f"Forbidden: provider {kind} needs several keys of the Secret, which have their customary names"
    assert await refusals(space, spec_for(kind, **reference)) == [("spec.credentialsRef.key", said)]
    nested = spec_for(kind, **{kind: {**SECTIONS[kind], **reference}})
    assert await refusals(space, nested) == [(f"spec.{kind}.credentialsRef.key", said)]
    theirs = spec_for(kind, clusterCredentialsRef=reference["credentialsRef"])
    assert await refusals(space, theirs) == [("spec.clusterCredentialsRef.key", said)]


async def test_a_subnet_of_azure_by_its_id_says_the_network_too(space: MemorySpace) -> None:
    azure = {name: value for name, value in SECTIONS["azure"].items() if name != "vnetName"}
    whole = {**azure, "subnetName": "/subscriptions/a/resourceGroups/b/providers/c/virtualNetworks/d/subnets/e"}
    assert await refusals(space, {**spec_for("azure"), "azure": whole}) == []


DOCUMENTS = [one for path in sorted(EXAMPLES.glob("*.yaml")) for one in yaml.safe_load_all(path.read_text())]
CONFIGS = [one for one in DOCUMENTS if one["kind"] == "ProviderConfig"]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda one: str(one["metadata"]["name"]))
async def test_every_example_is_taken(space: MemorySpace, config: dict[str, Any]) -> None:
    assert await refusals(space, config["spec"]) == []


@pytest.mark.parametrize("name", ["harvester-nested", "harvester", "nutanix"])
async def test_so_is_every_document_people_were_given(
    space: MemorySpace, name: str, document: Callable[..., dict[str, Any]]
) -> None:
    assert await refusals(space, document(f"providerconfig-{name}")["spec"]) == []
