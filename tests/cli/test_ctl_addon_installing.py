"""Installing addons: what is written, and all that is told before anything is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.addons import PLATFORM, Addons, addons_of
from tests.cli.conftest import User, condition

SCHEMA = {"type": "object", "properties": {"replicas": {"type": "integer", "minimum": 1}}, "required": ["site"]}
LEVELS = (f"  a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 10))
BOMB = "bomb:\n  a0: &a0 [lol]\n" + "".join(LEVELS)
"""Aliases of aliases: a few lines that stand for billions."""


@pytest.fixture
def addons(user: User) -> Iterator[Addons]:
    with addons_of(user) as made:
        yield made


def test_an_addon_is_written_down_with_its_cluster_in_its_name(user: User, addons: Addons, tmp_path: Path) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    file = tmp_path / "values.yaml"
    file.write_text("replicas: 2\nserver: {port: 80, day: 2026-01-02, true: x}\n")
    ended = user(
        "addon", "install", cluster, name, "--version", "1.0.0", "--values", str(file), "--set", "server.port=8080",
        "--set", r"annotations.example\.com/a=b", "--set", "list[0].name=x", "--set", "version=1.20",
        "--set", "tags=[a, 1]", "--set", "old=null", "--set", 'text="5"', "--set", "is=true",
    )  # fmt: skip
    assert f"✓ addon {name} of cluster butler-tenants/{cluster} requested" in ended.out
    assert f"butlerctl addon get {cluster} {name}" in ended.err
    made = addons.read(f"{cluster}-{name}")
    assert made["metadata"]["labels"] == {
        "butler.butlerlabs.dev/cluster": cluster, "butler.butlerlabs.dev/addon-definition": name,
    }  # fmt: skip
    assert made["spec"] == {
        "clusterRef": {"name": cluster},
        "addon": name,
        "version": "1.0.0",
        "values": {
            "replicas": 2,
            "server": {"port": 8080, "day": "2026-01-02", "true": "x"},
            "annotations": {"example.com/a": "b"},
            "list": [{"name": "x"}],
            "version": "1.20",
            "tags": ["a", 1],
            "old": None,
            "text": "5",
            "is": True,
        },
    }


def test_two_clusters_have_the_same_addon(user: User, addons: Addons) -> None:
    name = addons.define("graphs")
    for cluster in (addons.cluster(), addons.cluster()):
        assert user("addon", "install", cluster, name, "-o", "name").out == f"{cluster}-{name}\n"


def test_a_chart_that_is_in_no_catalogue(user: User, addons: Addons) -> None:
    cluster = addons.cluster()
    where = ("--chart", "web", "--repo", "oci://registry.example.com/charts")
    assert "needs --version" in user("addon", "install", cluster, "shopfront", *where, fails=2).err
    assert "go together" in user("addon", "install", cluster, "--chart", "web", fails=2).err
    assert "say which ADDON" in user("addon", "install", cluster, fails=2).err
    problem = user("addon", "install", cluster, *where, "--version", "1.x", fails=2).err
    assert "version '1.x' is not exactly one version" in problem
    wrong = user("addon", "install", cluster, "nats", "--repo-secret", "login", fails=2).err
    assert "--repo-secret is for --chart" in wrong
    rest = ("--version", "1.2.3", "--target-namespace", "web", "--repo-secret", "login")
    user("addon", "install", cluster, "shopfront", *where, *rest)
    assert addons.read(f"{cluster}-shopfront")["spec"] == {
        "clusterRef": {"name": cluster},
        "helm": {
            "chart": "web", "repository": "oci://registry.example.com/charts", "namespace": "web",
            "createNamespace": True, "releaseName": "shopfront", "credentialsRef": {"name": "login"},
        },
        "version": "1.2.3",
    }  # fmt: skip


def test_a_chart_is_called_in_the_cluster_as_on_the_command_line(user: User, addons: Addons) -> None:
    cluster, where = addons.cluster(), ("--repo", "https://charts.example.com", "--version", "1.2.3")
    user("addon", "install", cluster, "--chart", "web", *where)
    helm = addons.read(f"{cluster}-web")["spec"]["helm"]
    assert (helm["releaseName"], helm["namespace"]) == ("web", "web")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--set", "replicas=0"), "values.replicas breaks properties/replicas/minimum"),
        (("--set", "replicas=many"), "values.replicas breaks properties/replicas/type"),
        (("--set", "nothing"), "'nothing' is not KEY=VALUE"),
        (("--set", "a..b=1"), "is no path"),
        (("--set", "list[3]=1"), "so the next one is [0]"),
        (("--set", "a=1,b=2"), "this looks like several"),
        (("--set", "a={x,y}"), "a list is written [a,b]"),
        (("--set", "a=[x"), "a: this is not YAML"),
        (("--values", "/no/where.yaml"), "/no/where.yaml: No such file"),
        (("--version", ">=1"), "is not exactly one version"),
        (("--values-secret", "a/"), "neither NAME nor NAME/KEY"),
    ],
)
def test_bad_settings_are_told_and_nothing_is_written(
    user: User, addons: Addons, flags: tuple[str, ...], told: str
) -> None:
    cluster, name = addons.cluster(), addons.define("graphs", valuesSchema=SCHEMA, defaults={"values": {"site": "x"}})
    assert told in user("addon", "install", cluster, name, *flags, fails=2).err
    assert cluster not in addons.names()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "stdin: this is not YAML: line "),
        ("- a", "this is something else"),
        ("a: 1\n---\nb: 2", "these are several documents"),
        ("[" * 20_000, "stdin: this is not YAML: exceeded max depth"),
        (BOMB, "stdin: this is not YAML: "),
    ],
)
def test_files_that_are_no_values(user: User, addons: Addons, text: str, told: str) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    assert told in user("addon", "install", cluster, name, "--values", "-", stdin=text, fails=2).err
    assert cluster not in addons.names()


def test_values_that_depend_on_the_cluster_do_not_count_against_anybody(user: User, addons: Addons) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "own": {"type": "integer"}}, "required": ["n"]}
    name = addons.define("graphs", valuesSchema=schema, defaults={"values": {"n": "$(cluster.workers)"}})
    cluster = addons.cluster()
    assert "values.own breaks" in user("addon", "install", cluster, name, "--set", "own=x", fails=2).err
    assert "values.n breaks" in user("addon", "install", cluster, name, "--set", "n=x", fails=2).err
    user("addon", "install", cluster, name, "--set", "own=1")


def test_secrets_with_values_have_to_be_there_and_are_told_nothing_of(user: User, addons: Addons) -> None:
    cluster = addons.cluster()
    name = addons.define("graphs", valuesSchema=SCHEMA)
    good = addons.secret("good", values_yaml="site: abc", other="site: abc\nreplicas: 0")
    bad = addons.secret("bad", values_yaml="a: *hunter2")
    absent = user("addon", "install", cluster, name, "--values-secret", "absent", fails=3)
    assert "Secret butler-tenants/absent, which is to hold values, is not there" in absent.err
    keyless = user("addon", "install", cluster, name, "--values-secret", f"{good}/more", fails=3)
    assert f"{good}, which is to hold values, has no key more; it has other, values.yaml" in keyless.err
    broken = user("addon", "install", cluster, name, "--values-secret", bad, fails=2)
    assert ("has no map in YAML under values.yaml" in broken.err, "hunter2" in broken.err) == (True, False)
    assert "values.replicas" in user("addon", "install", cluster, name, "--values-secret", f"{good}/other", fails=2).err
    assert cluster not in addons.names()
    user("addon", "install", cluster, name, "--values-secret", good)
    assert addons.read(f"{cluster}-{name}")["spec"]["valuesFrom"] == [
        {"secretRef": {"name": good}, "key": "values.yaml"}
    ]


def test_an_unknown_addon_is_told_with_those_that_are_close(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("telegraph")
    ended = user("addon", "install", cluster, name.replace("telegraph", "telegrahp"), fails=3)
    assert f"did you mean {name}" in ended.err
    assert "`butlerctl addon catalog` shows all" in ended.err
    assert "there is no cluster" in user("addon", "install", "nobody", name, fails=3).err
    going = addons.cluster(phase="Deleting")
    assert "is being deleted" in user("addon", "install", going, name, fails=7).err


def test_four_requests_install_an_addon(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    told = user("-v", "addon", "install", cluster, name).err
    assert (told.count("GET "), told.count("POST ")) == (3, 1)


def test_what_does_not_go_with_the_cluster_is_refused(user: User, addons: Addons) -> None:
    cluster = addons.cluster()
    old = addons.define("old", kubernetesVersions="<1.20")
    cloudy = addons.define("cloudy", providers=["aws"])
    assert (
        ": it runs on Kubernetes <1.20, and the cluster has v1.32.2"
        in user("addon", "install", cluster, old, fails=7).err
    )
    assert ": it is for aws, and the cluster is on simulated" in user("addon", "install", cluster, cloudy, fails=7).err


def test_conflicts_are_refused_whoever_of_the_two_names_them(user: User, addons: Addons) -> None:
    cluster = addons.cluster()
    first = addons.define("first")
    second = addons.define("second", conflicts=[first])
    proud = addons.define("proud", conflicts=["traefik"])
    user("addon", "install", cluster, first)
    refused = user("addon", "install", cluster, second, fails=7).err
    assert f"cannot be beside {first}, which is there; `butlerctl addon uninstall {cluster} {first}`" in refused
    assert "beside traefik, which the platform keeps there" in user("addon", "install", cluster, proud, fails=7).err
    user("addon", "uninstall", cluster, first, "--yes")
    user("addon", "install", cluster, second)
    assert f"cannot be beside {second}" in user("addon", "install", cluster, first, fails=7).err


def test_what_an_addon_needs_has_to_be_there(user: User, addons: Addons) -> None:
    cluster, base = addons.cluster(), addons.define("base")
    name = addons.define("graphs", dependsOn=[base, "cilium"])
    refused = user("addon", "install", cluster, name, fails=7).err
    assert f"it needs {base}, which is not there; first `butlerctl addon install {cluster} {base}`" in refused
    user("addon", "install", cluster, base)
    user("addon", "install", cluster, name)
    assert f"is needed by {name}" in user("addon", "uninstall", cluster, base, "--yes", fails=7).err


def test_what_the_platform_is_still_bringing_counts_as_there(user: User, addons: Addons) -> None:
    ground = addons.define("ground", platform=True)
    name = addons.define("graphs", dependsOn=[ground])
    user("addon", "install", addons.cluster(phase="Installing"), name)
    assert f"it needs {ground}" in user("addon", "install", addons.cluster(), name, fails=7).err


def test_an_addon_that_is_there_is_not_installed_again(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    user("addon", "install", cluster, name)
    again = user("addon", "install", cluster, name, fails=7).err
    assert f"there is one already; `butlerctl addon get {cluster} {name}` shows it" in again
    twice = user("addon", "install", cluster, name, "--name", "other", fails=7).err
    assert f"it is there already, as {name}" in twice


def test_an_addon_of_the_platform_is_changed_with_the_cluster(user: User, addons: Addons) -> None:
    name = addons.define("front", category="ingress")
    cluster = addons.cluster()
    seen = [*PLATFORM, {"name": name, "version": "1", "status": "Healthy", "managedBy": "butler"}]
    user.status(cluster, observedState={"kubernetesVersion": "v1.32.2", "addons": seen})
    refused = user("addon", "install", cluster, name, fails=7).err
    assert f"spec.addons.ingress of the cluster says how, and `butlerctl cluster edit {cluster}` changes it" in refused


def test_names_of_two_clusters_that_run_into_each_other(user: User, addons: Addons) -> None:
    cluster = addons.cluster()
    name = addons.define("graphs")
    body = {
        "apiVersion": "butler.butlerlabs.dev/v1alpha1",
        "kind": "TenantAddon",
        "metadata": {"name": f"{cluster}-{name}", "namespace": "butler-tenants"},
        "spec": {"clusterRef": {"name": f"{cluster}-graphs"}, "addon": name},
    }
    user.kubectl("create", "-f", "-", stdin=json.dumps(body))
    refused = user("addon", "install", cluster, name, fails=7).err
    assert f"an addon of cluster {cluster}-graphs has that name; choose another with --name" in refused
    assert "has no addon" in user("addon", "get", cluster, name, fails=3).err
    user("addon", "install", cluster, name, "--name", "pictures")


def test_a_version_that_the_catalogue_does_not_know_is_remarked_on(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs", chart={"availableVersions": ["0.9.0"]})
    ended = user("addon", "install", cluster, name, "--version", "2.0.0")
    assert f"Warning: {name} 2.0.0 is not among the versions that the catalogue knows: 1.0.0, 0.9.0" in ended.err


def test_a_rehearsal_writes_nothing(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    alone = user("addon", "install", "nobody", "nothing", "--set", "password=x", "--dry-run=client", KUBECONFIG="")
    assert yaml.safe_load(alone.out)["spec"]["values"] == {"password": "x"}, "to be put into a file"
    checked = user("addon", "install", cluster, name, "--dry-run=server", "-o", "json")
    assert json.loads(checked.out)["metadata"]["name"] == f"{cluster}-{name}"
    assert "nothing was" in checked.err
    assert cluster not in addons.names()
    user("addon", "install", cluster, "nothing", "--dry-run=server", fails=3)


def test_what_is_printed_of_a_new_addon_holds_no_secret(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    made = user("addon", "install", cluster, name, "--set", "password=hunter2", "-o", "json")
    assert json.loads(made.out)["spec"]["values"] == {"password": "***"}
    assert addons.read(f"{cluster}-{name}")["spec"]["values"] == {"password": "hunter2"}


def test_the_wait_ends_when_it_is_installed(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    started = user.start("addon", "install", cluster, name, "--wait")
    started.err_until("Pending")
    addons.status(f"{cluster}-{name}", phase="Installing", observedGeneration=1, message="fetching the chart")
    started.err_until("Installing: fetching the chart")
    addons.status(f"{cluster}-{name}", phase="Installed", observedGeneration=1, installedVersion="1.0.0")
    ended = started.end()
    assert ended.code == 0
    assert f"addon {name} of cluster butler-tenants/{cluster} is installed: 1.0.0" in ended.out


@pytest.mark.parametrize(("reason", "code"), [("InvalidValues", 7), ("InstallFailed", 1)])
def test_the_wait_ends_when_it_fails(user: User, addons: Addons, reason: str, code: int) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    started = user.start("addon", "install", cluster, name, "--wait")
    started.err_until("Pending")
    failed = [condition("Ready", False, "no such chart", reason)]
    addons.status(f"{cluster}-{name}", phase="Failed", observedGeneration=1, message="no such chart", conditions=failed)
    ended = started.end()
    assert ended.code == code
    assert f"failed: no such chart; `butlerctl addon get {cluster} {name}` says more" in ended.err


def test_patience_that_ends_is_exit_code_5(user: User, addons: Addons) -> None:
    cluster, name = addons.cluster(), addons.define("graphs")
    ended = user("addon", "install", cluster, name, "--wait", "--timeout", "0.2", fails=5)
    assert f"not done after 0s: Pending; `butlerctl addon get {cluster} {name}` says more" in ended.err
