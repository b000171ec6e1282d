"""Lists, maps, texts and numbers that say nothing, or more than fits: what is kept of them, and who owns it."""

from __future__ import annotations

from typing import Any

from tests.real.differential.kinds import (
    GADGETS,
    NUMBER,
    OWN,
    TEXT,
    WIDGETS,
    Json,
    definition,
    gadget,
    own,
    structure,
    thing,
    widget,
)
from tests.real.differential.steps import JSON_PATCH, Step, apply, case, get, patch, post, put, quietly
from tests.real.differential.vocabulary import (
    ACCOUNT_READY,
    BINDINGS,
    DEPLOYMENTS,
    MAPS,
    PODS,
    RBAC,
    ROLES,
    SERVICES,
    binding,
    config_map,
    container,
    deployment,
    made,
    pod,
    role,
    service,
)

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_NETWORK = "/apis/networking.k8s.io/v1/namespaces/$ns"
_SLICES = "/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices"
_STORAGE = "/apis/storage.k8s.io/v1"
_ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_RULES = "x-kubernetes-validations"
_BIG = (2**63 - 1, 2**63, 2**64 - 1, 2**64, 12345678901234567890, 10**20, 10**21, -(2**63), -(2**63) - 1, 1e300)


def _slice(name: str, **fields: Any) -> Json:
    return made("discovery.k8s.io/v1", "EndpointSlice", name, addressType="IPv4", **fields)


def _policy(name: str, **spec: Any) -> Json:
    return made("networking.k8s.io/v1", "NetworkPolicy", name, spec={"podSelector": {}, **spec})


def _ingress(name: str, **spec: Any) -> Json:
    return made("networking.k8s.io/v1", "Ingress", name, spec=spec)


def _storage(kind: str, plural: str, **fields: Any) -> Step:
    return post(f"{_STORAGE}/{plural}?dryRun=All", made("storage.k8s.io/v1", kind, "a", **fields))


def _role(name: str, **fields: Any) -> Step:
    return post(f"{RBAC}/clusterroles?dryRun=All", made("rbac.authorization.k8s.io/v1", "ClusterRole", name, **fields))


def _defined(schema: Json, **version: Any) -> Step:
    return post(f"{_DEFINITIONS}?dryRun=All", definition("$ns.example.org", "Thing", schema, **version))


def _named(**names: Any) -> Step:
    made = definition("$ns.example.org", "Thing", {"type": "object"})
    made["spec"]["names"].update(names)
    return post(f"{_DEFINITIONS}?dryRun=All", made)


