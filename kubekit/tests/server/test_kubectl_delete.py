"""kubectl delete and kubectl wait."""

from __future__ import annotations

import json
import subprocess

import pytest

from testbed.running.embedded import BIN, Kubectl, ServerProcess

TWO = """
apiVersion: v1
kind: ConfigMap
metadata: {name: one, labels: {app: web}}
---
apiVersion: v1
kind: Secret
metadata: {name: two, labels: {app: web}}
"""


def make_owned(here: Kubectl) -> None:
    """ConfigMaps `owner` and `child`, one owning the other."""
    here("create", "configmap", "owner")
    here("create", "configmap", "child")
    uid = here("get", "cm", "owner", "-o", "jsonpath={.metadata.uid}").out
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid, "blockOwnerDeletion": True}
    here("patch", "cm", "child", "-p", json.dumps({"metadata": {"ownerReferences": [owner]}}))


def test_deletion_by_name_by_file_by_label_and_of_all(here: Kubectl, namespace: str) -> None:
    here("create", "-f", "-", stdin=TWO)
    assert here("delete", "cm", "one").out == f'configmap "one" deleted from {namespace} namespace\n'
    left = here("delete", "-f", "-", stdin=TWO, fails=True)
    assert left.out == f'secret "two" deleted from {namespace} namespace\n'
    assert left.err == 'Error from server (NotFound): error when deleting "STDIN": configmaps "one" not found\n'
    here("create", "-f", "-", stdin=TWO)
    gone = here("delete", "cm,secret", "-l", "app=web").out
    assert gone.splitlines() == [
        f'configmap "one" deleted from {namespace} namespace',
        f'secret "two" deleted from {namespace} namespace',
    ]
    here("create", "-f", "-", stdin=TWO)
    here("delete", "secrets", "--all")
    assert here("get", "secrets", "-o", "name").out == ""


def test_deletion_of_what_is_not_there(here: Kubectl) -> None:
    missing = here("delete", "cm", "nope", fails=True).err
    assert missing == 'Error from server (NotFound): configmaps "nope" not found\n'
    assert here("delete", "cm", "nope", "--ignore-not-found").out == ""
    assert "the server doesn't have a resource type" in here("delete", "gadgets", "--all", fails=True).err


def test_a_dry_run_deletes_nothing(here: Kubectl, namespace: str) -> None:
    here("create", "configmap", "one")
    dry = here("delete", "cm", "one", "--dry-run=server").out
    assert dry == f'configmap "one" deleted from {namespace} namespace (server dry run)\n'
    assert here("get", "cm", "one", "-o", "name").out == "configmap/one\n"


def test_orphans_lose_their_owner_and_stay(here: Kubectl) -> None:
    make_owned(here)
    here("delete", "cm", "owner", "--cascade=orphan")
    assert here("get", "cm", "child", "-o", "jsonpath={.metadata.ownerReferences}").out == ""


def test_dependents_go_before_their_owner_in_the_foreground(here: Kubectl) -> None:
    make_owned(here)
    here("delete", "cm", "owner", "--cascade=foreground")
    assert here("get", "cm", "child", "owner", "--ignore-not-found").out == ""


def test_dependents_go_after_their_owner_in_the_background(here: Kubectl) -> None:
    make_owned(here)
    here("delete", "cm", "owner", "--cascade=background")
    here("wait", "cm/child", "--for=delete", "--timeout=60s")
    assert here("get", "cm", "child", "--ignore-not-found").out == ""


