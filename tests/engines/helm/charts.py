"""Charts that tests build, and places to have them from."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from butler.engines.helm.charts import Chart

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-config}
data:
  greeting: {{ .Values.greeting | default "hello" | quote }}
  loud: {{ .Values.greeting | default "hello" | upper | trunc 4 | quote }}
  seen: {{ (lookup "v1" "ConfigMap" .Release.Namespace "found").data | default dict | toJson | quote }}
  {{- with .Values.removed }}
  removed: {{ . | quote }}
  {{- end }}
"""
SECRET = """
apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}-secret}
stringData: {password: {{ .Values.password | default "initial" | quote }}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  replicas: {{ .Values.replicas | default 1 }}
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: {{ .Release.Name }}}}
    spec:
      containers:
      - name: web
        image: {{ .Values.image | default "nginx:1" }}
        resources: {requests: {cpu: 1000m}}
        ports: [{containerPort: 80}]
"""
GADGET = """
apiVersion: gadgets.example.com/v1
kind: Gadget
metadata: {name: {{ .Release.Name }}}
spec: {size: {{ .Values.size | default 3 }}}
"""
HOOK = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-{{ .Values.hookName | default "hook" }}
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
data: {revision: {{ .Release.Revision | quote }}, selector: {{ .Values.selector | default dict | toJson | quote }}}
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-job
  annotations: {helm.sh/hook: "HOOK", helm.sh/hook-delete-policy: before-hook-creation}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: job, image: job}]}}}
"""
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.gadgets.example.com"},
    "spec": {
        "group": "gadgets.example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 9}}},
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
        ],
    },
}
SMALL: Mapping[str, str] = {"templates/config.yaml": CONFIG}
"""A chart that costs next to nothing."""
WHOLE: Mapping[str, str] = {
    "values.yaml": "selector: {only: here, and: there}\n",
    "templates/config.yaml": CONFIG,
    "templates/secret.yaml": SECRET,
    "templates/deployment.yaml": DEPLOYMENT,
    "templates/gadget.yaml": GADGET,
    "templates/hook.yaml": HOOK,
    "crds/gadget.yaml": yaml.safe_dump(DEFINITION),
    "charts/part/Chart.yaml": "apiVersion: v2\nname: part\nversion: 0.1.0\n",
    "charts/part/values.yaml": "word: part\n",
    "charts/part/templates/part.yaml": """
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-part}
data: {word: {{ .Values.word | b64enc | quote }}, all: {{ .Values.global | default dict | toJson | quote }}}
""",
}
"""A chart with everything charts have: sprig, lookup, a hook, a definition and a subchart."""


def files(name: str, version: str, more: Mapping[str, str] = SMALL) -> dict[str, str]:
    return {"Chart.yaml": f"apiVersion: v2\nname: {name}\nversion: {version}\nappVersion: '7'\n", **more}


def folder(root: Path, name: str = "web", version: str = "1.0.0", more: Mapping[str, str] = SMALL) -> Chart:
    """A chart in a folder."""
    for path, text in files(name, version, more).items():
        (root / name / path).parent.mkdir(parents=True, exist_ok=True)
        (root / name / path).write_text(text)
    return Chart(root.as_uri(), name, version)


def archive(name: str = "web", version: str = "1.0.0", more: Mapping[str, str] = SMALL) -> bytes:
    """A chart as repositories have it; the same bytes each time."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path, text in files(name, version, more).items():
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def index(**versions: tuple[str, ...]) -> bytes:
    """The index of a repository."""
    entries: dict[str, Any] = {
        name: [{"apiVersion": "v2", "name": name, "version": one, "urls": [f"{name}-{one}.tgz"]} for one in listed]
        for name, listed in versions.items()
    }
    return yaml.safe_dump({"apiVersion": "v1", "entries": entries}).encode()
