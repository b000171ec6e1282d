"""kubectl apply, client-side and server-side, as its users know it."""

from __future__ import annotations

import json
from pathlib import Path

from testbed.running.embedded import Kubectl

SETTINGS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {colour: blue, size: small}
"""
GREEN = """
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: web}}
data: {colour: green}
"""
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, image: "nginx:1", ports: [{containerPort: 80}], env: [{name: A, value: "1"}]}
      - {name: side, image: busybox}
"""
WEB_WITHOUT_SIDE = WEB.replace("nginx:1", "nginx:2").replace("      - {name: side, image: busybox}\n", "")
SEVERAL = """
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Secret
metadata: {name: keys, labels: {app: web}}
stringData: {password: hunter2}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ServiceAccount
  metadata: {name: robot, labels: {app: web}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: listed, labels: {app: web}}
  data: {a: b}
"""


def test_apply_creates_then_changes_then_leaves_alone(here: Kubectl) -> None:
    assert here("apply", "-f", "-", stdin=SETTINGS).out == "configmap/settings created\n"
    assert here("apply", "-f", "-", stdin=SETTINGS).out == "configmap/settings unchanged\n"
    assert here("apply", "-f", "-", stdin=GREEN).out == "configmap/settings configured\n"
    assert here("apply", "-f", "-", stdin=GREEN).out == "configmap/settings unchanged\n"
    assert here("get", "cm", "settings", "-o", "jsonpath={.data}").out == '{"colour":"green"}'
    shown = here("apply", "view-last-applied", "cm", "settings", "-o", "json").out
    assert json.loads(shown)["data"] == {"colour": "green"}


def test_a_container_that_is_no_longer_named_leaves_the_template(here: Kubectl) -> None:
    here("apply", "-f", "-", stdin=WEB)
    assert here("apply", "-f", "-", stdin=WEB_WITHOUT_SIDE).out == "deployment.apps/web configured\n"
    assert here("apply", "-f", "-", stdin=WEB_WITHOUT_SIDE).out == "deployment.apps/web unchanged\n"
    template = "jsonpath={.spec.template.spec.containers[*].image} {.metadata.generation}"
    assert here("get", "deploy", "web", "-o", template).out == "nginx:2 2"


def test_a_file_may_hold_several_documents_and_lists(here: Kubectl) -> None:
    lines = ["service/web", "secret/keys", "serviceaccount/robot", "configmap/listed"]
    made = here("apply", "-f", "-", stdin=SEVERAL).out
    assert made.splitlines() == [f"{line} created" for line in lines]
    assert "service/web unchanged" in here("apply", "-f", "-", stdin=SEVERAL).out
    applied = here("apply", "--server-side", "-f", "-", stdin=SEVERAL).out
    assert applied.splitlines() == [f"{line} serverside-applied" for line in lines]


def test_a_dry_run_stores_nothing(here: Kubectl) -> None:
    on_server = here("apply", "-f", "-", "--dry-run=server", stdin=SETTINGS)
    assert on_server.out == "configmap/settings created (server dry run)\n"
    shown = here("apply", "--server-side", "-f", "-", "--dry-run=server", "-o", "json", stdin=SETTINGS).out
    assert json.loads(shown)["metadata"]["uid"]
    assert here("apply", "-f", "-", "--dry-run=client", stdin=SETTINGS).out == "configmap/settings created (dry run)\n"
    assert "NotFound" in here("get", "cm", "settings", fails=True).err
    here("apply", "-f", "-", stdin=SETTINGS)
    changed = here("apply", "-f", "-", "--dry-run=server", "-o", "jsonpath={.data.colour}", stdin=GREEN)
    assert changed.out == "green"
    assert here("get", "cm", "settings", "-o", "jsonpath={.data.colour}").out == "blue"


