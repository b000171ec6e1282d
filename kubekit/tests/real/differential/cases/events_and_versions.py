"""Events, other versions of built-in kinds, and updates without a version."""

from __future__ import annotations

from typing import Any

from tests.real.differential.differences import TEXTS
from tests.real.differential.steps import Step, case, get, patch, post, put, quietly
from tests.real.differential.vocabulary import CORE, DEPLOYMENTS, NAMESPACES, TABLE, Json, deployment, made

_EVENTS = f"{CORE}/events"
_NEW_EVENTS = "/apis/events.k8s.io/v1/namespaces/$ns/events"
_ABOUT = {"kind": "Pod", "namespace": "$ns", "name": "p"}
_SCALERS_V1 = "/apis/autoscaling/v1/namespaces/$ns/horizontalpodautoscalers"
_SCALERS_V2 = "/apis/autoscaling/v2/namespaces/$ns/horizontalpodautoscalers"


def _event(name: str, **fields: Any) -> dict[str, Any]:
    return made("v1", "Event", name, **{"involvedObject": _ABOUT, **fields})


def _new_event(name: str, **fields: Any) -> dict[str, Any]:
    return made("events.k8s.io/v1", "Event", name, **fields)


def _unconditional(path: str, obj: dict[str, Any]) -> tuple[Step, ...]:
    """Whether an update needs a version."""
    return (
        post(path, obj, is_shown=False),
        put(f"{path}/{obj['metadata']['name']}", obj, ignore=("body.metadata.managedFields",)),
    )


