"""kubectl get in all its forms, and kubectl events."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from testbed.running.embedded import BIN, Kubectl, ServerProcess

OBJECTS = """
apiVersion: v1
kind: Pod
metadata: {name: front, labels: {app: web, tier: front, rank: "1"}}
spec: {containers: [{name: c, image: nginx}]}
---
apiVersion: v1
kind: Pod
metadata: {name: back, labels: {app: web, tier: back, rank: "2"}}
spec: {nodeName: node-x, restartPolicy: Never, containers: [{name: c, image: nginx}, {name: d, image: redis}]}
---
apiVersion: v1
kind: Pod
metadata: {name: db, labels: {app: db}}
spec: {containers: [{name: c, image: postgres}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {a: "1", b: "2"}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, name: http}, {port: 443, name: https}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
"""


@pytest.fixture
def populated(here: Kubectl) -> Kubectl:
    here("create", "-f", "-", stdin=OBJECTS)
    return here


def rows(text: str) -> list[list[str]]:
    """A table as words, with ages made equal."""
    return [re.sub(r"\b\d+(m\d+)?s\b", "AGE", line).split() for line in text.splitlines()]


def test_pods_are_shown_as_a_table_narrow_and_wide(populated: Kubectl) -> None:
    assert rows(populated("get", "pods").out) == [
        ["NAME", "READY", "STATUS", "RESTARTS", "AGE"],
        ["back", "0/2", "Pending", "0", "AGE"],
        ["db", "0/1", "Pending", "0", "AGE"],
        ["front", "0/1", "Pending", "0", "AGE"],
    ]
    wide = rows(populated("get", "pod", "back", "-o", "wide").out)
    assert wide[0][4:] == ["AGE", "IP", "NODE", "NOMINATED", "NODE", "READINESS", "GATES"]
    assert wide[1][4:] == ["AGE", "<none>", "node-x", "<none>", "<none>"]
    labelled = rows(populated("get", "pods", "db", "front", "-L", "tier", "--show-labels", "--no-headers").out)
    assert [line[5:] for line in labelled] == [["app=db"], ["front", "app=web,rank=1,tier=front"]]


def test_all_means_the_kinds_of_that_category(populated: Kubectl) -> None:
    names = populated("get", "all", "-o", "name").out.split()
    assert names == ["pod/back", "pod/db", "pod/front", "service/web", "deployment.apps/web"]
    table = rows(populated("get", "all").out)
    assert table[6][:2] == ["service/web", "ClusterIP"]
    assert table[6][3:] == ["<none>", "80/TCP,443/TCP", "AGE"]
    assert table[9] == ["deployment.apps/web", "0/2", "0", "0", "AGE"]


def test_kinds_can_be_mixed_and_abbreviated(populated: Kubectl) -> None:
    names = populated("get", "po/front", "svc/web", "cm/settings", "deploy/web", "-o", "name").out.split()
    assert names == ["pod/front", "service/web", "configmap/settings", "deployment.apps/web"]
    shown = rows(populated("get", "deploy,cm", "--show-kind").out)
    assert [line[0] for line in shown if line] == [
        "NAME", "deployment.apps/web", "NAME", "configmap/kube-root-ca.crt", "configmap/settings",
    ]  # fmt: skip


def test_every_output_format_shows_the_same_objects(populated: Kubectl) -> None:
    pods = ("get", "pods", "-l", "app=web", "-o")
    assert populated(*pods, "name").out == "pod/back\npod/front\n"
    assert populated(*pods, "jsonpath={.items[*].metadata.name}").out == "back front"
    ranged = "jsonpath={range .items[*]}{.metadata.name}={.spec.containers[*].image};{end}"
    assert populated(*pods, ranged).out == "back=nginx redis;front=nginx;"
    columns = "custom-columns=N:.metadata.name,I:.spec.containers[*].image"
    assert rows(populated(*pods, columns).out) == [["N", "I"], ["back", "nginx,redis"], ["front", "nginx"]]
    assert populated(*pods, "go-template={{range .items}}{{.metadata.name}} {{end}}").out == "back front "
    listed = json.loads(populated(*pods, "json").out)
    assert (listed["kind"], listed["metadata"]) == ("List", {"resourceVersion": ""})
    assert [item["kind"] for item in listed["items"]] == ["Pod", "Pod"]
    assert "managedFields" not in listed["items"][0]["metadata"]
    assert populated("get", "cm", "settings", "-o", "yaml").out.startswith(
        'apiVersion: v1\ndata:\n  a: "1"\n  b: "2"\n'
    )


SELECTED = {
    "app=web,tier!=back": "front",
    "app==db": "db",
    "app in (web,db)": "back db front",
    "app notin (web)": "db",
    "tier": "back front",
    "!tier": "db",
    "rank>1": "back",
    "rank<2": "front",
}


def test_label_selectors_know_every_operator(populated: Kubectl) -> None:
    for selector, names in SELECTED.items():
        found = populated("get", "pods", "-l", selector, "-o", "jsonpath={.items[*].metadata.name}").out
        assert found == names, selector
    assert "unable to parse requirement" in populated("get", "pods", "-l", "a b", fails=True).err


def test_field_selectors_know_the_fields_of_a_kind(populated: Kubectl) -> None:
    pods = ("get", "pods", "-o", "jsonpath={.items[*].metadata.name}", "--field-selector")
    assert populated(*pods, "metadata.name!=front,spec.restartPolicy=Always").out == "db"
    assert populated(*pods, "spec.nodeName=node-x").out == "back"
    assert populated(*pods, "status.phase=Running").out == ""
    unknown = populated("get", "pods", "--field-selector", "spec.bogus=1", fails=True).err
    assert unknown == (
        'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", '
        'field selector "spec.bogus=1": field label not supported: spec.bogus\n'
    )
    unknown = populated("get", "cm", "--field-selector", "data.a=1", fails=True).err
    assert '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"' in unknown


def test_pages_are_put_together_and_sorted(populated: Kubectl) -> None:
    paged = populated("get", "pods", "--chunk-size=1", "-o", "name").out.split()
    assert paged == ["pod/back", "pod/db", "pod/front"]
    by_image = populated("get", "pods", "--sort-by={.spec.containers[0].image}", "-o", "name").out.split()
    assert by_image[-1] == "pod/db"
    verbose = populated("get", "pods", "--chunk-size=1", "-v=6").err
    assert len(re.findall(r"pods\?.*limit=1", verbose)) == 3


def test_all_namespaces_are_shown_with_their_names(populated: Kubectl, namespace: str) -> None:
    shown = rows(populated("get", "pods", "-A", "-l", "app=db").out)
    assert shown[0][:2] == ["NAMESPACE", "NAME"]
    assert [namespace, "db"] in [line[:2] for line in shown]


def test_what_is_not_there_is_said_in_the_words_of_kubernetes(populated: Kubectl, namespace: str) -> None:
    assert populated("get", "pod", "nope", fails=True).err == 'Error from server (NotFound): pods "nope" not found\n'
    assert populated("get", "pod", "nope", "--ignore-not-found").out == ""
    both = populated("get", "pod", "nope", "db", "-o", "name", fails=True)
    assert (both.out, both.err) == ("pod/db\n", 'Error from server (NotFound): pods "nope" not found\n')
    empty = populated("get", "jobs")
    assert (empty.out, empty.err) == ("", f"No resources found in {namespace} namespace.\n")
    assert populated("get", "gadgets", fails=True).err == 'error: the server doesn\'t have a resource type "gadgets"\n'
    assert (
        "(NotFound): the server could not find the requested resource"
        in populated("get", "--raw", "/nope", fails=True).err
    )


def test_subresources_can_be_read(populated: Kubectl) -> None:
    assert rows(populated("get", "deploy", "web", "--subresource=scale").out) == [
        ["NAME", "DESIRED", "AVAILABLE", "AGE"],
        ["web", "2", "0", "AGE"],
    ]
    scale = json.loads(populated("get", "deploy", "web", "--subresource=scale", "-o", "json").out)
    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == ("Scale", {"replicas": 2}, "app=web")
    assert populated("get", "deploy", "web", "--subresource=status", "-o", "name").out == "deployment.apps/web\n"
    refused = populated("get", "cm", "settings", "--subresource=status", fails=True).err
    assert refused == "Error from server (NotFound): the server could not find the requested resource\n"


def test_raw_paths_are_fetched_and_written(populated: Kubectl, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    found = json.loads(populated("get", "--raw", f"{path}/settings").out)
    assert (found["apiVersion"], found["kind"], found["data"]) == ("v1", "ConfigMap", {"a": "1", "b": "2"})
    new = json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "raw"}})
    assert json.loads(populated("create", "--raw", path, "-f", "-", stdin=new).out)["metadata"]["uid"]
    status = json.loads(populated("delete", "--raw", f"{path}/raw").out)
    assert (status["status"], status["details"]["name"]) == ("Success", "raw")


def test_a_deprecated_resource_comes_with_a_warning(here: Kubectl, namespace: str) -> None:
    warning = "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n"
    assert here("get", "endpoints").err == f"{warning}No resources found in {namespace} namespace.\n"
    assert here("get", "ep", "nope", fails=True).err.startswith(warning)
    refused = here("get", "ep", "--warnings-as-errors", fails=True)
    assert refused.err.endswith("error: 1 warning received\n")
    assert here("get", "cm", "--warnings-as-errors").err == ""


@contextmanager
def watching(server: ServerProcess, *arguments: str) -> Iterator[Iterator[str]]:
    """The lines that a watching kubectl prints, once the server has answered its watch."""
    command = [str(BIN / "kubectl"), "--kubeconfig", str(server.kubeconfig), *arguments, "-v=6"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert any("watch=true" in line and "200 OK" in line for line in process.stderr)
        try:
            yield iter(process.stdout)
        finally:
            process.terminate()


def test_a_watch_shows_what_is_there_and_then_what_happens(
    populated: Kubectl, namespace: str, server_process: ServerProcess
) -> None:
    watch = ("get", "-n", namespace, "cm", "-l", "app=web", "--watch", "--output-watch-events", "--no-headers")
    with watching(server_process, *watch) as lines:
        assert next(lines).split()[:3] == ["ADDED", "settings", "2"]
        populated("patch", "cm", "settings", "-p", '{"data":{"c":"3"}}')
        assert next(lines).split()[:3] == ["MODIFIED", "settings", "3"]
        populated("label", "cm", "settings", "app-")
        assert next(lines).split()[:2] == ["DELETED", "settings"]


def test_a_watch_can_leave_out_what_is_there(populated: Kubectl, namespace: str, server_process: ServerProcess) -> None:
    watch = ("get", "-n", namespace, "cm", "--watch-only", "--no-headers")
    with watching(server_process, *watch) as lines:
        populated("create", "cm", "late")
        assert next(lines).split()[0] == "late"


EVENT = """
apiVersion: v1
kind: Event
metadata: {name: %(name)s, namespace: %(namespace)s}
involvedObject: {kind: Pod, name: %(pod)s, namespace: %(namespace)s, apiVersion: v1}
reason: %(reason)s
message: It %(reason)s
type: %(type)s
count: 3
firstTimestamp: "2024-01-01T00:00:00Z"
lastTimestamp: "2024-01-01T00:05:00Z"
source: {component: kubelet, host: node-x}
"""


def test_events_are_listed_by_both_commands(here: Kubectl, namespace: str) -> None:
    for name, kind in (("pulled", "Normal"), ("failed", "Warning")):
        pod = "front" if kind == "Normal" else "db"
        values = {"name": name, "namespace": namespace, "pod": pod, "reason": name, "type": kind}
        here("create", "-f", "-", stdin=EVENT % values)
    table = here("get", "events", "--field-selector", "type=Warning").out.splitlines()
    assert table[0].split() == ["LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert table[1].split()[1:] == ["Warning", "failed", "pod/db", "It", "failed"]
    assert "SUBOBJECT" in here("get", "events", "-o", "wide").out
    about = here("get", "events", "--field-selector", "involvedObject.name=front,reason=pulled", "-o", "name").out
    assert about == "event/pulled\n"
    event = here("events", "--for", "pod/front", "--no-headers").out
    assert "(x3 over " in event
    assert event.split()[-5:] == ["Normal", "pulled", "Pod/front", "It", "pulled"]
    assert here("events", "--types=Warning", "--no-headers").out.split()[-3:] == ["Pod/db", "It", "failed"]
    assert here("get", "events.events.k8s.io", "failed", "-o", "jsonpath={.note}").out == "It failed"