def test_a_kustomization_is_applied(here: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(WEB)
    (tmp_path / "kustomization.yaml").write_text(
        "namePrefix: k-\nresources: [web.yaml]\nconfigMapGenerator: [{name: conf, literals: [a=b]}]\n"
    )
    made = here("apply", "-k", str(tmp_path)).out.splitlines()
    assert made == ["configmap/k-conf-4h2mbtbbt6 created", "deployment.apps/k-web created"]
    again = here("apply", "-k", str(tmp_path)).out.splitlines()
    assert again == ["configmap/k-conf-4h2mbtbbt6 unchanged", "deployment.apps/k-web unchanged"]


def test_an_object_made_otherwise_is_taken_over_with_a_warning(here: Kubectl) -> None:
    here("create", "configmap", "settings", "--from-literal=size=large")
    applied = here("apply", "-f", "-", stdin=GREEN)
    assert applied.out == "configmap/settings configured\n"
    assert "is missing the kubectl.kubernetes.io/last-applied-configuration annotation" in applied.err
    assert here("get", "cm", "settings", "-o", "jsonpath={.data}").out == '{"colour":"green","size":"large"}'


def test_an_unknown_field_is_refused_or_warned_of_as_asked(here: Kubectl) -> None:
    wrong = SETTINGS.replace("\ndata:", "\ndta:")
    refused = here("apply", "-f", "-", stdin=wrong, fails=True).err
    assert refused == (
        'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled '
        'as a ConfigMap: strict decoding error: unknown field "dta"\n'
    )
    warned = here("apply", "-f", "-", "--validate=warn", stdin=wrong)
    assert warned.err == 'Warning: unknown field "dta"\n'
    here("delete", "cm", "settings")
    assert here("apply", "-f", "-", "--validate=ignore", stdin=wrong).err == ""


def test_what_cannot_be_applied_is_refused_in_the_words_of_kubernetes(here: Kubectl, namespace: str) -> None:
    number = here("apply", "-f", "-", stdin=SETTINGS.replace("blue", "7"), fails=True).err
    assert "json: cannot unmarshal number into Go struct field ConfigMap.data of type string" in number
    name = here("apply", "-f", "-", stdin=SETTINGS.replace("settings", "Bad_Name"), fails=True).err
    assert 'The ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123' in name
    kind = here("apply", "-f", "-", stdin=SETTINGS.replace("ConfigMap", "Gadget"), fails=True).err
    assert 'no matches for kind "Gadget" in version "v1"' in kind
    elsewhere = SETTINGS.replace("name: settings", "name: settings, namespace: elsewhere")
    other = here("apply", "-f", "-", stdin=elsewhere, fails=True).err
    assert f'the namespace from the provided object "elsewhere" does not match the namespace "{namespace}"' in other


def test_server_side_apply_names_the_manager_it_conflicts_with(here: Kubectl) -> None:
    applied = "configmap/settings serverside-applied\n"
    assert here("apply", "--server-side", "-f", "-", stdin=SETTINGS).out == applied
    refused = here("apply", "--server-side", "--field-manager=other", "-f", "-", stdin=GREEN, fails=True).err
    assert refused.startswith(
        'error: Apply failed with 1 conflict: conflict with "kubectl": .data.colour\n'
        "Please review the fields above--they currently have other managers."
    )
    forced = here("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-", stdin=GREEN)
    assert forced.out == applied
    assert here("get", "cm", "settings", "-o", "jsonpath={.data}").out == '{"colour":"green","size":"small"}'
    owners = here(
        "get", "cm", "settings", "--show-managed-fields", "-o", "jsonpath={.metadata.managedFields[*].manager}"
    )
    assert owners.out == "kubectl other"


def test_a_field_its_only_manager_no_longer_applies_is_removed(here: Kubectl) -> None:
    here("apply", "--server-side", "-f", "-", stdin=SETTINGS)
    here("apply", "--server-side", "-f", "-", stdin=GREEN)
    assert here("get", "cm", "settings", "-o", "jsonpath={.data}").out == '{"colour":"green"}'


def test_applying_the_same_twice_changes_nothing(here: Kubectl) -> None:
    version = ("get", "deploy", "web", "-o", "jsonpath={.metadata.resourceVersion}")
    here("apply", "--server-side", "-f", "-", stdin=WEB)
    before = here(*version).out
    here("apply", "--server-side", "-f", "-", stdin=WEB)
    assert here(*version).out == before


def test_replicas_that_were_scaled_conflict_until_forced(here: Kubectl) -> None:
    here("apply", "--server-side", "-f", "-", stdin=WEB)
    here("scale", "deploy", "web", "--replicas=7")
    refused = here("apply", "--server-side", "-f", "-", stdin=WEB, fails=True).err
    assert 'conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas' in refused
    here("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=WEB)
    assert here("get", "deploy", "web", "-o", "jsonpath={.spec.replicas}").out == "2"


def test_client_side_fields_move_over_to_server_side_apply(here: Kubectl) -> None:
    here("apply", "-f", "-", stdin=SETTINGS)
    here("apply", "--server-side", "-f", "-", stdin=GREEN)
    shown = json.loads(here("get", "cm", "settings", "--show-managed-fields", "-o", "json").out)
    assert shown["data"] == {"colour": "green"}
    owners = [one["manager"] for one in shown["metadata"]["managedFields"] if one["operation"] == "Apply"]
    assert owners == ["kubectl-last-applied", "kubectl"]
    assert len(shown["metadata"]["managedFields"]) == 2
    # It keeps the annotation up to date, so that client-side apply can go on from there.
    kept = json.loads(shown["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"])
    assert (kept["apiVersion"], kept["kind"], kept["data"]) == ("v1", "ConfigMap", {"colour": "green"})
    assert here("apply", "-f", "-", stdin=SETTINGS).out == "configmap/settings configured\n"


def test_prune_by_label_removes_what_is_no_longer_applied(here: Kubectl) -> None:
    here("apply", "-f", "-", stdin=f"{SEVERAL}---{SETTINGS}")
    pruned = here("apply", "--prune", "-l", "app=web", "-f", "-", stdin=SETTINGS).out.splitlines()
    assert pruned[0] == "configmap/settings unchanged"
    # ServiceAccounts are not among the kinds that are pruned by default.
    assert set(pruned[1:]) == {"configmap/listed pruned", "secret/keys pruned", "service/web pruned"}
    left = here("get", "cm,secret,svc,sa", "-l", "app=web", "-o", "name").out.split()
    assert left == ["configmap/settings", "serviceaccount/robot"]


def test_an_apply_set_prunes_every_kind_it_holds(here: Kubectl) -> None:
    both = {"KUBECTL_APPLYSET": "true"}
    prune = ("apply", "--prune", "--applyset=shop", "-f", "-")
    here(*prune, stdin=f"{SEVERAL}---{SETTINGS}", **both)
    pruned = here(*prune, stdin=SETTINGS, **both).out.splitlines()
    assert pruned[0] == "configmap/settings unchanged"
    gone = {"configmap/listed", "secret/keys", "service/web", "serviceaccount/robot"}
    assert set(pruned[1:]) == {f"{name} pruned" for name in gone}
    parent = here("get", "secret", "shop", "-o", "jsonpath={.metadata.annotations}").out
    assert json.loads(parent)["applyset.kubernetes.io/contains-group-kinds"] == "ConfigMap"


def test_diff_shows_changes_and_tells_by_its_exit_code(here: Kubectl) -> None:
    new = here("diff", "-f", "-", stdin=SETTINGS, fails=True)
    assert new.code == 1
    assert "+  colour: blue" in new.out
    here("apply", "-f", "-", stdin=SETTINGS)
    assert here("diff", "-f", "-", stdin=SETTINGS).out == ""
    changed = here("diff", "-f", "-", stdin=GREEN, fails=True)
    assert changed.code == 1
    assert "-  colour: blue\n-  size: small\n+  colour: green\n" in changed.out
    missing = here("diff", "-f", "/does/not/exist", fails=True)
    assert missing.code > 1


def test_diff_can_ask_the_server_to_apply(here: Kubectl) -> None:
    here("apply", "--server-side", "-f", "-", stdin=SETTINGS)
    assert here("diff", "--server-side", "-f", "-", stdin=SETTINGS).out == ""
    changed = here("diff", "--server-side", "-f", "-", stdin=GREEN, fails=True)
    assert changed.code == 1
    assert "-  size: small" in changed.out
    conflict = here("diff", "--server-side", "--field-manager=other", "-f", "-", stdin=GREEN, fails=True)
    assert "Apply failed with 1 conflict" in conflict.err
    assert here("get", "cm", "settings", "-o", "jsonpath={.data.colour}").out == "blue"


def test_diff_hides_secrets(here: Kubectl) -> None:
    here("apply", "-f", "-", stdin=SEVERAL)
    changed = here("diff", "-f", "-", stdin=SEVERAL.replace("hunter2", "hunter3"), fails=True).out
    assert "-  password: '*** (before)'\n+  password: '*** (after)'\n" in changed
