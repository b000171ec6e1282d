"""butlerctl cluster scale, upgrade and edit."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.cli.conftest import User, running


def editor(directory: Path, *scripts: str) -> dict[str, str]:
    """An editor that applies one sed script each time it is opened, and keeps what it was given to see."""
    program = directory / "editor"
    cases = "\n".join(f"{number}) sed -i -e '{script}' \"$1\" ;;" for number, script in enumerate(scripts, 1))
    program.write_text(
        f'#!/bin/sh\nn=$(ls {directory}/seen-* 2>/dev/null | wc -l)\nn=$((n + 1))\ncp "$1" {directory}/seen-$n\n'
        f"case $n in\n{cases}\nesac\n"
    )
    program.chmod(0o755)
    return {"EDITOR": str(program)}


def test_scaling_changes_the_number_of_workers(user: User) -> None:
    name = user.cluster()
    assert "is to have 5 workers" in user("cluster", "scale", name, "--workers", "5").out
    assert user.read(name)["spec"]["workers"]["replicas"] == 5
    generation = user.read(name)["metadata"]["generation"]
    assert "nothing to do" in user("cluster", "scale", name, "--workers", "5").out
    assert user.read(name)["metadata"]["generation"] == generation


def test_one_pool_is_scaled_and_the_others_stay(user: User) -> None:
    automatic = {"name": "auto", "minReplicas": 1, "maxReplicas": 2}
    pools = [{"name": "gpu", "replicas": 1}, {"name": "big", "replicas": 2}, automatic]
    name = user.cluster(workers={"pools": pools})
    user("cluster", "scale", name, "-w", "4", "--pool", "gpu")
    found = {pool["name"]: pool.get("replicas") for pool in user.read(name)["spec"]["workers"]["pools"]}
    assert found == {"gpu": 4, "big": 2, "auto": None}
    assert "its pools: gpu, big, auto" in user("cluster", "scale", name, "-w", "4", "--pool", "x", fails=3).err
    assert (
        "scaled automatically, from 1 to 2" in user("cluster", "scale", name, "-w", "4", "--pool", "auto", fails=7).err
    )


def test_a_number_of_workers_that_cannot_be_is_refused(user: User) -> None:
    name = user.cluster()
    assert "spec.workers.replicas (-w)" in user("cluster", "scale", name, "-w", "99999", fails=2).err
    assert "spec.workers.replicas (--workers)" in user("cluster", "scale", name, "--workers", "0", fails=2).err
    assert user.read(name)["spec"]["workers"]["replicas"] == 3
    user("cluster", "scale", name, fails=2)


def test_an_upgrade_changes_the_version_and_skips_no_minor(user: User) -> None:
    name = user.cluster()
    user.status(name, **running(observedState={"kubernetesVersion": "v1.32.2"}))
    refused = user("cluster", "upgrade", name, "--version", "v1.34.0", fails=7).err
    assert refused.startswith(f"butlerctl: cluster butler-tenants/{name} cannot be upgraded:\n")
    assert "no minor may be skipped" in refused
    assert "cannot go back" in user("cluster", "upgrade", name, "--version", "v1.31.0", fails=7).err
    assert "(--k8s-version)" in user("cluster", "upgrade", name, "--k8s-version", "v1.31.0", fails=7).err
    user("cluster", "upgrade", name, "--version", "v1.33.1")
    assert user.read(name)["spec"]["kubernetesVersion"] == "v1.33.1"
    assert "nothing to do" in user("cluster", "upgrade", name, "--version", "v1.33.1").out


def test_a_cluster_that_is_being_deleted_is_not_changed(user: User) -> None:
    name = user.cluster()
    hold = json.dumps({"metadata": {"finalizers": ["test.example.com/hold"]}})
    user.kubectl("patch", "tenantcluster", name, "-n", "butler-tenants", "--type=merge", "-p", hold)
    user("cluster", "destroy", name, "--yes", "--no-wait")
    assert "it is being deleted" in user("cluster", "scale", name, "-w", "5", fails=7).err
    assert "is still being deleted" in user("cluster", "create", name, fails=7).err
    free = json.dumps({"metadata": {"finalizers": None}})
    user.kubectl("patch", "tenantcluster", name, "-n", "butler-tenants", "--type=merge", "-p", free)


def test_flags_edit_without_an_editor(user: User) -> None:
    name = user.cluster(workers={"replicas": 3, "machineTemplate": {"disk": "50Gi"}})
    user(
        "cluster", "edit", name, "--workers-memory", "16Gi", "--disk", "80Gi", "--workers-replicas", "2", EDITOR="false"
    )
    assert user.read(name)["spec"]["workers"] == {
        "replicas": 2,
        "machineTemplate": {"memory": "16Gi", "diskSize": "80Gi"},
    }


def test_what_the_editor_saves_is_sent(user: User, tmp_path: Path) -> None:
    name = user.cluster()
    user.status(name, **running())
    done = user("cluster", "edit", name, **editor(tmp_path, "s/replicas: 3/replicas: 4/"))
    assert done.out == f"✓ cluster butler-tenants/{name} changed\n"
    assert user.read(name)["spec"]["workers"]["replicas"] == 4
    shown = yaml.safe_load((tmp_path / "seen-1").read_text())
    assert set(shown) == {"apiVersion", "kind", "metadata", "spec"}


def test_a_field_taken_out_in_the_editor_goes(user: User, tmp_path: Path) -> None:
    name = user.cluster(timeServers=["10.0.0.1"])
    user("cluster", "edit", name, **editor(tmp_path, "/timeServers/,+1d"))
    assert "timeServers" not in user.read(name)["spec"]


def test_a_refused_text_is_opened_again_with_the_reason(user: User, tmp_path: Path) -> None:
    name = user.cluster()
    scripts = ("s/v1.32.2/v9.9.9/", "s/v9.9.9/v1.33.0/;s/replicas: 3/replicas: 4/")
    user("cluster", "edit", name, **editor(tmp_path, *scripts))
    second = (tmp_path / "seen-2").read_text()
    assert '#   spec.kubernetesVersion (--k8s-version): Invalid value: "v9.9.9": must be between' in second
    assert "kubernetesVersion: v9.9.9" in second
    spec = user.read(name)["spec"]
    assert (spec["kubernetesVersion"], spec["workers"]["replicas"]) == ("v1.33.0", 4)


def test_a_text_nobody_mends_is_kept(user: User, tmp_path: Path) -> None:
    name = user.cluster()
    refused = user(
        "cluster", "edit", name, fails=2, TMPDIR=str(tmp_path), **editor(tmp_path, "s/replicas: 3/replicaz: 4/")
    )
    assert "spec.workers.replicaz: Forbidden: there is no such field; did you mean replicas?" in refused.err
    kept = Path(refused.err.split("your text is in ")[1].split()[0])
    assert "replicaz: 4" in kept.read_text()
    assert user.read(name)["spec"]["workers"]["replicas"] == 3


def test_leaving_the_text_alone_changes_nothing(user: User, tmp_path: Path) -> None:
    name = user.cluster()
    version = user.read(name)["metadata"]["resourceVersion"]
    done = user("cluster", "edit", name, TMPDIR=str(tmp_path), **editor(tmp_path))
    assert "nothing to change" in done.out
    assert user.read(name)["metadata"]["resourceVersion"] == version
    assert not list(tmp_path.glob("butler-*"))


def test_a_cluster_cannot_be_renamed(user: User, tmp_path: Path) -> None:
    name = user.cluster()
    refused = user("cluster", "edit", name, fails=2, **editor(tmp_path, f"s/name: {name}/name: other/"))
    assert f"metadata.name: stays {name}" in refused.err


def test_an_editor_that_fails_or_is_not_there_is_said(user: User) -> None:
    name = user.cluster()
    assert "false ended with 1" in user("cluster", "edit", name, EDITOR="false", fails=1).err
    assert "set EDITOR" in user("cluster", "edit", name, EDITOR="/no/such/editor", fails=1).err
