"""What an admission webhook answers: read as Go reads it, and turned into what the client is told."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from kubekit.errors import ApiError, Cause, Details, Forbidden, InternalError
from kubekit.model.resource import Object
from kubekit.server.objects.go import json_text
from kubekit.server.objects.patch import json_patch
from kubekit.server.objects.schema.decoding import Malformed, decode
from kubekit.server.objects.schema.model import Definitions

from .webhook_client import CallFailed

_STRING: Mapping[str, Any] = {"type": "string"}
_INT32: Mapping[str, Any] = {"type": "integer", "format": "int32"}
_MOST = 999
"""No larger code fits into an answer."""


def _struct(**properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "object", "properties": properties}


def _reference(name: str) -> Mapping[str, Any]:
    return {"$ref": f"#/definitions/{name}"}


_META = "k8s.io.v1"
_REVIEW = Definitions(
    {
        f"{_META}.AdmissionReview": _struct(
            kind=_STRING,
            apiVersion=_STRING,
            request={"type": "object"},
            response=_reference(f"{_META}.AdmissionResponse"),
        ),
        f"{_META}.AdmissionResponse": _struct(
            uid=_STRING,
            allowed={"type": "boolean"},
            status=_reference(f"{_META}.Status"),
            patch={"type": "string", "format": "byte"},
            patchType=_STRING,
            auditAnnotations={"type": "object", "additionalProperties": _STRING},
            warnings={"type": "array", "items": _STRING},
        ),
        f"{_META}.Status": _struct(
            kind=_STRING,
            apiVersion=_STRING,
            metadata=_reference(f"{_META}.ListMeta"),
            status=_STRING,
            message=_STRING,
            reason=_STRING,
            details=_reference(f"{_META}.StatusDetails"),
            code=_INT32,
        ),
        f"{_META}.ListMeta": _struct(
            **{"selfLink": _STRING, "resourceVersion": _STRING, "continue": _STRING},
            remainingItemCount={"type": "integer", "format": "int64"},
        ),
        f"{_META}.StatusDetails": _struct(
            name=_STRING,
            group=_STRING,
            kind=_STRING,
            uid=_STRING,
            causes={"type": "array", "items": _reference(f"{_META}.StatusCause")},
            retryAfterSeconds=_INT32,
        ),
        f"{_META}.StatusCause": _struct(reason=_STRING, message=_STRING, field=_STRING),
    }
).named(f"{_META}.AdmissionReview")


class Unusable(Exception):
    """The webhook answered, but not what it was asked."""


def response_of(review: Any, uid: str, api_version: str, *, is_mutating: bool) -> Object:
    """The response in a review that came back. Raises CallFailed when it cannot be read, Unusable when it is wrong."""
    given = review if isinstance(review, dict) else {}
    try:
        decode(given, _REVIEW)
    except Malformed as error:
        raise CallFailed(str(error)) from error
    response: Object | None = given.get("response")
    if response is None:
        raise Unusable("webhook response was absent")
    if api_version.endswith("/v1beta1"):
        return response
    if response.get("uid", "") != uid:
        raise Unusable(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    if (given.get("apiVersion"), given.get("kind")) != (api_version, "AdmissionReview"):
        got = f"{given.get('apiVersion') or '/'}, Kind={given.get('kind', '')}"
        raise Unusable(f"expected webhook response of {api_version}, Kind=AdmissionReview, got {got}")
    _check_patch(response, is_mutating=is_mutating)
    return response


def _check_patch(response: Object, *, is_mutating: bool) -> None:
    patch, kind = response.get("patch"), response.get("patchType")
    if not is_mutating:
        for name, given in (("patch", patch or None), ("patchType", kind)):
            if given is not None:
                raise Unusable(f"validating webhook may not return response.{name}")
    elif patch and kind is None:
        raise Unusable("webhook returned response.patch but not response.patchType")
    elif not patch and kind is not None:
        raise Unusable("webhook returned response.patchType but not response.patch")
    elif kind == "":
        raise Unusable('webhook returned invalid response.patchType of ""')


def changed(response: Object, obj: Object) -> Object | None:
    """The object after the patch of a response, None when there is none.

    Raises CallFailed when the patch cannot be read, InternalError when it does not apply."""
    try:
        operations = json_text.decode(base64.b64decode(response.get("patch") or ""))
    except Malformed as error:
        raise CallFailed(f"received undecodable patch in webhook response: {error}") from error
    if not operations:
        return None
    kind = response.get("patchType", "JSONPatch")
    if kind != "JSONPatch":
        raise CallFailed(f'unsupported patch type "{kind}"')
    try:
        return json_patch.patched(obj, operations)
    except (ApiError, json_patch.DoesNotApply) as error:
        raise failed(str(error)) from error


def failed(text: str) -> InternalError:
    return InternalError(f"Internal error occurred: {text}", Details(causes=(Cause("", text),)))


def denied(name: str, response: Object) -> ApiError:
    """What the client is told when the webhook of a name does not allow its request."""
    given: Object = dict(response.get("status") or {})
    why = given.get("message") or given.get("reason")
    text = f'admission webhook "{name}" denied the request'
    return _Denied(f"{text}: {why}" if why else f"{text} without explanation", given)


class _Denied(Forbidden):
    """A webhook chooses code, reason and details itself; there is no reason when it gives none."""

    def __init__(self, message: str, given: Object) -> None:
        super().__init__(message)
        self._given = given

    def status(self) -> dict[str, Any]:
        given = self._given
        code = max(given.get("code", 0), 400)
        made = {**super().status(), "code": code if code <= _MOST else InternalError.code}
        if given.get("status") not in (None, "", "Success"):
            made["status"] = given["status"]
        for name in ("reason", "details"):
            made.pop(name, None)
            if given.get(name):
                made[name] = given[name]
        return {**made, "metadata": {key: one for key, one in given.get("metadata", {}).items() if one}}
