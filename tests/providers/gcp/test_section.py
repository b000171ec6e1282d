"""What a ProviderConfig and its Secret may say, and what is said about the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from butler.api.credentials import canonical_keys
from butler.api.shared import ProviderType
from butler.errors import CredentialsInvalid
from butler.providers import registry
from butler.providers.contract import Surroundings
from butler.providers.gcp.section import Settings, settings_of
from kubekit.errors import InvalidConfiguration
from tests.providers.gcp.fake_issuer import key_file, pem
from tests.providers.gcp.harness import config


def settings(**section: Any) -> Settings:
    return settings_of(config("http://127.0.0.1:1", **section), {"serviceAccountKey": key_file("http://127.0.0.1:1")})


@pytest.mark.parametrize(
    ("section", "path", "said"),
    [
        ({"project_id": "My Project"}, "spec.gcp.projectID", "'My Project' is not a project ID"),
        ({"region": "Frankfurt"}, "spec.gcp.region", "'Frankfurt' is not a region"),
        ({"zone": "europe-west3-a"}, "spec.gcp.zone", "'europe-west3-a' is no zone of region 'us-central1'"),
        ({"network": "my net"}, "spec.gcp.network", "'my net' is not a name or a path"),
        ({"subnetwork": "a/b"}, "spec.gcp.subnetwork", "'a/b' is not a name or a path"),
        ({"tags": ("ok", "Not_OK")}, "spec.gcp.tags", "'Not_OK' is not a network tag"),
        ({"ca_bundle": "nonsense"}, "spec.gcp.caBundle", "is not a certificate in PEM form"),
    ],
)
def test_what_is_wrong_is_said_by_field(section: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        settings(**section)
    assert raised.value.path == path
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("", "Secret gcp-credentials needs the key serviceAccountKey"),
        ("not json", "serviceAccountKey is not the JSON of a service account key"),
        (json.dumps({"private_key": pem()}), "missing required field `client_email`"),
        (key_file("http://x", type="authorized_user"), "is the key of a 'authorized_user'"),
        (key_file("http://x", private_key="nonsense"), "private_key is not a key in PEM form"),
    ],
)
def test_a_secret_that_is_no_key_is_named(key: str, said: str) -> None:
    with pytest.raises(CredentialsInvalid) as raised:
        registry.connect(config("http://x"), {"serviceAccountKey": key}, Surroundings())
    assert said in str(raised.value)
    assert pem().splitlines()[1] not in str(raised.value)


@pytest.mark.parametrize("spelling", ["serviceAccountKey", "serviceAccount", "credentials"])
def test_every_spelling_of_the_secret_is_read(spelling: str) -> None:
    found = canonical_keys(ProviderType.GCP, {spelling: key_file("http://x")})
    assert settings_of(config("http://x"), found).key.token_uri == "http://x/token"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("prod", "projects/butler-test/regions/us-central1/subnetworks/prod"),
        ("regions/us-central1/subnetworks/prod", "projects/butler-test/regions/us-central1/subnetworks/prod"),
        ("projects/host/regions/us-central1/subnetworks/prod", "projects/host/regions/us-central1/subnetworks/prod"),
        (
            "https://www.googleapis.com/compute/v1/projects/host/regions/us-central1/subnetworks/prod",
            "projects/host/regions/us-central1/subnetworks/prod",
        ),
    ],
)
def test_a_subnetwork_is_a_name_a_path_or_a_url(given: str, path: str) -> None:
    found = settings(subnetwork=given)
    assert (found.subnetwork, found.network) == (path, "")


def test_without_a_network_it_is_the_default_one() -> None:
    assert settings().network == "projects/butler-test/global/networks/default"


@pytest.mark.parametrize(
    ("section", "path"),
    [
        ({"image": "talos-v1-11"}, "projects/talos-images/global/images/talos-v1-11"),
        ({"image": "family/talos"}, "projects/talos-images/global/images/family/talos"),
        ({"image": "global/images/own"}, "projects/talos-images/global/images/own"),
        ({"image": "projects/other/global/images/family/x"}, "projects/other/global/images/family/x"),
        ({"image_family": "talos"}, "projects/talos-images/global/images/family/talos"),
        ({"image_family": "talos", "image_project": None}, "projects/butler-test/global/images/family/talos"),
        ({"image_family": None}, ""),
    ],
)
def test_an_image_wins_over_a_family_and_may_be_a_path(section: dict[str, Any], path: str) -> None:
    assert settings(**section).image == path


def test_the_defaults_are_googles_own() -> None:
    found = settings(endpoint=None, resource_manager_endpoint=None)
    assert found.endpoint == "https://compute.googleapis.com"
    assert found.resource_manager == "https://cloudresourcemanager.googleapis.com"
    assert (found.disk_type, found.has_public_ip, found.is_internal) == ("pd-balanced", True, False)


def test_a_proxy_is_used_for_everything() -> None:
    assert settings(proxy="http://proxy.example.com:3128").trust.proxy == "http://proxy.example.com:3128"


def test_no_secret_is_in_the_representation() -> None:
    assert pem().splitlines()[1] not in repr(settings())
