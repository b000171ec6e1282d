"""kubectl patch, edit, scale, label, annotate, replace, set and rollout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from testbed.running.embedded import Kubectl
from tests.server.conftest import Editor

SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue, size: small}
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1"}, {name: side, image: busybox}]}
"""


@pytest.fixture
def settings(here: Kubectl) -> Kubectl:
    here("create", "-f", "-", stdin=SETTINGS)
    return here


@pytest.fixture
def web(here: Kubectl) -> Kubectl:
    here("create", "-f", "-", stdin=WEB)
    return here


def test_merge_and_json_patches_of_a_configmap(settings: Kubectl) -> None:
    patch = ("patch", "cm", "settings")
    assert settings(*patch, "-p", '{"data":{"colour":"red"}}').out == "configmap/settings patched\n"
    assert settings(*patch, "-p", '{"data":{"colour":"red"}}').out == "configmap/settings patched (no change)\n"
    settings(*patch, "--type=merge", "-p", '{"data":{"size":null}}')
    settings(*patch, "--type=json", "-p", '[{"op":"add","path":"/data/weight","value":"7"}]')
    assert settings("get", "cm", "settings", "-o", "jsonpath={.data}").out == '{"colour":"red","weight":"7"}'
    dry = settings(*patch, "-p", '{"data":{"weight":"8"}}', "--dry-run=server", "-o", "jsonpath={.data.weight}")
    assert dry.out == "8"
    assert settings("get", "cm", "settings", "-o", "jsonpath={.data.weight}").out == "7"


def test_patches_that_cannot_be_applied_say_why(settings: Kubectl) -> None:
    patch = ("patch", "cm", "settings")
    tested = settings(*patch, "--type=json", "-p", '[{"op":"test","path":"/data/size","value":"x"}]', fails=True).err
    assert tested == "The request is invalid: the server rejected our request due to an error in our request\n"
    removed = settings(*patch, "--type=json", "-p", '[{"op":"remove","path":"/data/nope"}]', fails=True).err
    assert removed == "The request is invalid: the server rejected our request due to an error in our request\n"
    renamed = settings(*patch, "-p", '{"metadata":{"name":"x"}}', fails=True).err
    assert "the name of the object (x) does not match the name on the URL (settings)" in renamed
    stale = settings(*patch, "-p", '{"metadata":{"resourceVersion":"1"}}', fails=True).err
    assert "the object has been modified; please apply your changes to the latest version and try again" in stale
    assert '"nope" not found' in settings("patch", "cm", "nope", "-p", "{}", fails=True).err


def test_a_strategic_patch_merges_lists_by_key(web: Kubectl) -> None:
    change = '{"spec":{"template":{"spec":{"containers":[%s]}}}}'
    web("patch", "deploy", "web", "-p", change % '{"name":"side","$patch":"delete"},{"name":"main","image":"nginx:9"}')
    assert web("get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.containers[*].image}").out == "nginx:9"
    selector = web("patch", "deploy", "web", "-p", '{"spec":{"selector":{"matchLabels":{"x":"y"}}}}', fails=True).err
    assert "field is immutable" in selector


def test_subresources_are_patched_by_themselves(web: Kubectl) -> None:
    web("patch", "deploy", "web", "--subresource=scale", "--type=merge", "-p", '{"spec":{"replicas":5}}')
    both = '{"spec":{"replicas":9},"status":{"observedGeneration":2,"replicas":4}}'
    web("patch", "deploy", "web", "--subresource=status", "--type=merge", "-p", both)
    assert web("get", "deploy", "web", "-o", "jsonpath={.spec.replicas} {.status.replicas}").out == "5 4"


def test_edit_stores_what_the_editor_leaves(settings: Kubectl, editor: Editor) -> None:
    edited = settings("edit", "cm", "settings", EDITOR=editor("s/colour: blue/colour: edited/"))
    assert edited.out == "configmap/settings edited\n"
    assert settings("get", "cm", "settings", "-o", "jsonpath={.data.colour}").out == "edited"
    untouched = settings("edit", "cm", "settings", EDITOR=editor("s/a/a/"))
    assert untouched.err == "Edit cancelled, no changes made.\n"