def test_a_finalizer_keeps_an_object_until_it_is_taken_off(here: Kubectl) -> None:
    here("create", "configmap", "kept")
    here("patch", "cm", "kept", "-p", '{"metadata":{"finalizers":["example.org/f"]}}')
    waited = here("delete", "cm", "kept", "--timeout=1s", fails=True).err
    assert "error: timed out waiting for the condition on configmaps/kept" in waited
    marked = "jsonpath={.metadata.finalizers} {.metadata.deletionGracePeriodSeconds}"
    assert here("get", "cm", "kept", "-o", marked).out == '["example.org/f"] 0'
    more = here("patch", "cm", "kept", "-p", '{"metadata":{"finalizers":["example.org/g"]}}', fails=True).err
    assert "no new finalizers can be added if the object is being deleted" in more
    here("patch", "cm", "kept", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    assert here("get", "cm", "kept", "--ignore-not-found").out == ""


def test_a_pod_on_a_node_is_given_time_unless_forced(here: Kubectl) -> None:
    here("run", "pod", "--image=nginx", '--overrides={"spec":{"nodeName":"n1"}}')
    here("delete", "pod", "pod", "--wait=false")
    assert here("get", "pod", "pod", "--no-headers").out.split()[2] == "Terminating"
    forced = here("delete", "pod", "pod", "--force", "--grace-period=0")
    assert forced.err.startswith("Warning: Immediate deletion does not wait for confirmation")
    assert here("get", "pod", "pod", "--ignore-not-found").out == ""
    here("run", "pod", "--image=nginx")
    # Nobody has to stop a pod that never had a node.
    here("delete", "pod", "pod", "--now")
    assert here("get", "pod", "pod", "--ignore-not-found").out == ""


def test_a_namespace_takes_everything_along(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "t-short-lived")
    kubectl("create", "-n", "t-short-lived", "configmap", "one")
    assert kubectl("delete", "namespace", "t-short-lived").out == 'namespace "t-short-lived" deleted\n'
    kubectl("create", "namespace", "t-short-lived")
    assert kubectl("get", "-n", "t-short-lived", "cm", "one", "--ignore-not-found").out == ""
    kubectl("delete", "namespace", "t-short-lived")


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_the_first_namespaces_stay(kubectl: Kubectl, name: str) -> None:
    refused = kubectl("delete", "namespace", name, fails=True).err
    assert refused == (
        f'Error from server (Forbidden): namespaces "{name}" is forbidden: this namespace may not be deleted\n'
    )


def test_waiting_for_conditions_and_values(here: Kubectl) -> None:
    here("run", "pod", "--image=nginx")
    unmet = here("wait", "pod/pod", "--for=condition=Ready", "--timeout=1s", fails=True).err
    assert "error: timed out waiting for the condition on pods/pod" in unmet
    status = '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
    here("patch", "pod", "pod", "--subresource=status", "--type=merge", "-p", status)
    for condition in ("condition=Ready", "jsonpath={.status.phase}=Running", "jsonpath={.status.phase}", "create"):
        assert here("wait", "pod/pod", f"--for={condition}", "--timeout=60s").out == "pod/pod condition met\n"
    assert here("wait", "pod", "-l", "run=pod", "--for=condition=Ready").out == "pod/pod condition met\n"


def test_waiting_for_what_is_not_there(here: Kubectl) -> None:
    missing = here("wait", "pod/nope", "--for=condition=Ready", "--timeout=1s", fails=True).err
    assert missing == 'Error from server (NotFound): pods "nope" not found\n'
    assert here("wait", "pod", "-l", "app=nope", "--for=condition=Ready", fails=True).err == (
        "error: no matching resources found\n"
    )
    late = here("wait", "cm/nope", "--for=create", "--timeout=1s", fails=True).err
    assert "error: timed out waiting for the condition" in late


def test_a_waiting_kubectl_sees_creation_and_deletion(
    here: Kubectl, namespace: str, server_process: ServerProcess
) -> None:
    wait = [str(BIN / "kubectl"), "--kubeconfig", str(server_process.kubeconfig), "-n", namespace, "wait", "cm/late"]
    with subprocess.Popen([*wait, "--for=create", "--timeout=60s"], stdout=subprocess.PIPE, text=True) as waiting:
        here("create", "configmap", "late")
        assert waiting.communicate()[0] == "configmap/late condition met\n"
    with subprocess.Popen([*wait, "--for=delete", "--timeout=60s"], stdout=subprocess.PIPE, text=True) as waiting:
        here("delete", "cm", "late")
        assert waiting.wait() == 0
