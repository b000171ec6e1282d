"""kubectl describe, for every kind people describe."""

from __future__ import annotations

import json
import re

import pytest

from testbed.running.embedded import Kubectl
from tests.server.custom import definition

OBJECTS = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  nodeSelector: {disk: ssd}
  containers:
  - {name: main, image: nginx, resources: {limits: {cpu: 100m, memory: 64Mi}}, env: [{name: A, value: b}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: nginx}]}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, name: http, targetPort: 8080}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
binaryData: {raw: AAEC}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {password: hunter2}
"""
EVENT = """
apiVersion: v1
kind: Event
metadata: {name: web.1, namespace: %(namespace)s}
involvedObject: {kind: %(kind)s, name: web, namespace: %(namespace)s, apiVersion: %(version)s, uid: %(uid)s}
reason: Pulled
message: The image was pulled
type: Normal
source: {component: kubelet}
"""


@pytest.fixture
def described(here: Kubectl) -> Kubectl:
    here("create", "-f", "-", stdin=OBJECTS)
    return here


def words(text: str) -> str:
    """With each run of blanks as one, so that columns may move."""
    return re.sub(r"[ \t]+", " ", text)


def test_a_pod_with_its_events(described: Kubectl, namespace: str) -> None:
    uid = described("get", "pod", "web", "-o", "jsonpath={.metadata.uid}").out
    values = {"namespace": namespace, "kind": "Pod", "version": "v1", "uid": uid}
    described("create", "-f", "-", stdin=EVENT % values)
    shown = words(described("describe", "pod", "web").out)
    assert f"Name: web\nNamespace: {namespace}\nPriority: 0\nService Account: default\nNode: <none>\n" in shown
    assert "Limits:\n cpu: 100m\n memory: 64Mi\n" in shown
    assert "QoS Class: Guaranteed\nNode-Selectors: disk=ssd\n" in shown
    assert "Tolerations: node.kubernetes.io/not-ready:NoExecute op=Exists for 300s\n" in shown
    assert "Normal Pulled <unknown> kubelet The image was pulled" in shown


def test_workloads_and_services(described: Kubectl) -> None:
    deployment = words(described("describe", "deploy", "web").out)
    assert "Replicas: 2 desired | 0 updated | 0 total | 0 available | 0 unavailable\n" in deployment
    assert "RollingUpdateStrategy: 25% max unavailable, 25% max surge\n" in deployment
    service = words(described("describe", "svc", "web").out)
    assert "Type: ClusterIP\nIP Family Policy: SingleStack\nIP Families: IPv4\nIP: 10." in service
    assert "Port: http 80/TCP\nTargetPort: 8080/TCP\nEndpoints: <none>\n" in service


def test_configuration_is_shown_and_secrets_are_not(described: Kubectl) -> None:
    settings = described("describe", "cm", "settings").out
    assert "Data\n====\ncolour:\n----\nblue\n\n\nBinaryData\n====\nraw: 3 bytes\n" in settings
    keys = described("describe", "secret", "keys").out
    assert "password:  7 bytes" in keys
    assert "hunter2" not in keys


def test_a_namespace_with_its_quota(described: Kubectl, namespace: str) -> None:
    described("create", "quota", "limit", "--hard=pods=5")
    shown = words(described("describe", "ns", namespace).out)
    assert f"Labels: kubernetes.io/metadata.name={namespace}\n" in shown
    assert "Status: Active\n" in shown
    assert "Resource Quotas\n Name: limit\n" in shown


def test_several_at_once_and_none(described: Kubectl) -> None:
    both = described("describe", "pod,cm", "-l", "app=web").out
    assert both.startswith("Name:             web\n")
    missing = described("describe", "pod", "nope", fails=True).err
    assert missing == 'Error from server (NotFound): pods "nope" not found\n'
    role = words(described("describe", "clusterrole", "view").out)
    assert "pods/log [] [] [get list watch]" in role


def test_a_custom_object_and_its_definition(here: Kubectl, namespace: str) -> None:
    here("apply", "-f", "-", stdin=json.dumps(definition("kettles", "Kettle", "Namespaced")))
    here("wait", "--for=condition=Established", "crd/kettles.example.com", "--timeout=60s")
    here("create", "-f", "-", stdin="{apiVersion: example.com/v1, kind: Kettle, metadata: {name: web}, spec: {}}")
    uid = here("get", "kettle", "web", "-o", "jsonpath={.metadata.uid}").out
    values = {"namespace": namespace, "kind": "Kettle", "version": "example.com/v1", "uid": uid}
    here("create", "-f", "-", stdin=EVENT % values)
    shown = words(here("describe", "kettle", "web").out)
    assert "API Version: example.com/v1\nKind: Kettle\n" in shown
    assert "Normal Pulled <unknown> kubelet The image was pulled" in shown
    described = words(here("describe", "crd", "kettles.example.com").out)
    assert "Type: Established\n" in described
