"""All policies of one space, and the requests that come before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kubekit.errors import ApiError, Cause, Forbidden, Invalid, TooLarge, Unauthorized
from kubekit.model.resource import Object
from kubekit.server.objects import refusals
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.resource import Resource

from ..host import Host
from ..match import Match, Question, match_of
from .environment import values_of
from .params import Misconfigured, collect, param_resource
from .policy import Policy, Refusal

POLICY = "ValidatingAdmissionPolicy"
_SCOPE = {POLICY: ("matchConstraints", "failurePolicy"), f"{POLICY}Binding": ("matchResources", "policyName")}
"""What says which requests they are for, and what becomes of those."""
_ERRORS: dict[str, type[ApiError]] = {one.reason: one for one in (Unauthorized, Forbidden, TooLarge)}
"""What a policy may choose to refuse with, other than Invalid."""


@dataclass(frozen=True, slots=True)
class _Binding:
    """Where a policy holds, with which parameters, and what comes of a refusal."""

    name: str
    policy: str
    match: Match
    params: Object | None
    actions: tuple[str, ...]
    flaw: str = ""
    """Why it cannot be used, where it was damaged after it was stored."""


@dataclass(frozen=True, slots=True)
class _Request:
    """A request as it came, before any policy asks for another version of its object."""

    operation: str
    target: Target
    obj: Object | None
    old: Object | None
    options: WriteOptions


_Bound = tuple[Policy, list[_Binding]]


class Policies:
    """The ValidatingAdmissionPolicies of one space; false while none is bound."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._policies: dict[str, Policy] = {}
        self._bindings: dict[str, _Binding] = {}
        self._bound: list[_Bound] | None = None
        """Which policies are bound to what; None when that has to be looked up."""
        self._concerned: dict[tuple[str, ...], list[_Bound]] = {}
        """Which of them a kind of request comes before, as of `_concerned_in`: few are about any one kind."""
        self._concerned_in = (0, 0)
        self.version = 0
        """Grows with every change."""

    def __bool__(self) -> bool:
        return bool(self._all_bound)

    def configure(self, kind: str, name: str, obj: Object | None) -> None:
        """Take in a policy or a binding, or forget it (None)."""
        self._configure(kind, name, None if obj is None else _made(kind, name, obj["spec"]))

    def configure_damaged(self, kind: str, name: str, obj: Object, flaw: str) -> None:
        """Take in what was damaged after it was stored: the requests it is for fail, as its `failurePolicy` says.

        Raises Malformed and other errors where nobody can tell which requests those are."""
        spec = {key: value for key, value in obj["spec"].items() if key in _SCOPE[kind]}
        if not isinstance(spec.get("failurePolicy"), str):
            spec.pop("failurePolicy", None)
        resource = self._host.kinds.of("admissionregistration.k8s.io", "v1", kind)
        assert resource is not None
        self._host.shape(resource, {"metadata": {"name": name}, "spec": spec})
        self._configure(kind, name, _made(kind, name, spec, flaw))

    def _configure(self, kind: str, name: str, made: Any) -> None:
        kept: dict[str, Any] = self._policies if kind == POLICY else self._bindings
        kept.pop(name, None)
        self.version += 1
        if made is not None:
            kept[name] = made
        self._bound = None

    @property
    def _all_bound(self) -> list[_Bound]:
        if self._bound is None:
            bindings: dict[str, list[_Binding]] = {}
            for _, binding in sorted(self._bindings.items()):
                bindings.setdefault(binding.policy, []).append(binding)
            policies = [policy for _, policy in sorted(self._policies.items()) if policy.name in bindings]
            self._bound = [(policy, bindings[policy.name]) for policy in policies]
        return self._bound

    def concern(self, resource: Resource, operation: str, subresource: str) -> bool:
        """Whether any policy may have something to say of such a request."""
        return bool(self._concerning(resource, operation, subresource))

    def _concerning(self, resource: Resource, operation: str, subresource: str) -> list[_Bound]:
        kinds = self._host.kinds
        if self._concerned_in != (kinds.version, self.version):
            self._concerned, self._concerned_in = {}, (kinds.version, self.version)
        request = resource.group, resource.version, resource.plural, operation, subresource
        found = self._concerned.get(request)
        if found is None:
            found = [one for one in self._all_bound if one[0].match.seen_as(kinds, resource, operation, subresource)]
            self._concerned[request] = found
        return found

    async def validate(
        self, operation: str, target: Target, obj: Object | None, old: Object | None, options: WriteOptions
    ) -> None:
        """Raises what the first policy that refuses says."""
        request = _Request(operation, target, obj, old, options)
        for policy, bindings in self._concerning(target.resource, operation, target.subresource):
            question = await self._question(policy.match, request)
            if question is None:
                continue
            try:
                _confirm_undamaged(policy)
                resource = param_resource(self._host, policy.param_kind)
            except Misconfigured as error:
                if policy.fails_closed:
                    raise _denied(request, policy, None, Refusal(f"failed to configure policy: {error}")) from error
                continue
            for binding in bindings:
                if await self._question(binding.match, request) is not None:
                    await self._apply(request, question, policy, binding, resource)

    async def _apply(
        self, request: _Request, question: Question, policy: Policy, binding: _Binding, resource: Resource | None
    ) -> None:
        try:
            _confirm_undamaged(binding)
            params = await collect(self._host, resource, binding.params, request.target.namespace)
        except Misconfigured as error:
            if policy.fails_closed:
                raise _denied(request, policy, binding, Refusal(f"failed to configure binding: {error}")) from error
            return
        for one in params:
            for refusal in await policy.refusals(values_of(self._host, question, one)):
                if "Warn" in binding.actions:
                    request.options.warn(
                        f"Validation failed for {POLICY} '{policy.name}' with binding '{binding.name}': "
                        f"{refusal.message}"
                    )
                if "Deny" in binding.actions:
                    raise _denied(request, policy, binding, refusal)

    async def _question(self, match: Match, request: _Request) -> Question | None:
        """The request in a version that the match speaks of; None when it does not match."""
        target, resource = request.target, request.target.resource
        kinds = self._host.kinds
        seen_as = match.seen_as(kinds, resource, request.operation, target.subresource, target.name)
        if seen_as is None:
            return None
        obj, old = await self._shown(resource, seen_as, request.obj), await self._shown(resource, seen_as, request.old)
        question = Question(request.operation, target, obj, old, request.options, seen_as)
        return question if match.selects(self._host, question) else None

    async def _shown(self, resource: Resource, seen_as: Resource, obj: Object | None) -> Object | None:
        if obj is None or seen_as is resource:
            return obj
        return await self._host.converted(resource, seen_as, obj)


def _confirm_undamaged(one: Policy | _Binding) -> None:
    """Raises Misconfigured."""
    if one.flaw:
        raise Misconfigured(one.flaw)


def _made(kind: str, name: str, spec: Object, flaw: str = "") -> Policy | _Binding:
    return (Policy if kind == POLICY else _binding)(name, spec, flaw)


def _binding(name: str, spec: Object, flaw: str = "") -> _Binding:
    return _Binding(
        name=name,
        policy=spec.get("policyName", ""),
        match=match_of(spec.get("matchResources") or {}, "resourceRules"),
        params=spec.get("paramRef"),
        actions=tuple(spec.get("validationActions") or ()),
        flaw=flaw,
    )


def _denied(request: _Request, policy: Policy, binding: _Binding | None, refusal: Refusal) -> ApiError:
    named = f"{POLICY} '{policy.name}'" + (f" with binding '{binding.name}'" if binding else "")
    text = f"{named} denied request: {refusal.message}"
    forbidden = refusals.forbidden(request.target, text, Cause("", text))
    return _ERRORS.get(refusal.reason, Invalid)(forbidden.message, forbidden.details)
