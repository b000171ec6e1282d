"""butlerctl cluster list, get, nodes, events and export."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.cli.conftest import User, condition, running


def line_of(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(name))


def test_a_list_shows_phase_version_workers_and_age(user: User) -> None:
    name = user.cluster()
    user.status(name, **running(workerNodesReady=2))
    listed = user("cluster", "list").out
    assert listed.splitlines()[0].split("  ")[0] == "NAME"
    assert line_of(listed, "NAME") == ["NAME", "PHASE", "K8S", "VERSION", "WORKERS", "AGE"]
    assert line_of(listed, name)[:4] == [name, "Running", "v1.32.2", "2/3"]


def test_a_cluster_nobody_has_seen_yet_is_pending(user: User) -> None:
    name = user.cluster(
        workers={"pools": [{"name": "gpu", "replicas": 2}, {"name": "x", "minReplicas": 1, "maxReplicas": 3}]}
    )
    assert line_of(user("cluster", "ls").out, name)[:4] == [name, "Pending", "-", "0/3"]


def test_a_refused_change_is_seen_in_the_list_and_what_runs_is_shown(user: User) -> None:
    name = user.cluster()
    seen = {"kubernetesVersion": "v1.31.9"}
    said = [condition("Accepted", False, "no minor may be skipped"), condition("Ready", False)]
    ref = {"name": "taken-over", "namespace": "butler-system"}
    user.status(name, **running(observedState=seen, providerConfigRef=ref, conditions=said))
    listed = user("cluster", "list", "-o", "wide").out
    assert line_of(listed, name)[:5] == [name, "Running", "(refused)", "v1.31.9", "3/3"]
    assert line_of(listed, name)[-1] == "taken-over"
    assert "v1.31.9 (v1.32.2 is refused)" in user("cluster", "get", name).out


def test_all_namespaces_and_wide_add_columns(user: User) -> None:
    name = user.cluster()
    user.status(name, **running(controlPlaneEndpoint="10.0.0.1:6443"))
    listed = user("cluster", "list", "-A", "-o", "wide").out
    assert " ".join(line_of(listed, "NAME")) == "NAME NAMESPACE PHASE K8S VERSION WORKERS AGE ENDPOINT PROVIDER"
    cells = line_of(listed, name)
    assert (cells[1], cells[-2:]) == ("butler-tenants", ["10.0.0.1:6443", "simulated"])


def test_a_list_for_programs_has_fixed_keys(user: User) -> None:
    name = user.cluster()
    user.status(name, **running(tenantNamespace="x-1"))
    for form, load in (("json", json.loads), ("yaml", yaml.safe_load)):
        items = load(user("cluster", "list", "-o", form).out)
        item = next(one for one in items if one["name"] == name)
        assert item.pop("creationTime")
        assert item == {
            "name": name,
            "namespace": "butler-tenants",
            "phase": "Running",
            "kubernetesVersion": "v1.32.2",
            "workers": {"ready": 3, "desired": 3},
            "endpoint": None,
            "tenantNamespace": "x-1",
            "providerConfig": "simulated",
        }
    assert f"{name}\n" in user("cluster", "list", "-o", "name").out


def test_no_clusters_are_no_error(user: User) -> None:
    shown = user("cluster", "list", "-n", "butler-system")
    assert (shown.out, shown.err) == ("", "no clusters in namespace butler-system\n")
    assert user("cluster", "list", "-n", "butler-system", "-o", "json").out == "[]\n"


def test_the_namespace_comes_from_the_flag_then_the_environment(user: User) -> None:
    assert "in namespace elsewhere" in user("cluster", "list", BUTLER_NAMESPACE="elsewhere").err
    assert "in namespace there" in user("cluster", "list", "-n", "there", BUTLER_NAMESPACE="elsewhere").err
    assert "in namespace there" in user("-n", "there", "cluster", "list").err


def test_a_selector_that_is_none_is_wrong_usage(user: User) -> None:
    assert "'-l' / '--selector'" in user("cluster", "list", "-l", "a=b=c", fails=2).err


def test_get_shows_conditions_and_addons(user: User) -> None:
    name = user.cluster()
    addons = [{"name": "cilium", "version": "1.17.0", "status": "Healthy", "managedBy": "butler"}]
    seen = {"kubernetesVersion": "v1.31.9", "addons": addons}
    user.status(name, **running(observedState=seen, controlPlaneEndpoint="10.0.0.1:6443"))
    shown = user("cluster", "get", name).out
    facts = dict(line.split(":", 1) for line in shown.partition("\nConditions")[0].splitlines())
    assert facts["K8s Version"].strip() == "v1.31.9 (on its way to v1.32.2)"
    assert facts["Workers"].strip() == "3/3 Ready"
    assert facts["Endpoint"].strip() == "10.0.0.1:6443"
    assert line_of(shown, "  Ready")[:3] == ["Ready", "True", "Testing"]
    assert line_of(shown, "  cilium") == ["cilium", "1.17.0", "Healthy", "butler"]
    addons[0]["message"] = "only recorded"
    user.status(name, **running(observedState=seen))
    assert line_of(user("cluster", "get", name).out, "  cilium")[-2:] == ["only", "recorded"]


def test_get_for_programs_is_the_whole_object(user: User) -> None:
    name = user.cluster()
    found = json.loads(user("cluster", "get", name, "-o", "json").out)
    assert (found["kind"], found["spec"]["workers"]) == ("TenantCluster", {"replicas": 3})
    assert "managedFields" not in found["metadata"]
    assert yaml.safe_load(user("cluster", "get", name, "-o", "yaml").out) == found


def test_what_a_message_would_do_to_a_terminal_is_left_out(user: User) -> None:
    name = user.cluster()
    user.status(name, conditions=[condition("Ready", False, "a\x1b[31mb\nc")])
    assert "a [31mb c" in user("cluster", "get", name).out


def test_a_cluster_that_is_not_there_is_exit_code_3(user: User) -> None:
    for words in (["get"], ["nodes"], ["events"], ["why"], ["watch"], ["kubeconfig"], ["scale", "-w", "3"]):
        said = user("cluster", *words, "nobody", fails=3).err
        assert said.startswith('butlerctl: there is no cluster "nobody" in namespace butler-tenants;')


def test_nodes_are_the_machines_with_their_pools(user: User) -> None:
    name = user.cluster()
    assert "has no machines yet" in user("cluster", "nodes", name).err
    inside = f"{name}-1"
    user.kubectl("create", "namespace", inside)
    user.status(name, **running(tenantNamespace=inside))
    for pool in ("workers", "gpu"):
        labels = {"cluster.x-k8s.io/cluster-name": name, "cluster.x-k8s.io/deployment-name": f"{name}-{pool}"}
        machine = {
            "apiVersion": "cluster.x-k8s.io/v1beta2",
            "kind": "Machine",
            "metadata": {"name": f"{name}-{pool}-a", "namespace": inside, "labels": labels},
            "spec": {"clusterName": name, "version": "v1.32.2", "providerID": "simulated://7"},
        }
        user.kubectl("create", "-f", "-", stdin=json.dumps(machine))
    listed = user("cluster", "nodes", name).out
    assert line_of(listed, "NAME") == ["NAME", "POOL", "PHASE", "PROVIDER-ID", "VERSION", "AGE"]
    assert line_of(listed, f"{name}-workers-a")[1:5] == ["-", "Pending", "simulated://7", "v1.32.2"]
    assert line_of(listed, f"{name}-gpu-a")[1] == "gpu"
    items = json.loads(user("cluster", "nodes", name, "-o", "json").out)
    assert [item["pool"] for item in items] == [None, "gpu"]


def test_events_are_listed_with_the_newest_last(user: User) -> None:
    name = user.cluster()
    assert f"no events about cluster {name}" in user("cluster", "events", name).err
    for hour in (2, 1, 3):
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{name}.{hour}", "namespace": "butler-tenants"},
            "involvedObject": {"kind": "TenantCluster", "name": name, "namespace": "butler-tenants"},
            "type": "Normal",
            "reason": f"Hour{hour}",
            "message": "the clock struck",
            "lastTimestamp": f"2026-01-01T0{hour}:00:00Z",
        }
        user.kubectl("create", "-f", "-", stdin=json.dumps(event))
    listed = user("cluster", "events", name, "--limit", "2").out.splitlines()
    assert [line.split()[:2] for line in listed] == [["TYPE", "REASON"], ["Normal", "Hour2"], ["Normal", "Hour3"]]
    items = json.loads(user("cluster", "events", name, "-o", "json").out)
    assert [item["reason"] for item in items] == ["Hour1", "Hour2", "Hour3"]


def test_an_export_can_be_created_again_under_another_name(user: User) -> None:
    name = user.cluster()
    user.status(name, **running())
    labels = {"team": "a", "butler.butlerlabs.dev/environment": "prod", "butler.butlerlabs.dev/owner": "x"}
    user.kubectl(
        "label", "tenantcluster", name, "-n", "butler-tenants", *(f"{key}={value}" for key, value in labels.items())
    )
    exported = user("cluster", "export", name, "--as", f"{name}-2").out
    assert yaml.safe_load(exported)["metadata"] == {
        "name": f"{name}-2",
        "namespace": "butler-tenants",
        "labels": {"team": "a", "butler.butlerlabs.dev/environment": "prod"},
    }
    user("cluster", "create", "-f", "-", stdin=exported)
    assert user.read(f"{name}-2")["spec"] == user.read(name)["spec"]


def test_many_clusters_are_exported_as_documents_or_files(user: User, tmp_path: Path) -> None:
    names = {user.cluster(), user.cluster()}
    documents = yaml.safe_load_all(user("cluster", "export", "--all").out)
    assert names <= {one["metadata"]["name"] for one in documents}
    user("cluster", "export", "-A", "-o", f"{tmp_path}/all/")
    files = {path.name for path in (tmp_path / "all").iterdir()}
    assert {f"butler-tenants-{name}.yaml" for name in names} <= files
    user("cluster", "export", min(names), "-o", str(tmp_path / "one.yaml"), "--include-status")
    assert yaml.safe_load((tmp_path / "one.yaml").read_text())["metadata"]["name"] == min(names)


def test_exports_that_make_no_sense_are_wrong_usage(user: User) -> None:
    for words in ([], ["a", "--all"], ["--all", "--as", "b"]):
        user("cluster", "export", *words, fails=2)


def test_what_happened_in_the_same_second_is_listed_in_the_order_of_its_telling(user: User) -> None:
    name = user.cluster()
    for number in (2, 1, 3):
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{name}.{number}", "namespace": "butler-tenants"},
            "involvedObject": {"kind": "TenantCluster", "name": name, "namespace": "butler-tenants"},
            "type": "Normal",
            "reason": f"Number{number}",
            "message": "at once",
            "lastTimestamp": "2026-01-01T01:00:00Z",
        }
        user.kubectl("create", "-f", "-", stdin=json.dumps(event))
    items = json.loads(user("cluster", "events", name, "-o", "json").out)
    assert [item["reason"] for item in items] == ["Number2", "Number1", "Number3"]
