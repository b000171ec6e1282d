"""Role-based access control: who may do what, decided from roles and bindings held in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from kubekit.clock import give_way
from kubekit.errors import Details, Forbidden
from kubekit.model.resource import Object
from kubekit.server.objects.damage import passing_over
from kubekit.server.objects.user import UserInfo, service_account_name

from .rules import Rule, rules_of

GROUP = "rbac.authorization.k8s.io"

_MANY = 10_000
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


@dataclass(frozen=True, slots=True)
class Attributes:
    """What a request wants to do. A `path` makes it a request for something that is not a resource."""

    user: UserInfo
    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    allowed: bool
    reason: str = ""


ALLOWED = Decision(allowed=True)


@dataclass(frozen=True, slots=True)
class MissingRole:
    """A role that a binding names and that does not exist."""

    kind: str
    name: str

    def text(self, resource: str = "") -> str:
        return f'{resource or self.kind.lower()}.{GROUP} "{self.name}" not found'


@dataclass(frozen=True, slots=True)
class _Subject:
    """Whom a binding names. Service accounts are found by their user name."""

    kind: str
    name: str
    text: str

    @property
    def key(self) -> tuple[str, str]:
        return self.kind, self.name


@dataclass(frozen=True, slots=True)
class _Binding:
    name: str
    namespace: str
    role_kind: str
    role: str
    subjects: tuple[_Subject, ...]

    def source(self, keys: frozenset[tuple[str, str]]) -> str:
        """Why the role applies to someone, in the server's words."""
        subject = next(one for one in self.subjects if one.key in keys)
        kind = f'RoleBinding "{self.name}/{self.namespace}"' if self.namespace else f'ClusterRoleBinding "{self.name}"'
        return f'{kind} of {self.role_kind} "{self.role}" to {subject.text}'


@dataclass(frozen=True, slots=True)
class _Answer:
    """All that is granted for one kind of request: to any name, or to some names only."""

    always: Decision | None
    named: tuple[tuple[tuple[str, ...], Decision], ...]
    otherwise: Decision

    def decide(self, name: str) -> Decision:
        for names, decision in self.named:
            if name in names:
                return decision
        return self.always or self.otherwise


@dataclass(frozen=True, slots=True)
class Stored:
    """A role or a binding that is there before anybody has wanted to know."""

    kind: str
    namespace: str
    name: str
    read: Callable[[], Object]
    """Raises ValueError for one that was damaged."""