_HOOK = {
    "name": "a.example.org",
    "clientConfig": {"url": "https://example.org/x"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "rules": [
        {"apiGroups": ["$ns.example.org"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["none"]}
    ],
}
_STORAGE = "/apis/storage.k8s.io/v1"

_WRONG_HOOKS: tuple[Json, ...] = (
    {"name": "a"},
    {"sideEffects": "Some"},
    {"admissionReviewVersions": []},
    {"clientConfig": {}},
    {"clientConfig": {"url": "http://x"}},
    {"failurePolicy": "Some"},
    {"timeoutSeconds": 60},
    {"rules": [{"operations": ["SOME"]}]},
    {"matchConditions": [{"name": "x", "expression": "1 +"}]},
    {"matchConditions": [{"name": "x", "expression": "1"}]},
)

CASES = (
    case(
        "an Event",
        post(
            _EVENTS,
            _event(
                "a",
                reason="Began",
                message="It began.",
                type="Normal",
                count=1,
                firstTimestamp="2025-01-01T00:00:00Z",
                lastTimestamp="2025-01-01T00:00:00Z",
                source={"component": "c"},
            ),
        ),
        get(f"{_NEW_EVENTS}/a"),
        patch(f"{_EVENTS}/a", {"count": 2, "lastTimestamp": "2025-01-02T00:00:00Z"}),
        get(f"{_EVENTS}?fieldSelector=involvedObject.name%3Dp,reason%3DBegan"),
    ),
    case(
        "an Event of the newer kind",
        post(
            _NEW_EVENTS,
            _new_event(
                "a",
                eventTime="2025-01-01T00:00:00.000000Z",
                reportingController="example.org/c",
                reportingInstance="c-1",
                action="Begin",
                reason="Began",
                type="Normal",
                regarding=_ABOUT,
                note="It began.",
            ),
        ),
        get(f"{_EVENTS}/a"),
        patch(f"{_NEW_EVENTS}/a", {"series": {"count": 2, "lastObservedTime": "2025-01-01T00:00:01.000000Z"}}),
        patch(f"{_NEW_EVENTS}/a", {"note": "Otherwise."}),
    ),
    case(
        "Events that make no sense",
        post(_EVENTS, _event("a", involvedObject={"namespace": "other"})),
        post(_EVENTS, made("v1", "Event", "a", involvedObject={"kind": "Pod", "namespace": "other", "name": "p"})),
        post(_NEW_EVENTS, _new_event("a")),
        post(
            _NEW_EVENTS,
            _new_event("a", eventTime="2025-01-01T00:00:00.000000Z", reportingController="c", regarding=_ABOUT),
        ),
        post(_NEW_EVENTS, _new_event("a", eventTime="x")),
        post(_EVENTS, _event("a", type="Nonsense")),
    ),
    case(
        "Events as a table",
        *quietly(post(_EVENTS, _event("a", reason="Began", message="It began.", type="Normal", count=3))),
        get(_EVENTS, accept=TABLE, ignore=("body.rows.*.cells.0",), differs=TEXTS),
    ),
    case(
        "an autoscaler in two versions",
        post(
            _SCALERS_V2,
            made(
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                "a",
                spec={
                    "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
                    "maxReplicas": 3,
                    "metrics": [
                        {
                            "type": "Resource",
                            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
                        },
                        {
                            "type": "Pods",
                            "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}},
                        },
                    ],
                },
            ),
        ),
        get(f"{_SCALERS_V1}/a"),
        post(
            _SCALERS_V1,
            made(
                "autoscaling/v1",
                "HorizontalPodAutoscaler",
                "b",
                spec={
                    "scaleTargetRef": {"kind": "Deployment", "name": "d"},
                    "maxReplicas": 3,
                    "targetCPUUtilizationPercentage": 70,
                },
            ),
        ),
        get(f"{_SCALERS_V2}/b"),
    ),
    case(
        "updates without a version: objects in a namespace",
        *_unconditional(f"{CORE}/serviceaccounts", made("v1", "ServiceAccount", "a")),
        *_unconditional(
            "/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/roles", made("rbac.authorization.k8s.io/v1", "Role", "a")
        ),
        *_unconditional(
            "/apis/policy/v1/namespaces/$ns/poddisruptionbudgets",
            made("policy/v1", "PodDisruptionBudget", "a", spec={"minAvailable": 1}),
        ),
        *_unconditional(
            "/apis/networking.k8s.io/v1/namespaces/$ns/networkpolicies",
            made("networking.k8s.io/v1", "NetworkPolicy", "a", spec={"podSelector": {}}),
        ),
        *_unconditional(
            "/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices",
            made("discovery.k8s.io/v1", "EndpointSlice", "a", addressType="IPv4", endpoints=[]),
        ),
        *_unconditional(
            f"{_STORAGE}/namespaces/$ns/csistoragecapacities",
            made("storage.k8s.io/v1", "CSIStorageCapacity", "a", storageClassName="x"),
        ),
    ),
    case(
        "updates without a version: objects of the cluster",
        *_unconditional(
            f"{_STORAGE}/storageclasses", made("storage.k8s.io/v1", "StorageClass", "$ns", provisioner="example.org/x")
        ),
        *_unconditional(
            "/apis/scheduling.k8s.io/v1/priorityclasses", made("scheduling.k8s.io/v1", "PriorityClass", "$ns", value=5)
        ),
        *_unconditional(
            "/apis/node.k8s.io/v1/runtimeclasses", made("node.k8s.io/v1", "RuntimeClass", "$ns", handler="x")
        ),
        *_unconditional(f"{_STORAGE}/csidrivers", made("storage.k8s.io/v1", "CSIDriver", "$ns", spec={})),
        *_unconditional(f"{_STORAGE}/csinodes", made("storage.k8s.io/v1", "CSINode", "$ns", spec={"drivers": []})),
        *_unconditional(
            "/apis/networking.k8s.io/v1/ingressclasses",
            made("networking.k8s.io/v1", "IngressClass", "$ns", spec={"controller": "example.org/x"}),
        ),
        *_unconditional(
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
            made("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "$ns", webhooks=[_HOOK]),
        ),
    ),
    case(
        "webhook configurations: defaults and rules",
        post(
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?dryRun=All",
            made("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "$ns", webhooks=[_HOOK]),
        ),
        *[
            post(
                "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All",
                made(
                    "admissionregistration.k8s.io/v1",
                    "ValidatingWebhookConfiguration",
                    "$ns",
                    webhooks=[{**_HOOK, **change}],
                ),
            )
            for change in _WRONG_HOOKS
        ],
    ),
    case(
        "a certificate request",
        *[
            post(
                "/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All",
                made("certificates.k8s.io/v1", "CertificateSigningRequest", "$ns", spec=spec),
            )
            for spec in (
                {},
                {"signerName": "example.org/x", "request": "bm8=", "usages": ["client auth"]},
                {"signerName": "x"},
            )
        ],
    ),
    case(
        "generations",
        post(DEPLOYMENTS, deployment("a")),
        patch(f"{DEPLOYMENTS}/a", {"spec": {"replicas": 2}}),
        patch(f"{DEPLOYMENTS}/a", {"spec": {"replicas": 2}}),
        patch(f"{DEPLOYMENTS}/a", {"metadata": {"annotations": {"a": "b"}}}),
        patch(f"{DEPLOYMENTS}/a/status", {"status": {"observedGeneration": 1}}),
    ),
    case(
        "a namespace is only what it is",
        get(f"{NAMESPACES}/$ns", ignore=("body.metadata.managedFields",)),
        put(
            f"{NAMESPACES}/$ns",
            made("v1", "Namespace", "$ns", spec={"finalizers": []}),
            ignore=("body.metadata.managedFields",),
        ),
        put(
            f"{NAMESPACES}/$ns",
            made("v1", "Namespace", "$ns", status={"phase": "Terminating"}),
            ignore=("body.metadata.managedFields",),
        ),
    ),
)
