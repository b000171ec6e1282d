"""What a server says about itself: discovery, OpenAPI, versions, health."""

from __future__ import annotations

from tests.real.differential.kinds import GROUP, OWN, TEXT, own, structure
from tests.real.differential.steps import case, get, status

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_SERVED = (
    "apps", "autoscaling", "batch", "policy", "networking.k8s.io", "rbac.authorization.k8s.io", "coordination.k8s.io",
    "discovery.k8s.io", "events.k8s.io", "storage.k8s.io", "scheduling.k8s.io", "node.k8s.io", "certificates.k8s.io",
    "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io",
    "authorization.k8s.io",
)  # fmt: skip
_HASHES = ("body.resources.*.storageVersionHash",)

CASES = (
    *[case(f"the group {group}", get(f"/apis/{group}"), get(f"/apis/{group}/v1", ignore=_HASHES)) for group in _SERVED],
    case("the group of a custom kind", get(f"/apis/{GROUP}"), get(f"/apis/{GROUP}/v1", ignore=_HASHES)),
    case("other versions of a group", get("/apis/autoscaling/v2", ignore=_HASHES), get("/apis/autoscaling/v3")),
    case("the root", get("/", is_shown=False), get("/api", ignore=("body.serverAddressByClientCIDRs",)), get("/version", ignore=("body",))),
    case("health", get("/healthz"), get("/livez"), get("/readyz"), get("/healthz/ping"), get("/livez/ping"), get("/readyz/ping"), get("/readyz/nothing")),
    case("the schema of a custom kind, v3", *own(structure(spec=structure(a={**TEXT, "description": "What it is.", "enum": ["x", "y"]}, l={"type": "array", "x-kubernetes-list-type": "set", "items": TEXT})), subresources={"status": {}, "scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}}), get("/openapi/v3/apis/$ns.example.org/v1", until=status(200), headers={"Accept": "application/json"})),
    case("the schema of a custom kind, v2", *own(structure(("spec",), spec=structure(a={**TEXT, "description": "What it is."}))), get("/openapi/v2", until=lambda answer: any("example.org~1v1" in name or f"/apis/{OWN.split('/')[2]}" in name for name in answer.body.get("paths", {})) if isinstance(answer.body, dict) else False, is_shown=False)),
    case("a schema that is not there", get("/openapi/v3/apis/none.example.org/v1"), get("/openapi/v3/nothing"), get("/openapi/v9")),
    case("keys and issuers", get("/.well-known/openid-configuration", ignore=("body.jwks_uri", "body.id_token_signing_alg_values_supported")), get("/openid/v1/jwks", ignore=("body.keys",))),
)
