"""What a ProviderConfig for Nutanix and its Secret may say, and what is said when they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from butler.api.credentials import canonical_keys
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.sections.nutanix import Entity, PrismCentral
from butler.api.shared import ProviderType
from butler.errors import CredentialsInvalid
from butler.providers import registry
from butler.providers.contract import Surroundings
from butler.providers.nutanix.section import Settings, settings
from butler.providers.nutanix.version import offered
from kubekit.errors import InvalidConfiguration
from tests.docs.pages import GUIDES, example, objects, written
from tests.providers.nutanix.fake import CLUSTER, SUBNET
from tests.providers.nutanix.harness import CREDENTIALS, PLACES, config

ROOT = Path(__file__).parents[3]
URL = "https://prism.example.com"
OF_CLUSTER_API = (
    '[{"type":"basic_auth","data":{"prismCentral":{"username":"admin","password":"a\\"b"},"prismElements":null}}]'
)


def read(secret: dict[str, str], endpoint: str | None = URL, **section: Any) -> Settings:
    return settings(config(endpoint, **{**PLACES, **section}), canonical_keys(ProviderType.NUTANIX, secret))


@pytest.mark.parametrize(
    "secret",
    [
        {"username": "admin", "password": 'a"b'},
        {"NUTANIX_USER": "admin", "NUTANIX_PASSWORD": 'a"b'},
        {"NUTANIX_USERNAME": "admin\n", "NUTANIX_PASSWORD": 'a"b\n'},
        {"credentials": OF_CLUSTER_API},
    ],
)
def test_every_spelling_of_the_secret_is_read(secret: dict[str, str]) -> None:
    found = read(secret)
    assert (found.username, found.password) == ("admin", 'a"b')


@pytest.mark.parametrize(
    ("endpoint", "section", "more", "url"),
    [
        (URL, {}, {}, "https://prism.example.com:9440"),
        (f"{URL}:443/", {}, {}, "https://prism.example.com:443"),
        (URL, {"port": 444}, {"NUTANIX_PORT": "445"}, "https://prism.example.com:444"),
        (URL, {}, {"NUTANIX_PORT": "445"}, "https://prism.example.com:445"),
        (None, {"prism_central": PrismCentral(address="prism", port=446)}, {}, "https://prism:446"),
        ("https://[2001:db8::1]", {}, {}, "https://[2001:db8::1]:9440"),
    ],
)
def test_an_endpoint_may_be_written_in_many_ways(
    endpoint: str | None, section: dict[str, Any], more: dict[str, str], url: str
) -> None:
    assert read({**CREDENTIALS, **more}, endpoint, **section).url == url


def test_places_are_named_or_numbered() -> None:
    found = read(CREDENTIALS, cluster_uuid=None, cluster=Entity(name="cluster-01"))
    assert (found.cluster, found.subnet) == (Entity(name="cluster-01"), Entity(uuid=SUBNET))
    assert read(CREDENTIALS).cluster == Entity(uuid=CLUSTER)


@pytest.mark.parametrize(
    ("section", "more", "insecure"),
    [({}, {}, False), ({}, {"NUTANIX_INSECURE": "true"}, True), ({"insecure": False}, {"insecure": "true"}, False)],
)
def test_the_section_says_before_the_secret_whether_certificates_matter(
    section: dict[str, Any], more: dict[str, str], insecure: bool
) -> None:
    assert read({**CREDENTIALS, **more}, **section).trust.insecure is insecure


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ({"password": "x"}, "Secret nutanix-credentials needs the key username"),
        ({"username": "x"}, "Secret nutanix-credentials needs the key password"),
        ({"credentials": "{}"}, "Secret nutanix-credentials: credentials is not a JSON list"),
        ({**CREDENTIALS, "port": "http"}, "Secret nutanix-credentials: port is 'http'"),
        ({**CREDENTIALS, "insecure": "maybe"}, "Secret nutanix-credentials: insecure is 'maybe'"),
    ],
)
def test_what_is_wrong_in_the_secret_is_said_by_its_key(secret: dict[str, str], said: str) -> None:
    with pytest.raises(CredentialsInvalid, match=said):
        read(secret)


def test_a_certificate_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="not a certificate"):
        registry.connect(config(URL), {**CREDENTIALS, "ca.pem": "nonsense"}, Surroundings())


def test_the_password_is_not_shown() -> None:
    assert CREDENTIALS["password"] not in repr(read(CREDENTIALS))


def test_only_released_versions_that_are_known_are_spoken() -> None:
    routes = [
        {"namespace": "vmm", "versionRoutes": [{"version": one} for one in ("v4.0.b1", "v4.0", "v4.2", "v4.9")]},
        {"namespace": "prism", "versionRoutes": [{"version": "v4.0.a2"}]},
    ]
    assert offered(routes) == {"vmm": "v4.2"}
    assert offered("<html>") == {}


def configs() -> list[Any]:
    """The ProviderConfigs of the guide and of the example."""
    found = [*objects(*written(GUIDES / "nutanix.md", "yaml")), *example("nutanix")]
    return [one for one in found if one["kind"] == "ProviderConfig"]


@pytest.mark.parametrize("document", configs())
def test_what_the_guide_says_can_be_used(document: Any) -> None:
    given = normalise(msgspec.convert(document, ProviderConfig))
    assert settings(given, CREDENTIALS).url == "https://prism-central.example.com:9440"
