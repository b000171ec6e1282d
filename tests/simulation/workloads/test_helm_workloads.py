"""Helm waits for what it installs in a tenant, and that gets ready."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from testbed.running.helm import VERSIONS, Helm
from tests.simulation.workloads.conftest import Tenant

TEMPLATES = {
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
      containers: [{name: web, image: "{{ .Values.image }}", ports: [{containerPort: 80, name: http}]}]
""",
    "service.yaml": """
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}}
spec: {selector: {app: {{ .Release.Name }}}, ports: [{port: 80, targetPort: http}]}
""",
    "job.yaml": """
apiVersion: batch/v1
kind: Job
metadata: {name: {{ .Release.Name }}-prepare, annotations: {helm.sh/hook: pre-install}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: prepare, image: prepare}]}}}
""",
}


def write_chart(folder: Path) -> Path:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: web\nversion: 1.0.0\n")
    (folder / "values.yaml").write_text("replicas: 3\nimage: nginx:1\n")
    for name, text in TEMPLATES.items():
        (folder / "templates" / name).write_text(text)
    return folder


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_chart_is_installed_and_waited_for(tenant: Tenant, tmp_path: Path, version: str) -> None:
    helm = Helm(version, tenant.kubeconfig, "default", tmp_path)
    chart = str(write_chart(tmp_path / "chart"))
    await asyncio.to_thread(helm, "install", "web", chart, "--wait", "--timeout", "120s")
    assert "3/3" in await tenant.kubectl("get", "deployment", "web")
    assert "1/1" in await tenant.kubectl("get", "job", "web-prepare")
