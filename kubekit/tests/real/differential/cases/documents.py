"""What a server says about itself: discovery, OpenAPI, versions, health."""

from __future__ import annotations

from typing import Any

from tests.real.differential.answers import Answer
from tests.real.differential.conversations import DEFINITIONS
from tests.real.differential.differences import FEWER_KINDS, SIGNING
from tests.real.differential.kinds import GROUP, TEXT, definition, own, structure
from tests.real.differential.steps import case, get, post, status

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_SERVED = (
    "apps", "autoscaling", "batch", "policy", "networking.k8s.io", "rbac.authorization.k8s.io", "coordination.k8s.io",
    "discovery.k8s.io", "events.k8s.io", "storage.k8s.io", "scheduling.k8s.io", "node.k8s.io", "certificates.k8s.io",
    "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
    "authorization.k8s.io",
)  # fmt: skip


def _by_name(listed: Any) -> Any:
    """Discovery lists custom kinds in the order of a Go map, that is in none."""
    return {**listed, "resources": sorted(listed["resources"], key=lambda one: one["name"])}


def _names(listed: Any) -> Any:
    return [one["name"] for one in listed["groups"] if "example.org" not in one["name"]]


def _things(document: Any) -> Any:
    """The schemas of the kind itself, and what can be done with it where."""
    schemas = {name: one for name, one in document["components"]["schemas"].items() if "Thing" in name}
    return {"schemas": schemas, "paths": {path: sorted(one) for path, one in document["paths"].items()}}


def _has_gizmos(answer: Answer) -> bool:
    return any(path.endswith("/gizmos") for path in answer.at("paths") or ())


def _gizmos(document: Any) -> Any:
    return {name: one for name, one in document["definitions"].items() if "Gizmo" in name}


_HASHES = ("body.resources.*.storageVersionHash",)

CASES = (
    *[
        case(f"the group {group}", get(f"/apis/{group}"), get(f"/apis/{group}/v1", ignore=_HASHES, look=_by_name))
        for group in _SERVED
    ],
    case(
        "kinds that nothing here acts on",
        get("/apis", look=_names, differs={"body": FEWER_KINDS}),
        get("/api/v1", look=_by_name, differs={"body": FEWER_KINDS}, ignore=("body.resources.*.storageVersionHash",)),
        get("/apis/admissionregistration.k8s.io/v1", look=_by_name, differs={"body": FEWER_KINDS}),
    ),
    case("the group of a custom kind", get(f"/apis/{GROUP}"), get(f"/apis/{GROUP}/v1", ignore=_HASHES, look=_by_name)),
    case("other versions of a group", get("/apis/autoscaling/v2", ignore=_HASHES), get("/apis/autoscaling/v3")),
    case(
        "the root",
        get("/", is_shown=False),
        get("/api", ignore=("body.serverAddressByClientCIDRs",)),
        get("/version", ignore=("body",)),
    ),
    case(
        "health",
        get("/healthz"),
        get("/livez"),
        get("/readyz"),
        get("/healthz/ping"),
        get("/livez/ping"),
        get("/readyz/ping"),
        get("/readyz/nothing"),
    ),
    case(
        "the schema of a custom kind, v3",
        *own(
            structure(
                spec=structure(
                    a={**TEXT, "description": "What it is.", "enum": ["x", "y"]},
                    l={"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
                )
            ),
            subresources={"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
        ),
        get(
            "/openapi/v3/apis/$ns.example.org/v1",
            until=status(200),
            headers={"Accept": "application/json"},
            look=_things,
        ),
    ),
    case(
        "the schema of a custom kind, v2",
        post(
            DEFINITIONS,
            definition(
                "$ns.example.org",
                "Gizmo",
                structure(("spec",), spec=structure(a={**TEXT, "description": "What it is.", "nullable": True})),
            ),
            is_shown=False,
        ),
        get("/openapi/v2", until=_has_gizmos, look=_gizmos),
    ),
    case(
        "a schema that is not there",
        get("/openapi/v3/apis/none.example.org/v1"),
        get("/openapi/v3/nothing"),
        get("/openapi/v9"),
    ),
    case(
        "keys and issuers",
        get(
            "/.well-known/openid-configuration", ignore=("body.jwks_uri", "body.id_token_signing_alg_values_supported")
        ),
        get("/openid/v1/jwks", differs={"body": SIGNING}),
    ),
)
