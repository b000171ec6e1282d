"""Rights that are asked for by one way and used by another: what Kubernetes refuses is refused.

The whole matrix of verbs, names and roles is compared with Kubernetes itself by the differential suite; here are the
ways that once led somewhere."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.http_api import Answered, Api
from tests.server.attacks.odd_values import encoded
from tests.server.wire import APPLY, MAPS, MERGE_PATCH

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SIGNER = "example.com/signer"


def rule(verbs: str, resources: str, group: str = "", *names: str) -> dict[str, Any]:
    made = {"verbs": verbs.split(), "apiGroups": [group], "resources": resources.split()}
    return {**made, "resourceNames": list(names)} if names else made


async def grant(api: Api, *rules: dict[str, Any]) -> None:
    """Give alice these rights, everywhere."""
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "alice"}
    await api("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "r"}, "rules": list(rules)})
    bound = {"metadata": {"name": "b"}, "roleRef": reference, "subjects": [subject]}
    assert (await api("POST", f"{RBAC}/clusterrolebindings", bound)).status == 201


async def alice(api: Api, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Answered:
    return await api(method, path, body, content_type, Impersonate_User="alice")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_the_old_path_of_watches_is_for_watches(api: Api, method: str) -> None:
    await grant(api, rule("create update patch delete deletecollection", "configmaps"))
    name = "" if method == "POST" else "/kube-root-ca.crt"
    answer = await alice(api, method, f"/api/v1/watch/namespaces/default/configmaps{name}", {"metadata": {"name": "x"}})
    assert answer.status == 403
    whole = await api(method, f"/api/v1/watch/namespaces/default/configmaps{name}", {"metadata": {"name": "x"}})
    assert whole.status == 405


@pytest.mark.parametrize(
    "query",
    [
        "limit=x",
        "limit=",
        "timeoutSeconds=x",
        "timeoutSeconds=9999999999999999999999",
        "labelSelector=a%3D%3D%3D",
    ],
)
async def test_a_name_in_a_query_that_cannot_be_read_is_no_name(api: Api, query: str) -> None:
    await grant(api, rule("list watch", "configmaps", "", "a"))
    assert (await alice(api, "GET", f"{MAPS}?fieldSelector=metadata.name%3Da")).status == 200
    assert (await alice(api, "GET", f"{MAPS}?fieldSelector=metadata.name%3Da&{query}")).status == 403


@pytest.mark.parametrize(
    ("selector", "status"),
    [
        ("metadata.name=b,metadata.name=a", 200),
        ("metadata.name=a,metadata.name=b", 200),
        ("metadata.name=b", 403),
        ("metadata.name!=b", 403),
        ("metadata.name=a=b", 403),
        ("metadata.name=%5Ca", 403),
        ("metadata.name=..", 403),
    ],
)
async def test_names_in_selectors(api: Api, selector: str, status: int) -> None:
    await grant(api, rule("list", "configmaps", "", "a", "..", "a=b", "\\a"))
    assert (await alice(api, "GET", f"{MAPS}?fieldSelector={selector}")).status == status


async def test_names_in_the_old_path_of_watches_count_only_there(api: Api) -> None:
    await grant(api, rule("watch", "configmaps", "", "a"))
    before = "/api/v1/watch/namespaces/default/configmaps"
    assert (await alice(api, "GET", f"{before}?fieldSelector=metadata.name%3Da&timeoutSeconds=1")).status == 403
    assert (await alice(api, "GET", f"{before}/a?timeoutSeconds=1")).status == 200


@pytest.mark.parametrize("part", ["exec", "attach", "portforward"])
async def test_who_may_only_read_runs_nothing(api: Api, part: str) -> None:
    await grant(api, rule("get", "pods/exec pods/attach pods/portforward pods/log"))
    answer = await alice(api, "GET", f"/api/v1/namespaces/default/pods/a/{part}")
    assert answer.status == 403
    assert (await alice(api, "GET", "/api/v1/namespaces/default/pods/a/log")).status == 404


async def test_what_stands_behind_a_subresource_needs_no_right_of_its_own(api: Api) -> None:
    await grant(api, rule("get", "nodes/proxy"))
    assert (await alice(api, "GET", "/api/v1/nodes/a/proxy/some/where")).status == 404
    assert (await alice(api, "GET", "/api/v1/nodes/a/status/more")).status == 403


def request_for(*groups: str) -> str:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    named = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "x"), *parts])
    builder = x509.CertificateSigningRequestBuilder().subject_name(named)
    made = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


async def ask(api: Api, signer: str = SIGNER, *groups: str) -> Answered:
    spec = {"request": request_for(*groups), "signerName": signer, "usages": ["client auth"]}
    return await api("POST", REQUESTS, {"metadata": {"name": "a"}, "spec": spec})


APPROVED = {"status": {"conditions": [{"type": "Approved", "status": "True"}]}}
FAILED = {"status": {"conditions": [{"type": "Failed", "status": "True"}]}}
ENDPOINTS = rule(
    "get update patch",
    "certificatesigningrequests/approval certificatesigningrequests/status",
    "certificates.k8s.io",
)


@pytest.mark.parametrize(
    ("verbs", "names", "approval", "status"),
    [
        ("", (), 403, 403),
        ("approve", (SIGNER,), 200, 403),
        ("sign", (SIGNER,), 403, 200),
        ("approve sign", ("example.com/*",), 200, 200),
        ("approve sign", (), 200, 200),
        ("approve sign", ("example.com/other", "*", "example.*"), 403, 403),
        ("update patch", (SIGNER,), 403, 403),
    ],
)
async def test_who_may_approve_and_sign(
    api: Api, verbs: str, names: tuple[str, ...], approval: int, status: int
) -> None:
    await grant(api, ENDPOINTS, *([rule(verbs, "signers", "certificates.k8s.io", *names)] if verbs else []))
    assert (await ask(api)).status == 201
    for part, change, wanted in (("approval", APPROVED, approval), ("status", FAILED, status)):
        answer = await alice(api, "PATCH", f"{REQUESTS}/a/{part}?dryRun=All", change, MERGE_PATCH)
        assert answer.status == wanted, answer.body
    applied = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": "a"}}
    path = f"{REQUESTS}/a/approval?dryRun=All&fieldManager=m"
    assert (await alice(api, "PATCH", path, {**applied, **APPROVED}, APPLY)).status == approval


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("part", ["approval", "status"])
async def test_stale_answers_are_conflicts(api: Api, part: str, method: str) -> None:
    made = (await ask(api)).body
    change = {"metadata": {"labels": {"a": "b"}}}
    assert (await api("PATCH", f"{REQUESTS}/a", change, MERGE_PATCH)).status == 200
    stale = {"metadata": {"name": "a", "resourceVersion": made["metadata"]["resourceVersion"]}, "spec": made["spec"]}
    answer = await api(
        method, f"{REQUESTS}/a/{part}", {**stale, **FAILED}, MERGE_PATCH if method == "PATCH" else "application/json"
    )
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")


async def test_stale_finalizers_are_conflicts(api: Api) -> None:
    made = (await api("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}})).body
    change = {"metadata": {"labels": {"a": "b"}}}
    assert (await api("PATCH", "/api/v1/namespaces/n", change, MERGE_PATCH)).status == 200
    stale = {"metadata": {"name": "n", "resourceVersion": made["metadata"]["resourceVersion"]}, "spec": {}}
    assert (await api("PUT", "/api/v1/namespaces/n/finalize", stale)).status == 409
    assert (await api("GET", "/api/v1/namespaces/n")).body["spec"] == {"finalizers": ["kubernetes"]}


async def test_who_signs_does_not_approve(api: Api) -> None:
    assert (await ask(api)).status == 201
    answer = await api("PATCH", f"{REQUESTS}/a/status", APPROVED, MERGE_PATCH)
    assert answer.status == 422
    assert (await api("PATCH", f"{REQUESTS}/a/approval", APPROVED, MERGE_PATCH)).status == 200
    assert (await api("PATCH", f"{REQUESTS}/a/approval", {"status": None}, MERGE_PATCH)).status == 422


async def test_no_request_for_a_client_makes_an_administrator(api: Api) -> None:
    client = "kubernetes.io/kube-apiserver-client"
    assert (await ask(api, client, "team", "system:masters")).status == 403
    assert (await ask(api, client, "team")).status == 201


@pytest.mark.parametrize(
    "start", ["a/\x00", "kube-system/a\x00", "kube", "zzz/z\x00", "default/\x00", "/default", "\x00"]
)
@pytest.mark.parametrize("revision", [-1, 1])
async def test_a_forged_token_leads_into_no_other_namespace(api: Api, start: str, revision: int) -> None:
    forged = encoded({"v": "meta.k8s.io/v1", "rv": revision, "start": start})
    answer = await api("GET", f"{MAPS}?limit=2&continue={forged}")
    assert answer.status in (200, 410), answer.body
    if answer.status == 200:
        assert {one["metadata"]["namespace"] for one in answer.body["items"]} <= {"default"}
