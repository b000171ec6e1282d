"""Every document people were given applies unchanged: it is valid, it can be read, and nothing of it is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import yaml

from butler.api import KINDS
from butler.api.credentials import canonical_keys
from butler.api.normalise import normalise
from butler.api.shared import ProviderType
from kubekit.model import crd

Document = Callable[..., dict[str, Any]]
Read = Callable[[dict[str, Any]], Any]
BY_KIND = {kind.address.kind: kind for kind in KINDS}
SEEDS = Path(__file__).parent.parent / "fixtures" / "seeds"

DOCUMENTS = [
    ("provider-selection",),
    ("provider-selection", "worker-override"),
    ("provider-selection", "metallb-pool"),
    ("providerconfig-harvester-nested",),
    ("providerconfig-harvester",),
    ("providerconfig-nutanix",),
    ("providerconfig-nutanix", "nutanix-insecure"),
    ("machinerequest",),
    ("machinerequest", "machinerequest-status"),
    ("butlerconfig-default-provider",),
    ("butlerconfig-default-provider", "metallb-pool"),
    ("../clusterbootstrap",),
    ("../clusterbootstrap", "control-plane-vip", "metallb-pool"),
]
each_document = pytest.mark.parametrize("names", DOCUMENTS, ids=lambda names: "+".join(names).rpartition("/")[2])


def contains(whole: Any, part: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], part[key]) for key in part)
    if isinstance(part, list):
        return len(whole) == len(part) and all(contains(one, other) for one, other in zip(whole, part, strict=True))
    return bool(whole == part)


def test_every_fixture_is_used() -> None:
    used = {name for names in DOCUMENTS for name in names}
    there = {path.name.split(".")[0] for path in SEEDS.glob("*.yaml") if not path.name.startswith("secret-")}
    assert there - used == set()


@each_document
def test_reading_and_writing_keeps_every_field(names: tuple[str, ...], document: Document, read: Read) -> None:
    given = document(*names)
    assert contains(msgspec.json.decode(msgspec.json.encode(read(given))), given)


@each_document
def test_it_has_a_canonical_form_that_stays_as_it_is(names: tuple[str, ...], document: Document, read: Read) -> None:
    canonical = normalise(read(document(*names)))
    assert normalise(canonical) is canonical


@each_document
def test_it_is_valid(names: tuple[str, ...], document: Document) -> None:
    given = document(*names)
    for condition in given.get("status", {}).get("conditions", ()):
        # The sample in the documents leaves out what every condition must have.
        condition |= {"message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    jsonschema_rs.validate(crd.schema_of(BY_KIND[given["kind"]]), given)


@each_document
def test_it_names_no_unknown_field(names: tuple[str, ...], document: Document) -> None:
    given = document(*names)
    assert unknown(crd.schema_of(BY_KIND[given["kind"]]), {**given, "metadata": {}}, "") == []


def unknown(schema: dict[str, Any], value: Any, path: str) -> list[str]:
    if isinstance(value, list):
        return [found for one in value for found in unknown(schema["items"], one, f"{path}[]")]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    properties = schema["properties"]
    return [
        found
        for name, member in value.items()
        for found in ([f"{path}.{name}"] if name not in properties else unknown(properties[name], member, path))
    ]


def test_an_unknown_field_would_be_noticed() -> None:
    assert unknown(crd.schema_of(BY_KIND["Team"]), {"spec": {"colour": "red"}}, "") == [".colour"]


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"kubernetesVersion": "1.32.2"}, "kubernetesVersion"),
        ({"workers": {"replicas": 0}}, "replicas"),
        ({"workers": {"machineTemplate": {"memory": "16GB"}}}, "memory"),
        ({"controlPlane": {"type": "Elsewhere"}}, "type"),
        ({"workers": {"pools": [{"replicas": 1}]}}, "pools"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mistake_is_not_valid(spec: dict[str, Any], where: str) -> None:
    with pytest.raises(jsonschema_rs.ValidationError) as refused:
        jsonschema_rs.validate(crd.schema_of(BY_KIND["TenantCluster"]), {"spec": spec})
    assert where in str(refused.value.instance_path) or where in str(refused.value)


def secret(name: str) -> dict[str, str]:
    return {**yaml.safe_load((SEEDS / f"{name}.yaml").read_text())["stringData"]}


def test_nutanix_credentials_may_be_in_environment_variable_spelling() -> None:
    keys = canonical_keys(ProviderType.NUTANIX, secret("secret-nutanix-credentials"))
    assert (keys["username"], keys["password"]) == ("admin", "your-password")
    assert (keys["endpoint"], keys["port"], keys["insecure"]) == ("prism-central.example.com", "9440", "false")


def test_the_usual_spelling_of_a_key_wins() -> None:
    keys = canonical_keys(ProviderType.NUTANIX, {"NUTANIX_USER": "old", "username": "new"})
    assert keys == {"username": "new"}


def test_harvester_credentials_are_a_kubeconfig_under_any_key() -> None:
    data = secret("secret-provider-credentials")
    assert canonical_keys(ProviderType.HARVESTER, data)["kubeconfig"] == "<provider credentials>\n"
    assert canonical_keys(ProviderType.HARVESTER, {"mine": "x", "kubeconfig": "y"}, key="mine") == {"kubeconfig": "x"}


def test_the_main_entry_of_a_secret_may_have_any_key() -> None:
    other = {"mine": "x", "serviceAccountKey": "y"}
    assert canonical_keys(ProviderType.GCP, other, key="mine") == {"serviceAccountKey": "x"}
    assert canonical_keys(ProviderType.PROXMOX, {"mine": "x", "secret": "z"}, key="mine") == {
        "token": "x",
        "secret": "z",
    }
    assert canonical_keys(ProviderType.NUTANIX, {"mine": "x"}, key="mine") == {"credentials": "x"}
    assert canonical_keys(ProviderType.GCP, other, key="missing") == {}
    assert canonical_keys(ProviderType.EXTERNAL, other, key="mine") == {"mine": "x"}


def test_cloud_keys_are_accepted_in_the_spelling_of_every_tool() -> None:
    keys = canonical_keys(ProviderType.AWS, {"accessKeyId": "id", "SecretAccessKey": "secret"})
    assert keys == {"accessKeyID": "id", "secretAccessKey": "secret"}
