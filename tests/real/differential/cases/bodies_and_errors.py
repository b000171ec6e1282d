"""Requests that lead nowhere, and bodies that say nothing."""

from __future__ import annotations

from tests.real.differential.kinds import GROUP, WIDGETS, widget
from tests.real.differential.steps import YAML, Step, blamed, case, delete, get, patch, post, put, quietly
from tests.real.differential.vocabulary import CORE, DEPLOYMENTS, MAPS, NAMESPACES, PODS, config_map, deployment

_BROKEN = ("{", "", "null", "[]", '"text"', "{}", '{"kind":"ConfigMap"}', '{"apiVersion":"v1"}', '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}} x', '{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}', "kind: ConfigMap")

CASES = (
    case("groups that are not there", get("/apis/none.example.org"), get("/apis/none.example.org/v1"), get("/apis/none.example.org/v1/things"), get("/apis/none.example.org/v1/namespaces/$ns/things"), post("/apis/none.example.org/v1/namespaces/$ns/things", {})),
    case("versions that are not there", get("/api/v2"), get("/api/v2/configmaps"), get("/apis/apps/v9"), get("/apis/apps/v9/deployments"), get(f"/apis/{GROUP}/v9"), get(f"/apis/{GROUP}/v9/widgets")),
    case("kinds that are not there", get(f"{CORE}/things"), get("/api/v1/things"), get("/apis/apps/v1/things"), get(f"/apis/{GROUP}/v1/things"), get(f"/apis/{GROUP}/v1/namespaces/$ns/things/a")),
    case("subresources that are not there", *quietly(post(MAPS, config_map("a")), post(WIDGETS, widget("a"))), get(f"{MAPS}/a/status"), get(f"{MAPS}/a/nothing"), get(f"{WIDGETS}/a/nothing"), put(f"{MAPS}/a/status", config_map("a")), get(f"{WIDGETS}/a/status/more"), get(f"{MAPS}/a/b/c")),
    case("paths that lead nowhere", get("/nothing"), get("/apis/", is_shown=False), get("/api/", is_shown=False), get("/apis/apps/"), get("/api/v1/", is_shown=False), get("//api/v1"), get("/healthz/nothing"), post("/nothing", {}), get("/.well-known/nothing")),
    case("verbs that are not offered", put(MAPS, config_map("a")), patch(MAPS, {}), post(f"{MAPS}/a", config_map("a")), put(WIDGETS, widget("a")), patch(WIDGETS, {}), post(f"{WIDGETS}/a", widget("a")), delete("/api/v1/configmaps"), delete(f"/apis/{GROUP}/v1/widgets"), post("/api/v1/configmaps", config_map("a")), post(f"/apis/{GROUP}/v1/widgets", widget("a"))),
    case("verbs that the API lacks", Step("OPTIONS", MAPS), Step("TRACE", MAPS), Step("LOCK", MAPS), Step("HEAD", MAPS), Step("LOCK", WIDGETS)),
    case("namespaces cannot be deleted all at once", delete(NAMESPACES)),
    case("a scope that does not fit", get("/api/v1/namespaces/$ns/nodes"), get("/apis/rbac.authorization.k8s.io/v1/namespaces/$ns/clusterroles")),
    case("broken JSON", *[post(MAPS, text) for text in _BROKEN]),
    case("broken JSON for a custom kind", *[post(WIDGETS, text.replace("ConfigMap", "Widget").replace('"v1"', f'"{GROUP}/v1"')) for text in _BROKEN]),
    case("broken YAML", post(MAPS, "a: b: c", content_type=YAML), post(MAPS, "- a\n- b\n", content_type=YAML), post(MAPS, "\tx", content_type=YAML), post(WIDGETS, "a: b: c", content_type=YAML), post(MAPS, "%", content_type=YAML)),
    case("fields of another type", post(MAPS, config_map("a", data=[])), post(MAPS, config_map("a", data={"k": 1})), post(MAPS, config_map("a", data={"k": {"a": 1}})), post(MAPS, config_map("a", immutable="yes")), post(MAPS, config_map("a", binaryData={"k": "not base64!"})), post(MAPS, config_map("a", {"creationTimestamp": "yesterday"}))),
    case("fields of another type deep inside", post(DEPLOYMENTS, deployment("a", replicas="three")), post(DEPLOYMENTS, deployment("a", replicas=1.5)), post(DEPLOYMENTS, deployment("a", replicas=2**40)), post(DEPLOYMENTS, deployment("a", strategy={"rollingUpdate": {"maxSurge": {}}})), post(DEPLOYMENTS, deployment("a", template={"spec": {"containers": {}}})), post(DEPLOYMENTS, deployment("a", template={"spec": {"containers": [{"ports": [{"containerPort": "x"}]}]}})), post(DEPLOYMENTS, deployment("a", template={"spec": {"containers": [{"resources": {"limits": {"cpu": "lots"}}}]}}))),
    case("metadata of another type", post(WIDGETS, {**widget("a"), "metadata": "x"}), post(WIDGETS, widget("a", {"labels": 3})), post(WIDGETS, widget("a", {"finalizers": "x"})), post(WIDGETS, widget("a", {"ownerReferences": {}})), post(WIDGETS, widget("a", {"creationTimestamp": "yesterday"})), post(WIDGETS, {**widget("a"), "metadata": {"name": 5}})),
    case("content types that are not understood", post(MAPS, config_map("a"), content_type="text/plain"), post(MAPS, config_map("a"), content_type="application/xml"), post(WIDGETS, widget("a"), content_type="text/plain"), post(MAPS, config_map("a"), content_type="application/json; charset=utf-8"), post(MAPS, config_map("b"), content_type="nonsense"), put(f"{MAPS}/a", config_map("a"), content_type="application/x-www-form-urlencoded")),
    case("patch types that are not understood", *quietly(post(MAPS, config_map("a")), post(WIDGETS, widget("a"))), patch(f"{MAPS}/a", {}, "application/json"), patch(f"{WIDGETS}/a", {}, "application/json"), patch(f"{WIDGETS}/a", {}, "application/strategic-merge-patch+json"), patch(f"{MAPS}/a", {}, "text/plain")),
    case("an Accept that cannot be met", get(MAPS, accept="text/html"), get(WIDGETS, accept="text/html"), get(MAPS, accept="application/xml, text/html;q=0.5"), get("/api/v1", accept="text/html"), get("/api", accept="image/png"), post(MAPS, config_map("a"), accept="text/html")),
    case("an Accept that can be met in part", get(f"{MAPS}/none", accept="text/html, application/json;q=0.1"), get(f"{MAPS}/none", accept="*/*"), get(f"{MAPS}/none", accept="application/*"), get(f"{MAPS}/none", accept="application/yaml"), get(f"{MAPS}/none", accept="application/json;as=Table;v=v9;g=meta.k8s.io"), get(f"{MAPS}/none", accept="application/json;as=Nonsense;v=v1;g=meta.k8s.io")),
    case("a body that is too large", post(MAPS, config_map("a", data={"k": "x" * 3_200_000}), ignore=("headers.Content-Type",))),
    case("an object that is too large", post(MAPS, config_map("a", data={"k": "x" * 1_100_000}))),
    case("a broken query", get(f"{MAPS}?limit=x"), get(f"{MAPS}?timeoutSeconds=x"), *blamed(get(f"{MAPS}?watch=maybe&timeoutSeconds=1&resourceVersion=x")), get(f"{MAPS}?timeout=x"), post(f"{MAPS}?dryRun=Some", config_map("a")), post(f"{MAPS}?fieldValidation=Some", config_map("a")), post(f"{MAPS}?fieldManager={'x' * 129}", config_map("a")), post(f"{MAPS}?fieldManager=%00", config_map("a"))),
    case("delete options that make no sense", *quietly(post(MAPS, config_map("a"))), delete(f"{MAPS}/a", {"kind": "Nonsense", "apiVersion": "v1"}), delete(f"{MAPS}/a", {"propagationPolicy": "Some"}), delete(f"{MAPS}/a", {"gracePeriodSeconds": "x"}), delete(f"{MAPS}/a", {"preconditions": 3}), delete(f"{MAPS}/a?propagationPolicy=Some"), delete(f"{MAPS}/a?gracePeriodSeconds=x"), delete(f"{MAPS}/a", {"orphanDependents": True, "propagationPolicy": "Orphan"}), delete(f"{MAPS}/a", {"dryRun": ["Some"]}), delete(f"{MAPS}/a", "{")),
    case("what needs a kubelet", get(f"{PODS}/none/log"), post(f"{PODS}/none/exec?command=ls", None), get(f"{PODS}/none/proxy/"), get(f"{PODS}/none/portforward")),
)
