"""Status, scale, eviction, binding and other doors to an object."""

from __future__ import annotations

from tests.real.differential.differences import CLIENTS_FAULT
from tests.real.differential.kinds import GADGETS, OWN, WIDGETS, gadget, own, structure, thing, widget
from tests.real.differential.steps import (
    JSON_PATCH,
    STRATEGIC_PATCH,
    case,
    delete,
    get,
    patch,
    post,
    put,
    quietly,
    status,
)
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    CORE,
    DEPLOYMENTS,
    NAMESPACES,
    NODES,
    PODS,
    deployment,
    made,
    pod,
)

_W = quietly(post(WIDGETS, widget("a", spec={"replicas": 2, "colour": "red"}), save="a"))
_D = quietly(post(DEPLOYMENTS, deployment("a", replicas=2), save="a"))
_VERSION = {"resourceVersion": "${a.metadata.resourceVersion}"}
_READY = get(f"{ACCOUNTS}/default", until=status(200), is_shown=False)
_ACCESS = ("body.spec.volumes.*.name", "body.spec.containers.*.volumeMounts.*.name")


def _scale(replicas: object, **meta: str) -> dict[str, object]:
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "a", "namespace": "$ns", **meta},
        "spec": {"replicas": replicas},
    }


def _eviction(**options: object) -> dict[str, object]:
    return {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a", "namespace": "$ns"}, **options}


CASES = (
    case(
        "the status is not written with the rest",
        post(WIDGETS, widget("a", status={"phase": "x"}), save="a"),
        put(f"{WIDGETS}/a", widget("a", _VERSION, spec={"colour": "red"}, status={"phase": "y"})),
        patch(f"{WIDGETS}/a", {"status": {"phase": "z"}}),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "the rest is not written with the status",
        *_W,
        put(
            f"{WIDGETS}/a/status",
            widget(
                "a",
                {**_VERSION, "labels": {"x": "y"}, "finalizers": ["example.org/x"]},
                spec={"colour": "blue"},
                status={"phase": "y"},
            ),
        ),
        patch(f"{WIDGETS}/a/status", {"spec": {"colour": "blue"}, "metadata": {"annotations": {"x": "y"}}}),
        get(f"{WIDGETS}/a/status"),
    ),
    case(
        "a status does not change the generation",
        *_W,
        patch(f"{WIDGETS}/a/status", {"status": {"phase": "x"}}),
        patch(f"{WIDGETS}/a", {"metadata": {"labels": {"x": "y"}}}),
        patch(f"{WIDGETS}/a", {"spec": {"colour": "blue"}}),
        patch(f"{WIDGETS}/a", {"spec": {"colour": "blue"}}),
    ),
    case(
        "a status by every kind of patch",
        *_W,
        patch(f"{WIDGETS}/a/status", [{"op": "add", "path": "/status", "value": {"phase": "x"}}], JSON_PATCH),
        patch(f"{WIDGETS}/a/status", [{"op": "replace", "path": "/status/phase", "value": "y"}], JSON_PATCH),
        patch(f"{WIDGETS}/a/status", {"status": None}),
        patch(f"{WIDGETS}/a/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
    ),
    case(
        "a status that is invalid",
        *_W,
        patch(f"{WIDGETS}/a/status", {"status": {"replicas": "x"}}),
        patch(f"{WIDGETS}/a/status", {"status": {"conditions": [{"type": "A"}]}}),
        patch(
            f"{WIDGETS}/a/status",
            {"status": {"conditions": [{"type": "A", "status": "x"}, {"type": "A", "status": "y"}]}},
        ),
        put(f"{WIDGETS}/a/status", widget("a")),
        put(f"{WIDGETS}/none/status", widget("none", {"resourceVersion": "1"})),
    ),
    case(
        "a status that is not there",
        *quietly(post(GADGETS, gadget("a"))),
        get(f"{GADGETS}/a/status"),
        patch(f"{GADGETS}/a/status", {"status": {}}),
        get(f"{GADGETS}/a/scale"),
        get(f"{WIDGETS}/none/status"),
    ),
    case(
        "verbs a status lacks",
        *_W,
        delete(f"{WIDGETS}/a/status"),
        post(f"{WIDGETS}/a/status", widget("a")),
        delete(f"{DEPLOYMENTS}/a/status"),
        post(f"{DEPLOYMENTS}/a/status", deployment("a")),
        delete(f"{WIDGETS}/a/scale"),
        post(f"{DEPLOYMENTS}/a/scale", _scale(1)),
    ),
    case(
        "the status of a Deployment",
        *_D,
        put(
            f"{DEPLOYMENTS}/a/status",
            {**deployment("a", replicas=9), "status": {"replicas": 2, "readyReplicas": 1, "observedGeneration": 1}},
        ),
        patch(f"{DEPLOYMENTS}/a/status", {"status": {"replicas": -1}}),
        patch(f"{DEPLOYMENTS}/a/status", {"status": {"readyReplicas": 5}}),
        patch(
            f"{DEPLOYMENTS}/a/status",
            {"status": {"conditions": [{"type": "Available", "status": "True"}]}},
            STRATEGIC_PATCH,
        ),
        get(f"{DEPLOYMENTS}/a"),
    ),
    case(
        "the status of a Node",
        post(NODES, made("v1", "Node", "$ns", status={"capacity": {"cpu": "4"}}), ignore=("body.spec.taints",)),
        patch(
            f"{NODES}/$ns/status",
            {
                "status": {
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}],
                }
            },
            STRATEGIC_PATCH,
            ignore=("body.spec.taints",),
        ),
        patch(
            f"{NODES}/$ns/status",
            {
                "status": {
                    "addresses": [
                        {"type": "InternalIP", "address": "1.2.3.4"},
                        {"type": "InternalIP", "address": "1.2.3.4"},
                    ]
                }
            },
            ignore=("body.spec.taints",),
        ),
    ),
    case(
        "the scale of a Deployment",
        *_D,
        get(f"{DEPLOYMENTS}/a/scale"),
        put(f"{DEPLOYMENTS}/a/scale", _scale(4)),
        patch(f"{DEPLOYMENTS}/a/scale", {"spec": {"replicas": 5}}),
        get(f"{DEPLOYMENTS}/a"),
    ),
    case(
        "a scale that is invalid",
        *_D,
        put(f"{DEPLOYMENTS}/a/scale", _scale(-1)),
        put(f"{DEPLOYMENTS}/a/scale", _scale("x")),
        put(f"{DEPLOYMENTS}/a/scale", _scale(3, resourceVersion="1")),
        put(f"{DEPLOYMENTS}/a/scale", deployment("a")),
        get(f"{DEPLOYMENTS}/none/scale"),
        put(f"{DEPLOYMENTS}/a/scale", {**_scale(3), "metadata": {"name": "b"}}),
    ),
    case(
        "the scale of a custom object",
        *_W,
        get(f"{WIDGETS}/a/scale"),
        *quietly(patch(f"{WIDGETS}/a/status", {"status": {"replicas": 1, "selector": "app=a"}})),
        put(f"{WIDGETS}/a/scale", _scale(4)),
        patch(f"{WIDGETS}/a/scale", {"spec": {"replicas": 5}}),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "a scale of a custom object that is invalid",
        *_W,
        put(f"{WIDGETS}/a/scale", _scale(-1)),
        put(f"{WIDGETS}/a/scale", _scale("x")),
        put(f"{WIDGETS}/a/scale", _scale(3, resourceVersion="1")),
        put(f"{WIDGETS}/a/scale", {**_scale(3), "kind": "Widget"}),
        get(f"{WIDGETS}/none/scale"),
        *quietly(post(WIDGETS, widget("b"))),
        get(f"{WIDGETS}/b/scale"),
    ),
    case(
        "a scale that the schema limits",
        *own(
            structure(spec=structure(n={"type": "integer", "maximum": 5}), status=structure(n={"type": "integer"})),
            subresources={"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
        ),
        post(OWN, thing("a", spec={"n": 1})),
        put(f"{OWN}/a/scale", _scale(6)),
        put(f"{OWN}/a/scale", _scale(5)),
    ),
    case(
        "an eviction", _READY, *quietly(post(PODS, pod("a"))), post(f"{PODS}/a/eviction", _eviction()), get(f"{PODS}/a")
    ),
    case(
        "an eviction that makes no sense",
        _READY,
        *quietly(post(PODS, pod("a"))),
        post(f"{PODS}/none/eviction", {**_eviction(), "metadata": {"name": "none", "namespace": "$ns"}}),
        post(f"{PODS}/a/eviction", {**_eviction(), "metadata": {"name": "b"}}),
        post(f"{PODS}/a/eviction", {"kind": "Eviction"}),
        post(f"{PODS}/a/eviction", {}),
        post(f"{PODS}/a/eviction", pod("a")),
        post(f"{PODS}/a/eviction", {**_eviction(), "apiVersion": "policy/v1beta1"}),
    ),
    case(
        "an eviction that is only tried",
        _READY,
        *quietly(post(PODS, pod("a"))),
        post(f"{PODS}/a/eviction?dryRun=All", _eviction()),
        post(f"{PODS}/a/eviction", _eviction(deleteOptions={"dryRun": ["All"]})),
        get(f"{PODS}/a", ignore=(*_ACCESS, "body.metadata.managedFields")),
    ),
    case(
        "an eviction with a precondition",
        _READY,
        *quietly(post(PODS, pod("a"))),
        post(
            f"{PODS}/a/eviction",
            _eviction(deleteOptions={"preconditions": {"uid": "00000000-0000-0000-0000-000000000001"}}),
        ),
    ),
    case(
        "an eviction that a budget forbids",
        _READY,
        *quietly(
            post(PODS, pod("a", {"labels": {"app": "a"}})),
            patch(
                f"{PODS}/a/status",
                {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
                STRATEGIC_PATCH,
            ),
            post(
                "/apis/policy/v1/namespaces/$ns/poddisruptionbudgets",
                made(
                    "policy/v1",
                    "PodDisruptionBudget",
                    "b",
                    spec={"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
                ),
            ),
        ),
        post(f"{PODS}/a/eviction", _eviction()),
    ),
    case(
        "a binding",
        _READY,
        *quietly(post(PODS, pod("a"))),
        post(
            f"{PODS}/a/binding",
            {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n"}},
        ),
        post(
            f"{PODS}/a/binding",
            {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"}, "target": {"kind": "Node", "name": "m"}},
        ),
        post(
            f"{PODS}/none/binding",
            {
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": "none"},
                "target": {"kind": "Node", "name": "m"},
            },
        ),
        post(
            f"{PODS}/a/binding",
            {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"}, "target": {"kind": "Pod", "name": ""}},
            differs={"answer": CLIENTS_FAULT},
        ),
    ),
    case(
        "a pod without a node",
        _READY,
        *quietly(post(PODS, pod("a"))),
        get(f"{PODS}/a/log"),
        get(f"{PODS}/a/log?container=none"),
        post(f"{PODS}/a/exec?command=ls", None),
        get(f"{PODS}/a/proxy/"),
        post(f"{PODS}/a/attach", None),
    ),
    case(
        "the finalizers of a namespace",
        *quietly(post(NAMESPACES, made("v1", "Namespace", "$ns-x"), save="a")),
        put(f"{NAMESPACES}/$ns-x/finalize", made("v1", "Namespace", "$ns-x", spec={"finalizers": ["example.org/x"]})),
        put(f"{NAMESPACES}/$ns-x/finalize", made("v1", "Namespace", "$ns-x", spec={})),
        put(
            f"{NAMESPACES}/$ns-x/status",
            made(
                "v1", "Namespace", "$ns-x", status={"phase": "Active", "conditions": [{"type": "X", "status": "True"}]}
            ),
        ),
        delete(f"{NAMESPACES}/$ns-x"),
        get(f"{NAMESPACES}/$ns-x"),
        delete(f"{NAMESPACES}/$ns-x"),
        get(f"{NAMESPACES}/$ns-x"),
    ),
    case(
        "ephemeral containers and resize",
        _READY,
        *quietly(post(PODS, pod("a"))),
        patch(
            f"{PODS}/a/ephemeralcontainers",
            {"spec": {"ephemeralContainers": [{"name": "e", "image": "x"}]}},
            STRATEGIC_PATCH,
            ignore=(*_ACCESS, "body.metadata.managedFields"),
        ),
        patch(
            f"{PODS}/a/ephemeralcontainers",
            {"spec": {"ephemeralContainers": [{"name": "main", "image": "x"}]}},
            STRATEGIC_PATCH,
        ),
        get(f"{CORE}/pods/a/ephemeralcontainers", ignore=(*_ACCESS, "body.metadata.managedFields")),
    ),
    case(
        "a token of a service account",
        _READY,
        post(
            f"{ACCOUNTS}/default/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"audiences": ["x"], "expirationSeconds": 5},
            },
        ),
        get(f"{ACCOUNTS}/default/token"),
        post(f"{ACCOUNTS}/none/token", {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}),
    ),
)
