"""Who may approve and sign requests for certificates, and what they may write there."""

from __future__ import annotations

import base64
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from testbed.running.certificates import Authority
from tests.real.differential.cases.rights_matrix import as_user, rights
from tests.real.differential.steps import (
    APPLY,
    JSON_PATCH,
    STRATEGIC_PATCH,
    Step,
    case,
    delete,
    get,
    patch,
    post,
    put,
    quietly,
)
from tests.real.differential.vocabulary import NAMESPACES, made, rule

_GROUP = "certificates.k8s.io"
_PLACE = f"/apis/{_GROUP}/v1/certificatesigningrequests"
_ONE = f"{_PLACE}/$ns-a"
_SIGNER = "example.com/signer"
_OWN_CHOICE = ("body.spec.request", "body.spec.extra", "body.spec.username", "body.spec.uid")


def _pem(name: str, *organizations: str) -> str:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    parts += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, one) for one in organizations]
    key = ec.generate_private_key(ec.SECP256R1())
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(parts)).sign(key, hashes.SHA256())
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


_PLAIN = _pem("somebody", "a team")
_MASTER = _pem("somebody", "a team", "system:masters")
_CERTIFICATE = base64.b64encode(Authority().pair.certificate).decode()
_OTHER_CERTIFICATE = base64.b64encode(Authority().pair.certificate).decode()


def _request(signer: str = _SIGNER, request: str = _PLAIN, name: str = "$ns-a", **spec: Any) -> dict[str, Any]:
    wanted = {"request": request, "signerName": signer, "usages": ["client auth"], **spec}
    return made(f"{_GROUP}/v1", "CertificateSigningRequest", name, spec=wanted)


def _condition(kind: str, status: str = "True", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **more}


def _conditions(*kinds: str) -> dict[str, Any]:
    return {"status": {"conditions": [_condition(kind) for kind in kinds]}}


_APPROVED = _conditions("Approved")
_SIGNED = {"status": {"certificate": _CERTIFICATE}}
_MADE = quietly(post(_PLACE, _request(), save="made"))


def _put(part: str, status: dict[str, Any], **meta: Any) -> Step:
    """The request as it was made, with another status."""
    metadata = {"name": "$ns-a", **meta}
    body = {**_request(), "metadata": metadata, "status": status}
    return put(f"{_ONE}/{part}", body, ignore=_OWN_CHOICE)


_STALE = {"resourceVersion": "${made.metadata.resourceVersion}"}


def _may(verbs: str, *signers: str) -> dict[str, Any]:
    return rule(verbs, "signers", _GROUP, **({"resourceNames": list(signers)} if signers else {}))


_ENDPOINTS = rule(
    "get update patch",
    "certificatesigningrequests certificatesigningrequests/approval certificatesigningrequests/status",
    _GROUP,
)
_HOLDERS = {
    "no signer": (),
    "the signer for approval": (_may("approve", _SIGNER),),
    "the signer for signing": (_may("sign", _SIGNER),),
    "the domain of the signer": (_may("approve sign", "example.com/*"),),
    "another signer": (_may("approve sign", "example.com/other", "other.com/*", "*"),),
    "every signer": (_may("approve sign"),),
    "every verb": (_may("*", _SIGNER),),
    "the signer by update": (_may("update patch get", _SIGNER),),
}
_ATTEMPTS = (
    *(
        patch(f"{_ONE}/{part}?dryRun=All", change)
        for part in ("approval", "status")
        for change in (
            _APPROVED,
            _conditions("Denied"),
            _conditions("Failed"),
            _conditions("Something"),
            _SIGNED,
            {"metadata": {"labels": {"a": "b"}}},
            {},
            {"spec": {"signerName": "other.com/signer"}, **_APPROVED},
        )
    ),
    put(f"{_ONE}/approval?dryRun=All", {**_request(), **_APPROVED}),
    put(f"{_ONE}/approval?dryRun=All", _request()),
    put(f"{_ONE}/status?dryRun=All", {**_request(), **_SIGNED}),
    patch(f"{_ONE}/approval?dryRun=All&fieldManager=m", {**_request(), **_APPROVED}, APPLY),
    patch(f"{_ONE}/status?dryRun=All&fieldManager=m", {**_request(), **_SIGNED}, APPLY),
    patch(f"{_ONE}?dryRun=All", {**_APPROVED, "spec": {"signerName": "other.com/signer"}}),
)

_NAMESPACE = made("v1", "Namespace", "$ns-n")
_FINALIZE = f"{NAMESPACES}/$ns-n/finalize"

