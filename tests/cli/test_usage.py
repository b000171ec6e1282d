"""Command lines that are wrong: what is told, and the exit codes that scripts rely on."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from butler.cli import machine_size
from tests.cli.conftest import User, condition, running


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["clutser", "list"], "`butlerctl cluster`"),
        (["cluster", "lst"], "`butlerctl cluster list`"),
        (["nodes"], "`butlerctl cluster nodes`"),
        (["validate"], "`butleradm provider validate`"),
        (["values"], "`butlerctl addon values`"),
        (["upgrade"], "`butlerctl addon upgrade` or `butlerctl cluster upgrade` or `butleradm addon upgrade`"),
        (["up"], "`butleradm up`"),
        (["scale", "shop"], "`butlerctl cluster scale`"),
    ],
)
def test_a_mistyped_command_is_answered_with_the_one_that_is_meant(user: User, words: list[str], meant: str) -> None:
    said = user(*words, fails=2).err
    assert f"No such command '{words[-1] if words[0] == 'cluster' else words[0]}'. Did you mean {meant}?" in said


def test_mistyped_commands_of_administrators_too(user: User) -> None:
    assert "Did you mean `butleradm provider validate`?" in user.adm("provider", "valdate", "x", fails=2).err
    assert "Did you mean `butleradm apiserver backup`?" in user.adm("apiserver", "bakup", fails=2).err
    assert "Did you mean `butlerctl cluster nodes`?" in user.adm("nodes", fails=2).err


def test_a_command_that_is_like_no_other_is_answered_with_all(user: User) -> None:
    assert "There are: create, destroy, edit, " in user("cluster", "zzz", fails=2).err


def test_a_mistyped_flag_is_answered_with_the_one_that_is_meant(user: User) -> None:
    assert "--workers" in user("cluster", "create", "a", "--wrokers", "3", fails=2).err
    assert "--boot-delay" in user.adm("provider", "create", "--type", "simulated", "--bot-delay", "3", fails=2).err


def test_everything_that_is_missing_is_named_at_once(user: User) -> None:
    assert "Missing: NAME, --workers INTEGER." in user("cluster", "scale", fails=2).err
    assert "Missing: NAME, --k8s-version TEXT." in user("cluster", "upgrade", fails=2).err
    assert "Missing option '-w' / '--workers'." in user("cluster", "scale", "shop", fails=2).err


@pytest.mark.parametrize(
    ("kind", "flags"),
    [
        ("proxmox", ["--endpoint", "--nodes", "--storage"]),
        ("nutanix", ["--endpoint", "--cluster", "--subnet"]),
        ("azure", ["--subscription-id", "--resource-group"]),
        ("gcp", ["--project-id", "--region"]),
    ],
)
def test_all_fields_a_provider_lacks_are_named_by_their_flags(user: User, kind: str, flags: list[str]) -> None:
    said = user.adm("provider", "create", "lab", "--type", kind, "--no-check", fails=2).err
    assert [line.split("(")[1].split(")")[0] for line in said.splitlines()[1:]] == flags


def test_a_value_that_cannot_be_is_named_by_the_flag_that_was_typed(user: User) -> None:
    name = user.cluster()
    refused = {
        ("edit", name, "--workers-replicas", "0"): "spec.workers.replicas (--workers-replicas)",
        ("edit", name, "--workers=0"): "spec.workers.replicas (--workers)",
        ("upgrade", name, "--version", "1.33"): "spec.kubernetesVersion (--version)",
        ("upgrade", name, "--k8s-version", "1.33"): "spec.kubernetesVersion (--k8s-version)",
        ("scale", name, "-w", "0"): "spec.workers.replicas (-w)",
    }
    for words, told in refused.items():
        assert f"  {told}: Invalid value" in user("cluster", *words, fails=2).err


def test_a_field_without_a_flag_of_this_command_names_none(user: User) -> None:
    name = user.cluster(providerConfigRef={"name": "gone"})
    assert "spec.providerConfigRef.name: Not found" in user("cluster", "scale", name, "-w", "4", fails=7).err


@pytest.mark.parametrize(
    "words",
    [
        *(["get"], ["nodes"], ["events"], ["why"], ["kubeconfig"], ["export"], ["watch"], ["edit", "-w", "2"]),
        *(["scale", "-w", "2"], ["upgrade", "--version", "v1.33.1"], ["destroy", "-y"]),
    ],
    ids=lambda words: words[0],
)
def test_a_cluster_that_is_not_there_is_exit_code_3(user: User, words: list[str]) -> None:
    user("cluster", *words, "nobody", fails=3)


@pytest.mark.parametrize("verb", ["get", "images", "networks", "validate", "audit", "update", "delete"])
def test_a_provider_that_is_not_there_is_exit_code_3(user: User, verb: str) -> None:
    user.adm("provider", verb, "nobody", fails=3)


@pytest.mark.parametrize(("change", "code"), [("a stranger", 4), ("nobody answers", 6)])
def test_who_is_denied_and_who_is_not_answered_learns_it_by_the_exit_code(
    user: User, tmp_path: Path, change: str, code: int
) -> None:
    config = json.loads(user.kubectl("config", "view", "--raw", "-o", "json").out)
    if code == 4:
        config["users"][0]["user"] = {"token": change.replace(" ", "-")}
    else:
        config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    where = ["--kubeconfig", str(tmp_path / "kubeconfig")]
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    for words in (["get"], ["scale", "-w", "2"], ["destroy", "-y"]):
        user("cluster", *words, "shop", *where, fails=code)
    for words in (["get"], ["update"]):
        user.adm("provider", *words, "simulated", *where, fails=code)
    user.adm("status", *where, fails=code)


def test_no_platform_and_a_name_that_is_taken_have_codes_of_their_own(user: User, tmp_path: Path) -> None:
    user("cluster", "list", "--kubeconfig", str(tmp_path / "no-such-file"), fails=6)
    user("cluster", "create", user.cluster(), fails=7)


def test_several_clusters_are_destroyed_and_one_that_fails_hides_no_other(user: User) -> None:
    first, second = user.cluster(), user.cluster()
    ended = user("cluster", "destroy", first, "nobody", second, "--yes", fails=3)
    assert ended.out == "".join(f"✓ cluster butler-tenants/{name} is gone\n" for name in (first, second))
    assert 'there is no cluster "nobody"' in ended.err
    assert not user.exists(first)
    assert not user.exists(second)


def test_several_clusters_are_destroyed_only_by_all_their_names(user: User) -> None:
    first, second = user.cluster(), user.cluster()
    asked = user("cluster", "destroy", first, second, stdin=f"{first}\n", fails=1)
    assert f"clusters butler-tenants/{first}, butler-tenants/{second} for good" in asked.err
    assert user.exists(first)
    user("cluster", "destroy", first, second, "--no-wait", stdin=f"{second} {first}\n")
    assert not user.exists(first)


def test_a_created_cluster_can_be_had_by_programs(user: User) -> None:
    name = f"o-{uuid.uuid4().hex[:8]}"
    made = user("cluster", "create", name, "--workers", "2", "-o", "json")
    shown = json.loads(made.out)
    assert (shown["metadata"]["name"], shown["spec"]["workers"]["replicas"]) == (name, 2)
    assert shown["metadata"]["uid"]
    assert "managedFields" not in shown["metadata"]
    assert f"cluster butler-tenants/{name} requested" in made.err
    assert user("cluster", "create", f"{name}-2", "-o", "name").out == f"{name}-2\n"
    assert json.loads(user("cluster", "create", f"{name}-3", "-o", "json", "--dry-run").out)["kind"] == "TenantCluster"
    assert not user.exists(f"{name}-3")


def test_lists_go_without_their_first_line(user: User) -> None:
    name = user.cluster()
    lines = user("cluster", "list", "--no-headers").out.splitlines()
    assert name in [line.split()[0] for line in lines]
    assert not [line for line in lines if line.startswith("NAME")]
    assert user.adm("provider", "list", "--no-headers").out.startswith("simulated ")


def test_a_list_that_is_watched_tells_each_change(user: User) -> None:
    kept, name = user.cluster(), user.cluster()
    started = user.start("cluster", "list", "--watch")
    shown = started.out_until(max(kept, name))
    assert shown.startswith("NAME ")
    user.status(name, **running())
    changed = started.out_until(name).splitlines()[-1].split()
    assert changed[:2] == [name, "Running"]
    user("cluster", "destroy", name, "--yes", "--no-wait")
    assert " Deleted " in started.out_until(name)
    ended = started.interrupt()
    assert (ended.code, "stopped watching" in ended.err) == (130, True)


def test_a_watched_list_for_programs_is_one_document_after_another(user: User) -> None:
    name = user.cluster()
    started = user.start("cluster", "list", "-w", "-o", "name")
    started.out_until(name)
    user.status(name, phase="Provisioning", conditions=[condition("Ready", False)])
    assert started.out_until(name).splitlines()[-1] == name
    started.interrupt()


@pytest.mark.parametrize(
    ("kind", "spec", "size"),
    [
        ("SimulatedMachine", {"cpu": 4, "memoryMB": 8192, "diskGB": 40}, "4 cpu, 8Gi, 40Gi"),
        ("SimulatedMachine", {"cpu": 1, "memoryMB": 1536, "diskGB": 10}, "1 cpu, 1536Mi, 10Gi"),
        (
            "NutanixMachine",
            {"vcpuSockets": 2, "vcpusPerSocket": 2, "memorySize": "8Gi", "systemDiskSize": "40Gi"},
            "4 cpu, 8Gi, 40Gi",
        ),
        (
            "ProxmoxMachine",
            {"numCores": 4, "memoryMiB": 8192, "disks": {"bootVolume": {"disk": "scsi0", "sizeGb": 40}}},
            "4 cpu, 8Gi, 40Gi",
        ),
        ("AWSMachine", {"instanceType": "m6i.xlarge", "rootVolume": {"size": 40}}, "m6i.xlarge, 40Gi"),
        ("AzureMachine", {"vmSize": "Standard_D4s_v3", "osDisk": {"diskSizeGB": 40}}, "Standard_D4s_v3, 40Gi"),
        ("GCPMachine", {"instanceType": "e2-standard-4", "rootDeviceSize": 40}, "e2-standard-4, 40Gi"),
        (
            "KubevirtMachine",
            {
                "virtualMachineTemplate": {
                    "spec": {
                        "dataVolumeTemplates": [
                            {"spec": {"storage": {"resources": {"requests": {"storage": "40Gi"}}}}}
                        ],
                        "template": {"spec": {"domain": {"cpu": {"cores": 4}, "memory": {"guest": "8Gi"}}}},
                    }
                }
            },
            "4 cpu, 8Gi, 40Gi",
        ),
        ("OtherMachine", {"cpu": 4}, ""),
        ("AWSMachine", {}, ""),
    ],
)
def test_the_size_of_a_machine_is_what_its_infrastructure_says(kind: str, spec: dict[str, object], size: str) -> None:
    assert machine_size.size_of({"kind": kind, "spec": spec}) == size
