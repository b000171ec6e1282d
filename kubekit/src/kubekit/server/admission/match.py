"""Which requests a webhook or a policy is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubekit.model.resource import Object
from kubekit.model.selectors import LabelSelector, from_label_selector
from kubekit.server.objects.request import Target, WriteOptions, with_type
from kubekit.server.objects.resource import Resource

if TYPE_CHECKING:
    from kubekit.server.kinds.registry import Kinds

    from .host import Host


@dataclass(frozen=True, slots=True)
class Question:
    """A request that is to be admitted."""

    operation: str
    target: Target
    obj: Object | None
    old: Object | None
    options: WriteOptions
    seen_as: Resource
    """The version of the resource in which the objects are."""

    @property
    def typed(self) -> Object | None:
        """The object as clients see it."""
        return None if self.obj is None else with_type(self.seen_as, self.obj)

    @property
    def typed_old(self) -> Object | None:
        return None if self.old is None else with_type(self.seen_as, self.old)


@dataclass(frozen=True, slots=True)
class _Rule:
    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: frozenset[str]
    names: frozenset[str]
    scope: str

    def covers(self, resource: Resource, operation: str, subresource: str, name: str | None) -> bool:
        return (
            bool({"*", operation} & self.operations)
            and bool({"*", resource.group} & self.groups)
            and bool({"*", resource.version} & self.versions)
            and self.scope in ("*", "Namespaced" if resource.namespaced else "Cluster")
            and self._covers_resource(resource.plural, subresource)
            and (not self.names or name is None or name in self.names)
        )

    def _covers_resource(self, plural: str, subresource: str) -> bool:
        if not subresource:
            return bool({"*", "*/*", plural} & self.resources)
        return bool({"*/*", f"{plural}/{subresource}", f"{plural}/*", f"*/{subresource}"} & self.resources)


@dataclass(frozen=True, slots=True)
class Match:
    """What a request must be like."""

    rules: tuple[_Rule, ...]
    excluded: tuple[_Rule, ...]
    namespaces: LabelSelector
    objects: LabelSelector
    matches_equivalent: bool

    def seen_as(
        self, kinds: Kinds, resource: Resource, operation: str, subresource: str, name: str | None = None
    ) -> Resource | None:
        """The resource its rules speak of; an equivalent match also looks at other versions of the same one.

        Without a name the answer is about any object."""
        if name is not None and self._covering(self.excluded, kinds, resource, operation, subresource, name):
            return None
        if not self.rules:
            return resource
        return self._covering(self.rules, kinds, resource, operation, subresource, name)

    def _covering(
        self,
        rules: tuple[_Rule, ...],
        kinds: Kinds,
        resource: Resource,
        operation: str,
        subresource: str,
        name: str | None,
    ) -> Resource | None:
        if any(rule.covers(resource, operation, subresource, name) for rule in rules):
            return resource
        if not self.matches_equivalent or not rules:
            return None
        others = [one for one in kinds if one.storage_key == resource.storage_key and one is not resource]
        covered = (one for one in others for rule in rules if rule.covers(one, operation, subresource, name))
        return next(covered, None)

    def selects(self, host: Host, question: Question) -> bool:
        """Whether the labels of the object and of its namespace are the wanted ones."""
        return self._selects_namespace(host, question) and self._selects_object(question)

    def _selects_namespace(self, host: Host, question: Question) -> bool:
        if not self.namespaces:
            return True
        target = question.target
        if target.resource.storage_key == "/namespaces":
            found = question.obj or question.old
        elif target.resource.namespaced:
            found = host.namespace(target.namespace)
        else:
            return True
        return self.namespaces.matches((found or {}).get("metadata", {}).get("labels"))

    def _selects_object(self, question: Question) -> bool:
        seen = [one for one in (question.obj, question.old) if one is not None]
        return not self.objects or any(self.objects.matches(one["metadata"].get("labels")) for one in seen)


def match_of(holder: Object, rules: str = "rules") -> Match:
    """What a webhook, or the constraints of a policy, say. `rules` is where the rules are."""
    return Match(
        rules=tuple(_rule(rule) for rule in holder.get(rules) or ()),
        excluded=tuple(_rule(rule) for rule in holder.get("excludeResourceRules") or ()),
        namespaces=from_label_selector(holder.get("namespaceSelector")),
        objects=from_label_selector(holder.get("objectSelector")),
        matches_equivalent=holder.get("matchPolicy", "Equivalent") == "Equivalent",
    )


def _rule(rule: Object) -> _Rule:
    return _Rule(
        operations=frozenset(rule.get("operations") or ()),
        groups=frozenset(rule.get("apiGroups") or ()),
        versions=frozenset(rule.get("apiVersions") or ()),
        resources=frozenset(rule.get("resources") or ()),
        names=frozenset(rule.get("resourceNames") or ()),
        scope=rule.get("scope", "*"),
    )


def request_of(question: Question, uid: str = "") -> Object:
    """What an AdmissionReview says of a request, but for the objects."""
    target, seen_as = question.target, question.seen_as
    request: Object = {
        "uid": uid,
        "kind": _kind_of(seen_as),
        "resource": _place_of(seen_as),
        "requestKind": _kind_of(target.resource),
        "requestResource": _place_of(target.resource),
        "name": target.name,
        "namespace": target.namespace,
        "operation": question.operation,
        "userInfo": question.options.user.wire(),
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
