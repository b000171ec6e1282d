"""Changing addons and taking them out again."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.cli.addons import PLATFORM, Addons, addons_of
from tests.cli.conftest import User


@pytest.fixture
def addons(user: User) -> Iterator[Addons]:
    with addons_of(user) as made:
        yield made


def test_values_lie_over_those_that_are_there(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    flags = ("--set", "a.b=1", "--set", "list=[1,2]", "--set", "gone=null", "--version", "1.0.0")
    user("addon", "install", cluster, name, *flags)
    user("addon", "upgrade", cluster, name, "--version", "1.0.0", "--set", "a.c=2", "--set", "list[1]=3")
    spec = addons.read(f"{cluster}-{name}")["spec"]
    assert spec["values"] == {"a": {"b": 1, "c": 2}, "list": [1, 3], "gone": None}
    user("addon", "upgrade", cluster, name, "--values", "-", stdin="list: [9]\n")
    assert addons.read(f"{cluster}-{name}")["spec"]["values"] == {"a": {"b": 1, "c": 2}, "list": [9], "gone": None}


def test_values_can_start_anew(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    secret = addons.secret("more", values_yaml="x: 1")
    user("addon", "install", cluster, name, "--set", "a=1", "--values-secret", secret)
    user("addon", "upgrade", cluster, name, "--reset-values", "--set", "b=2")
    spec = addons.read(f"{cluster}-{name}")["spec"]
    assert (spec["values"], spec.get("valuesFrom")) == ({"b": 2}, None)
    user("addon", "upgrade", cluster, name, "--reset-values")
    assert "values" not in addons.read(f"{cluster}-{name}")["spec"]


def test_nothing_new_is_nothing_to_do(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name, "--set", "a=1")
    before = addons.read(f"{cluster}-{name}")["metadata"]["resourceVersion"]
    assert "nothing to change" in user("addon", "upgrade", cluster, name, "--set", "a=1").out
    assert addons.read(f"{cluster}-{name}")["metadata"]["resourceVersion"] == before
    assert "say what is to change" in user("addon", "upgrade", cluster, name, fails=2).err


def test_a_change_that_cannot_be_is_told_and_not_written(user: User, addons: Addons) -> None:
    schema = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
    cluster, name = addons.cluster(), addons.define("graphs", valuesSchema=schema)
    user("addon", "install", cluster, name)
    assert "values.replicas" in user("addon", "upgrade", cluster, name, "--set", "replicas=x", fails=2).err
    assert "not exactly one version" in user("addon", "upgrade", cluster, name, "--version", "1.x", fails=2).err
    assert "values" not in addons.read(f"{cluster}-{name}")["spec"]
    assert "has no addon" in user("addon", "upgrade", cluster, "nothing", "--set", "a=1", fails=3).err


def test_an_upgrade_waits_for_what_was_asked_for_last(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name, "--version", "1.0.0")
    addons.status(f"{cluster}-{name}", phase="Installed", observedGeneration=1, installedVersion="1.0.0")
    started = user.start("addon", "upgrade", cluster, name, "--version", "1.1.0", "--wait")
    started.err_until("Pending")
    addons.status(f"{cluster}-{name}", phase="Installed", observedGeneration=2, installedVersion="1.1.0")
    ended = started.end()
    assert (ended.code, "is installed: 1.1.0" in ended.out) == (0, True)


def test_removal_asks_and_waits(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name)
    addons.status(f"{cluster}-{name}", helmRelease={"name": "graphs", "namespace": "monitoring"})
    asked = user("addon", "uninstall", cluster, name, stdin="n\n", fails=1)
    assert "release monitoring/graphs, and everything that it made there?" in asked.err
    assert "nobody is there to answer" in user("addon", "uninstall", cluster, name, fails=2).err
    addons.hold(f"{cluster}-{name}", "test.example/held")
    started = user.start("addon", "uninstall", cluster, name, "--yes")
    addons_of_cluster = started.err_until("Pending")
    assert "gone" not in addons_of_cluster
    addons.hold(f"{cluster}-{name}")
    ended = started.end()
    assert (ended.code, ended.out) == (0, f"✓ addon {name} of cluster butler-tenants/{cluster} is gone\n")
    assert cluster not in addons.names()


def test_removal_need_not_be_waited_for(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name)
    addons.hold(f"{cluster}-{name}", "test.example/held")
    assert "is being removed" in user("addon", "uninstall", cluster, name, "--yes", "--no-wait").out
    assert "still being removed" in user("addon", "install", cluster, name, fails=7).err
    assert "it is being removed" in user("addon", "upgrade", cluster, name, "--set", "a=1", fails=7).err
    addons.hold(f"{cluster}-{name}")


@pytest.mark.parametrize(
    ("category", "told"),
    [
        ("ingress", "switches it off: set spec.addons.ingress.enabled to false"),
        ("certmanager", "set spec.addons.certManager.enabled to false"),
        ("cni", "a cluster cannot live without its network"),
        ("other", "every cluster has it"),
    ],
)
def test_what_the_platform_keeps_is_not_removed_here(user: User, addons: Addons, category: str, told: str) -> None:
    cluster, name = addons.cluster(), addons.define("front", category=category)
    seen = [*PLATFORM, {"name": name, "version": "1", "status": "Healthy", "managedBy": "butler"}]
    user.status(cluster, observedState={"kubernetesVersion": "v1.32.2", "addons": seen})
    refused = user("addon", "uninstall", cluster, name, "--yes", fails=7).err
    assert "is an addon that the platform keeps in cluster" in refused
    assert told in refused


@pytest.mark.parametrize(
    "command", [("values",), ("diff",), ("upgrade", "--version", "1.2.3")], ids=lambda command: str(command[0])
)
def test_what_the_platform_keeps_is_changed_elsewhere(user: User, addons: Addons, command: tuple[str, ...]) -> None:
    cluster, name = addons.cluster(), addons.define("front", category="ingress")
    seen = [*PLATFORM, {"name": name, "version": "1", "status": "Healthy", "managedBy": "butler"}]
    user.status(cluster, observedState={"kubernetesVersion": "v1.32.2", "addons": seen})
    verb, *flags = command
    refused = user("addon", verb, cluster, name, *flags, fails=7).err
    assert f"spec.addons.ingress of the cluster says how, and `butlerctl cluster edit {cluster}` changes it" in refused


def test_one_that_a_profile_made_is_changed_with_a_warning(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name)
    owner = {"apiVersion": "example.com/v1", "kind": "AddonProfile", "name": "base", "uid": "1", "controller": True}
    change = json.dumps({"metadata": {"ownerReferences": [owner]}})
    user.kubectl("patch", "tenantaddon", f"{cluster}-{name}", "-n", "butler-tenants", "--type=merge", "-p", change)
    assert "AddonProfile base" in user("addon", "list", cluster).out
    warning = "Warning: AddonProfile base made this addon, and may take this back"
    assert warning in user("addon", "upgrade", cluster, name, "--set", "a=1").err
    assert warning in user("addon", "uninstall", cluster, name, "--yes").err


def test_one_that_others_name_as_what_they_need_stays(user: User, addons: Addons) -> None:
    cluster, base, name = addons.cluster(), addons.define("base"), addons.define("graphs")
    user("addon", "install", cluster, base)
    user("addon", "install", cluster, name)
    change = json.dumps({"spec": {"dependsOn": [{"name": f"{cluster}-{base}"}]}})
    user.kubectl("patch", "tenantaddon", f"{cluster}-{name}", "-n", "butler-tenants", "--type=merge", "-p", change)
    assert f"is needed by {name}" in user("addon", "uninstall", cluster, base, "--yes", fails=7).err
