"""What a ProviderConfig and its Secret may say, and what is said about the rest."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from butler.api.credentials import canonical_keys
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.sections.proxmox import VmidRange
from butler.api.shared import ProviderType
from butler.errors import CredentialsInvalid
from butler.providers.proxmox import checks
from butler.providers.proxmox.section import Login, settings
from kubekit.errors import InvalidConfiguration
from tests.docs.pages import GUIDES, example, objects, written
from tests.providers.proxmox.harness import LOGIN, TOKEN, config

ROOT = Path(__file__).parents[3]
URL = "https://pve.example.com:8006"


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"nodes": ("pve1", "bad/host")}, "spec.proxmox.nodes[1]", "'bad/host' is not a name"),
        ({"storage": "1st"}, "spec.proxmox.storage", "'1st' is not a name"),
        ({"iso_storage": "a b"}, "spec.proxmox.isoStorage", "'a b' is not a name"),
        ({"image_storage": "?"}, "spec.proxmox.imageStorage", "'?' is not a name"),
        ({"template": "talos"}, "spec.proxmox.template", "templateID says already"),
        ({"template_id": None, "image": "talos.qcow2"}, "spec.proxmox.image", "'talos.qcow2' is no volume"),
        ({"vmid_range": VmidRange(start=300, end=200)}, "spec.proxmox.vmidRange.end", "200 is less than the start"),
        ({"vmid_range": VmidRange(start=300, end=10**9)}, "spec.proxmox.vmidRange.end", "is more than 999999999"),
    ],
)
def test_what_is_wrong_is_said_by_field_and_value(given: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        settings(config(URL, **given), TOKEN)
    assert raised.value.path == field
    assert said in str(raised.value)
    assert "butler-system/lab" in str(raised.value)


@pytest.mark.parametrize(
    ("secret", "login"),
    [
        ({"token": "a@pve!t", "secret": "s"}, Login("a@pve!t", "s", is_token=True)),
        ({"tokenId": "a@pve!t", "tokenSecret": "s\n"}, Login("a@pve!t", "s", is_token=True)),
        ({"tokenID": "a@pve!t", "tokenSecret": "s"}, Login("a@pve!t", "s", is_token=True)),
        ({"token": "a@pve!t=s"}, Login("a@pve!t", "s", is_token=True)),
        ({"token": "PVEAPIToken=a@pve!t=s"}, Login("a@pve!t", "s", is_token=True)),
        ({"username": "a@pve", "token": "t", "secret": "s"}, Login("a@pve!t", "s", is_token=True)),
        ({"username": "a@pve", "token": "t=s"}, Login("a@pve!t", "s", is_token=True)),
        ({"username": "root@pam", "password": "p"}, Login("root@pam", "p")),
    ],
)
def test_every_spelling_of_the_secret_is_understood(secret: dict[str, str], login: Login) -> None:
    assert settings(config(URL), canonical_keys(ProviderType.PROXMOX, secret)).login == login


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ({}, "Secret proxmox needs the key username"),
        ({"username": "a@pve"}, "Secret proxmox needs the key password"),
        ({"token": "a@pve!t"}, "Secret proxmox needs the key secret"),
        ({"username": "root", "password": "hush"}, "the user has to have a realm, such as butler@pve"),
        ({"token": "hush"}, "the key token has to be user@realm!name"),
    ],
)
def test_what_a_secret_lacks_is_named_and_what_it_has_is_not_shown(secret: dict[str, str], said: str) -> None:
    with pytest.raises(CredentialsInvalid, match=said) as raised:
        settings(config(URL), secret)
    assert "hush" not in str(raised.value)


def test_what_is_left_out_has_a_default() -> None:
    found = settings(config(f"{URL}/api2/json/", template_id=None), LOGIN)
    assert (found.endpoint, found.iso_storage, found.image_storage) == (URL, "local", "local")
    assert (found.source, found.bridge, found.vlan, found.pool, found.is_full) == ("", "", 0, "", True)
    assert (found.vmids[0], found.vmids[-1]) == (100_000, 999_999)


def test_a_range_of_numbers_holds_its_end() -> None:
    found = settings(config(URL, vmid_range=VmidRange(start=200, end=201)), LOGIN)
    assert list(found.vmids) == [200, 201]


def test_settings_do_not_show_secrets() -> None:
    shown = repr(settings(config(URL), {"token": "a@pve!t", "secret": "hush-hush"}))
    assert "hush-hush" not in shown


def configs() -> list[Any]:
    """The ProviderConfigs of the guide and of the example."""
    found = [*objects(*written(GUIDES / "proxmox.md", "yaml")), *example("proxmox")]
    return [one for one in found if one["kind"] == "ProviderConfig"]


@pytest.mark.parametrize("document", configs())
def test_what_the_guide_says_can_be_used(document: Any) -> None:
    given = normalise(msgspec.convert(document, ProviderConfig))
    found = settings(given, TOKEN)
    assert (found.endpoint, found.nodes) == (URL, ("pve1", "pve2"))
    assert found.source in ("9000", "local:import/talos.qcow2")


def test_the_guide_asks_for_every_privilege_that_is_checked() -> None:
    guide = (GUIDES / "proxmox.md").read_text()
    privileges = re.findall(r"\"([A-Z]\w+\.\w+(?:\.\w+)?)\"", inspect.getsource(checks))
    assert len(set(privileges)) > 15
    assert [one for one in privileges if one not in guide and one != "SDN.Use"] == []
