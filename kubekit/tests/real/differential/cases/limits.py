"""Where the embedded server draws no line, or another one."""

from __future__ import annotations

from typing import Any

from tests.real.differential.differences import DEEP, HEALTH, NETWORK, OPENAPI, TAINT
from tests.real.differential.kinds import GADGETS
from tests.real.differential.steps import case, get, post, quietly, status
from tests.real.differential.vocabulary import ACCOUNTS, CORE, PODS, container, made, pod

_READY = get(f"{ACCOUNTS}/default", until=status(200), is_shown=False)
_CLAIM = made(
    "v1",
    "PersistentVolumeClaim",
    "a",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
_LEVELS = 9_000


def _description(document: Any) -> Any:
    return document["components"]["schemas"]["io.k8s.api.coordination.v1.LeaseSpec"].get("description")


CASES = (
    case("a new claim", post(f"{CORE}/persistentvolumeclaims", _CLAIM, differs={"body.metadata.finalizers": TAINT})),
    case(
        "bodies nested deeply",
        post(
            GADGETS,
            '{"apiVersion":"differential.example.org/v1","kind":"Gadget","metadata":{"name":"a"},"spec":'
            + "[" * _LEVELS
            + "]" * _LEVELS
            + "}",
            differs={"answer": DEEP},
        ),
    ),
    case(
        "less than a range allows",
        _READY,
        *quietly(
            post(
                f"{CORE}/limitranges",
                made("v1", "LimitRange", "r", spec={"limits": [{"type": "Container", "min": {"cpu": "1"}}]}),
            )
        ),
        post(PODS, pod("a")),
        post(PODS, pod("b", containers=[container(resources={"requests": {"cpu": "500m"}})])),
    ),
    case("health in detail", get("/healthz?verbose", differs={"body": HEALTH})),
    case(
        "networks of Services",
        get("/apis/networking.k8s.io/v1/servicecidrs", look=lambda body: len(body["items"]), differs={"body": NETWORK}),
    ),
    case(
        "descriptions of built-in kinds",
        get("/openapi/v3/apis/coordination.k8s.io/v1", look=_description, differs={"body": OPENAPI}),
    ),
)
