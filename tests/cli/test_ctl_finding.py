"""How a command finds its API, and what it says when it is the wrong one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from butler.cli.lazy import Failure
from butler.cli.session import Wishes, find, running_platform
from testbed.running.embedded import BUTLER, ServerProcess, start_server, stop_server
from tests.cli.conftest import User, condition

CONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://SERVER"}}]
contexts: [{name: a, context: {cluster: a}}, {name: b, context: {cluster: a, namespace: x}}]
current-context: a
"""

Damage = Callable[[dict[str, Any]], None]


class Home:
    """A home directory with kubeconfigs in it; each leads to a server of its own name."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environ = {"HOME": str(directory), "BUTLER_HOME": str(directory / ".butler")}

    def kubeconfig(self, place: str, server: str) -> Path:
        path = self.directory / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONFIG.replace("SERVER", server))
        return path

    def runs(self, pid: int) -> None:
        """Announce a local platform."""
        path = self.kubeconfig("data/kubeconfig", "local")
        announced = {"data": str(path.parent), "kubeconfig": str(path), "pid": pid, "more": 1}
        (self.directory / ".butler").mkdir(exist_ok=True)
        (self.directory / ".butler" / "local.json").write_text(json.dumps(announced))

    def server(self, wishes: Wishes | None = None, **environ: str) -> str:
        return find(wishes or Wishes(), self.environ | environ).cluster.server.removeprefix("https://")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_what_is_named_wins_over_what_is_found(home: Home) -> None:
    flag = home.kubeconfig("flag", "flag")
    variable = home.kubeconfig("variable", "variable")
    home.kubeconfig(".kube/config", "kube")
    assert home.server() == "kube"
    home.kubeconfig(".butler/site-kubeconfig", "butler")
    assert home.server() == "butler"
    home.runs(os.getpid())
    assert home.server() == "local"
    assert home.server(KUBECONFIG=str(variable)) == "variable"
    assert home.server(Wishes(context="b")) == "kube"
    assert home.server(Wishes(kubeconfig=flag), KUBECONFIG=str(variable)) == "flag"


def test_a_platform_that_has_ended_is_not_meant(home: Home) -> None:
    home.kubeconfig(".kube/config", "kube")
    home.runs(2**22 + 1)
    assert home.server() == "kube"
    home.runs(os.getpid())
    (home.directory / "data/kubeconfig").unlink()
    assert home.server() == "kube"


def test_the_usual_platform_is_found_again_when_the_one_started_last_has_ended(home: Home) -> None:
    home.runs(2**22 + 1)
    usual = home.kubeconfig(".butler/local/kubeconfig", "usual")
    announced = {"data": str(usual.parent), "kubeconfig": str(usual), "pid": os.getpid()}
    (usual.parent / "running.json").write_text(json.dumps(announced))
    assert home.server() == "usual"


@pytest.mark.parametrize("content", ["", "[]", "{", '{"pid": 1}', '{"data": "a", "kubeconfig": "b", "pid": "c"}'])
def test_a_damaged_announcement_is_ignored(home: Home, content: str) -> None:
    (home.directory / ".butler").mkdir()
    (home.directory / ".butler" / "local.json").write_text(content)
    assert running_platform(home.environ) is None


def test_several_platforms_must_be_told_apart(home: Home) -> None:
    home.kubeconfig(".butler/a-kubeconfig", "a")
    home.kubeconfig(".butler/kubeconfig", "b")
    with pytest.raises(Failure, match=r"several platforms.*a-kubeconfig, .*/kubeconfig"):
        home.server()


def test_a_kubeconfig_variable_that_names_nothing_is_an_error(home: Home) -> None:
    home.kubeconfig(".kube/config", "kube")
    with pytest.raises(Failure, match="names no file that exists: /no/where"):
        home.server(KUBECONFIG="/no/where")


def test_nothing_at_all_says_how_to_begin(user: User) -> None:
    refused = user("cluster", "list", fails=6, KUBECONFIG="")
    assert "start a platform with `butleradm up`" in refused.err


def test_a_running_platform_is_found_by_itself(user: User, platform: ServerProcess) -> None:
    (user.home / ".butler").mkdir()
    announced = {"data": str(platform.data), "kubeconfig": str(platform.kubeconfig), "pid": platform.process.pid}
    (user.home / ".butler" / "local.json").write_text(json.dumps(announced))
    name = user.cluster()
    assert user("cluster", "get", name, "-o", "name", KUBECONFIG="").out == f"{name}\n"


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server that nobody told of Butler's kinds."""
    server = start_server(tmp_path / "bare", program=BUTLER)
    yield server
    stop_server(server)


