"""What stands between a valid request and the store: webhooks people configure, and the server's own rules."""

from __future__ import annotations

import asyncio

from kubekit.model.resource import Object
from kubekit.server.kinds.pods.pods import SYSTEM_PRIORITIES
from kubekit.server.objects import refusals
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.decoding import Malformed

from . import certificate_requests, webhook_answers, webhooks
from .host import Host
from .limit_ranges import Limits
from .match import Question
from .policies.policies import Policies
from .webhook_client import WebhookClient
from .webhooks import Webhook

KEPT_NAMESPACES = frozenset({"default", "kube-public", "kube-system"})
_RBAC = "rbac.authorization.k8s.io"
_NEVER_ASKED = frozenset(
    {
        "validatingwebhookconfigurations",
        "mutatingwebhookconfigurations",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    }
)


class Admission:
    """The admission of one space. Nothing is asked of anyone while no webhook or policy is configured."""

    def __init__(self, host: Host, client: WebhookClient, limits: Limits) -> None:
        self._host, self._limits = host, limits
        self._mutating: list[Webhook] = []
        self._validating: list[Webhook] = []
        self.caller = webhooks.Caller(host, client)
        self.policies = Policies(host)
        self._version = 0
        self._concerned: dict[tuple[str, ...], bool] = {}
        """Whether anybody wants to see a kind of request: asked at every write, so that many webhooks cost nothing."""
        self._concerned_in = (0, 0, 0)
        """The state in which that was found out."""

    def configure(self, kind: str, name: str, obj: Object | None) -> None:
        """Take in a webhook configuration, or forget it (None)."""
        self._version += 1
        hooks = webhooks.parse(name, obj) if obj is not None else []
        if kind == "MutatingWebhookConfiguration":
            self._mutating = _with(self._mutating, name, hooks)
        else:
            self._validating = _with(self._validating, name, hooks)

    def concerns(self, resource: Resource, operation: str, subresource: str) -> bool:
        """Whether any webhook or policy may want to see such a request."""
        if not self._mutating and not self._validating and not self.policies:
            return False
        if resource.plural in _NEVER_ASKED:
            return False
        state = self._host.kinds.version, self.policies.version, self._version
        if state != self._concerned_in:
            self._concerned, self._concerned_in = {}, state
        request = resource.group, resource.version, resource.plural, operation, subresource
        found = self._concerned.get(request)
        if found is None:
            found = self._concerned[request] = self._find_concerned(resource, operation, subresource)
        return found

    def _find_concerned(self, resource: Resource, operation: str, subresource: str) -> bool:
        return self.policies.concern(resource, operation, subresource) or any(
            hook.match.seen_as(self._host.kinds, resource, operation, subresource) is not None
            for hook in (*self._mutating, *self._validating)
        )

    def check(
        self, operation: str, target: Target, obj: Object | None, old: Object | None, options: WriteOptions
    ) -> None:
        """The server's own rules. Raises Forbidden."""
        resource = target.resource
        if operation == "DELETE":
            _check_deletion(target)
        elif resource.group == _RBAC and obj is not None:
            self._host.confirm_grant(options.user, target, obj, old)
        elif resource.storage_key == certificate_requests.RESOURCE and obj is not None:
            certificate_requests.check(self._host, options.user, target, obj, old)
        elif obj is not None:
            self._limits.check(target, obj, old)

    async def mutate(
        self, operation: str, target: Target, obj: Object, old: Object | None, options: WriteOptions
    ) -> None:
        """Let webhooks change the object, in place, one after the other. Raises what they refuse with."""
        again: list[Webhook] = []
        for round_ in (self._mutating, again):
            for hook in list(round_):
                question = await self._question(hook, operation, target, obj, old, options)
                changed = await self.caller.mutated(hook, question) if question is not None else None
                if question is None or changed is None:
                    continue
                if question.seen_as is not target.resource:
                    changed = await self._host.converted(question.seen_as, target.resource, changed)
                obj.clear()
                obj.update(changed)
                self._settle(target.resource, obj)
                if round_ is self._mutating:
                    again[:] = [one for one in self._mutating if one.reinvoke and one is not hook]

    def _settle(self, resource: Resource, obj: Object) -> None:
        """Bring what a webhook has made into the shape of its kind, in place. Raises InternalError."""
        try:
            self._host.shape(resource, obj)
        except Malformed as error:
            raise webhook_answers.failed(str(error)) from error

    async def validate(
        self, operation: str, target: Target, obj: Object | None, old: Object | None, options: WriteOptions
    ) -> None:
        """Ask the policies, then all validating webhooks at once. Raises the first refusal in order of their names."""
        await self.policies.validate(operation, target, obj, old, options)
        hooks = [*(self._mutating if operation == "DELETE" else ()), *self._validating]
        questions = [await self._question(hook, operation, target, obj, old, options) for hook in hooks]
        asked = [pair for pair in zip(hooks, questions, strict=True) if pair[1] is not None]
        answers = await asyncio.gather(
            *(self.caller.allowed(hook, question) for hook, question in asked if question is not None),
            return_exceptions=True,
        )
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer

    async def _question(
        self,
        hook: Webhook,
        operation: str,
        target: Target,
        obj: Object | None,
        old: Object | None,
        options: WriteOptions,
    ) -> Question | None:
        """What a webhook is asked, in a version it knows; None when it does not want to be."""
        resource = target.resource
        seen_as = hook.match.seen_as(self._host.kinds, resource, operation, target.subresource, target.name)
        if seen_as is None:
            return None
        if seen_as is not resource:
            between = self._host.converted
            obj = await between(resource, seen_as, obj) if obj is not None else None
            old = await between(resource, seen_as, old) if old is not None else None
        question = Question(operation, target, obj, old, options, seen_as)
        await hook.conditions.prepare()
        return question if hook.wants(self._host, question) else None


def _check_deletion(target: Target) -> None:
    match target.resource.storage_key:
        case "/namespaces" if target.name in KEPT_NAMESPACES:
            raise refusals.forbidden(target, "this namespace may not be deleted")
        case "scheduling.k8s.io/priorityclasses" if target.name in SYSTEM_PRIORITIES:
            raise refusals.forbidden(target, "this is a system priority class and cannot be deleted")


def _with(hooks: list[Webhook], configuration: str, new: list[Webhook]) -> list[Webhook]:
    kept = [hook for hook in hooks if hook.configuration != configuration]
    return sorted([*kept, *new], key=lambda hook: (hook.configuration, hook.position))
