"""The catalogue and the addons of clusters, as people and programs read them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml

from tests.cli.addons import Addons, addons_of
from tests.cli.conftest import User, condition
from tests.cli.test_ctl_program import completed

SECRET = "hunter2-and-more"


@pytest.fixture
def addons(user: User) -> Iterator[Addons]:
    with addons_of(user) as made:
        yield made


def test_the_catalogue_is_a_table(user: User, addons: Addons) -> None:
    name = addons.define("graphs", displayName="Graphs", category="observability", platform=True)
    lines = user("addon", "catalog").out.splitlines()
    assert lines[0].split("  ")[0] == "NAME"
    assert [part.strip() for part in lines[0].split("   ") if part] == [
        "NAME", "DISPLAY NAME", "CATEGORY", "VERSION", "PLATFORM",
    ]  # fmt: skip
    assert next(line.split() for line in lines if line.startswith(name)) == [
        name, "Graphs", "observability", "1.0.0", "yes",
    ]  # fmt: skip


def test_the_catalogue_is_chosen_from(user: User, addons: Addons) -> None:
    anywhere = addons.define("anywhere", category="backup")
    cloudy = addons.define("cloudy", category="backup", providers=["aws"])
    other = addons.define("other", category="dns")
    shown = user("addon", "catalog", "--category", "backup", "-o", "name").out.split()
    assert {anywhere, cloudy} <= {*shown}
    assert other not in shown
    assert cloudy not in user("addon", "catalog", "--provider", "gcp", "-o", "name").out
    assert anywhere in user("addon", "catalog", "--provider", "gcp", "-o", "name").out
    assert "'nonsense' has no addons; there are " in user("addon", "catalog", "--category", "nonsense", fails=2).err


def test_an_entry_tells_all_that_matters(user: User, addons: Addons) -> None:
    name = addons.define(
        "graphs", chart={"availableVersions": ["0.9.0"]}, dependsOn=["cilium"], conflicts=["pictures"],
        kubernetesVersions=">=1.28 <1.37", links={"homepage": "https://graphs.example.com"},
        defaults={"values": {"replicas": 2}, "namespace": "monitoring"},
    )  # fmt: skip
    shown = user("addon", "catalog", name).out
    for words in (
        "https://charts.example.com", "1.0.0, 0.9.0", "cilium", "pictures", ">=1.28 <1.37",
        "https://graphs.example.com", "monitoring", "Default values:\n  replicas: 2",
    ):  # fmt: skip
        assert words in shown
    assert yaml.safe_load(user("addon", "catalog", name, "-o", "yaml").out)["spec"]["dependsOn"] == ["cilium"]


def test_an_entry_that_is_not_there_is_told_with_those_that_are_close(user: User, addons: Addons) -> None:
    name = addons.define("telegraph")
    ended = user("addon", "catalog", name.replace("telegraph", "telegrph"), fails=3)
    assert f"did you mean {name}" in ended.err


def test_a_list_has_what_the_platform_keeps_and_what_users_installed(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name, "--version", "1.0.0")
    addons.status(f"{cluster}-{name}", phase="Installed", installedVersion="1.0.0")
    rows = [line.split("   ") for line in user("addon", "list", cluster).out.splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert cells == [
        ["NAME", "ADDON", "VERSION", "PHASE", "INSTALLED", "MANAGED BY"],
        ["cilium", "cilium", "1.17.0", "Healthy", "1.17.0", "butler (platform)"],
        ["traefik", "traefik", "34.3.0", "Degraded", "34.3.0", "flux (platform)"],
        [f"{cluster}-{name}", name, "1.0.0", "Installed", "1.0.0", "butler"],
    ]
    items = json.loads(user("addon", "list", cluster, "-o", "json").out)
    assert [one["platform"] for one in items] == [True, True, False]
    assert items[1]["message"] == "one pod of two"


def test_a_list_of_all_clusters_says_which(user: User, addons: Addons) -> None:
    name, clusters = addons.define("graphs"), [addons.cluster(), addons.cluster()]
    for cluster in clusters:
        user("addon", "install", cluster, name)
    items = json.loads(user("addon", "list", "-A", "-o", "json").out)
    assert {one["cluster"] for one in items if one["addon"] == name} == {*clusters}
    assert user("addon", "list", "-A").out.startswith("NAMESPACE")
    assert user("addon", "list", "-A", "-n", "butler-system", "-o", "name").out == ""
    assert "say which CLUSTER" in user("addon", "list", fails=2).err
    assert "there is no cluster" in user("addon", "list", "nobody", fails=3).err


def test_two_requests_make_a_list(user: User, addons: Addons) -> None:
    assert user("-v", "addon", "list", addons.cluster()).err.count("GET ") == 2


def test_one_addon_is_shown_with_its_release_conditions_and_events(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name, "--set", f"adminPassword={SECRET}", "--set", "replicas=2")
    release = {"name": "graphs", "namespace": "monitoring", "revision": 3, "status": "deployed"}
    held = [condition("Ready", False, "one pod of two", "NotReady")]
    addons.status(
        f"{cluster}-{name}", phase="Degraded", installedVersion="1.0.0", helmRelease=release, message="one pod of two",
        conditions=held,
    )  # fmt: skip
    event = {
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "AddonDegraded", "message": "it limps",
        "metadata": {"name": f"{cluster}.1", "namespace": "butler-tenants"},
        "involvedObject": {
            "apiVersion": "butler.butlerlabs.dev/v1alpha1", "kind": "TenantAddon", "name": f"{cluster}-{name}",
            "namespace": "butler-tenants",
        },
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    user.kubectl("create", "-f", "-", stdin=json.dumps(event))
    shown = user("addon", "get", cluster, name).out
    for words in ("monitoring/graphs, revision 3, deployed", "Degraded", "NotReady", "it limps", "replicas: 2"):
        assert words in shown
    assert "adminPassword: '***'" in shown


def test_no_get_shows_a_secret(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    body = {
        "apiVersion": "butler.butlerlabs.dev/v1alpha1",
        "kind": "TenantAddon",
        "metadata": {"name": f"{cluster}-{name}", "namespace": "butler-tenants"},
        "spec": {
            "clusterRef": {"name": cluster},
            "addon": name,
            "values": {
                "auth": {"apiToken": SECRET, "list": [{"secretKey": SECRET}], "secretless": True},
                "env": [{"name": "DB_PASSWORD", "value": SECRET}, {"name": "LEVEL", "value": "debug"}],
            },
        },
    }
    user.kubectl("apply", "-f", "-", stdin=json.dumps(body))
    for output in ("text", "json", "yaml"):
        shown = user("addon", "get", cluster, name, "-o", output).out
        assert SECRET not in shown
        assert "debug" in shown
    values = json.loads(user("addon", "values", cluster, name, "-o", "json").out)
    assert values["env"][0] == {"name": "DB_PASSWORD", "value": "***"}
    assert values["auth"]["secretless"] is True, "a switch is no secret"
    assert SECRET in user("addon", "values", cluster, name, "--show-secrets").out


def test_values_are_merged_and_those_of_secrets_hidden(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs", defaults={"values": {"replicas": 1, "level": "info"}})
    secret = addons.secret("more", values_yaml=f"database: {{user: {SECRET}}}\nreplicas: 7\n")
    user("addon", "install", cluster, name, "--set", "replicas=2", "--values-secret", secret)
    assert yaml.safe_load(user("addon", "values", cluster, name).out) == {
        "replicas": "***", "database": {"user": "***"},
    }  # fmt: skip
    everything = yaml.safe_load(user("addon", "values", cluster, name, "--all").out)
    assert everything == {"replicas": "***", "level": "info", "database": {"user": "***"}}
    seen = yaml.safe_load(user("addon", "values", cluster, name, "--all", "--show-secrets").out)
    assert seen == {"replicas": 7, "level": "info", "database": {"user": SECRET}}
    assert secret in user("addon", "get", cluster, name).out
    user.kubectl("delete", "secret", secret, "-n", "butler-tenants")
    ended = user("addon", "values", cluster, name)
    assert (yaml.safe_load(ended.out), f"without the values of Secret {secret}" in ended.err) == ({"replicas": 2}, True)


def test_an_addon_of_the_platform_can_be_looked_at(user: User, addons: Addons) -> None:
    cluster = addons.cluster()
    shown = user("addon", "get", cluster, "traefik").out
    assert "as part of the cluster" in shown
    assert "one pod of two" in shown
    assert json.loads(user("addon", "get", cluster, "traefik", "-o", "json").out)["platform"] is True
    ended = user("addon", "get", cluster, "nothing", fails=3)
    assert f'has no addon "nothing"; `butlerctl addon list {cluster}` shows all' in ended.err


def test_an_addon_is_found_by_each_of_its_names(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name, "--name", "pictures")
    for called in ("pictures", name, f"{cluster}-pictures"):
        assert user("addon", "get", cluster, called, "-o", "name").out == f"{cluster}-pictures\n"
    assert user("addon", "get", f"butler-tenants/{cluster}", "pictures", "-o", "name").out == f"{cluster}-pictures\n"


def test_names_are_completed(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    assert completed(user, "addon", "install", cluster, name[:9]) == [name]
    user("addon", "install", cluster, name)
    assert completed(user, "addon", "uninstall", cluster, "") == [name]