def test_an_api_without_butlers_kinds_is_named_with_a_remedy(user: User, bare: ServerProcess) -> None:
    where = ["--kubeconfig", str(bare.kubeconfig)]
    for words in (
        ["list"],
        ["get", "a"],
        ["create", "a", "-p", "x"],
        ["scale", "a", "-w", "1"],
        ["destroy", "a", "-y"],
    ):
        refused = user("cluster", *words, *where, fails=6).err
        assert f'context "butler" of {bare.kubeconfig}) is not a Butler platform' in refused
        assert "--kubeconfig or --context" in refused


def cut_off(part: str, name: str) -> Damage:
    """A certificate or a key of which only the beginning is left."""

    def damage(config: dict[str, Any]) -> None:
        entry = config[f"{part}s"][0][part]
        entry[name] = entry[name][:100]

    return damage


def with_server(address: str) -> Damage:
    return lambda config: config["clusters"][0]["cluster"].update(server=address)


DAMAGES: dict[str, Damage | bytes] = {
    "nothing": b"",
    "not a text": bytes(range(256)),
    "not YAML": b"[[[",
    "a word": b"kubeconfig",
    "half of it": b"apiVersion: v1\nkind: Config\nclusters:\n- name: a\n  cluster:\n    ser",
    "authority": cut_off("cluster", "certificate-authority-data"),
    "certificate": cut_off("user", "client-certificate-data"),
    "key": cut_off("user", "client-key-data"),
    "address": with_server("https://["),
    "port": with_server("https://127.0.0.1:99999"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_kubeconfig_that_was_destroyed_leads_to_no_platform(
    user: User, platform: ServerProcess, tmp_path: Path, damage: Damage | bytes
) -> None:
    path = tmp_path / "destroyed"
    if isinstance(damage, bytes):
        path.write_bytes(damage)
    else:
        config = yaml.safe_load(platform.kubeconfig.read_text())
        damage(config)
        path.write_text(yaml.safe_dump(config))
    for words in (("list",), ("create", "shop", "--no-wait")):
        said = user("cluster", *words, "--kubeconfig", str(path), fails=6)
        assert len(said.err.splitlines()) == 1


def test_an_api_that_does_not_answer_is_named(user: User, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(CONFIG.replace("SERVER", "127.0.0.1:1"))
    for words in (["list"], ["create", "a"]):
        refused = user("cluster", *words, "--kubeconfig", str(path), fails=6).err
        assert "127.0.0.1:1: Connection refused" in refused
        assert "butleradm up" in refused


def jane(user: User, directory: Path) -> Path:
    """The kubeconfig of someone who may do nothing yet."""
    content: dict[str, Any] = json.loads(user.kubectl("config", "view", "--raw", "-o", "json").out)
    content["users"][0]["user"]["as"] = "jane"
    path = directory / "jane"
    path.write_text(json.dumps(content))
    return path


def test_someone_who_may_see_only_the_cluster_is_told_what_it_says(user: User, tmp_path: Path) -> None:
    name, where = user.cluster(), ("-n", "butler-tenants")
    user.status(name, conditions=[condition("WorkersReady", False, "0 of 3 workers are ready")])
    user.kubectl("create", "role", name, *where, "--verb=get", "--resource=tenantclusters")
    user.kubectl("create", "rolebinding", name, *where, f"--role={name}", "--user=jane")
    shown = user("cluster", "why", name, "--kubeconfig", str(jane(user, tmp_path))).out
    assert "waiting for  0 of 3 workers are ready" in shown
    assert "you may not see more: providerconfigs.butler.butlerlabs.dev is forbidden" in shown
    user.kubectl("delete", "rolebinding", name, *where)


def test_someone_without_rights_is_exit_code_4(user: User, tmp_path: Path) -> None:
    path = jane(user, tmp_path)
    for words in (["list"], ["scale", "a", "-w", "2"]):
        assert 'User "jane" cannot' in user("cluster", *words, "--kubeconfig", str(path), fails=4).err
