"""What a role cannot say, said by policies: on Kubernetes itself and on the embedded server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from butler.api.admission import DESTINATION, policies
from butler.api.model import GROUP, VERSION
from testbed.running.embedded import Kubectl, kubectl_for
from testbed.running.servers import Cluster
from tests.real import managers
from tests.real.test_own_kinds import knows_our_kinds

__all__ = ["knows_our_kinds"]
pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

SPACE = "redirections"
WHO = ("--as", "dev", "-n", SPACE)


@pytest.fixture(scope="session")
def guarded(kubernetes: Cluster, knows_our_kinds: str) -> Iterator[None]:
    """A server with the policy, on which `dev` may write ProviderConfigs."""
    kubectl = kubectl_for(kubernetes.kubeconfig)
    kubectl("apply", "--server-side", "-f", "-", stdin=managers.listed([managers.namespace(SPACE)]))
    verbs = "get,list,watch,create,update,patch,delete"
    kubectl("create", "role", "configs", f"--verb={verbs}", f"--resource=providerconfigs.{GROUP}", "-n", SPACE)
    kubectl("create", "rolebinding", "configs", "--role=configs", "--user=dev", "-n", SPACE)
    refusing = [one for _, one in policies()[:2]]
    said = kubectl("apply", "--server-side", "-f", "-", stdin=managers.listed(refusing)).err
    assert said == ""
    _until_enforced(kubectl)
    yield
    kubectl("delete", "validatingadmissionpolicybinding", policies()[1][1]["metadata"]["name"])
    kubectl("delete", "namespace", SPACE, "--wait=false")


def _until_enforced(kubectl: Kubectl) -> None:
    """A server takes a moment to notice a policy."""
    for _ in range(100):
        with suppress(AssertionError):
            kubectl("create", "--dry-run=server", "-f", "-", *WHO, stdin=config("probe"), fails=True)
            return
    raise AssertionError("the policy is not enforced")


def config(name: str, **spec: Any) -> str:
    section = {"endpoint": "https://pve.example.com:8006", "nodes": ["a"], "storage": "s", "bridge": "vmbr0"}
    wanted: dict[str, Any] = {"provider": "proxmox", "proxmox": section, "credentialsRef": {"name": "login"}, **spec}
    head = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "ProviderConfig",
        "metadata": {"name": name, "namespace": SPACE},
    }
    return json.dumps({**head, "spec": wanted})


REFUSED = "where the credentials of a ProviderConfig are sent"


def test_who_may_not_read_the_secret_may_not_say_where_it_goes(guarded: None, kubectl: Kubectl) -> None:
    said = kubectl("create", "-f", "-", *WHO, stdin=config("mine"), fails=True).err
    assert REFUSED in said
    assert "Forbidden" in said or "forbidden" in said


def test_a_config_that_names_no_secret_is_of_no_interest(guarded: None, kubectl: Kubectl) -> None:
    wanted = config("none", provider="simulated", proxmox=None, credentialsRef=None)
    kubectl("create", "-f", "-", *WHO, stdin=wanted)


@pytest.mark.parametrize(
    "change",
    [
        {"proxmox": {"endpoint": "https://evil.example.com:8006"}},
        {"proxmox": {"insecure": True}},
        {"proxmox": {"proxy": "http://evil.example.com"}},
        {"proxmox": {"caBundle": "-----BEGIN CERTIFICATE-----\nMAo=\n-----END CERTIFICATE-----\n"}},
        {"credentialsRef": {"name": "other"}},
        {"credentialsRef": {"namespace": "kube-system"}},
        {"credentialsRef": None, "proxmox": {"credentialsRef": {"name": "login"}}},
        {"clusterCredentialsRef": {"name": "other"}},
        {"provider": "external", "proxmox": None, "external": {"name": "mine", "settings": {"url": "https://evil"}}},
    ],
    ids=str,
)
def test_somebody_else_may_change_a_config_but_not_where_it_leads(
    guarded: None, kubectl: Kubectl, change: dict[str, Any]
) -> None:
    kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=config("theirs"))
    harmless = json.dumps({"spec": {"proxmox": {"storage": "other"}}, "metadata": {"labels": {"seen": "yes"}}})
    kubectl("patch", "providerconfig", "theirs", *WHO, "--type=merge", "-p", harmless)
    patch = json.dumps({"spec": change})
    said = kubectl("patch", "providerconfig", "theirs", *WHO, "--type=merge", "-p", patch, fails=True).err
    assert REFUSED in said


def test_a_reference_that_does_not_count_hides_none_that_does(guarded: None, kubectl: Kubectl) -> None:
    """A Secret that one may read, named in a section that is not used, and so is refused."""
    section = {"networkName": "default/vms", "credentialsRef": {"name": "own", "namespace": SPACE}}
    kubectl("create", "role", "own", "--verb=get", "--resource=secrets", "--resource-name=own", "-n", SPACE)
    kubectl("create", "rolebinding", "own", "--role=own", "--user=dev", "-n", SPACE)
    said = kubectl("create", "-f", "-", *WHO, stdin=config("trick", harvester=section), fails=True).err
    assert "spec.harvester: Forbidden: it is for provider harvester alone" in said
    kubectl("create", "-f", "-", *WHO, stdin=config("own", credentialsRef={"name": "own"}))


@pytest.mark.parametrize(
    ("verb", "resource", "name"),
    [("get", "secrets", "login"), ("redirect", f"providerconfigs.{GROUP}", "granted")],
    ids=["reads-the-secret", "may-redirect"],
)
def test_whoever_has_the_right_may(guarded: None, kubectl: Kubectl, verb: str, resource: str, name: str) -> None:
    role = f"may-{verb}"
    kubectl("create", "role", role, f"--verb={verb}", f"--resource={resource}", f"--resource-name={name}", "-n", SPACE)
    kubectl("create", "rolebinding", role, f"--role={role}", "--user=dev", "-n", SPACE)
    kubectl("create", "-f", "-", *WHO, stdin=config("granted"))
    kubectl("delete", "providerconfig", "granted", "-n", SPACE)
    kubectl("delete", "rolebinding", role, "-n", SPACE)
    said = kubectl("create", "-f", "-", *WHO, stdin=config("granted"), fails=True).err
    assert REFUSED in said


def test_the_policy_is_about_every_section(guarded: None, kubectl: Kubectl) -> None:
    listed = kubectl("get", "validatingadmissionpolicy", policies()[0][1]["metadata"]["name"], "-o", "json").out
    expressions = json.dumps(json.loads(listed)["spec"]["variables"])
    assert all(f"?{section}.?{field}" in expressions for section, fields in DESTINATION.items() for field in fields)
    assert not json.loads(listed).get("status", {}).get("typeChecking", {}).get("expressionWarnings")
