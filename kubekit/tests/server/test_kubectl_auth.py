"""kubectl auth, impersonation, tokens and certificates."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from testbed.running.embedded import Kubectl, ServerProcess, kubectl_for


@pytest.fixture
def reader(here: Kubectl, namespace: str) -> Kubectl:
    """jane and the default account may read pods and their logs here."""
    here("create", "role", "reader", "--verb=get,list", "--resource=pods,pods/log")
    here("create", "rolebinding", "readers", "--role=reader", "--user=jane", f"--serviceaccount={namespace}:default")
    return here


def test_can_i_answers_for_everything_one_can_ask(reader: Kubectl, namespace: str) -> None:
    asked = {
        ("get", "pods"): True,
        ("get", "pods/log"): True,
        ("get", "pods", "--subresource=log"): True,
        ("get", "pods/some-name"): True,
        ("delete", "pods"): False,
        ("get", "pods", "--all-namespaces"): False,
        ("get", "/healthz"): True,
        ("get", "/metrics"): False,
    }
    for question, allowed in asked.items():
        answer = reader("auth", "can-i", *question, "--as=jane", fails=not allowed)
        assert answer.out == ("yes\n" if allowed else "no\n"), question
    account = f"--as=system:serviceaccount:{namespace}:default"
    assert reader("auth", "can-i", "list", "pods", account).out == "yes\n"
    assert reader("auth", "can-i", "*", "*").out == "yes\n"
    assert reader("auth", "can-i", "list", "deploy", "-q", "--as=jane", fails=True).out == ""
    assert "the server doesn't have a resource type 'gadgets'" in reader("auth", "can-i", "get", "gadgets").err


def test_can_i_lists_what_one_may_do(reader: Kubectl) -> None:
    listed = [line.split() for line in reader("auth", "can-i", "--list", "--as=jane", "--no-headers").out.splitlines()]
    assert ["pods", "[]", "[]", "[get", "list]"] in listed
    assert ["selfsubjectaccessreviews.authorization.k8s.io", "[]", "[]", "[create]"] in listed
    assert ["[/healthz]", "[]", "[get]"] in listed


def test_who_may_not_is_told_what_and_where(reader: Kubectl, namespace: str) -> None:
    assert reader("get", "pods", "--as=jane").err == f"No resources found in {namespace} namespace.\n"
    where = f'in API group "" in the namespace "{namespace}"'
    refused = 'Error from server (Forbidden): configmaps is forbidden: User "jane" cannot list resource "configmaps"'
    assert reader("get", "cm", "--as=jane", fails=True).err == f"{refused} {where}\n"
    one = reader("delete", "cm", "x", "--as=jane", fails=True).err
    assert f'configmaps "x" is forbidden: User "jane" cannot delete resource "configmaps" {where}' in one
    nodes = reader("get", "nodes", "--as=jane", fails=True).err
    assert 'User "jane" cannot list resource "nodes" in API group "" at the cluster scope' in nodes
    assert 'User "jane" cannot get path "/metrics"' in reader("get", "--raw", "/metrics", "--as=jane", fails=True).err


def test_whoami_tells_who_is_impersonated(kubectl: Kubectl) -> None:
    options = ("--as=jane", "--as-group=devs", "--as-uid=u1", "--as-user-extra=k=v")
    shown = [line.split() for line in kubectl("auth", "whoami", *options).out.splitlines()]
    assert shown == [
        ["ATTRIBUTE", "VALUE"],
        ["Username", "jane"],
        ["UID", "u1"],
        ["Groups", "[devs", "system:authenticated]"],
        ["Extra:", "k", "[v]"],
    ]
    account = json.loads(kubectl("auth", "whoami", "--as=system:serviceaccount:ns:robot", "-o", "json").out)
    assert account["status"]["userInfo"]["groups"] == [
        "system:serviceaccounts",
        "system:serviceaccounts:ns",
        "system:authenticated",
    ]


def test_a_service_account_logs_in_with_its_token(
    reader: Kubectl, namespace: str, server_process: ServerProcess, tmp_path: Path
) -> None:
    config = yaml.safe_load(server_process.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": reader("create", "token", "default").out.strip()}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    robot = kubectl_for(tmp_path / "kubeconfig")
    assert robot("get", "pods", "-n", namespace).err == f"No resources found in {namespace} namespace.\n"
    name = f"system:serviceaccount:{namespace}:default"
    assert f'User "{name}" cannot list resource "secrets"' in robot("get", "secrets", "-n", namespace, fails=True).err
    assert json.loads(robot("auth", "whoami", "-o", "json").out)["status"]["userInfo"]["username"] == name
    config["users"][0]["user"] = {"token": "nonsense"}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    assert "You must be logged in to the server" in robot("get", "pods", fails=True).err


RULES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: kept}
rules: [{apiGroups: [""], resources: [pods], verbs: [%s]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: kept}
subjects: [{kind: User, name: %s, apiGroup: rbac.authorization.k8s.io}]
roleRef: {kind: Role, name: kept, apiGroup: rbac.authorization.k8s.io}
"""


