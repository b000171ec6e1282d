"""Stock Helm installs, upgrades, rolls back and uninstalls a chart, as its users know it."""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from testbed.running.embedded import Kubectl, Ran, ServerProcess
from testbed.running.helm import VERSIONS, Helm

Values = dict[str, Any]

TEMPLATES = {
    "config.yaml": """
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-config, labels: {release: {{ .Release.Name }}}}
data:
  greeting: {{ .Values.greeting | quote }}
  {{- if .Values.extra }}
  extra: {{ .Values.extra | quote }}
  {{- end }}
""",
    "secret.yaml": """
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-secret}
stringData: {password: {{ .Values.password | quote }}}
""",
    "deployment.yaml": """
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      serviceAccountName: {{ .Release.Name }}
      containers:
      - name: web
        image: nginx:{{ .Values.tag }}
        ports: [{containerPort: 80, name: http}]
""",
    "service.yaml": """
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{port: 80, targetPort: http, name: http}]}
""",
    "rights.yaml": """
apiVersion: v1
kind: ServiceAccount
metadata: {name: {{ .Release.Name }}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: {{ .Release.Name }}}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: {{ .Release.Name }}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ .Release.Name }}}
subjects: [{kind: ServiceAccount, name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}]
""",
    "ingress.yaml": """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: {{ .Release.Name }}}
spec:
  rules:
  - host: web.example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: {{ .Release.Name }}, port: {name: http}}}}]}
""",
    "job.yaml": """
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations: {helm.sh/hook: "post-install,post-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: migrate, image: migrate}]}}}
""",
    "gadget.yaml": """
apiVersion: {{ .Values.group }}/v1
kind: Gadget
metadata: {name: {{ .Release.Name }}}
spec: {size: {{ .Values.size }}}
""",
}
KINDS = "configmap,secret,deployment,service,serviceaccount,role,rolebinding,ingress,job"


def definition(group: str) -> Values:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 9}}}},
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gadgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [version],
        },
    }


class World:
    """A chart, a namespace, and Helm pointed at both."""

    def __init__(self, helm: Helm, chart: Path, namespace: str, kubectl: Kubectl, group: str) -> None:
        self.helm, self.chart, self.namespace, self.group = helm, chart, namespace, group
        self._kubectl = kubectl

    def kubectl(self, *arguments: str, **more: Any) -> str:
        return self._kubectl("-n", self.namespace, *arguments, **more).out

    def object(self, kind: str, name: str) -> Values:
        found: Values = json.loads(self.kubectl("get", kind, name, "-o", "json"))
        return found

    def names(self, kinds: str) -> list[str]:
        listed = self.kubectl("get", kinds, "-o", "name").split()
        return sorted(one for one in listed if one.split("/")[1] not in ("kube-root-ca.crt", "default"))

    def install(self, *flags: str, fails: bool = False, **values: Any) -> Ran:
        return self.helm("install", "web", str(self.chart), *self._values(values), *flags, fails=fails)

    def upgrade(self, *flags: str, fails: bool = False, **values: Any) -> Ran:
        return self.helm("upgrade", "web", str(self.chart), *self._values(values), *flags, fails=fails)

    def _values(self, values: Values) -> list[str]:
        path = self.chart.parent / "values.yaml"
        path.write_text(yaml.safe_dump({"group": self.group, **values}))
        return ["--values", str(path)]

    def states(self) -> list[tuple[int, str]]:
        return [(one["revision"], one["status"]) for one in self.helm.json("history", "web")]


@pytest.fixture(params=VERSIONS)
def world(
    request: pytest.FixtureRequest, server_process: ServerProcess, kubectl: Kubectl, tmp_path: Path
) -> Iterator[World]:
    unique = uuid.uuid4().hex[:8]
    group, namespace = f"g{unique}.example.com", f"helm-{unique}"
    chart = write_chart(tmp_path / "chart", group)
    helm = Helm(request.param, server_process.kubeconfig, namespace, tmp_path)
    kubectl("create", "namespace", namespace)
    stop = play_controllers(kubectl, namespace)
    yield World(helm, chart, namespace, kubectl, group)
    stop()
    kubectl("delete", "namespace", namespace, "--wait=false")
    kubectl("delete", "crd", f"gadgets.{group}", "--ignore-not-found")