CASES = (
    case(
        "Roles and bindings",
        post(ROLES, role("a")),
        post(ROLES, {**role("b"), "rules": None}),
        post(ROLES, made("rbac.authorization.k8s.io/v1", "Role", "c")),
        get(f"{ROLES}/a"),
        put(f"{ROLES}/a", role("a")),
        patch(f"{ROLES}/a", {"rules": []}),
        patch(f"{ROLES}/c", {"rules": []}),
        apply(f"{ROLES}/d", role("d")),
        apply(f"{ROLES}/d", role("d")),
        apply(f"{ROLES}/d", made("rbac.authorization.k8s.io/v1", "Role", "d")),
        post(BINDINGS, {**binding("a", "x", "y"), "subjects": []}),
        _role("a", rules=[{"verbs": ["get"], "apiGroups": [], "resources": [], "nonResourceURLs": ["/x"]}]),
        _role("a", aggregationRule={"clusterRoleSelectors": []}),
    ),
    case(
        "EndpointSlices and Endpoints",
        post(_SLICES, _slice("a", endpoints=[], ports=[])),
        post(_SLICES, _slice("b")),
        put(f"{_SLICES}/b", _slice("b", endpoints=[])),
        get(f"{_SLICES}/a"),
        post("/api/v1/namespaces/$ns/endpoints", made("v1", "Endpoints", "a", subsets=[])),
    ),
    case(
        "Pods and their templates",
        ACCOUNT_READY,
        post(PODS, pod("a", tolerations=[], volumes=[], initContainers=[], imagePullSecrets=[], hostAliases=[])),
        post(PODS, pod("b", containers=[container(env=[], command=[], args=[], ports=[], volumeMounts=[])])),
        post(PODS, pod("c", containers=[])),
        post(PODS, pod("d", volumes=[{"name": "v", "projected": {"sources": []}}])),
        apply(f"{PODS}/e", pod("e", volumes=[], tolerations=[])),
        post(DEPLOYMENTS, deployment("a", selector={"matchLabels": {"app": "a"}, "matchExpressions": []})),
    ),
    case(
        "networks",
        post(f"{_NETWORK}/networkpolicies", _policy("a", ingress=[], egress=[], policyTypes=[])),
        post(f"{_NETWORK}/networkpolicies", _policy("b", ingress=[{}], egress=[{"to": [], "ports": []}])),
        post(f"{_NETWORK}/ingresses", _ingress("a", rules=[], tls=[])),
        post(f"{_NETWORK}/ingresses", _ingress("a")),
        post(
            f"{_NETWORK}/ingresses",
            _ingress("b", rules=[], defaultBackend={"service": {"name": "x", "port": {"number": 80}}}),
        ),
        post(f"{_NETWORK}/ingresses", _ingress("c", rules=[{"host": "a.org", "http": {"paths": []}}])),
        post(SERVICES, service("a", externalIPs=[], selector={}, loadBalancerSourceRanges=[])),
    ),
    case(
        "storage, admission and quotas",
        _storage("StorageClass", "storageclasses", provisioner="x", mountOptions=[], parameters={}),
        _storage("CSINode", "csinodes", spec={"drivers": []}),
        _storage("CSINode", "csinodes", spec={"drivers": [{"name": "d.x", "nodeID": "n", "topologyKeys": []}]}),
        _storage("CSIDriver", "csidrivers", spec={"volumeLifecycleModes": [], "tokenRequests": []}),
        post(
            f"{_ADMISSION}/validatingwebhookconfigurations?dryRun=All",
            made("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "a", webhooks=[]),
        ),
        post("/api/v1/namespaces/$ns/limitranges", made("v1", "LimitRange", "a", spec={"limits": []})),
        post("/api/v1/namespaces?dryRun=All", made("v1", "Namespace", "$ns-a", spec={"finalizers": []})),
        post("/api/v1/namespaces/$ns/serviceaccounts", made("v1", "ServiceAccount", "a", imagePullSecrets=[])),
        post(MAPS, config_map("a", {"labels": {}, "finalizers": [], "ownerReferences": []}, data={}, binaryData={})),
    ),
    case(
        "schemas of custom kinds",
        _defined(
            {
                "description": "",
                "title": "",
                **structure(
                    a={**TEXT, "description": "", "enum": [], "pattern": "", _RULES: [{"rule": "true", "message": ""}]},
                    b={**structure(), "required": []},
                    c={"type": "array", "items": {**structure(), "nullable": False}, "x-kubernetes-list-map-keys": []},
                    d={"type": "object", "additionalProperties": {**TEXT, "description": ""}},
                    e={"x-kubernetes-int-or-string": True, "anyOf": [NUMBER, TEXT], "oneOf": [], "allOf": []},
                    f={**NUMBER, "exclusiveMinimum": False, "minimum": 0},
                    g={**TEXT, "default": ""},
                    h={"type": "array", "items": TEXT, "default": []},
                    i={"type": "object", "default": {}},
                    j={**TEXT, "nullable": True, "default": None, "enum": ["x", None]},
                    k={**TEXT, "externalDocs": {"url": "", "description": ""}, _RULES: []},
                ),
            }
        ),
        _defined({"type": "object", "definitions": {}, "patternProperties": {}, "$schema": "", "id": ""}),
        _defined({"type": "object", "dependencies": {}}),
        _defined(structure(a={**TEXT, _RULES: [{"rule": "true", "reason": ""}]})),
        _defined(structure(a={**TEXT, _RULES: [{"rule": "true", "fieldPath": "", "messageExpression": ""}]})),
    ),
    case(
        "definitions of custom kinds",
        _defined({"type": "object"}, additionalPrinterColumns=[], selectableFields=[], subresources={}),
        _defined({"type": "object"}, deprecated=False, deprecationWarning="", spec={"preserveUnknownFields": False}),
        _defined(
            {"type": "object"},
            additionalPrinterColumns=[
                {"name": "a", "type": "string", "jsonPath": ".a", "description": "", "format": "", "priority": 0}
            ],
        ),
        _defined({"type": "object"}, spec={"conversion": {"strategy": "None", "webhook": None}}),
        _defined({"type": "object"}, spec={"versions": []}),
        _named(shortNames=[], categories=[], singular="", listKind=""),
    ),
    case(
        "null among the choices",
        *own(
            structure(
                spec=structure(
                    t={**TEXT, "nullable": True, "enum": ["x", None]},
                    o={
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                        "nullable": True,
                        "enum": [None, {}],
                    },
                    l={"type": "array", "items": {**TEXT, "nullable": True, "enum": ["a", None]}},
                )
            )
        ),
        *[post(f"{OWN}?dryRun=All", thing("a", spec={"t": one})) for one in ("x", "y", None)],
        *[post(f"{OWN}?dryRun=All", thing("a", spec={"o": one})) for one in ({}, None, {"a": 1})],
        post(f"{OWN}?dryRun=All", thing("a", spec={"l": ["a", None]})),
        get(f"{_DEFINITIONS}/things.$ns.example.org", look=lambda body: body["spec"]),
    ),
    case(
        "numbers of more than 64 bits",
        *[post(f"{GADGETS}?dryRun=All", gadget("a", spec={"n": n, "l": [n], "m": {"x": {"y": n}}})) for n in _BIG],
        *[post(f"{WIDGETS}?dryRun=All", widget("a", spec={"size": n})) for n in (2**63, 2**64)],
        *[post(f"{WIDGETS}?dryRun=All", widget("a", spec={"ratio": n})) for n in (2**63, 2**64, 1.5e19)],
        *[post(f"{WIDGETS}?dryRun=All", widget("a", spec={"amount": n})) for n in (2**31, 2**63)],
        *[post(f"{DEPLOYMENTS}?dryRun=All", deployment("a", replicas=n)) for n in (2**63, 2**64)],
    ),
    case(
        "a change that rounding takes away",
        *quietly(post(GADGETS, gadget("a", spec={"n": 1}))),
        patch(f"{GADGETS}/a", {"spec": {"n": 12345678901234567890}}),
        patch(f"{GADGETS}/a", [{"op": "replace", "path": "/spec/n", "value": 12345678901234567895}], JSON_PATCH),
        apply(f"{GADGETS}/b", gadget("b", spec={"n": 12345678901234567890})),
        apply(f"{GADGETS}/b", gadget("b", spec={"n": 12345678901234567895})),
    ),
)
