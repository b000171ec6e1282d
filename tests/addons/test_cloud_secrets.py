"""The account for clusters, in the forms that others read."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import yaml

from butler.addons.builtin import ENTRIES, definitions
from butler.addons.cloud_secrets import equipped, secrets_for
from butler.addons.resolution import Wish, resolve
from butler.errors import CredentialsInvalid
from tests.addons.clusters import ACCOUNTS, SECRET, facts, provider

BY_NAME = {one.metadata.name: one for one in definitions()}


def made(addon: str, name: str, **section: Any) -> tuple[str, dict[str, str]]:
    """Where the Secret of an addon is, and what is in it."""
    (found,) = secrets_for(addon, provider(name, account=True, **section), ACCOUNTS[name])
    assert (found["apiVersion"], found["kind"], found["type"]) == ("v1", "Secret", "Opaque")
    meta = found["metadata"]
    data = {key: base64.b64decode(value).decode() for key, value in found["data"].items()}
    return f"{meta['namespace']}/{meta['name']}", data


def test_aws_has_keys_under_the_names_of_its_drivers() -> None:
    expected = ("kube-system/aws-secret", {"key_id": "AKIA", "access_key": SECRET})
    assert made("aws-cloud-controller-manager", "aws") == expected
    assert made("aws-ebs-csi-driver", "aws") == expected


def test_azure_has_the_file_of_a_node() -> None:
    place, data = made("azuredisk-csi-driver", "azure")
    assert place == "kube-system/azure-cloud-provider"
    text = json.loads(data["cloud-config"])
    assert (text["aadClientId"], text["aadClientSecret"]) == ("narrow", SECRET)
    assert (text["tenantId"], text["location"], text["vmType"]) == ("tenant", "westeurope", "vmss")
    assert (text["vnetName"], text["subnetName"], text["vnetResourceGroup"]) == ("vnet", "nodes", "rg")
    assert (text["securityGroupName"], text["securityGroupResourceGroup"]) == ("nsg", "rg")
    assert made("cloud-provider-azure", "azure") == (place, data)


def test_google_cloud_has_a_key_file() -> None:
    key = {"cloud-sa.json": ACCOUNTS["gcp"]["serviceAccountKey"]}
    assert made("gcp-cloud-controller-manager", "gcp") == ("kube-system/gcp-cloud-credentials", key)
    assert made("gcp-pd-csi-driver", "gcp") == ("gce-pd-csi-driver/cloud-sa", key)


def test_nutanix_has_a_document_and_a_line() -> None:
    place, data = made("nutanix-cloud-provider", "nutanix")
    assert place == "kube-system/nutanix-creds"
    assert json.loads(data["credentials"]) == [
        {
            "type": "basic_auth",
            "data": {"prismCentral": {"username": "narrow", "password": SECRET}, "prismElements": None},
        }
    ]
    expected = {"key": f"pe.example.com:9440:narrow:{SECRET}"}
    assert made("nutanix-csi-storage", "nutanix") == ("ntnx-system/ntnx-secret", expected)


def test_proxmox_has_settings_for_both() -> None:
    place, data = made("proxmox-cloud-controller-manager", "proxmox")
    assert place == "kube-system/proxmox-cloud-config"
    assert yaml.safe_load(data["config.yaml"]) == {
        "features": {"provider": "capmox"},
        "clusters": [
            {
                "url": "https://pve.example.com:8006/api2/json",
                "insecure": False,
                "token_id": "narrow@pve!k8s",
                "token_secret": SECRET,
                "region": "lab",
            }
        ],
    }
    assert made("proxmox-csi-plugin", "proxmox") == ("csi-proxmox/proxmox-cloud-config", data)


def test_harvester_has_a_kubeconfig_that_leads_to_the_vms() -> None:
    place, data = made("harvester-csi-driver", "harvester", namespace="vms")
    assert place == "kube-system/harvester-cloud-config"
    written, given = yaml.safe_load(data["cloud-provider-config"]), json.loads(ACCOUNTS["harvester"]["kubeconfig"])
    assert written["contexts"][0]["context"] == {"cluster": "hv", "user": "narrow", "namespace": "vms"}
    assert (written["users"], written["clusters"]) == (given["users"], given["clusters"])


@pytest.mark.parametrize("entry", [one for one in ENTRIES if one.providers], ids=lambda one: one.name)
def test_secrets_are_where_the_addon_is_and_never_shown(entry: Any) -> None:
    (name,) = entry.providers
    config = provider(name, account=True)
    addon = equipped(resolve(Wish(entry.name), BY_NAME[entry.name], facts(config)), config, ACCOUNTS[name])
    (secret,) = addon.secrets
    assert secret["metadata"]["namespace"] == addon.place.namespace
    assert secret["metadata"]["name"] in json.dumps(addon.release.values)
    assert SECRET not in repr(addon)
    assert SECRET not in json.dumps(addon.release.values)


def test_without_an_account_for_clusters_there_is_nothing() -> None:
    for name, account in ACCOUNTS.items():
        for entry in ENTRIES:
            if entry.providers == (name,):
                assert secrets_for(entry.name, provider(name), account) == ()
    assert secrets_for("cilium", provider("aws", account=True), ACCOUNTS["aws"]) == ()


@pytest.mark.parametrize(
    ("addon", "name", "account"),
    [
        ("aws-ebs-csi-driver", "aws", {"accessKeyID": SECRET}),
        ("aws-ebs-csi-driver", "aws", {**ACCOUNTS["aws"], "sessionToken": SECRET}),
        ("azuredisk-csi-driver", "azure", {"clientSecret": SECRET}),
        ("gcp-pd-csi-driver", "gcp", {"serviceAccountKey": SECRET}),
        ("nutanix-csi-storage", "nutanix", {"username": f"a:{SECRET}", "password": "x"}),
        ("proxmox-csi-plugin", "proxmox", {"username": "a@pve", "password": SECRET}),
        ("harvester-csi-driver", "harvester", {"token": SECRET}),
    ],
)
def test_an_account_that_is_none_is_told_without_its_values(addon: str, name: str, account: dict[str, str]) -> None:
    with pytest.raises(CredentialsInvalid) as refused:
        secrets_for(addon, provider(name, account=True), account)
    assert "Secret clusters" in str(refused.value)
    assert SECRET not in str(refused.value)