def test_an_edit_that_is_refused_is_shown_again(web: Kubectl, editor: Editor, tmp_path: Path) -> None:
    refused = web(
        "edit", "deploy", "web", EDITOR=editor("s/replicas: 2/replicas: -2/"), TMPDIR=str(tmp_path), fails=True
    )
    assert 'error: deployments.apps "web" is invalid' in refused.err
    assert "Edit cancelled, no valid changes were saved." in refused.err
    shown = (tmp_path / "shown").read_text()
    assert "# * spec.replicas: Invalid value: -2: must be greater than or equal to 0" in shown
    assert web("get", "deploy", "web", "-o", "jsonpath={.spec.replicas}").out == "2"


SCALED = """
apiVersion: apps/v1
kind: %s
metadata: {name: web}
spec:
  serviceName: web
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: nginx}]}
"""


def test_everything_that_has_replicas_scales(web: Kubectl) -> None:
    web("create", "-f", "-", stdin=SCALED % "StatefulSet")
    web("create", "-f", "-", stdin=(SCALED % "ReplicaSet").replace("  serviceName: web\n", ""))
    scaled = web("scale", "deploy/web", "sts/web", "rs/web", "--replicas=4").out
    assert scaled.splitlines() == [f"{kind}.apps/web scaled" for kind in ("deployment", "statefulset", "replicaset")]
    counts = web("get", "deploy,sts,rs", "-o", "jsonpath={.items[*].spec.replicas}").out
    assert counts == "4 4 4"


def test_scaling_only_when_things_are_as_expected(web: Kubectl) -> None:
    scale = ("scale", "deploy", "web")
    assert web(*scale, "--replicas=4", "--current-replicas=2").out == "deployment.apps/web scaled\n"
    wrong = web(*scale, "--replicas=3", "--current-replicas=9", fails=True).err
    assert wrong == "error: Expected replicas to be 9, was 4\n"
    version = web("get", "deploy", "web", "-o", "jsonpath={.metadata.resourceVersion}").out
    assert web(*scale, "--replicas=3", f"--resource-version={version}").out == "deployment.apps/web scaled\n"
    stale = web(*scale, "--replicas=1", f"--resource-version={version}", fails=True).err
    assert stale.startswith(f"error: Expected resource version to be {version}, was ")
    assert web(*scale, "--replicas=9", "--dry-run=server").out == "deployment.apps/web scaled (server dry run)\n"
    assert web("get", "deploy", "web", "-o", "jsonpath={.spec.replicas}").out == "3"
    web("create", "configmap", "settings")
    refused = web("scale", "cm", "settings", "--replicas=1", fails=True).err
    assert refused == "Error from server (NotFound): the server could not find the requested resource\n"


@pytest.mark.parametrize(("verb", "done"), [("label", "labeled"), ("annotate", "annotated")])
def test_labels_and_annotations_are_added_overwritten_and_removed(settings: Kubectl, verb: str, done: str) -> None:
    change = (verb, "cm", "settings")
    assert settings(*change, "x=y").out == f"configmap/settings {done}\n"
    kept = settings(*change, "x=z", fails=True).err
    assert kept.startswith("error: ")
    assert "--overwrite is false" in kept
    settings(*change, "x=z", "--overwrite")
    stale = settings(*change, "x=w", "--overwrite", "--resource-version=1", fails=True).err
    assert "the object has been modified" in stale
    version = settings("get", "cm", "settings", "-o", "jsonpath={.metadata.resourceVersion}").out
    settings(*change, "q=r", f"--resource-version={version}")
    assert set(settings(*change, "--list").out.split()) == {"x=z", "q=r"}
    settings(*change, "x-", "q-")
    assert settings(*change, "--list").out == ""


def test_labels_can_be_put_on_all_and_found_by(settings: Kubectl) -> None:
    settings("create", "configmap", "other")
    settings("label", "cm", "--all", "batch=1")
    assert settings("label", "cm", "-l", "batch=1", "more=yes", "-o", "name").out.split() == [
        "configmap/kube-root-ca.crt",
        "configmap/other",
        "configmap/settings",
    ]
    bad = settings("label", "cm", "settings", "x=bad value", fails=True).err
    assert "a valid label must be an empty string or consist of alphanumeric characters" in bad


