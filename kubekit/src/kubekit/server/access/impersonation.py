"""Acting as someone else: the `Impersonate-*` headers and the rights they need.

Since 1.36 there are two kinds of right. The narrow ones name a mode (`serviceaccount`, `user-info` …): the user needs
`impersonate-on:<mode>:<verb>` on what the request wants and `impersonate:<mode>` on the identity. The old one is the
verb `impersonate` on the identity and holds for every request. Modes are tried in order until one allows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import unquote

from kubekit.errors import BadRequest, FieldError, FieldProblem, Forbidden
from kubekit.server.objects.user import (
    ANONYMOUS,
    MASTERS,
    NODE_NAME,
    NODES,
    UNAUTHENTICATED,
    UserInfo,
    authenticated,
    service_account_groups,
    split_node,
    split_service_account,
    with_group,
)

from .authentication import Headers
from .rbac import Attributes, Decision, forbidden

_PREFIX = "impersonate-"
_EXTRA_PREFIX = "impersonate-extra-"
_IDENTITY_GROUP = "authentication.k8s.io"
_REMEMBERED_USERS = 1024
_DOMAIN_PATH = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9/\-._~%!$&'()*+,;=:]+\Z")
_NOT_A_DOMAIN_PATH = 'must be a domain-prefixed path (such as "acme.io/foo")'

Authorize = Callable[[Attributes], Decision]


@dataclass(frozen=True, slots=True)
class Mode:
    """One kind of right to impersonate; the old, unrestricted one has no name."""

    name: str

    @property
    def verb(self) -> str:
        return f"impersonate:{self.name}" if self.name else "impersonate"

    def applies(self, wanted: UserInfo, requester: UserInfo) -> bool:
        """Whether this mode is about such users at all."""
        only_named = not (wanted.uid or wanted.groups or wanted.extra)
        node, account = split_node(wanted.name), split_service_account(wanted.name)
        match self.name:
            case "associated-node":
                is_account = split_service_account(requester.name) is not None
                return only_named and node is not None and is_account and requester.extra.get(NODE_NAME) == (node,)
            case "arbitrary-node":
                return only_named and node is not None
            case "serviceaccount":
                return only_named and account is not None
            case "user-info":
                return node is None and account is None
            case _:
                return True

    def questions(self, wanted: UserInfo, requester: UserInfo) -> Iterator[Attributes]:
        """What the requester must be allowed to, one by one. Raises Forbidden for what this mode never allows."""
        group = _IDENTITY_GROUP if self.name else ""

        def ask(group: str, resource: str, name: str, **rest: str) -> Attributes:
            return Attributes(requester, self.verb, group, "v1", resource, name=name, **rest)

        yield self._name_question(wanted.name, ask(group, "users", wanted.name))
        if wanted.uid:
            yield ask(_IDENTITY_GROUP, "uids", wanted.uid)
        if self.name and MASTERS in wanted.groups:
            raise forbidden(ask(group, "groups", MASTERS), "impersonating the system:masters group is not allowed")
        if self.name and "" in wanted.groups:
            raise forbidden(ask(group, "groups", ""), "impersonating the empty string group is not allowed")
        for name in wanted.groups:
            yield ask(group, "groups", name)
        if self.name and (why := _extra_problem(wanted.extra)):
            raise forbidden(ask(_IDENTITY_GROUP, "userextras", ""), why)
        for key, values in sorted(wanted.extra.items()):
            for value in values:
                yield ask(_IDENTITY_GROUP, "userextras", value, subresource=key)

    def _name_question(self, name: str, about: Attributes) -> Attributes:
        account, node = split_service_account(name), split_node(name)
        if account is not None:
            return replace(about, resource="serviceaccounts", namespace=account[0], name=account[1])
        if self.name and node is not None:
            shown = "*" if self.name == "associated-node" else node
            return replace(about, resource="nodes", name=shown)
        return about

    def result(self, wanted: UserInfo) -> UserInfo:
        """The user a request continues as."""
        account, groups = split_service_account(wanted.name), wanted.groups
        if account is not None and not groups:
            groups = service_account_groups(account[0])
        elif self.name and split_node(wanted.name) is not None:
            groups = (NODES,)
        groups = with_group(groups, UNAUTHENTICATED) if wanted.name == ANONYMOUS else authenticated(groups)
        return replace(wanted, groups=groups)


MODES = tuple(Mode(name) for name in ("associated-node", "arbitrary-node", "serviceaccount", "user-info", ""))


class Impersonator:
    """Decides who a request continues as. It remembers which mode worked for a user, and tries that one first."""

    def __init__(self, authorize: Authorize) -> None:
        self._authorize = authorize
        self._worked: dict[UserInfoKey, Mode] = {}

    def act_as(self, wanted: UserInfo, request: Attributes) -> UserInfo:
        """The user that `wanted` describes, for a request its real user makes. Raises Forbidden."""
        requester = request.user
        key = requester.name, requester.groups
        worked = self._worked.get(key)
        modes = MODES if worked is None else (worked, *(mode for mode in MODES if mode is not worked))
        refusals: list[Forbidden] = []
        for mode in modes:
            if not mode.applies(wanted, requester):
                continue
            try:
                self._check(mode, wanted, request)
            except Forbidden as refusal:
                refusals.append(refusal)
                continue
            if len(self._worked) >= _REMEMBERED_USERS:
                self._worked.clear()
            self._worked[key] = mode
            return mode.result(wanted)
        raise refusals[0]

    def _check(self, mode: Mode, wanted: UserInfo, request: Attributes) -> None:
        if mode.name:
            self._require(replace(request, verb=f"impersonate-on:{mode.name}:{request.verb}"))
        for question in mode.questions(wanted, request.user):
            self._require(question)

    def _require(self, attributes: Attributes) -> None:
        decision = self._authorize(attributes)
        if not decision.allowed:
            raise forbidden(attributes, decision.reason)


UserInfoKey = tuple[str, tuple[str, ...]]


def wanted_user(headers: Headers) -> UserInfo | None:
    """Whom the headers ask to act as, exactly as they say it; None when they do not. Raises BadRequest."""
    names = [name for name in headers if name[: len(_PREFIX)].lower() == _PREFIX]
    if not names:
        return None
    if not all(_is_text(value) for name in names for value in (name, *headers.getall(name))):
        raise BadRequest("the headers for impersonation must be UTF-8")
    extra: dict[str, tuple[str, ...]] = {}
    for header in dict.fromkeys(one.lower() for one in names):
        if header.startswith(_EXTRA_PREFIX):
            key = unquote(header.removeprefix(_EXTRA_PREFIX))
            extra[key] = (*extra.get(key, ()), *headers.getall(header))
    groups = tuple(headers.getall("Impersonate-Group")) if "Impersonate-Group" in headers else ()
    name, uid = headers.get("Impersonate-User") or "", headers.get("Impersonate-Uid") or ""
    wanted = UserInfo(name, uid, groups, extra)
    if wanted.name:
        return wanted
    if wanted.uid or groups or extra:
        raise BadRequest(f"requested {_go_text(wanted)} without impersonating a user name")
    return None


def _is_text(value: str) -> bool:
    """Whether what came in as bytes was UTF-8: what was not became surrogates."""
    return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)


def _extra_problem(extra: Mapping[str, tuple[str, ...]]) -> str:
    """Why the narrow modes refuse these extra fields."""
    for key, values in sorted(extra.items()):
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        if not _DOMAIN_PATH.match(key):
            problem = FieldError(FieldProblem.INVALID, "extra.key", _NOT_A_DOMAIN_PATH, key)
            return f"impersonating an invalid key in extra is not allowed: {problem}"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _go_text(user: UserInfo) -> str:
    """The user as the real server's message shows it."""
    return (
        f"&user.DefaultInfo{{Name:{json.dumps(user.name)}, UID:{json.dumps(user.uid)}, "
        f"Groups:{_go_slice(user.groups)}, Extra:{_go_map(user.extra)}}}"
    )


def _go_slice(values: tuple[str, ...]) -> str:
    if not values:
        return "[]string(nil)"
    return f"[]string{{{', '.join(json.dumps(value, ensure_ascii=False) for value in values)}}}"


def _go_map(values: Mapping[str, tuple[str, ...]]) -> str:
    if not values:
        return "map[string][]string(nil)"
    entries = (f"{json.dumps(key)}:{_go_slice(value)}" for key, value in sorted(values.items()))
    return f"map[string][]string{{{', '.join(entries)}}}"
