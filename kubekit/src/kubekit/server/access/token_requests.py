"""`kubectl create token`: a TokenRequest posted to a service account, answered with a token."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from kubekit.clock import Clock
from kubekit.errors import BadRequest, Conflict, Details, FieldError, FieldProblem, NotFound, invalid
from kubekit.model.resource import Object

from .tokens import API_AUDIENCE, Bound, Lookup, TokenIssuer

GROUP, KIND = "authentication.k8s.io", "TokenRequest"
DEFAULT_SECONDS = 3600
SHORTEST_SECONDS = 600
LONGEST_SECONDS = 1 << 32

_BINDABLE = {"Pod": "pods", "Node": "nodes", "Secret": "secrets"}


def default(request: Object) -> None:
    """What a request means that does not say it, in place."""
    spec = request["spec"] = dict(request.get("spec") or {})
    if spec.get("expirationSeconds") is None:
        spec["expirationSeconds"] = DEFAULT_SECONDS


def answer(request: Object, namespace: str, name: str, lookup: Lookup, issuer: TokenIssuer, clock: Clock) -> Object:
    """The request with its token in `status`. Raises the ApiError the real server answers with."""
    metadata = dict(request.get("metadata") or {})
    _require_same_address(metadata, namespace, name)
    account = lookup("serviceaccounts", namespace, name)
    if account is None:
        raise NotFound(f'serviceaccounts "{name}" not found', Details(name=name, kind="serviceaccounts"))
    _require_same_uid(metadata, account)
    spec = _defaulted(request.get("spec") or {})
    _validate(spec)
    bound = _bound_objects(spec["boundObjectRef"], namespace, name, lookup)
    now = clock.now()
    token = issuer.issue(account, spec["audiences"], spec["expirationSeconds"], bound)
    metadata |= {"name": name, "namespace": namespace, "uid": account["metadata"]["uid"]}
    metadata["creationTimestamp"] = _timestamp(now)
    ends = _timestamp(now + timedelta(seconds=spec["expirationSeconds"]))
    return {
        "kind": KIND,
        "apiVersion": f"{GROUP}/v1",
        "metadata": metadata,
        "spec": spec,
        "status": {"token": token, "expirationTimestamp": ends},
    }


def _require_same_address(metadata: Object, namespace: str, name: str) -> None:
    if metadata.get("namespace") not in {None, "", namespace}:
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    given = metadata.get("name")
    if given and given != name:
        problem = FieldError(
            FieldProblem.INVALID, "metadata.name", "must match the service account name if specified", given
        )
        raise invalid(KIND, GROUP, name, [problem])


def _require_same_uid(metadata: Object, account: Object) -> None:
    given, uid, name = metadata.get("uid"), account["metadata"]["uid"], account["metadata"]["name"]
    if given and given != uid:
        raise Conflict(
            f'Operation cannot be fulfilled on {KIND}.{GROUP} "{name}": the UID in the token request ({given}) '
            f"does not match the UID of the service account ({uid})",
            Details(name=name, group=GROUP, kind=KIND),
        )


def _defaulted(spec: Object) -> dict[str, Any]:
    seconds = spec.get("expirationSeconds")
    return {
        "audiences": spec.get("audiences") or [API_AUDIENCE],
        "expirationSeconds": DEFAULT_SECONDS if seconds is None else seconds,
        "boundObjectRef": spec.get("boundObjectRef"),
    }


def _validate(spec: Object) -> None:
    seconds = spec["expirationSeconds"]
    if seconds < SHORTEST_SECONDS:
        detail = "may not specify a duration less than 10 minutes"
    elif seconds > LONGEST_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
    else:
        return
    raise invalid(KIND, GROUP, "", [FieldError(FieldProblem.INVALID, "spec.expirationSeconds", detail, seconds)])


def _bound_objects(reference: Object | None, namespace: str, account: str, lookup: Lookup) -> list[Bound]:
    if reference is None:
        return []
    group, _, version = reference.get("apiVersion", "").rpartition("/")
    kind, name = reference.get("kind", ""), reference.get("name", "")
    if group or kind not in _BINDABLE:
        raise BadRequest(f"cannot bind token to object of type {group}/{version}, Kind={kind}")
    plural = _BINDABLE[kind]
    found = lookup(plural, "" if kind == "Node" else namespace, name)
    if found is None:
        raise NotFound(f'{plural} "{name}" not found', Details(name=name, kind=plural))
    spec = found.get("spec") or {}
    if kind == "Pod" and spec.get("serviceAccountName", "") != account:
        raise BadRequest(
            f'cannot bind token for serviceaccount "{account}" to pod running with different serviceaccount name.'
        )
    uid = found["metadata"]["uid"]
    _require_reference(reference, kind, name, uid)
    bound = [Bound(kind.lower(), name, uid)]
    if kind == "Pod" and spec.get("nodeName"):
        bound.append(_node_of(spec["nodeName"], lookup))
    return bound


def _require_reference(reference: Object, kind: str, name: str, uid: str) -> None:
    wanted = reference.get("uid")
    if wanted and wanted != uid:
        raise Conflict(
            f'Operation cannot be fulfilled on {kind} "{name}": the UID in the bound object reference ({wanted}) does '
            "not match the UID in record. The object might have been deleted and then recreated",
            Details(name=name, kind=kind),
        )


def _node_of(name: str, lookup: Lookup) -> Bound:
    node = lookup("nodes", "", name)
    return Bound("node", name, node["metadata"]["uid"] if node else "")


def _timestamp(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