def write_chart(folder: Path, group: str) -> Path:
    (folder / "templates").mkdir(parents=True)
    (folder / "crds").mkdir()
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.2.3\nappVersion: '7'\n")
    defaults = {"greeting": "hello", "extra": "more", "password": "open", "replicas": 1, "tag": "1", "size": 3}
    (folder / "values.yaml").write_text(yaml.safe_dump({**defaults, "group": group}))
    (folder / "crds" / "gadgets.yaml").write_text(yaml.safe_dump(definition(group)))
    for name, text in TEMPLATES.items():
        (folder / "templates" / name).write_text(text)
    return folder


def play_controllers(kubectl: Kubectl, namespace: str) -> Callable[[], None]:
    """Finish every Job and complete every Deployment of a namespace, as controllers would; the answer ends that."""
    ended = threading.Event()

    def play() -> None:
        while not ended.wait(0.2):
            found = json.loads(kubectl("-n", namespace, "get", "jobs,deployments", "-o", "json").out)["items"]
            for obj in found:
                status = finished_job(obj) if obj["kind"] == "Job" else complete_deployment(obj)
                try:
                    if status and obj["kind"] == "Deployment":
                        kubectl("-n", namespace, "create", "-f", "-", stdin=json.dumps(made := replica_set(obj)))
                        numbers = dict.fromkeys(REPLICAS, obj["spec"]["replicas"])
                        write_status(kubectl, made, {**numbers, "observedGeneration": 1})
                    if status:
                        write_status(kubectl, obj, status)
                except AssertionError:
                    # It was deleted meanwhile.
                    continue

    thread = threading.Thread(target=play, daemon=True)
    thread.start()

    def stop() -> None:
        ended.set()
        thread.join()

    return stop


REPLICAS = ("replicas", "readyReplicas", "availableReplicas")


def write_status(kubectl: Kubectl, obj: Values, status: Values) -> None:
    meta, patch = obj["metadata"], json.dumps({"status": status})
    place = (obj["kind"].lower(), meta["name"])
    kubectl("-n", meta["namespace"], "patch", *place, "--subresource=status", "--type=merge", "-p", patch)


def replica_set(deployment: Values) -> Values:
    """What a Deployment's pods belong to; Helm 3 asks for it."""
    meta, spec = deployment["metadata"], deployment["spec"]
    owner = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name']}-{meta['generation']}",
            "namespace": meta["namespace"],
            "labels": spec["template"]["metadata"]["labels"],
            "ownerReferences": [owner],
        },
        "spec": {name: spec[name] for name in ("replicas", "selector", "template")},
    }


def finished_job(job: Values) -> Values | None:
    if job["status"].get("succeeded"):
        return None
    now = job["metadata"]["creationTimestamp"]
    true = {"status": "True", "lastProbeTime": now, "lastTransitionTime": now}
    conditions = [{"type": "SuccessCriteriaMet", **true}, {"type": "Complete", **true}]
    return {"succeeded": 1, "startTime": now, "completionTime": now, "conditions": conditions}


