"""Admission webhooks: which requests they want to see, and the conversation with them."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from butler.errors import ApiError, BadRequest, Cause, Details, Forbidden, InternalError
from butler.kube.selectors import LabelSelector, from_label_selector

from .callouts import CallFailed
from .cel import Expression
from .patch.json_patch import apply_json_patch
from .requests import Target, WriteOptions, with_type
from .resources import Object, Resource

if TYPE_CHECKING:
    from .kinds import Kinds
    from .space import Space


@dataclass(frozen=True, slots=True)
class Question:
    """A request a webhook is asked about."""

    operation: str
    target: Target
    obj: Object | None
    old: Object | None
    options: WriteOptions
    seen_as: Resource
    """The version of the resource that the webhook knows, in which the objects are."""


@dataclass(frozen=True, slots=True)
class _Rule:
    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: frozenset[str]
    scope: str

    def covers(self, resource: Resource, operation: str, subresource: str) -> bool:
        return (
            bool({"*", operation} & self.operations)
            and bool({"*", resource.group} & self.groups)
            and bool({"*", resource.version} & self.versions)
            and self.scope in ("*", "Namespaced" if resource.namespaced else "Cluster")
            and self._covers_resource(resource.plural, subresource)
        )

    def _covers_resource(self, plural: str, subresource: str) -> bool:
        if not subresource:
            return bool({"*", "*/*", plural} & self.resources)
        return bool({"*/*", f"{plural}/{subresource}", f"{plural}/*", f"*/{subresource}"} & self.resources)


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of one configuration."""

    configuration: str
    position: int
    name: str
    client: Object
    rules: tuple[_Rule, ...]
    namespaces: LabelSelector
    objects: LabelSelector
    conditions: tuple[tuple[str, str], ...]
    fails_closed: bool
    timeout: float
    matches_equivalent: bool
    has_side_effects: bool
    reinvoke: bool
    review_version: str
    compiled: dict[str, Any] = field(default_factory=dict)

    def seen_as(self, kinds: Kinds, resource: Resource, operation: str, subresource: str) -> Resource | None:
        """The resource its rules speak of; an equivalent match also looks at other versions of the same one."""
        if any(rule.covers(resource, operation, subresource) for rule in self.rules):
            return resource
        if not self.matches_equivalent:
            return None
        others = [one for one in kinds if one.storage_key == resource.storage_key and one is not resource]
        covered = (one for one in others for rule in self.rules if rule.covers(one, operation, subresource))
        return next(covered, None)

    def wants(self, space: Space, question: Question) -> bool:
        """Raises what the failure policy says when a match condition cannot be evaluated."""
        return (
            self._namespace_matches(space, question)
            and self._object_matches(question)
            and self._conditions_hold(question)
        )

    def _namespace_matches(self, space: Space, question: Question) -> bool:
        if not self.namespaces:
            return True
        target = question.target
        if target.resource.storage_key == "/namespaces":
            found = question.obj or question.old
        elif target.resource.namespaced:
            namespaces = space.kinds.at("", "v1", "namespaces")
            found = space.find(namespaces, "", target.namespace) if namespaces else None
        else:
            return True
        return self.namespaces.matches((found or {}).get("metadata", {}).get("labels"))

    def _object_matches(self, question: Question) -> bool:
        seen = [one for one in (question.obj, question.old) if one is not None]
        return not self.objects or any(self.objects.matches(one["metadata"].get("labels")) for one in seen)

    def _conditions_hold(self, question: Question) -> bool:
        if not self.conditions:
            return True
        values = {
            "object": _typed(question, question.obj),
            "oldObject": _typed(question, question.old),
            "request": request_of(question, ""),
        }
        for name, text in self.conditions:
            expression = self.compiled.setdefault(name, Expression(text, tuple(values)))
            if expression.evaluate(**values) is not True:
                return False
        return True


def parse(configuration: str, obj: Object) -> list[Webhook]:
    """The webhooks of a Validating- or MutatingWebhookConfiguration."""
    return [_webhook(configuration, position, hook) for position, hook in enumerate(obj.get("webhooks") or ())]


def _webhook(configuration: str, position: int, hook: Object) -> Webhook:
    return Webhook(
        configuration=configuration,
        position=position,
        name=hook["name"],
        client=hook.get("clientConfig") or {},
        rules=tuple(_rule(rule) for rule in hook.get("rules") or ()),
        namespaces=from_label_selector(hook.get("namespaceSelector")),
        objects=from_label_selector(hook.get("objectSelector")),
        conditions=tuple((one["name"], one["expression"]) for one in hook.get("matchConditions") or ()),
        fails_closed=hook.get("failurePolicy", "Fail") == "Fail",
        timeout=float(hook.get("timeoutSeconds", 10)),
        matches_equivalent=hook.get("matchPolicy", "Equivalent") == "Equivalent",
        has_side_effects=hook.get("sideEffects") not in ("None", "NoneOnDryRun"),
        reinvoke=hook.get("reinvocationPolicy") == "IfNeeded",
        review_version=next((one for one in hook.get("admissionReviewVersions") or () if one in _REVIEWS), "v1"),
    )


def _rule(rule: Object) -> _Rule:
    return _Rule(
        operations=frozenset(rule.get("operations") or ()),
        groups=frozenset(rule.get("apiGroups") or ()),
        versions=frozenset(rule.get("apiVersions") or ()),
        resources=frozenset(rule.get("resources") or ()),
        scope=rule.get("scope", "*"),
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
            changed = apply_json_patch(_typed(question, question.obj) or {}, operations)
        except (ValueError, msgspec.DecodeError, ApiError) as error:
            raise InternalError(f"Internal error occurred: {error}") from error
        return {key: value for key, value in changed.items() if key not in ("apiVersion", "kind")}

    async def _answer(self, hook: Webhook, question: Question) -> Object | None:
        if question.options.dry_run and hook.has_side_effects:
            raise BadRequest(f'admission webhook "{hook.name}" does not support dry run')
        uid = self._space.new_uid()
        api_version = f"admission.k8s.io/{hook.review_version}"
        review = {"kind": "AdmissionReview", "apiVersion": api_version, "request": request_of(question, uid)}
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


def request_of(question: Question, uid: str) -> Object:
    """The `request` of an AdmissionReview."""
    target, kind, place = question.target, _kind_of(question.seen_as), _place_of(question.seen_as)
    request: Object = {
        "uid": uid,
        "kind": kind,
        "resource": place,
        "requestKind": _kind_of(target.resource),
        "requestResource": _place_of(target.resource),
        "name": target.name,
        "namespace": target.namespace,
        "operation": question.operation,
        "userInfo": question.options.user.wire(),
        "object": _typed(question, question.obj),
        "oldObject": _typed(question, question.old),
        "dryRun": question.options.dry_run,
        "options": {"kind": _OPTIONS[question.operation], "apiVersion": "meta.k8s.io/v1"},
    }
    if target.subresource:
        request["subResource"] = request["requestSubResource"] = target.subresource
    return request


def _kind_of(resource: Resource) -> Object:
    return {"group": resource.group, "version": resource.version, "kind": resource.kind}


def _place_of(resource: Resource) -> Object:
    return {"group": resource.group, "version": resource.version, "resource": resource.plural}


_OPTIONS = {
    "CREATE": "CreateOptions",
    "UPDATE": "UpdateOptions",
    "DELETE": "DeleteOptions",
    "CONNECT": "ConnectOptions",
}


def _typed(question: Question, obj: Object | None) -> Object | None:
    return None if obj is None else with_type(question.seen_as, obj)


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