def test_replace_wants_the_object_there_and_can_force_it(settings: Kubectl) -> None:
    changed = SETTINGS.replace("{colour: blue, size: small}", "{only: this}")
    assert settings("replace", "-f", "-", stdin=changed).out == "configmap/settings replaced\n"
    assert settings("get", "cm", "settings", "-o", "jsonpath={.data}").out == '{"only":"this"}'
    stored = json.loads(settings("get", "cm", "settings", "-o", "json").out)
    stored["metadata"]["resourceVersion"] = "1"
    stale = settings("replace", "-f", "-", stdin=json.dumps(stored), fails=True).err
    assert 'Operation cannot be fulfilled on configmaps "settings": the object has been modified' in stale
    missing = settings("replace", "-f", "-", stdin=changed.replace("settings", "missing"), fails=True).err
    assert 'configmaps "missing" not found' in missing
    uid = stored["metadata"]["uid"]
    forced = settings("replace", "--force", "-f", "-", stdin=SETTINGS).out
    assert forced.splitlines()[-1] == "configmap/settings replaced"
    assert settings("get", "cm", "settings", "-o", "jsonpath={.metadata.uid}").out != uid


def test_replacing_the_status_leaves_the_spec_alone(web: Kubectl) -> None:
    stored = json.loads(web("get", "deploy", "web", "-o", "json").out)
    stored["spec"]["replicas"], stored["status"] = 9, {"replicas": 1}
    web("replace", "--subresource=status", "-f", "-", stdin=json.dumps(stored))
    assert web("get", "deploy", "web", "-o", "jsonpath={.spec.replicas} {.status.replicas}").out == "2 1"


def test_set_changes_one_thing_of_a_template(web: Kubectl, namespace: str) -> None:
    assert web("set", "image", "deploy/web", "main=nginx:2").out == "deployment.apps/web image updated\n"
    assert "unable to find container named" in web("set", "image", "deploy/web", "nope=x", fails=True).err
    web("create", "configmap", "conf", "--from-literal=k=v")
    web("set", "env", "deploy/web", "-c", "main", "A=1", "B=2")
    web("set", "env", "deploy/web", "-c", "main", "--from=configmap/conf", "A-")
    listed = web("set", "env", "deploy/web", "--list").out
    assert "B=2\n" in listed
    assert "A=1" not in listed
    assert "# K from configmap conf, key k\n" in listed
    web("set", "resources", "deploy/web", "-c", "main", "--limits=cpu=200m", "--requests=cpu=100m")
    less = web("set", "resources", "deploy/web", "-c", "main", "--limits=cpu=50m", fails=True).err
    assert 'Invalid value: "100m": must be less than or equal to cpu limit of 50m' in less
    web("set", "serviceaccount", "deploy/web", "robot")
    made = json.loads(web("get", "deploy", "web", "-o", "json").out)["spec"]["template"]["spec"]
    assert (made["containers"][0]["image"], made["serviceAccountName"]) == ("nginx:2", "robot")
    assert made["containers"][0]["resources"] == {"limits": {"cpu": "200m"}, "requests": {"cpu": "100m"}}
    web("expose", "deploy", "web", "--port=80")
    web("set", "selector", "svc/web", "x=y")
    assert web("get", "svc", "web", "-o", "jsonpath={.spec.selector}").out == '{"x":"y"}'
    web("create", "rolebinding", "rb", "--clusterrole=view", "--user=jane")
    web("set", "subject", "rolebinding", "rb", "--user=joe", f"--serviceaccount={namespace}:default")
    assert web("get", "rolebinding", "rb", "-o", "jsonpath={.subjects[*].name}").out == "jane joe default"


def test_rollout_commands_go_as_far_as_the_api_goes(web: Kubectl) -> None:
    assert web("rollout", "pause", "deploy/web").out == "deployment.apps/web paused\n"
    assert "is already paused" in web("rollout", "pause", "deploy/web", fails=True).err
    assert web("rollout", "resume", "deploy/web").out == "deployment.apps/web resumed\n"
    assert web("rollout", "restart", "deploy/web").out == "deployment.apps/web restarted\n"
    restarted = "jsonpath={.spec.template.metadata.annotations.kubectl\\.kubernetes\\.io/restartedAt}"
    assert web("get", "deploy", "web", "-o", restarted).out.startswith("20")
    assert "No rollout history found" in web("rollout", "history", "deploy/web").out
    assert (
        web("rollout", "undo", "deploy/web", fails=True).err == 'error: no rollout history found for deployment "web"\n'
    )
    waiting = web("rollout", "status", "deploy/web", "--timeout=1s", fails=True)
    assert waiting.out == "Waiting for deployment spec update to be observed...\n"
    # What the Deployment controller of a tenant cluster would say.
    done = {"observedGeneration": 4, "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
    web("patch", "deploy", "web", "--subresource=status", "--type=merge", "-p", json.dumps({"status": done}))
    assert web("rollout", "status", "deploy/web").out == 'deployment "web" successfully rolled out\n'
