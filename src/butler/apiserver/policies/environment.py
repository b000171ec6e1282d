"""What the expressions of admission see: the objects, the request, parameters, variables and rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..auth.rbac import Attributes
from ..auth.users import AUTHENTICATED, UserInfo, service_account_groups, service_account_name
from ..cel.declared import TIMESTAMP_TEXT
from ..cel.rights import AUTHORIZER, RESOURCE_CHECK, Asked, Authorizer, Decision, ResourceCheck
from ..cel.typesystem import BOOL, DYN, INT, STRING, Field, Type, list_of, map_of, written
from ..cel.values import Value
from ..matching import Question, request_of
from ..resources import Object

if TYPE_CHECKING:
    from ..space import Space

Types = Mapping[str, Type]
Values = dict[str, Value]


def _object(type_name: str, **fields: Type) -> Type:
    return Type(type_name, is_object=True, fields={name: Field(name, kind) for name, kind in fields.items()})


_KIND = _object("kubernetes.GroupVersionKind", group=STRING, version=STRING, kind=STRING)
_PLACE = _object("kubernetes.GroupVersionResource", group=STRING, version=STRING, resource=STRING)
_USER = _object(
    "kubernetes.UserInfo",
    username=STRING,
    uid=STRING,
    groups=list_of(STRING),
    extra=map_of(STRING, list_of(STRING)),
)
_REQUEST = _object(
    "kubernetes.AdmissionRequest",
    kind=_KIND,
    resource=_PLACE,
    subResource=STRING,
    requestKind=_KIND,
    requestResource=_PLACE,
    requestSubResource=STRING,
    name=STRING,
    namespace=STRING,
    operation=STRING,
    userInfo=_USER,
    dryRun=BOOL,
    options=DYN,
)
_NAMESPACE = _object(
    "kubernetes.Namespace",
    metadata=_object(
        "kubernetes.NamespaceMetadata",
        name=STRING,
        generateName=STRING,
        namespace=STRING,
        labels=map_of(STRING, STRING),
        annotations=map_of(STRING, STRING),
        UID=STRING,
        creationTimestamp=TIMESTAMP_TEXT,
        deletionGracePeriodSeconds=INT,
        deletionTimestamp=TIMESTAMP_TEXT,
        generation=INT,
        resourceVersion=STRING,
        finalizers=list_of(STRING),
    ),
    spec=_object("kubernetes.NamespaceSpec", finalizers=list_of(STRING)),
    status=_object("kubernetes.NamespaceStatus", conditions=list_of(DYN), phase=STRING),
)
_AUTHORIZER = {
    "authorizer": written(AUTHORIZER),
    "authorizer.requestResource": written(RESOURCE_CHECK),
}


def variables(
    *,
    has_params: bool = False,
    has_authorizer: bool = True,
    composed: Types | None = None,
    object_type: Type = DYN,
    params_type: Type = DYN,
) -> dict[str, Type]:
    """The names an expression may use. `composed` are those below `variables`, None where there are none."""
    found = {"object": object_type, "oldObject": object_type, "namespaceObject": _NAMESPACE, "request": _REQUEST}
    if has_params:
        found["params"] = params_type
    if has_authorizer:
        found |= _AUTHORIZER
    if composed is not None:
        # Their values are CEL values already, and must not be converted once more.
        kinds = {name: replace(kind, convert=None) for name, kind in composed.items()}
        found["variables"] = _object("kubernetes.variables", **kinds)
    return found


def values_of(space: Space, question: Question, params: Object | None = None) -> Values:
    """The values of everything but the variables."""

    def decide(asked: Asked) -> Decision:
        return _decide(space, question.options.user, asked)

    return {
        "object": question.typed,
        "oldObject": question.typed_old,
        "namespaceObject": _namespace(space, question),
        "request": request_of(question),
        "params": params,
        "authorizer": Authorizer(decide),
        "authorizer.requestResource": ResourceCheck(decide, _asked_of(question)),
    }


def _namespace(space: Space, question: Question) -> Object | None:
    target = question.target
    found = space.namespace(target.namespace) if target.resource.namespaced else None
    if found is None:
        return None
    hidden = ("managedFields", "ownerReferences")
    meta = {key: value for key, value in found["metadata"].items() if key not in hidden}
    return {**found, "metadata": meta}


def _asked_of(question: Question) -> Asked:
    target = question.target
    return Asked(
        group=target.resource.group,
        resource=target.resource.plural,
        subresource=target.subresource,
        namespace=target.namespace,
        name=target.name,
    )


def _decide(space: Space, user: UserInfo, asked: Asked) -> Decision:
    if asked.account is not None:
        groups = (*service_account_groups(asked.account[0]), AUTHENTICATED)
        user = UserInfo(service_account_name(*asked.account), groups=groups)
    wanted: dict[str, Any] = {"path": asked.path}
    if asked.path is None:
        parts = ("group", "resource", "subresource", "namespace", "name")
        wanted = {part: getattr(asked, part) for part in parts}
    answer = space.rbac.authorize(Attributes(user, asked.verb, **wanted))
    return Decision(answer.allowed, answer.reason)
