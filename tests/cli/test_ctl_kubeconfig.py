"""butlerctl cluster kubeconfig: printed, written, merged."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path
from typing import Any

import yaml

from tests.cli.conftest import User, running


def kubeconfig(server: str = "https://10.0.0.1:6443") -> str:
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "kamaji", "cluster": {"server": server}}],
            "users": [{"name": "kubernetes-admin", "user": {"token": "t"}}],
            "contexts": [{"name": "x", "context": {"cluster": "kamaji", "user": "kubernetes-admin"}}],
            "current-context": "x",
        }
    )


def furnished(user: User, key: str = "admin.conf", server: str = "https://10.0.0.1:6443") -> str:
    """A cluster with a kubeconfig."""
    name = user.cluster()
    inside = f"{name}-1"
    user.kubectl("create", "namespace", inside)
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{name}-admin-kubeconfig", "namespace": inside},
        "data": {key: base64.b64encode(kubeconfig(server).encode()).decode()},
    }
    user.kubectl("create", "-f", "-", stdin=json.dumps(secret))
    user.status(name, **running(tenantNamespace=inside))
    return name


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def test_it_is_printed(user: User) -> None:
    for key in ("admin.conf", "kubeconfig", "value"):
        name = furnished(user, key)
        assert user("cluster", "kubeconfig", name).out == kubeconfig()
        assert user("cluster", "kubeconfig", name, "-o", "-").out == kubeconfig()


def test_a_file_is_for_its_owner_only(user: User, tmp_path: Path) -> None:
    name, path = furnished(user), tmp_path / "shop.kubeconfig"
    path.write_text("old")
    path.chmod(0o644)
    user("cluster", "kubeconfig", name, "-o", str(path))
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (kubeconfig(), 0o600)
    assert "No such file" in user("cluster", "kubeconfig", name, "-o", str(tmp_path / "no/where"), fails=1).err


def test_a_cluster_without_one_says_why(user: User) -> None:
    name = user.cluster()
    refused = user("cluster", "kubeconfig", name, fails=3).err
    assert f"has no kubeconfig yet: it is Pending; `butlerctl cluster why {name}`" in refused


def test_merging_adds_a_context_and_keeps_everything_else(user: User) -> None:
    name = furnished(user)
    target = Path(user.environ["HOME"], "config")
    before = loaded(Path(user.environ["KUBECONFIG"]))
    before["preferences"] = {"colors": True}
    target.write_text(yaml.safe_dump(before))
    where = {"KUBECONFIG": str(target)}
    user("cluster", "kubeconfig", name, "--merge", "--set-context", **where)
    after = loaded(target)
    assert after["current-context"] == name
    assert after["clusters"] == [*before["clusters"], {"name": name, "cluster": {"server": "https://10.0.0.1:6443"}}]
    assert after["users"] == [*before["users"], {"name": f"{name}-admin", "user": {"token": "t"}}]
    assert after["contexts"][-1] == {"name": name, "context": {"cluster": name, "user": f"{name}-admin"}}
    assert after["preferences"] == {"colors": True}
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_the_current_context_may_stay(user: User) -> None:
    name = furnished(user)
    target = Path(user.environ["HOME"], "config")
    target.write_text(Path(user.environ["KUBECONFIG"]).read_text())
    shown = user("cluster", "kubeconfig", name, "--merge", "--no-set-context", KUBECONFIG=str(target))
    assert loaded(target)["current-context"] == "butler"
    assert f"kubectl --context {name} get nodes" in shown.err


def test_the_context_by_which_the_platform_is_found_stays_the_current_one(user: User) -> None:
    name = furnished(user)
    target = Path(user.environ["HOME"], "config")
    target.write_text(Path(user.environ["KUBECONFIG"]).read_text())
    shown = user("cluster", "kubeconfig", name, "--merge", KUBECONFIG=str(target))
    assert loaded(target)["current-context"] == "butler"
    assert f"kubectl --context {name} get nodes" in shown.err
    user("cluster", "get", name, KUBECONFIG=str(target))


def test_the_file_of_a_platform_is_left_alone(user: User) -> None:
    name, own = furnished(user), Path(user.environ["KUBECONFIG"])
    before = own.read_bytes()
    shown = user("cluster", "kubeconfig", name, "--merge", "--set-context")
    assert own.read_bytes() == before
    usual = user.home / ".kube" / "config"
    assert loaded(usual)["current-context"] == name
    assert f"kubectl --kubeconfig {usual} get nodes" in shown.err
    other = user.home / "other"
    both = f"{own}:{other}"
    user("cluster", "kubeconfig", name, "--merge", "--as", "mine", KUBECONFIG=both)
    assert own.read_bytes() == before
    assert [one["name"] for one in loaded(other)["contexts"]] == ["mine"]
    user("cluster", "get", name, KUBECONFIG=both)


def test_without_kubeconfig_it_goes_to_the_usual_place(user: User, tmp_path: Path) -> None:
    name = furnished(user)
    user("cluster", "kubeconfig", name, "--merge", "--kubeconfig", user.environ["KUBECONFIG"], KUBECONFIG="")
    assert loaded(user.home / ".kube" / "config")["current-context"] == name


def test_a_context_that_leads_elsewhere_is_not_lost(user: User) -> None:
    name = furnished(user)
    target = Path(user.environ["HOME"], "config")
    target.write_text(Path(user.environ["KUBECONFIG"]).read_text())
    where = {"KUBECONFIG": str(target)}
    server = loaded(target)["clusters"][0]["cluster"]["server"]
    refused = user("cluster", "kubeconfig", name, "--merge", "--as", "butler", fails=7, **where).err
    assert f'has a context "butler" already, for {server}; replace it with --overwrite' in refused
    user("cluster", "kubeconfig", name, "--merge", "--as", "mine", "--no-set-context", **where)
    user("cluster", "kubeconfig", name, "--merge", "--as", "mine", "--no-set-context", **where)
    assert [one["name"] for one in loaded(target)["contexts"]] == ["butler", "mine"]
    user("cluster", "kubeconfig", name, "--merge", "--as", "butler", "--overwrite", **where)
    assert loaded(target)["clusters"][0]["cluster"]["server"] == "https://10.0.0.1:6443"


def test_two_places_at_once_are_wrong_usage(user: User) -> None:
    user("cluster", "kubeconfig", "a", "--merge", "-o", "b", fails=2)
