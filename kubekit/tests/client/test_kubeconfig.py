"""Kubeconfig files: what kubectl would make of them, and errors that help without telling secrets."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubekit.client import kubeconfig
from kubekit.client.config import Config, Impersonation, User
from kubekit.errors import InvalidConfiguration

SECRET = "s3cr3t-t0ken"


def content(
    name: str = "one", *, user: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A kubeconfig whose cluster, user and context have one name."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}.example.com:6443", **(cluster or {})}}],
        "users": [{"name": name, "user": {"token": SECRET} if user is None else user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
        **more,
    }


def written(path: Path, data: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else yaml.safe_dump(data))
    return path


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def loaded(tmp_path: Path, data: Any) -> Config:
    return kubeconfig.load(written(tmp_path / "config", data), environ={})


def test_an_explicit_path_wins(tmp_path: Path) -> None:
    other = written(tmp_path / "other", content("other"))
    environ = {"KUBECONFIG": str(other), "HOME": str(tmp_path)}
    assert kubeconfig.load(written(tmp_path / "mine", content("mine")), environ=environ).context == "mine"


def test_an_explicit_path_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="nowhere: No such file"):
        kubeconfig.load(tmp_path / "nowhere", environ={})


def test_the_home_directory_comes_last(tmp_path: Path) -> None:
    written(tmp_path / ".kube" / "config", content("home"))
    assert kubeconfig.load(environ={"HOME": str(tmp_path)}).context == "home"


def test_files_of_the_list_that_do_not_exist_are_skipped(tmp_path: Path) -> None:
    listed = f"{tmp_path}/missing::{written(tmp_path / 'there', content('there'))}"
    assert kubeconfig.load(environ={"KUBECONFIG": listed}).context == "there"


def test_no_file_at_all_is_said_with_the_places_that_were_tried(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=f"{tmp_path}/.kube/config: current-context: is not set"):
        kubeconfig.load(environ={"HOME": str(tmp_path)})


def test_an_empty_file_is_an_empty_config(tmp_path: Path) -> None:
    assert kubeconfig.read(written(tmp_path / "config", "")).contexts == ()


def test_without_a_file_a_pod_uses_its_service_account(tmp_path: Path) -> None:
    account = tmp_path / "account"
    written(account / "token", SECRET)
    written(account / "namespace", "team\n")
    environ = {"HOME": str(tmp_path), "KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    config = kubeconfig.load(environ=environ, service_account=account)
    assert config.cluster.server == "https://[fd00::1]:443"
    assert (config.namespace, config.user.token_file) == ("team", account / "token")
    assert config.cluster.authority.file == account / "ca.crt"


def test_a_new_entry_goes_into_the_first_file_that_exists(tmp_path: Path) -> None:
    there = written(tmp_path / "there", "")
    environ = {"KUBECONFIG": f"{tmp_path}/a:{there}:{tmp_path}/b"}
    assert kubeconfig.default_path(environ) == there
    there.unlink()
    assert kubeconfig.default_path(environ) == tmp_path / "b"


FIRST = {
    "clusters": [{"name": "shared", "cluster": {"server": "https://first"}}],
    "users": [{"name": "me", "user": {"token": "first"}}],
    "contexts": [{"name": "a", "context": {"cluster": "shared", "user": "me"}}],
}
SECOND = {
    "clusters": [
        {"name": "shared", "cluster": {"server": "https://second", "tls-server-name": "second"}},
        {"name": "own", "cluster": {"server": "https://own"}},
    ],
    "users": [{"name": "me", "user": {"token": "second", "as": "someone"}}],
    "contexts": [
        {"name": "a", "context": {"cluster": "own", "user": "me"}},
        {"name": "b", "context": {"cluster": "own", "user": "me", "namespace": "team"}},
    ],
    "current-context": "b",
}


@pytest.mark.parametrize(
    ("files", "context", "server", "token", "namespace"),
    [
        ((FIRST, SECOND), "a", "https://first", "first", ""),
        ((FIRST, SECOND), "", "https://own", "first", "team"),
        ((SECOND, FIRST), "a", "https://own", "second", ""),
        (({**FIRST, "current-context": "a"}, SECOND), "", "https://first", "first", ""),
        (({**FIRST, "current-context": ""}, SECOND), "", "https://own", "first", "team"),
        ((FIRST, {"current-context": "a"}), "", "https://first", "first", ""),
    ],
)
def test_the_first_file_that_has_an_entry_counts(
    tmp_path: Path, files: tuple[Any, ...], context: str, server: str, token: str, namespace: str
) -> None:
    paths = [written(tmp_path / str(number), data) for number, data in enumerate(files)]
    config = kubeconfig.load(context=context, environ={"KUBECONFIG": ":".join(map(str, paths))})
    assert (config.cluster.server, config.user.token, config.namespace) == (server, token, namespace)


def test_entries_are_never_mixed(tmp_path: Path) -> None:
    paths = [written(tmp_path / str(number), data) for number, data in enumerate((FIRST, SECOND))]
    config = kubeconfig.load(context="a", environ={"KUBECONFIG": ":".join(map(str, paths))})
    assert config.cluster.tls_server_name == ""
    assert config.user.impersonation == Impersonation()


def test_paths_are_relative_to_the_file_they_stand_in(tmp_path: Path) -> None:
    cluster = {"certificate-authority": "pki/ca.crt"}
    user = {"client-certificate": "me.crt", "client-key": "/keys/me.key", "tokenFile": "token"}
    first = written(tmp_path / "x" / "config", {"current-context": "one"})
    second = written(tmp_path / "y" / "config", content(cluster=cluster, user=user))
    config = kubeconfig.load(environ={"KUBECONFIG": f"{first}:{second}"})
    assert config.cluster.authority.file == tmp_path / "y" / "pki" / "ca.crt"
    assert config.user.certificate.file == tmp_path / "y" / "me.crt"
    assert config.user.key.file == Path("/keys/me.key")
    assert config.user.token_file == tmp_path / "y" / "token"


def test_a_command_with_a_path_is_relative_too_but_a_bare_one_is_searched_for(tmp_path: Path) -> None:
    def command(given: str) -> str:
        plugin = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": given}
        found = loaded(tmp_path, content(user={"exec": plugin})).user.plugin
        assert found is not None
        return found.command

    assert command("bin/login") == f"{tmp_path}/bin/login"
    assert command("login") == "login"


def test_every_field_of_a_cluster_is_read(tmp_path: Path) -> None:
    cluster = {
        "server": "https://host:8443/clusters/demo/",
        "certificate-authority-data": encoded("authority"),
        "certificate-authority": "ignored",
        "insecure-skip-tls-verify": True,
        "tls-server-name": "inner",
        "proxy-url": "http://proxy:3128",
        "disable-compression": True,
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}],
    }
    found = loaded(tmp_path, content(cluster=cluster)).cluster
    assert found.server == "https://host:8443/clusters/demo"
    assert found.authority.read() == b"authority"
    assert (found.insecure, found.tls_server_name, found.proxy_url) == (True, "inner", "http://proxy:3128")
    assert (found.disable_compression, found.exec_config) == (True, {"audience": "x"})


def test_every_field_of_a_user_is_read(tmp_path: Path) -> None:
    user = {
        "client-certificate-data": encoded("certificate"),
        "client-key-data": encoded("key"),
        "username": "me",
        "password": "p",
        "as": "someone",
        "as-uid": "7",
        "as-groups": ["g1", "g2"],
        "as-user-extra": {"reason": ["a", "b"]},
    }
    found = loaded(tmp_path, content(user=user)).user
    assert (found.certificate.read(), found.key.read()) == (b"certificate", b"key")
    assert (found.username, found.password) == ("me", "p")
    assert found.impersonation == Impersonation("someone", ("g1", "g2"), "7", {"reason": ("a", "b")})


def test_a_plug_in_is_read(tmp_path: Path) -> None:
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "login",
        "args": ["--quiet"],
        "env": [{"name": "A", "value": "1"}],
        "installHint": "install it",
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    found = loaded(tmp_path, content(user={"exec": plugin})).user.plugin
    assert found is not None
    assert (found.command, found.args, found.env) == ("login", ("--quiet",), {"A": "1"})
    assert (found.install_hint, found.provide_cluster_info, found.interactive_mode) == ("install it", True, "Never")


@pytest.mark.parametrize(
    ("server", "more", "address"),
    [
        ("host:6443", {}, "http://host:6443"),
        ("host:6443", {"insecure-skip-tls-verify": True}, "https://host:6443"),
        ("http://host", {}, "http://host"),
        ("https://[fd00::1]:6443/", {}, "https://[fd00::1]:6443"),
    ],
)
def test_an_address_without_a_scheme_is_understood_like_kubectl_does(
    tmp_path: Path, server: str, more: dict[str, Any], address: str
) -> None:
    assert loaded(tmp_path, content(cluster={"server": server, **more})).cluster.server == address


def test_null_is_as_good_as_nothing(tmp_path: Path) -> None:
    data = content() | {"preferences": {}, "extensions": None}
    data["users"] = [{"name": "one", "user": {"token": SECRET, "as-groups": None, "exec": None}}]
    assert loaded(tmp_path, data).user.token == SECRET
    assert loaded(tmp_path, content() | {"users": [{"name": "one", "user": None}]}).user == User()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("clusters: [\n  - token: s3cr3t-t0ken: x", "config: line 2: this is not YAML"),
        ("just text", "config: content: Expected `object`, got `str`"),
        (content(user={"token": 5}), "config: users[0].user.token: Expected `str`, got `int`"),
        (content(user={"client-key-data": SECRET}), "users[0].user.client-key-data: Invalid base64"),
        (content() | {"current-context": ""}, "config: current-context: is not set; contexts there: one"),
        (content() | {"current-context": "two"}, 'current-context: there is no context "two"; contexts there: one'),
        (content() | {"clusters": []}, 'context "one": cluster: there is no cluster "one"'),
        (content() | {"users": []}, 'context "one": user: there is no user "one"'),
        (content(cluster={"server": ""}), 'context "one": clusters[one].server: is not set'),
        (content(cluster={"server": "ftp://x"}), "clusters[one].server: is not an http:// or https:// address"),
        (content(cluster={"proxy-url": "socks5://x"}), "clusters[one].proxy-url: must begin with http:// or https://"),
        (content(user={"client-certificate-data": encoded("x")}), "users[one].client-key: is not set"),
        (content(user={"token": SECRET, "username": "me"}), "users[one].token: and username are both set"),
        (
            content(user={"auth-provider": {"name": "gcp", "config": {"access-token": SECRET}}}),
            '"gcp" is no longer part',
        ),
        (content(user={"as-groups": ["g"]}), "users[one].as: is not set"),
        (content(user={"exec": {"command": "x", "apiVersion": "v1alpha1"}}), "users[one].exec.apiVersion: must be"),
        (
            content(user={"exec": {"command": "x", "apiVersion": "client.authentication.k8s.io/v1"}}),
            "users[one].exec.interactiveMode: is not set",
        ),
        (
            content(user={"exec": {"apiVersion": "client.authentication.k8s.io/v1"}}),
            "users[one].exec.command: is not set",
        ),
        (
            content() | {"users": [{"name": "one", "user": {}}, {"name": "one", "user": {}}]},
            "users[one]: the name is there twice",
        ),
    ],
)
def test_an_error_names_the_file_the_context_and_the_field_but_no_secret(tmp_path: Path, data: Any, said: str) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        loaded(tmp_path, data)
    assert said in str(refused.value)
    assert str(tmp_path / "config") in str(refused.value)
    shown = "".join(map(str, (refused.value, refused.value.__cause__, refused.value.__context__)))
    assert SECRET not in shown


def test_a_config_shows_no_secret(tmp_path: Path) -> None:
    user = {"token": SECRET, "client-certificate-data": encoded(SECRET), "client-key-data": encoded(SECRET)}
    cluster = {"proxy-url": f"http://me:{SECRET}@proxy"}
    assert SECRET not in repr(loaded(tmp_path, content(user=user, cluster=cluster)))
    basic = {"username": "me", "password": SECRET}
    assert SECRET not in repr(loaded(tmp_path, content(user=basic)))


def test_a_file_that_an_entry_names_must_be_readable(tmp_path: Path) -> None:
    authority = loaded(tmp_path, content(cluster={"certificate-authority": "ca.crt"})).cluster.authority
    with pytest.raises(InvalidConfiguration, match=r"clusters\[one\].certificate-authority: .*/ca.crt: No such file"):
        authority.read()
