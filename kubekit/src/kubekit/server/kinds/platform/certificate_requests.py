"""Requests for certificates: what they may ask for, and what those who approve and sign may answer."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from functools import partial

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, duplicate, forbidden, refuse_each, required

from ..builtin.behaviour import BuiltIn

_USAGES = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)
_ANSWERS = ("Approved", "Denied", "Failed")
"""Conditions that are there to stay, and that nobody can answer with no."""
DECISIONS = _ANSWERS[:2]
"""Those that only the endpoint for approval sets."""
_STATUSES = ("False", "True", "Unknown")
_PEM_KIND = re.compile(rb"-----BEGIN ([^\n]*?)-----")


def _carry_request(obj: Object, old: Object) -> None:
    obj["spec"] = old["spec"]


def _check_request(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    if reason := _request_problem(spec.get("request") or ""):
        found.append(bad("spec.request", spec.get("request"), reason))
    usages = spec.get("usages") or []
    if not usages:
        found.append(required("spec.usages"))
    for index, usage in enumerate(usages):
        if usage not in _USAGES:
            found.append(not_supported(f"spec.usages[{index}]", usage, _USAGES))
    seen: set[str] = set()
    for index, usage in enumerate(usages):
        if usage in seen:
            found.append(duplicate(f"spec.usages[{index}]", usage))
        seen.add(usage)
    signer = spec.get("signerName") or ""
    if signer == "kubernetes.io/legacy-unknown":
        detail = "the legacy signerName is not allowed via this API version"
        found.append(bad("spec.signerName", signer, detail))
    else:
        _check_signer(found, signer, "spec.signerName")
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < 600:
        detail = "may not specify a duration less than 600 seconds (10 minutes)"
        found.append(bad("spec.expirationSeconds", seconds, detail))
    return found


def _check_signer(found: Problems, name: str, path: str) -> None:
    domain, slash, rest = name.partition("/")
    if not name:
        found.append(required(path))
        return
    if not slash or "/" in rest:
        detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        found.append(bad(path, name, detail))
        return
    parts = domain.split(".")
    wrong = next((part for part in parts if name_rules.label(part)), None)
    if wrong is not None:
        refuse_each(found, path, domain, (f'validating label "{wrong}": {rule}' for rule in name_rules.label(wrong)))
    if len(parts) < 2:
        found.append(bad(path, domain, "should be a domain with at least two segments separated by dots"))


def _fill_request(obj: Object) -> None:
    """Who asks is known from the request itself; what the client says about it is dropped."""
    for name in ("username", "uid", "groups", "extra"):
        obj["spec"].pop(name, None)


def _request_problem(encoded: str) -> str:
    from cryptography import x509  # noqa: PLC0415 - a tenth of the whole start, for what is rarely asked
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - the same

    try:
        request = x509.load_pem_x509_csr(base64.b64decode(encoded))
    except ValueError:
        return "PEM block type must be CERTIFICATE REQUEST"
    try:
        return "" if request.is_signature_valid else "CSR signature is not valid"
    except (ValueError, UnsupportedAlgorithm) as error:
        return f"x509: {error}"


def organizations(encoded: str) -> list[str]:
    """The groups that a request (base64 of its PEM) wants its holder to be in. Raises ValueError."""
    from cryptography import x509  # noqa: PLC0415 - as above
    from cryptography.x509.oid import NameOID  # noqa: PLC0415 - as above

    subject = x509.load_pem_x509_csr(base64.b64decode(encoded)).subject
    return [str(one.value) for one in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


def conditions(obj: Object) -> list[Object]:
    """What has been answered."""
    return (obj.get("status") or {}).get("conditions") or []


def of_type(kind: str, given: Sequence[Object]) -> list[Object]:
    return [one for one in given if one.get("type") == kind]


def answer(endpoint: str, obj: Object, old: Object, now: str) -> None:
    """Take an answer over, in place: who approves sets nothing but conditions, who signs leaves the decision alone."""
    before, given = conditions(old), conditions(obj)
    if endpoint == "status":
        for kind in DECISIONS:
            kept, wanted = of_type(kind, before), of_type(kind, given)
            for mine, theirs in zip(wanted, kept, strict=True) if len(wanted) == len(kept) else ():
                mine.clear()
                mine.update(theirs)
    else:
        obj["status"] = {name: value for name, value in (old.get("status") or {}).items() if name != "conditions"}
        obj["status"] |= {"conditions": given} if given else {}
    for condition in given:
        _date(condition, before, now)


def _date(condition: Object, before: Sequence[Object], now: str) -> None:
    """Set the times its author left out; a condition that held before keeps when it began to."""
    held = (one for one in before if all(one.get(name) == condition.get(name) for name in ("type", "status")))
    began = next((one["lastTransitionTime"] for one in held if one.get("lastTransitionTime")), now)
    for name, value in (("lastUpdateTime", now), ("lastTransitionTime", began)):
        if condition.get(name) is None:
            condition[name] = value


def _check_answer(obj: Object, old: Object, *, decides: bool) -> list[FieldError]:
    """`decides`: by the endpoint for approval."""
    given, before = conditions(obj), conditions(old)
    certificate, issued = ((one.get("status") or {}).get("certificate") or "" for one in (obj, old))
    found: Problems = []
    if given != before:
        _check_conditions(found, given)
    if certificate != issued and (problem := _certificate_problem(certificate)):
        found.append(bad("status.certificate", "<certificate data>", problem))
    for kind in _ANSWERS:
        if len(of_type(kind, given)) < len(of_type(kind, before)):
            found.append(forbidden("status.conditions", f'updates may not remove a condition of type "{kind}"'))
    for kind in () if decides else DECISIONS:
        if len(of_type(kind, given)) > len(of_type(kind, before)):
            found.append(forbidden("status.conditions", f'updates may not add a condition of type "{kind}"'))
    if issued and certificate != issued:
        found.append(forbidden("status.certificate", "updates may not modify existing certificate content"))
    return found


def _check_conditions(found: Problems, given: Sequence[Object]) -> None:
    seen: set[str] = set()
    for index, condition in enumerate(given):
        path = f"status.conditions[{index}]"
        kind, status = condition.get("type") or "", condition.get("status") or ""
        if not kind:
            found.append(required(f"{path}.type"))
        allowed = ("True",) if kind in _ANSWERS else _STATUSES
        if not status:
            found.append(required(f"{path}.status"))
        elif status not in allowed:
            found.append(not_supported(f"{path}.status", status, allowed))
        if kind in DECISIONS and any(one in seen for one in DECISIONS if one != kind):
            detail = "Approved and Denied conditions are mutually exclusive"
            found.append(bad("status.conditions", kind, detail))
        if kind in seen:
            found.append(duplicate(f"{path}.type", kind))
        seen.add(kind)


def _certificate_problem(encoded: str) -> str:
    from cryptography import x509  # noqa: PLC0415 - as above

    if not encoded:
        return ""
    content = base64.b64decode(encoded)
    kinds = [found.decode(errors="replace") for found in _PEM_KIND.findall(content)]
    if not kinds:
        return "must contain at least one CERTIFICATE PEM block"
    if other := next((kind for kind in kinds if kind != "CERTIFICATE"), ""):
        return f'only CERTIFICATE PEM blocks are allowed, found "{other}"'
    try:
        x509.load_pem_x509_certificates(content)
    except ValueError:
        return "x509: malformed certificate"
    return ""


KINDS = {
    ("certificates.k8s.io", "CertificateSigningRequest"): BuiltIn(
        fill=_fill_request,
        carry=_carry_request,
        check=_check_request,
        check_update=partial(_check_answer, decides=False),
        check_part={"approval": partial(_check_answer, decides=True)},
        status=True,
        name_rule="path-segment",
    ),
}
