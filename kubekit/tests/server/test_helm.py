"""Helm 4 installs, upgrades, rolls back and uninstalls a chart, as its users know it."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import helm_python as helm
import pytest
import yaml
from helm_python import _native

from testbed.running.embedded import Kubectl, ServerProcess

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

    def __init__(self, config: helm.Config, chart: Path, namespace: str, kubectl: Kubectl, group: str) -> None:
        self.config, self.chart, self.namespace, self.group = config, chart, namespace, group
        self._kubectl = kubectl

    def kubectl(self, *arguments: str, **more: Any) -> str:
        return self._kubectl("-n", self.namespace, *arguments, **more).out

    def object(self, kind: str, name: str) -> Values:
        found: Values = json.loads(self.kubectl("get", kind, name, "-o", "json"))
        return found

    def names(self, kinds: str) -> list[str]:
        listed = self.kubectl("get", kinds, "-o", "name").split()
        return sorted(one for one in listed if one.split("/")[1] not in ("kube-root-ca.crt", "default"))

    def values(self, **changed: Any) -> Values:
        return {"group": self.group, **changed}

    def upgrade(self, values: Values, **options: Any) -> Values:
        """With options of Helm that the Python binding passes on but does not name."""
        answer = _native.call_string(
            "helm_upgrade", self.config._raw(), _native.HANDLE(0), _native.HANDLE(0), str(self.chart), "web",
            json.dumps(values), json.dumps(options),
        )  # fmt: skip
        decoded: Values = json.loads(answer)
        return decoded


@pytest.fixture
def world(server_process: ServerProcess, kubectl: Kubectl, tmp_path: Path) -> Iterator[World]:
    unique = uuid.uuid4().hex[:8]
    group, namespace = f"g{unique}.example.com", f"helm-{unique}"
    chart = write_chart(tmp_path / "chart", group)
    with helm.Config(kubeconfig_path=server_process.kubeconfig, namespace=namespace) as config:
        kubectl("create", "namespace", namespace)
        stop = play_controllers(kubectl, namespace)
        yield World(config, chart, namespace, kubectl, group)
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
                if status:
                    place = (obj["kind"].lower(), obj["metadata"]["name"])
                    patch = json.dumps({"status": status})
                    try:
                        kubectl("-n", namespace, "patch", *place, "--subresource=status", "--type=merge", "-p", patch)
                    except AssertionError:
                        # It was deleted meanwhile.
                        continue

    thread = threading.Thread(target=play, daemon=True)
    thread.start()

    def stop() -> None:
        ended.set()
        thread.join()

    return stop


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
    numbers = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {
        "observedGeneration": generation,
        **dict.fromkeys(numbers, replicas),
        "conditions": [
            {"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    }


def test_a_release_is_installed_whole_and_waits_for_its_workloads(world: World) -> None:
    release = world.config.install(world.chart, "web", world.values(), wait="watcher", timeout=100)
    assert (release["status"], release["revision"]) == ("deployed", 1)
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
    world.config.install(world.chart, "web", world.values(greeting="hi"))
    assert [(one["name"], one["status"]) for one in world.config.list()] == [("web", "deployed")]
    assert world.config.status("web")["revision"] == 1
    assert world.config.get_values("web") == {"group": world.group, "greeting": "hi"}
    assert world.config.get_values("web", all_values=True)["size"] == 3
    assert "kind: Gadget" in world.config.get_all("web")["summary"]["manifest"]


def test_a_dry_run_on_the_server_leaves_nothing(world: World) -> None:
    world.kubectl("apply", "-f", str(world.chart / "crds"))
    world.config.install(world.chart, "web", world.values(), dry_run="server")
    assert world.names(KINDS) == []


@pytest.mark.parametrize("server_side", ["true", "false"])
def test_an_upgrade_changes_and_removes_fields(world: World, server_side: str) -> None:
    world.config.install(world.chart, "web", world.values())
    world.kubectl("annotate", "configmap", "web-config", "by=someone-else")
    changed = world.values(replicas=3, tag="2", extra="", size=5)
    release = world.upgrade(changed, server_side_apply=server_side, wait="watcher", timeout_seconds=30)
    assert (release["status"], release["revision"]) == ("deployed", 2)
    config = world.object("configmap", "web-config")
    assert config["data"] == {"greeting": "hello"}
    assert config["metadata"]["annotations"]["by"] == "someone-else"
    deployment = world.object("deployment", "web")
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:2"
    assert world.object(f"gadgets.{world.group}", "web")["spec"] == {"size": 5}


def test_a_rollback_restores_what_was(world: World) -> None:
    world.config.install(world.chart, "web", world.values())
    world.upgrade(world.values(replicas=3, extra="", size=5))
    world.config.rollback("web", version=1)
    assert [(one["revision"], one["status"]) for one in world.config.history("web")] == [
        (1, "superseded"),
        (2, "superseded"),
        (3, "deployed"),
    ]
    assert world.object("configmap", "web-config")["data"] == {"greeting": "hello", "extra": "more"}
    assert world.object("deployment", "web")["spec"]["replicas"] == 1
    assert world.object(f"gadgets.{world.group}", "web")["spec"] == {"size": 3}


def test_a_refused_upgrade_keeps_the_old_release(world: World) -> None:
    world.config.install(world.chart, "web", world.values())
    with pytest.raises(helm.HelmError, match="should be less than or equal to 9"):
        world.upgrade(world.values(size=10))
    assert [(one["revision"], one["status"]) for one in world.config.history("web")] == [(1, "deployed"), (2, "failed")]
    assert world.object(f"gadgets.{world.group}", "web")["spec"] == {"size": 3}
    world.upgrade(world.values(size=4))
    assert world.object(f"gadgets.{world.group}", "web")["spec"] == {"size": 4}


def test_a_failed_upgrade_can_roll_itself_back(world: World) -> None:
    world.config.install(world.chart, "web", world.values())
    with pytest.raises(helm.HelmError, match="should be less than or equal to 9"):
        world.upgrade(world.values(size=10, greeting="lost"), rollback_on_failure=True, timeout_seconds=30)
    assert world.config.status("web")["status"] == "deployed"
    assert world.object("configmap", "web-config")["data"]["greeting"] == "hello"


def test_objects_of_others_are_not_taken_over(world: World) -> None:
    world.kubectl("create", "configmap", "web-config")
    with pytest.raises(helm.HelmError, match=r'ConfigMap "web-config" in namespace .* exists and cannot be imported'):
        world.config.install(world.chart, "web", world.values())


def test_an_uninstall_leaves_nothing_but_the_definitions(world: World) -> None:
    world.config.install(world.chart, "web", world.values())
    world.config.uninstall("web", wait="watcher", timeout=100)
    # A hook belongs to no release, so that its Job stays, as it does everywhere.
    assert world.names(f"{KINDS},gadgets.{world.group}") == ["job.batch/web-migrate"]
    assert world.config.list(all_states=True) == []
    assert world.kubectl("get", "crd", f"gadgets.{world.group}", "-o", "name")