def complete_deployment(deployment: Values) -> Values | None:
    generation, replicas = deployment["metadata"]["generation"], deployment["spec"]["replicas"]
    if deployment["status"].get("observedGeneration") == generation:
        return None
    return {
        "observedGeneration": generation,
        **dict.fromkeys(("updatedReplicas", *REPLICAS), replicas),
        "conditions": [
            {"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    }


def test_a_release_is_installed_whole_and_waits_for_its_workloads(world: World) -> None:
    world.install("--wait", "--timeout", "120s")
    assert world.states() == [(1, "deployed")]
    assert world.names(f"{KINDS},gadgets.{world.group}") == sorted(
        [
            "configmap/web-config", "deployment.apps/web", f"gadget.{world.group}/web",
            "ingress.networking.k8s.io/web", "job.batch/web-migrate", "role.rbac.authorization.k8s.io/web",
            "rolebinding.rbac.authorization.k8s.io/web", "secret/sh.helm.release.v1.web.v1", "secret/web-secret",
            "service/web", "serviceaccount/web",
        ]
    )  # fmt: skip
    labels = world.object("deployment", "web")["metadata"]["labels"]
    assert labels == {"app.kubernetes.io/managed-by": "Helm"}
    assert world.object("secret", "sh.helm.release.v1.web.v1")["type"] == "helm.sh/release.v1"


def test_a_release_can_be_listed_and_looked_into(world: World) -> None:
    world.install(greeting="hi")
    assert [(one["name"], one["status"]) for one in world.helm.json("list")] == [("web", "deployed")]
    assert world.helm.json("status", "web")["version"] == 1
    assert world.helm.json("get", "values", "web") == {"group": world.group, "greeting": "hi"}
    assert world.helm.json("get", "values", "web", "--all")["size"] == 3
    assert "kind: Gadget" in world.helm("get", "manifest", "web").out


def test_a_dry_run_on_the_server_leaves_nothing(world: World) -> None:
    world.kubectl("apply", "-f", str(world.chart / "crds"))
    world.install("--dry-run=server")
    assert world.names(KINDS) == []


@pytest.mark.parametrize("server_side", ["true", "false"])
def test_an_upgrade_changes_and_removes_fields(world: World, server_side: str) -> None:
    if world.helm.version == "3" and server_side == "true":
        pytest.skip("only version 4 can")
    flags = [f"--server-side={server_side}"] if world.helm.version == "4" else []
    world.install(*flags)
    world.kubectl("annotate", "configmap", "web-config", "by=someone-else")
    world.upgrade(*flags, "--wait", "--timeout", "30s", replicas=3, tag="2", extra="", size=5)
    assert world.states()[-1] == (2, "deployed")
    config = world.object("configmap", "web-config")
    assert config["data"] == {"greeting": "hello"}
    assert config["metadata"]["annotations"]["by"] == "someone-else"
    deployment = world.object("deployment", "web")
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:2"
    assert world.object(f"gadgets.{world.group}", "web")["spec"] == {"size": 5}


def test_a_rollback_restores_what_was(world: World) -> None:
    world.install()
    world.upgrade(replicas=3, extra="", size=5)
    world.helm("rollback", "web", "1")
    assert world.states() == [(1, "superseded"), (2, "superseded"), (3, "deployed")]
    assert world.object("configmap", "web-config")["data"] == {"greeting": "hello", "extra": "more"}
    assert world.object("deployment", "web")["spec"]["replicas"] == 1
    assert world.object(f"gadgets.{world.group}", "web")["spec"] == {"size": 3}


def test_a_refused_upgrade_keeps_the_old_release(world: World) -> None:
    world.install()
    assert "should be less than or equal to 9" in world.upgrade(fails=True, size=10).err
    assert world.states() == [(1, "deployed"), (2, "failed")]
    assert world.object(f"gadgets.{world.group}", "web")["spec"] == {"size": 3}
    world.upgrade(size=4)
    assert world.object(f"gadgets.{world.group}", "web")["spec"] == {"size": 4}


def test_a_failed_upgrade_can_roll_itself_back(world: World) -> None:
    world.install()
    said = world.upgrade("--atomic", "--timeout", "30s", fails=True, size=10, greeting="lost").err
    assert "should be less than or equal to 9" in said
    assert world.states()[-1] == (3, "deployed")
    assert world.object("configmap", "web-config")["data"]["greeting"] == "hello"


def test_objects_of_others_are_not_taken_over(world: World) -> None:
    world.kubectl("create", "configmap", "web-config")
    said = world.install(fails=True).err
    assert re.search(r'ConfigMap "web-config" in namespace .* exists and cannot be imported', said)


def test_an_uninstall_leaves_nothing_but_the_definitions(world: World) -> None:
    world.install()
    world.helm("uninstall", "web", "--wait", "--timeout", "120s")
    # A hook belongs to no release, so that its Job stays, as it does everywhere.
    assert world.names(f"{KINDS},gadgets.{world.group}") == ["job.batch/web-migrate"]
    assert world.helm.json("list", "--all" if world.helm.version == "3" else "--deployed") == []
    assert world.kubectl("get", "crd", f"gadgets.{world.group}", "-o", "name")
