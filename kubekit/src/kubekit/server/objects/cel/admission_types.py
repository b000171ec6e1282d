"""The types of what the expressions of admission see: the objects, the request, parameters, variables and rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .declared_types import TIMESTAMP_TEXT
from .language.typesystem import BOOL, DYN, INT, STRING, Field, Type, list_of, map_of, written
from .language.values import Value
from .rights import AUTHORIZER, RESOURCE_CHECK

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
