"""kubectl get in all its forms, describe, events and explain."""

# ruff: noqa: E501 - a command is easier to read on one line

from __future__ import annotations

from tests.real.differential.commands import Command, script

_MAPS = """
{apiVersion: v1, kind: List, items: [
  {apiVersion: v1, kind: ConfigMap, metadata: {name: b, labels: {app: web, tier: front}}, data: {k: "2"}},
  {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: web}, annotations: {n: "1"}}, data: {k: "3", l: x}},
  {apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: {app: db}}, binaryData: {k: YQ==}},
  {apiVersion: v1, kind: Secret, metadata: {name: s, labels: {app: web}}, stringData: {k: v}}]}
"""
_EVENT = """
apiVersion: v1
kind: Event
metadata: {name: e1}
type: Warning
reason: Broken
message: it is broken
involvedObject: {apiVersion: v1, kind: ConfigMap, name: a, namespace: $ns}
source: {component: tests}
count: 3
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-02T00:00:00Z"
"""
_FIELDS = r"^[A-Z]+:|\t<"
"""Descriptions of built-in kinds are left out here on purpose."""

SCRIPTS = (
    script(
        "output formats",
        Command("create -f -", _MAPS),
        "get configmaps",
        "get configmaps a b",
        "get configmaps a -o name",
        "get configmaps -o wide --no-headers",
        "get configmaps a -o yaml",
        "get configmaps a -o json",
        "get configmaps a -o jsonpath={.data.k}",
        "get configmaps a -o jsonpath-as-json={.data}",
        "get configmaps -o jsonpath='{range .items[*]}{.metadata.name}{\"\\n\"}{end}'",
        "get configmaps -o jsonpath='{.items[?(@.metadata.name==\"a\")].data}'",
        "get configmaps -o go-template='{{range .items}}{{.metadata.name}} {{end}}'",
        "get configmaps -o custom-columns=NAME:.metadata.name,K:.data.k,NONE:.none",
        "get configmaps -o custom-columns=NAME:.metadata.name --no-headers",
        "get configmaps --sort-by=.metadata.name",
        "get configmaps --sort-by=.data.k -l app=web",
        "get configmaps --sort-by=.none",
        "get configmaps -L app,tier",
        "get configmaps --show-labels",
        "get configmaps --chunk-size=1",
        "get configmaps --chunk-size=1 -o name",
        "get configmaps,secrets -l app=web",
        "get configmap/a secret/s",
        "get configmaps -o kyaml -l tier=front",
        "get configmap a -o yaml --show-managed-fields",
        "get configmaps --server-print=false -l app=web",
        "get configmaps --output-watch-events -o name",
        "get configmap a -w --request-timeout=1s",
    ),
    script(
        "selectors",
        Command("create -f -", _MAPS),
        "get configmaps -l app=web",
        "get configmaps -l app!=web",
        "get configmaps -l 'app in (web,db),tier'",
        "get configmaps -l '!tier'",
        "get configmaps -l 'app notin (web)'",
        "get configmaps -l app==none",
        "get configmaps -l 'app in'",
        "get configmaps --field-selector=metadata.name=a",
        "get configmaps --field-selector=metadata.name!=a",
        "get configmaps --field-selector=metadata.namespace=$ns,metadata.name=b",
        "get configmaps --field-selector=data.k=1",
        "get configmaps -A --field-selector=metadata.name=a,metadata.namespace=$ns",
        "get secrets --field-selector=type=Opaque",
        "get pods --field-selector=status.phase=Running",
        "get configmap a -l app=web",
    ),
    script(
        "what is not there",
        "get configmap none",
        "get configmap none --ignore-not-found",
        "get nonsense",
        "get nonsense.example.org",
        "get configmaps.v1",
        "get deployments.v1.apps",
        "get deployments.v9.apps",
        "get pods",
        "get pods -n nowhere",
        "get all",
        "get pods none1 none2",
        "get namespace none",
        "get configmap none -o yaml",
        "describe configmap none",
        "describe pods",
        "get --raw /api/v1/namespaces/$ns/configmaps/none",
        "get --raw /nonsense",
        "get -f -",
        "get configmap Not_A_Name",
    ),
    script(
        "raw paths",
        "get --raw /healthz",
        "get --raw /livez",
        "get --raw /readyz",
        "get --raw /apis/apps",
        "get --raw /apis/nobody.org",
        "get --raw /api/v1/namespaces/$ns/secrets?limit=1",
        "get --raw '/api/v1/namespaces/$ns/configmaps?labelSelector=a%3Db'",
        "get --raw /api/v1/namespaces/$ns/secrets/none",
        "get --raw /apis/apps/v1/namespaces/$ns/deployments/none/scale",
        "get --raw /logs",
    ),
    script(
        "events",
        Command("create -f -", _MAPS),
        Command("create -f -", _EVENT),
        Command("create -f -", _EVENT.replace("e1", "e2").replace("Warning", "Normal").replace("3", "1")),
        "events",
        "events --types=Warning",
        "events --for=configmap/a",
        "events -o name",
        "get events",
        "get events --field-selector=involvedObject.name=a,type=Warning",
        "get events --field-selector=reason=None",
        "get events --sort-by=.lastTimestamp",
        "get events.events.k8s.io",
        "describe configmap a",
    ),
    script(
        "kinds and versions",
        "api-resources --api-group=apps -o wide",
        "api-resources --namespaced=false --api-group=rbac.authorization.k8s.io",
        "api-resources --api-group=batch -o name",
        "api-resources --categories=all",
        "api-resources --verbs=nonsense",
        "api-resources --api-group=policy --sort-by=kind",
        Command("version", shown="^$"),
        "version -o nonsense",
        "cluster-info",
        "options",
        "config view --minify -o jsonpath={.kind}",
        "config current-context --kubeconfig=none",
    ),
    script(
        "explain",
        "explain nonsense",
        "explain pods.none",
        "explain deployment.metadata.name",
        *[
            Command(f"explain {what}", shown=_FIELDS)
            for what in (
                "configmaps",
                "configmaps.data",
                "pods",
                "pods.spec.containers",
                "deployments.spec.replicas",
                "deployments --recursive",
                "hpa.spec.maxReplicas --api-version=autoscaling/v1",
                "hpa.spec.metrics.resource.target",
                "ingresses.spec.rules.http.paths.backend",
                "crd.spec.versions",
                "clusterroles.rules",
            )
        ],
    ),
)
