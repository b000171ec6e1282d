"""kubectl about nodes, and what it is told where a kubelet would have to answer."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from testbed.running.embedded import Kubectl


@pytest.fixture
def node(kubectl: Kubectl, namespace: str) -> Iterator[str]:
    """A node for one test."""
    name = f"node-{namespace}"[:60].strip("-")
    made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"disk": "ssd"}}}
    kubectl("create", "-f", "-", stdin=json.dumps(made))
    yield name
    kubectl("delete", "node", name)


def run_on(here: Kubectl, node: str, name: str) -> None:
    here("run", name, "--image=nginx", f"--labels=app={name}", f'--overrides={{"spec":{{"nodeName":"{node}"}}}}')


def test_a_node_is_cordoned_tainted_and_shown(kubectl: Kubectl, node: str) -> None:
    assert kubectl("cordon", node).out == f"node/{node} cordoned\n"
    assert kubectl("cordon", node).out == f"node/{node} already cordoned\n"
    assert kubectl("get", "node", node, "--no-headers").out.split()[1] == "Unknown,SchedulingDisabled"
    assert kubectl("uncordon", node).out == f"node/{node} uncordoned\n"
    assert kubectl("taint", "node", node, "k=v:NoSchedule").out == f"node/{node} tainted\n"
    kubectl("taint", "node", node, "k=w:NoSchedule", "--overwrite")
    assert "k=w:NoSchedule" in kubectl("describe", "node", node).out
    assert kubectl("taint", "node", node, "k:NoSchedule-").out == f"node/{node} untainted\n"
    kubectl("label", "node", node, "node-role.kubernetes.io/worker=")
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ok"}
    address = {"type": "InternalIP", "address": "10.0.0.9"}
    status = json.dumps({"status": {"conditions": [ready], "addresses": [address]}})
    kubectl("patch", "node", node, "--subresource=status", "--type=merge", "-p", status)
    shown = kubectl("get", "node", node, "-o", "wide", "--no-headers").out.split()
    assert shown[1:3] == ["Ready", "worker"]
    assert "10.0.0.9" in shown


def test_a_node_is_drained_of_pods_nobody_guards(kubectl: Kubectl, here: Kubectl, node: str, namespace: str) -> None:
    run_on(here, node, "alone")
    refused = kubectl("drain", node, "--timeout=5s", fails=True).err
    assert f"cannot delete Pods that declare no controller (use --force to override): {namespace}/alone" in refused
    dry = kubectl("drain", node, "--force", "--dry-run=server").out
    assert dry.splitlines()[-2:] == [
        f"evicting pod {namespace}/alone (server dry run)",
        f"node/{node} drained (server dry run)",
    ]
    drained = kubectl("drain", node, "--force", "--grace-period=0", "--timeout=60s").out
    assert drained.splitlines()[-2:] == ["pod/alone evicted", f"node/{node} drained"]
    assert here("get", "pod", "alone", "--ignore-not-found").out == ""


def test_a_disruption_budget_holds_a_running_pod(kubectl: Kubectl, here: Kubectl, node: str) -> None:
    run_on(here, node, "guarded")
    running = '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
    here("patch", "pod", "guarded", "--subresource=status", "--type=merge", "-p", running)
    here("create", "pdb", "guard", "--selector=app=guarded", "--min-available=1")
    counted = {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    status = {"status": {"disruptionsAllowed": 0, **counted}}
    here("patch", "pdb", "guard", "--subresource=status", "--type=merge", "-p", json.dumps(status))
    held = kubectl("drain", node, "--force", "--grace-period=0", "--timeout=1s", fails=True).err
    assert "Cannot evict pod as it would violate the pod's disruption budget." in held
    status["status"]["disruptionsAllowed"] = 1
    here("patch", "pdb", "guard", "--subresource=status", "--type=merge", "-p", json.dumps(status))
    kubectl("drain", node, "--force", "--grace-period=0", "--timeout=60s")
    spent = json.loads(here("get", "pdb", "guard", "-o", "jsonpath={.status}").out)
    assert spent["disruptionsAllowed"] == 0
    assert list(spent["disruptedPods"]) == ["guarded"]


def test_without_a_kubelet_kubectl_is_told_what_is_missing(here: Kubectl, node: str) -> None:
    here("run", "waiting", "--image=nginx")
    assert here("logs", "waiting").out == ""
    unplaced = "error: unable to upgrade connection: pod waiting does not have a host assigned\n"
    assert here("exec", "waiting", "--", "ls", fails=True).err == unplaced
    run_on(here, "nowhere", "lost")
    assert here("logs", "lost", fails=True).err == 'Error from server (NotFound): pods "nowhere" not found\n'
    assert 'pods "nowhere" not found' in here("exec", "lost", "--", "ls", fails=True).err
    run_on(here, node, "placed")
    for command in (("logs", "placed"), ("exec", "placed", "--", "ls"), ("attach", "placed")):
        assert f"needs the kubelet of node {node}, and there is none" in here(*command, fails=True).err
    assert "pod is not running" in here("port-forward", "placed", ":80", fails=True).err
    assert 'pods "nope" not found' in here("logs", "nope", fails=True).err
    assert here("top", "pod", fails=True).err == "error: Metrics API not available\n"
    assert here("top", "node", fails=True).err == "error: Metrics API not available\n"


def test_debug_adds_an_ephemeral_container(here: Kubectl, node: str) -> None:
    run_on(here, node, "pod")
    here("debug", "pod", "--image=busybox", "--target=pod", "--attach=false", "-c", "look")
    added = json.loads(here("get", "pod", "pod", "-o", "jsonpath={.spec.ephemeralContainers}").out)
    assert [(one["name"], one["image"], one["targetContainerName"]) for one in added] == [("look", "busybox", "pod")]
    changed = here("debug", "pod", "--image=busybox", "--attach=false", "-c", "look", fails=True).err
    assert 'existing ephemeral containers "look" may not be changed' in changed
    here("debug", "pod", "--image=busybox", "--copy-to=copy", "--attach=false", "-c", "look")
    assert here("get", "pod", "copy", "-o", "jsonpath={.spec.containers[*].name}").out == "pod look"


def test_a_pod_is_resized_only_within_its_quality_of_service(here: Kubectl) -> None:
    limits = '{"spec":{"containers":[{"name":"pod","image":"nginx","resources":{"requests":{"cpu":"100m"}}}]}}'
    here("run", "pod", "--image=nginx", f"--overrides={limits}")
    resize = ("patch", "pod", "pod", "--subresource=resize", "-p")
    here(*resize, '{"spec":{"containers":[{"name":"pod","resources":{"requests":{"cpu":"200m"}}}]}}')
    shown = here("get", "pod", "pod", "-o", "jsonpath={.spec.containers[0].resources} {.metadata.generation}").out
    assert shown == '{"requests":{"cpu":"200m"}} 2'
    all_of_it = '{"cpu":"200m","memory":"1Gi"}'
    guaranteed = f'{{"name":"pod","resources":{{"requests":{all_of_it},"limits":{all_of_it}}}}}'
    refused = here(*resize, f'{{"spec":{{"containers":[{guaranteed}]}}}}', fails=True).err
    assert 'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing' in refused
    more = '{"spec":{"containers":[{"name":"pod","resources":{"requests":{"cpu":"1"}}}]}}'
    plain = here("patch", "pod", "pod", "-p", more, fails=True).err
    assert "pod updates may not change fields other than" in plain