CASES = (
    *(
        case(f"who holds {name}", _MADE, rights(everywhere=(_ENDPOINTS, *held)), as_user(*_ATTEMPTS))
        for name, held in _HOLDERS.items()
    ),
    case(
        "who may approve, but not at the endpoint",
        _MADE,
        rights(everywhere=(_may("*"), rule("*", "certificatesigningrequests", _GROUP))),
        as_user(*_ATTEMPTS),
    ),
    case(
        "a life",
        post(_PLACE, _request(), save="made", ignore=_OWN_CHOICE),
        get(f"{_ONE}/approval", ignore=_OWN_CHOICE),
        _put("approval", _APPROVED["status"]),
        _put("approval", _conditions("Approved", "Denied")["status"]),
        _put("approval", {}),
        _put("approval", _conditions("Approved", "Approved")["status"]),
        _put("approval", _conditions("Approved", "")["status"]),
        _put("approval", {"conditions": [_condition("Approved", "False")]}),
        _put("approval", {"conditions": [_condition("Approved"), _condition("Other", "Maybe")]}),
        _put("approval", {"conditions": [_condition("Approved"), _condition("Other", "")]}),
        _put("approval", {"conditions": [_condition("Approved", reason="x", message="y"), _condition("Other")]}),
        _put("approval", {"certificate": _CERTIFICATE, **_APPROVED["status"]}),
        _put("status", {"certificate": "bm90aGluZw==", **_APPROVED["status"]}),
        _put("status", {"certificate": _CERTIFICATE}),
        _put("status", {"certificate": _CERTIFICATE, **_conditions("Approved", "Denied")["status"]}),
        _put("status", {"certificate": _CERTIFICATE, "conditions": [_condition("Approved", reason="other")]}),
        _put("status", {"certificate": _OTHER_CERTIFICATE, **_APPROVED["status"]}),
        _put("status", {"certificate": _CERTIFICATE, **_conditions("Approved", "Failed")["status"]}),
        _put("status", {"certificate": _CERTIFICATE, **_APPROVED["status"]}),
        get(_ONE, ignore=_OWN_CHOICE),
        delete(_ONE, ignore=_OWN_CHOICE),
        _put("approval", _APPROVED["status"]),
    ),
    case(
        "ways to approve",
        *(
            step
            for kind, change in (
                (JSON_PATCH, [{"op": "add", "path": "/status/conditions", "value": [_condition("Approved")]}]),
                (STRATEGIC_PATCH, _APPROVED),
                (APPLY, {**_request(), **_APPROVED}),
            )
            for step in (
                *quietly(post(_PLACE, _request())),
                patch(f"{_ONE}/approval?fieldManager=m", change, kind, ignore=_OWN_CHOICE),
                get(_ONE, ignore=_OWN_CHOICE),
                *quietly(delete(_ONE)),
            )
        ),
    ),
    case(
        "stale versions",
        _MADE,
        *quietly(patch(_ONE, {"metadata": {"labels": {"a": "b"}}})),
        _put("approval", _APPROVED["status"], **_STALE),
        _put("approval", _APPROVED["status"], resourceVersion="1"),
        patch(f"{_ONE}/approval", {"metadata": _STALE, **_APPROVED}, ignore=_OWN_CHOICE),
        _put("approval", _APPROVED["status"], uid="other"),
        _put("status", _SIGNED["status"], **_STALE),
        _put("approval?dryRun=All", _APPROVED["status"]),
        _put("approval?dryRun=None", _APPROVED["status"]),
        _put("approval", _APPROVED["status"], resourceVersion="0"),
        _put("approval", _APPROVED["status"], name="$ns-b"),
        _put("approval", _APPROVED["status"], labels={"c": "d"}, annotations={"e": "f"}, finalizers=["a.org/b"]),
    ),
    case(
        "whom a client's certificate may not name",
        post(f"{_PLACE}?dryRun=All", _request("kubernetes.io/kube-apiserver-client", _MASTER), ignore=_OWN_CHOICE),
        post(f"{_PLACE}?dryRun=All", _request("kubernetes.io/kube-apiserver-client"), ignore=_OWN_CHOICE),
        post(f"{_PLACE}?dryRun=All", _request(_SIGNER, _MASTER), ignore=_OWN_CHOICE),
        post(f"{_PLACE}?dryRun=All", _request("kubernetes.io/kube-apiserver-client", "eA=="), is_shown=False),
        patch(
            f"{_ONE}?dryRun=All&fieldManager=m",
            _request("kubernetes.io/kube-apiserver-client", _MASTER),
            APPLY,
            ignore=_OWN_CHOICE,
        ),
    ),
    case(
        "the finalizers of a namespace",
        *quietly(
            post(NAMESPACES, _NAMESPACE, save="made"),
            patch(f"{NAMESPACES}/$ns-n", {"metadata": {"labels": {"a": "b"}}}),
        ),
        put(_FINALIZE, made("v1", "Namespace", "$ns-n", _STALE)),
        put(_FINALIZE, made("v1", "Namespace", "$ns-n", {"resourceVersion": "1"})),
        put(_FINALIZE, made("v1", "Namespace", "$ns-n", {"uid": "other"})),
        put(_FINALIZE, made("v1", "Namespace", "$ns-m")),
        put(_FINALIZE, made("v1", "Namespace", "$ns-n", spec={"finalizers": ["nonsense"]})),
        put(_FINALIZE, made("v1", "Namespace", "$ns-n", spec={"finalizers": ["a.org/b", "kubernetes"]})),
        put(_FINALIZE, made("v1", "Namespace", "$ns-n", {"labels": {"c": "d"}}, status={"phase": "Terminating"})),
        put(f"{_FINALIZE}?dryRun=All", made("v1", "Namespace", "$ns-n", spec={"finalizers": ["a.org/c"]})),
        put(f"{_FINALIZE}?fieldManager=m", made("v1", "Namespace", "$ns-n", spec={"finalizers": ["kubernetes"]})),
        get(f"{NAMESPACES}/$ns-n"),
        patch(_FINALIZE, {}),
        get(_FINALIZE),
    ),
)
