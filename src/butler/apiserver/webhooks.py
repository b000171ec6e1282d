"""Admission webhooks: which requests they want to see, and the conversation with them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from butler.errors import ApiError, BadRequest, Cause, Details, Forbidden, InternalError

from . import refusals
from .callouts import CallFailed
from .matching import Match, Question, match_of, request_of
from .patch.json_patch import apply_json_patch
from .policies.conditions import ConditionFailed, Conditions
from .policies.environment import values_of, variables
from .resources import Object

if TYPE_CHECKING:
    from .space import Space


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of one configuration."""

    configuration: str
    position: int
    name: str
    client: Object
    match: Match
    conditions: Conditions
    fails_closed: bool
    timeout: float
    has_side_effects: bool
    reinvoke: bool
    review_version: str

    def wants(self, space: Space, question: Question) -> bool:
        """Raises Forbidden when a match condition cannot be evaluated and that may not be ignored."""
        if not self.match.selects(space, question):
            return False
        try:
            return not self.conditions or self.conditions.hold(values_of(space, question))
        except ConditionFailed as error:
            raise refusals.forbidden(question.target, str(error)) from error


def parse(configuration: str, obj: Object) -> list[Webhook]:
    """The webhooks of a Validating- or MutatingWebhookConfiguration."""
    return [_webhook(configuration, position, hook) for position, hook in enumerate(obj.get("webhooks") or ())]


def _webhook(configuration: str, position: int, hook: Object) -> Webhook:
    return Webhook(
        configuration=configuration,
        position=position,
        name=hook["name"],
        client=hook.get("clientConfig") or {},
        match=match_of(hook),
        conditions=Conditions(hook, variables()),
        fails_closed=hook.get("failurePolicy", "Fail") == "Fail",
        timeout=float(hook.get("timeoutSeconds", 10)),
        has_side_effects=hook.get("sideEffects") not in ("None", "NoneOnDryRun"),
        reinvoke=hook.get("reinvocationPolicy") == "IfNeeded",
        review_version=next((one for one in hook.get("admissionReviewVersions") or () if one in _REVIEWS), "v1"),
    )


_REVIEWS = ("v1", "v1beta1")


class _Unusable(Exception):
    """The webhook answered, but not what it was asked."""


class Caller:
    """Asks admission webhooks."""

    def __init__(self, space: Space) -> None:
        self._space = space

    async def allowed(self, hook: Webhook, question: Question) -> None:
        """Raises what the webhook refuses with, or InternalError when it must answer and does not."""
        await self._answer(hook, question)

    async def mutated(self, hook: Webhook, question: Question) -> Object | None:
        """The object as the webhook wants it, None when it changes nothing. Raises like `allowed`."""
        answer = await self._answer(hook, question)
        if not answer or not answer.get("patch"):
            return None
        assert question.obj is not None
        try:
            operations = msgspec.json.decode(base64.b64decode(answer["patch"]))
            changed = apply_json_patch(question.typed or {}, operations)
        except (ValueError, msgspec.DecodeError, ApiError) as error:
            raise InternalError(f"Internal error occurred: {error}") from error
        return {key: value for key, value in changed.items() if key not in ("apiVersion", "kind")}

    async def _answer(self, hook: Webhook, question: Question) -> Object | None:
        if question.options.dry_run and hook.has_side_effects:
            raise BadRequest(f'admission webhook "{hook.name}" does not support dry run')
        uid = self._space.new_uid()
        api_version = f"admission.k8s.io/{hook.review_version}"
        request = {**request_of(question, uid), "object": question.typed, "oldObject": question.typed_old}
        review = {"kind": "AdmissionReview", "apiVersion": api_version, "request": request}
        try:
            answer = _checked(uid, api_version, await self._space.callouts.post(hook.client, review, hook.timeout))
        except (CallFailed, _Unusable) as error:
            if hook.fails_closed:
                problem = (
                    "failed to call webhook" if isinstance(error, CallFailed) else "received invalid webhook response"
                )
                text = f'failed calling webhook "{hook.name}": {problem}: {error}'
                raise InternalError(f"Internal error occurred: {text}", Details(causes=(Cause("", text),))) from error
            return None
        for warning in answer.get("warnings") or ():
            question.options.warn(str(warning))
        if not answer.get("allowed"):
            raise _denied(hook, answer)
        return answer


def _checked(uid: str, api_version: str, review: Any) -> Object:
    answer = review.get("response") if isinstance(review, dict) else None
    if not isinstance(answer, dict):
        raise _Unusable("webhook response was absent")
    if api_version.endswith("/v1beta1"):
        return answer
    if answer.get("uid", "") != uid:
        raise _Unusable(f'expected response.uid="{uid}", got "{answer.get("uid", "")}"')
    if (review.get("apiVersion"), review.get("kind")) != (api_version, "AdmissionReview"):
        got = f"{review.get('apiVersion') or '/'}, Kind={review.get('kind', '')}"
        raise _Unusable(f"expected webhook response of {api_version}, Kind=AdmissionReview, got {got}")
    return answer


def _denied(hook: Webhook, answer: Object) -> ApiError:
    status = answer.get("status") or {}
    message = status.get("message") or status.get("reason") or ""
    text = f'admission webhook "{hook.name}" denied the request'
    text = f"{text}: {message}" if message else f"{text} without explanation"
    given: Object = {"code": int(status.get("code") or 403), "reason": str(status.get("reason") or "Forbidden")}
    if isinstance(status.get("details"), dict):
        given["details"] = status["details"]
    return _Denied(text, given)


class _Denied(Forbidden):
    """A webhook chooses its own code, reason and details."""

    def __init__(self, message: str, given: Object) -> None:
        super().__init__(message)
        self.given = given

    def status(self) -> dict[str, Any]:
        return {**super().status(), **self.given}
