"""kubectl apply and what goes with it: diff, prune, last-applied, server-side, kustomize."""

from __future__ import annotations

from tests.real.differential.commands import Command, script

_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {colour: blue, size: small}
"""
_LARGE = _MAP.replace("small", "large")
_SMALLER = _MAP.replace(", size: small", "")
_WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1", ports: [{containerPort: 80}]}, {name: side, image: busybox}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec: {selector: {app: web}, ports: [{port: 80, name: http}, {port: 443, name: https}]}
"""
_PRUNE = "apply --prune -l app=web --prune-allowlist=core/v1/ConfigMap -f -"

SCRIPTS = (
    script(
        "client-side",
        Command("apply -f - --dry-run=server", _MAP),
        Command("apply -f -", _MAP),
        Command("apply -f -", _MAP),
        Command("diff -f -", _MAP),
        Command("diff -f -", _LARGE, shown="^$"),
        Command("apply -f - --dry-run=server -o yaml", _LARGE),
        Command("apply -f -", _LARGE),
        Command("apply -f -", _SMALLER),
        "get configmap settings -o yaml --show-managed-fields",
        "apply view-last-applied configmap settings",
        "apply view-last-applied configmap settings -o json",
        Command("apply set-last-applied -f -", _LARGE),
        "apply view-last-applied configmap settings",
        Command("apply -f -", _SMALLER),
        "create configmap plain --from-literal=k=v",
        "apply view-last-applied configmap plain",
        Command("apply -f -", _MAP.replace("name: settings", "name: plain")),
        Command("apply set-last-applied -f -", _MAP.replace("name: settings", "name: other")),
        Command("apply set-last-applied --create-annotation -f -", _MAP.replace("name: settings", "name: plain")),
    ),
    script(
        "several at once",
        Command("apply -f -", _WEB),
        Command("apply -f -", _WEB.replace("nginx:1", "nginx:2").replace(", {port: 443, name: https}", "")),
        Command("apply -f -", _WEB.replace("replicas: 2", "replicas: x")),
        Command("apply -f -", _WEB.replace("replicas: 2", "replica: 2")),
        Command("apply -f - --validate=warn", _WEB.replace("replicas: 2", "replica: 2")),
        Command("apply -f -", _WEB.replace("matchLabels: {app: web}", "matchLabels: {app: other}")),
        "get deployment web -o yaml",
        "get service web -o yaml",
        Command("diff -f -", _WEB.replace("nginx:1", "nginx:2").replace(", {port: 443, name: https}", "")),
        Command("delete -f -", _WEB),
    ),
    script(
        "prune",
        Command("apply -f -", _MAP),
        Command("apply -f -", _MAP.replace("name: settings", "name: other")),
        Command(_PRUNE, _MAP.replace("name: settings", "name: third")),
        Command(f"{_PRUNE} --dry-run=server", _MAP),
        "get configmaps -l app=web",
        Command("apply --prune --all --prune-allowlist=core/v1/ConfigMap -f -", _MAP),
        "get configmaps -l app=web",
    ),
    script(
        "server-side",
        Command("apply --server-side -f -", _MAP),
        Command("apply --server-side -f -", _MAP),
        Command("apply --server-side --field-manager=other -f -", _LARGE),
        Command("apply --server-side --field-manager=other --force-conflicts -f -", _LARGE),
        Command("apply --server-side -f -", _MAP),
        Command("apply --server-side -f -", _SMALLER),
        Command("apply --server-side --field-manager=other -f -", _SMALLER),
        "get configmap settings -o yaml --show-managed-fields",
        Command("apply --server-side --dry-run=server -o yaml -f -", _LARGE),
        Command("diff --server-side -f -", _SMALLER),
        Command("apply --server-side -f -", _MAP.replace("name: settings", "name: Wrong")),
        Command("apply --server-side -f -", _MAP.replace("data:", "date:")),
        Command("apply --server-side --validate=ignore -f -", _MAP.replace("data:", "date:")),
        Command("apply --server-side -f -", _MAP.replace("small", "5")),
        Command("apply --server-side -f -", _WEB),
        Command("apply --server-side --field-manager=two -f -", _WEB.replace("nginx:1", "nginx:2")),
        "scale deployment web --replicas=7",
        Command("apply --server-side -f -", _WEB),
        "get deployment web -o yaml --show-managed-fields",
        Command("apply --server-side --subresource=status -f -", _WEB),
    ),
    script(
        "from client-side to server-side",
        Command("apply -f -", _MAP),
        Command("apply --server-side -f -", _LARGE),
        Command("apply --server-side -f -", _SMALLER),
        "get configmap settings -o yaml --show-managed-fields",
        Command("apply -f -", _LARGE),
        "get configmap settings -o yaml --show-managed-fields",
    ),
    script(
        "wrong ones",
        Command("apply -f -", ""),
        Command("apply -f -", "nonsense"),
        Command("apply -f -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}"),
        Command("apply -f -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}"),
        Command("apply -f -", "apiVersion: v1\nkind: Nonsense\nmetadata: {name: a}"),
        Command("apply -f -", "apiVersion: nobody.org/v1\nkind: Nonsense\nmetadata: {name: a}"),
        Command("apply --server-side -f -", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: a-}"),
        Command("apply -f - -n none", _MAP),
        Command("apply --server-side -f - -n none", _MAP),
        Command("apply -f -", _MAP.replace("name: settings", "name: settings, namespace: other")),
        "apply -f none.yaml",
        "apply -k none",
    ),
)
