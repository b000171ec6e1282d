"""Admission webhooks: which requests they want to see, and the conversation with them."""

from __future__ import annotations

from dataclasses import dataclass

from kubekit.errors import BadRequest
from kubekit.model.resource import Object
from kubekit.server.objects import refusals
from kubekit.server.objects.cel.admission_types import variables

from . import webhook_answers
from .host import Host
from .match import Match, Question, match_of, request_of
from .policies.conditions import ConditionFailed, Conditions
from .policies.environment import values_of
from .webhook_client import CallFailed, WebhookClient


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

    def wants(self, host: Host, question: Question) -> bool:
        """Raises Forbidden when a match condition cannot be evaluated and that may not be ignored."""
        if not self.match.selects(host, question):
            return False
        try:
            return not self.conditions or self.conditions.hold(values_of(host, question))
        except ConditionFailed as error:
            raise refusals.forbidden(question.target, str(error)) from error


def parse(configuration: str, obj: Object) -> list[Webhook]:
    """The webhooks of a Validating- or MutatingWebhookConfiguration. One without rules wants to see nothing."""
    hooks = enumerate(obj.get("webhooks") or ())
    return [_webhook(configuration, position, hook) for position, hook in hooks if hook.get("rules")]


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


class Caller:
    """Asks admission webhooks."""

    def __init__(self, host: Host, client: WebhookClient) -> None:
        self._host, self._client = host, client

    async def allowed(self, hook: Webhook, question: Question) -> None:
        """Raises what the webhook refuses with, or InternalError when it must answer and does not."""
        await self._response(hook, question, is_mutating=False)

    async def mutated(self, hook: Webhook, question: Question) -> Object | None:
        """The object as the webhook wants it, None when it changes nothing. Raises like `allowed`."""
        response = await self._response(hook, question, is_mutating=True)
        if not response or not response.get("patch"):
            return None
        try:
            changed = webhook_answers.changed(response, question.typed or {})
        except CallFailed as error:
            _judge(hook, error, "")
            return None
        if changed is None:
            return None
        return {key: value for key, value in changed.items() if key not in ("apiVersion", "kind")}

    async def _response(self, hook: Webhook, question: Question, *, is_mutating: bool) -> Object | None:
        """What the webhook allows with; None when it does not answer and need not."""
        if question.options.dry_run and hook.has_side_effects:
            raise BadRequest(f'admission webhook "{hook.name}" does not support dry run')
        uid = self._host.new_uid()
        api_version = f"admission.k8s.io/{hook.review_version}"
        request = {**request_of(question, uid), "object": question.typed, "oldObject": question.typed_old}
        review = {"kind": "AdmissionReview", "apiVersion": api_version, "request": request}
        try:
            answer = await self._client.post(hook.client, review, hook.timeout)
            response = webhook_answers.response_of(answer, uid, api_version, is_mutating=is_mutating)
        except CallFailed as error:
            _judge(hook, error, "failed to call webhook: ")
            return None
        except webhook_answers.Unusable as error:
            _judge(hook, error, "received invalid webhook response: ")
            return None
        for warning in response.get("warnings") or ():
            question.options.warn(warning)
        if not response.get("allowed"):
            raise webhook_answers.denied(hook.name, response)
        return response


def _judge(hook: Webhook, error: Exception, problem: str) -> None:
    """Raises InternalError unless the webhook may fail."""
    if hook.fails_closed:
        raise webhook_answers.failed(f'failed calling webhook "{hook.name}": {problem}{error}') from error