def test_reconcile_adds_rules_and_removes_them_only_when_told(here: Kubectl, namespace: str) -> None:
    def reconcile(verb: str, user: str, *more: str) -> None:
        document = (RULES % (verb, user)).replace("name: kept}", f"name: kept, namespace: {namespace}}}")
        here("auth", "reconcile", "-f", "-", *more, stdin=document)

    reconcile("get", "jane")
    reconcile("list", "joe")
    verbs = ("get", "role", "kept", "-o", "jsonpath={.rules[*].verbs[*]}")
    subjects = ("get", "rolebinding", "kept", "-o", "jsonpath={.subjects[*].name}")
    assert (here(*verbs).out, here(*subjects).out) == ("get list", "jane joe")
    reconcile("list", "joe", "--remove-extra-permissions", "--remove-extra-subjects")
    assert (here(*verbs).out, here(*subjects).out) == ("list", "joe")


def test_nobody_grants_more_than_they_have(here: Kubectl) -> None:
    here("create", "role", "granting", "--verb=create,get", "--resource=roles,rolebindings")
    here("create", "rolebinding", "granting", "--role=granting", "--user=jane")
    role = here("create", "role", "more", "--verb=*", "--resource=secrets", "--as=jane", fails=True).err
    assert role == (
        'Error from server (Forbidden): roles.rbac.authorization.k8s.io "more" is forbidden: '
        'user "jane" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["*"]}\n'
    )
    bound = here("create", "rolebinding", "more", "--clusterrole=cluster-admin", "--user=x", "--as=jane", fails=True)
    assert "is attempting to grant RBAC permissions not currently held" in bound.err


def signing_request(name: str) -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    encoded = base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()
    spec = {"signerName": "example.org/client", "usages": ["client auth"], "request": encoded, "username": "forged"}
    kind = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    return json.dumps({**kind, "metadata": {"name": name}, "spec": spec})


def test_certificates_are_approved_or_denied_but_not_both(kubectl: Kubectl) -> None:
    for name in ("t-jane", "t-joe"):
        kubectl("create", "-f", "-", stdin=signing_request(name))
    mine = kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}").out
    pending = kubectl("get", "csr", "t-jane", "--no-headers").out.split()
    assert pending[2:] == ["example.org/client", mine, "<none>", "Pending"]
    approved = "certificatesigningrequest.certificates.k8s.io/t-jane approved\n"
    assert kubectl("certificate", "approve", "t-jane").out == approved
    kubectl("certificate", "deny", "t-joe")
    assert "Approved" in kubectl("get", "csr", "t-jane").out
    condition = json.loads(kubectl("get", "csr", "t-joe", "-o", "jsonpath={.status.conditions[0]}").out)
    assert (condition["type"], condition["reason"]) == ("Denied", "KubectlDeny")
    assert condition["lastTransitionTime"] == condition["lastUpdateTime"]
    both = kubectl("certificate", "deny", "t-jane", fails=True).err
    assert both == 'error: certificate signing request "t-jane" is already Approved\n'
    kubectl("delete", "csr", "t-jane", "t-joe")