class Rbac:
    """The roles and bindings of one space. Bindings are found by subject, answers are kept until a role changes."""

    def __init__(self, capacity: int = 20_000, stored: Callable[[], Iterable[Stored]] = tuple) -> None:
        """`stored` answers the objects there are, one after the other; it is asked when someone wants to know."""
        self._capacity, self._stored = capacity, stored
        self._unread: Iterator[Stored] | None = None
        self._changed: set[tuple[str, str, str]] = set()
        """What has changed since somebody began to read what is stored: of that, what is read is no longer so."""
        self.is_loaded = False
        self._roles: dict[tuple[str, str], list[Rule]] = {}
        self._bindings: dict[tuple[str, str], _Binding] = {}
        self._by_subject: dict[tuple[str, str, str], dict[str, _Binding]] = {}
        self._bound: Counter[str] = Counter()
        """How many bindings there are in each namespace. One that has none grants what all others grant."""
        self._answers: dict[tuple[str, ...] | tuple[object, ...], _Answer] = {}
        self._changes = 0
        self._count = 0
        """How many rules and subjects there are in all roles and bindings."""

    @property
    def is_long(self) -> bool:
        """Whether it may take more than a moment to go through all that somebody has."""
        return self._count > _MANY

    async def load(self) -> None:
        """Read what is stored before it is asked for, others having a turn between two roles."""
        while not self.is_loaded:
            self._read_next()
            await give_way()

    def _load(self) -> None:
        while not self.is_loaded:
            self._read_next()

    @property
    def wants_changes(self) -> bool:
        """Whether anyone has wanted to know; until then changes need not be told."""
        return self.is_loaded or self._unread is not None

    def _read_next(self) -> None:
        if self._unread is None:
            self._unread = iter(self._stored())
        try:
            one = next(self._unread, None)
        except Exception:
            # Whoever asks next begins anew.
            self._unread = None
            raise
        if one is None:
            self._unread, self.is_loaded = None, True
            self._changed.clear()
        elif (one.kind, one.namespace, one.name) not in self._changed:
            with passing_over(one.kind, f"{one.namespace}/{one.name}".lstrip("/")):
                self._take_in(one.kind, one.read())

    def upsert(self, kind: str, obj: Object) -> None:
        """Take in a ClusterRole, Role, ClusterRoleBinding or RoleBinding; other kinds are ignored."""
        self._note(kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        self._take_in(kind, obj)

    def _note(self, kind: str, namespace: str, name: str) -> None:
        if self._unread is not None:
            self._changed.add((kind, namespace, name))

    def _take_in(self, kind: str, obj: Object) -> None:
        metadata = obj["metadata"]
        key = metadata.get("namespace", ""), metadata["name"]
        self._forget()
        if kind in {"ClusterRole", "Role"}:
            self._count -= len(self._roles.get(key, ()))
            self._roles[key] = [_shared(rule) for rule in rules_of(obj)]
            self._count += len(self._roles[key])
        elif kind in {"ClusterRoleBinding", "RoleBinding"}:
            self._unbind(key)
            self._bind(key, _binding(obj))

    def remove(self, kind: str, namespace: str, name: str) -> None:
        """Forget an object; nothing happens when it is not known."""
        self._note(kind, namespace, name)
        self._forget()
        if kind in {"ClusterRole", "Role"}:
            self._count -= len(self._roles.pop((namespace, name), ()))
        elif kind in {"ClusterRoleBinding", "RoleBinding"}:
            self._unbind((namespace, name))

    def _forget(self) -> None:
        self._changes += 1
        self._answers.clear()

    def authorize(self, attributes: Attributes) -> Decision:
        """Whether the user may; the reason says by which binding, or which bindings name missing roles."""
        user = attributes.user
        if user.is_master:
            return ALLOWED
        self._load()
        if attributes.path is not None:
            return self._path_answer(user, attributes.verb, attributes.path).decide("")
        key = (
            user.name,
            user.groups,
            attributes.verb,
            attributes.group,
            attributes.resource,
            attributes.subresource,
            attributes.namespace if attributes.namespace in self._bound else "",
        )
        answer = self._answers.get(key)
        if answer is None:
            seen = self._changes
            answer = self._keep(key, self._resource_answer(attributes), seen)
        return answer.decide(attributes.name)

    def rules_for(self, user: UserInfo, namespace: str) -> tuple[list[Rule], list[MissingRole]]:
        """Every rule that holds for the user there, and the roles that bindings name and that do not exist."""
        self._load()
        rules: list[Rule] = []
        missing: list[MissingRole] = []
        for binding, _ in self._applying(user, namespace):
            found = self.role_rules(binding.role_kind, binding.namespace, binding.role)
            if found is None:
                missing.append(MissingRole(binding.role_kind, binding.role))
            else:
                rules.extend(found)
        return rules, list(dict.fromkeys(missing))

    def role_rules(self, kind: str, namespace: str, name: str) -> list[Rule] | None:
        """The rules of a role, None when there is no such role."""
        self._load()
        return self._roles.get((namespace if kind == "Role" else "", name))

    def _bind(self, key: tuple[str, str], binding: _Binding) -> None:
        self._bindings[key] = binding
        self._count += 1 + len(binding.subjects)
        self._bound[binding.namespace] += 1
        for subject in binding.subjects:
            self._by_subject.setdefault((binding.namespace, *subject.key), {})[binding.name] = binding

    def _unbind(self, key: tuple[str, str]) -> None:
        binding = self._bindings.pop(key, None)
        if binding is None:
            return
        self._count -= 1 + len(binding.subjects)
        self._bound[key[0]] -= 1
        if not self._bound[key[0]]:
            del self._bound[key[0]]
        for subject in binding.subjects:
            place = key[0], *subject.key
            bound = self._by_subject.get(place)
            if bound is not None:
                bound.pop(key[1], None)
                if not bound:
                    del self._by_subject[place]

    def _applying(self, user: UserInfo, namespace: str) -> Iterator[tuple[_Binding, str]]:
        """The user's bindings, cluster-wide ones first, each with the reason it applies."""
        keys = frozenset({("User", user.name), *(("Group", group) for group in user.groups)})
        for scope in ("", namespace) if namespace else ("",):
            found: dict[str, _Binding] = {}
            for key in keys:
                found.update(self._by_subject.get((scope, *key), {}))
            for name in sorted(found):
                yield found[name], found[name].source(keys)

    def _resource_answer(self, wanted: Attributes) -> _Answer:
        always: Decision | None = None
        named: list[tuple[tuple[str, ...], Decision]] = []
        for rule, decision in self._granted(wanted.user, wanted.namespace):
            if not rule.matches_resource(wanted.verb, wanted.group, wanted.resource, wanted.subresource):
                continue
            if not rule.names:
                always = decision
                break
            named.append((rule.names, decision))
        return _Answer(always, tuple(named), self._refusal(wanted.user, wanted.namespace))

    def _path_answer(self, user: UserInfo, verb: str, path: str) -> _Answer:
        key = (user.name, user.groups, verb, path)
        answer = self._answers.get(key)
        if answer is not None:
            return answer
        seen = self._changes
        granted = (decision for rule, decision in self._granted(user, "") if rule.matches_path(verb, path))
        return self._keep(key, _Answer(next(granted, None), (), self._refusal(user, "")), seen)

    def _granted(self, user: UserInfo, namespace: str) -> Iterator[tuple[Rule, Decision]]:
        gone_through: set[tuple[str, str, str]] = set()
        for binding, source in self._applying(user, namespace):
            role = binding.role_kind, binding.namespace if binding.role_kind == "Role" else "", binding.role
            if role in gone_through:
                continue
            gone_through.add(role)
            decision = Decision(allowed=True, reason=f"RBAC: allowed by {source}")
            for rule in self.role_rules(*role) or ():
                yield rule, decision

    def _refusal(self, user: UserInfo, namespace: str) -> Decision:
        missing = self.rules_for(user, namespace)[1]
        texts = [one.text() for one in missing]
        return Decision(allowed=False, reason=f"RBAC: {aggregate(texts)}" if texts else "")

    def _keep(self, key: tuple[object, ...], answer: _Answer, seen: int) -> _Answer:
        """Remember an answer, unless roles have changed while it was looked for beside the event loop."""
        if seen != self._changes:
            return answer
        if len(self._answers) >= self._capacity:
            self._answers.clear()
        self._answers[key] = answer
        return answer


@lru_cache(maxsize=4096)
def _shared(rule: Rule) -> Rule:
    """Most rules are the same in every space."""
    return rule


def aggregate(problems: list[str]) -> str:
    """Several messages as one, in the server's form."""
    return problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"


def forbidden(attributes: Attributes, reason: str = "") -> Forbidden:
    """The 403 for a refused request."""
    text = _refused(attributes).translate(_MARKUP)
    if reason:
        text = f"{text}: {reason}"
    if attributes.path is not None:
        return Forbidden(f"forbidden: {text}", Details())
    return forbidden_object(attributes.group, attributes.resource, attributes.name, text)


def forbidden_object(group: str, plural: str, name: str, why: str) -> Forbidden:
    """The 403 about one object, or about a kind when there is no name."""
    qualified = f"{plural}.{group}" if group else plural
    about = f"{qualified} {json.dumps(name, ensure_ascii=False)}" if name else qualified
    return Forbidden(f"{about} is forbidden: {why}", Details(name=name, group=group, kind=plural))


def _refused(wanted: Attributes) -> str:
    user = f"User {json.dumps(wanted.user.name, ensure_ascii=False)} cannot {wanted.verb}"
    if wanted.path is not None:
        return f"{user} path {json.dumps(wanted.path, ensure_ascii=False)}"
    resource = f"{wanted.resource}/{wanted.subresource}" if wanted.subresource else wanted.resource
    scope = f'in the namespace "{wanted.namespace}"' if wanted.namespace else "at the cluster scope"
    return f'{user} resource "{resource}" in API group "{wanted.group}" {scope}'


def _binding(obj: Object) -> _Binding:
    metadata, role = obj["metadata"], obj["roleRef"]
    namespace = metadata.get("namespace", "")
    subjects = (_subject(one, namespace) for one in obj.get("subjects") or ())
    return _Binding(metadata["name"], namespace, role["kind"], role["name"], tuple(subjects))


def _subject(subject: Object, namespace: str) -> _Subject:
    kind, name = subject["kind"], subject["name"]
    if kind != "ServiceAccount":
        return _Subject(kind, name, f'{kind} "{name}"')
    home = subject.get("namespace") or namespace
    if not home:
        return _Subject(kind, name, f'{kind} "{name}/"')
    return _Subject("User", service_account_name(home, name), f'{kind} "{name}/{home}"')
