"""Changing a kubeconfig: everything else in it stays, and nobody else may read it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import yaml

from kubekit.client import kubeconfig
from kubekit.client.kubeconfig_edit import Entry, entry_from, put, remove
from kubekit.errors import InvalidConfiguration

ENTRY = Entry("demo", {"server": "https://demo"}, {"token": "t"}, "team")


def test_a_new_file_is_private_and_works(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config"
    put(path, ENTRY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    config = kubeconfig.load(path)
    assert (config.cluster.server, config.user.token, config.namespace) == ("https://demo", "t", "team")


def test_what_was_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "config"
    before = {
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {"colors": True},
        "clusters": [{"name": "mine", "cluster": {"server": "https://mine", "extensions": [{"name": "x"}]}}],
        "users": [{"name": "mine", "user": {"token": "mine"}}],
        "contexts": [{"name": "mine", "context": {"cluster": "mine", "user": "mine"}}],
        "current-context": "mine",
    }
    path.write_text(yaml.safe_dump(before))
    put(path, ENTRY, current=False)
    after = yaml.safe_load(path.read_text())
    assert after["current-context"] == "mine"
    assert after["clusters"][0] == before["clusters"][0]  # type: ignore[index]
    assert after["preferences"] == {"colors": True}
    assert [one["name"] for one in after["contexts"]] == ["mine", "demo"]


def test_an_entry_is_replaced_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "config"
    put(path, ENTRY)
    put(path, Entry("other", {"server": "https://other"}, {}), current=False)
    put(path, Entry("demo", {"server": "https://moved"}, {"token": "new"}))
    after = yaml.safe_load(path.read_text())
    assert [one["name"] for one in after["clusters"]] == ["demo", "other"]
    assert kubeconfig.load(path, "demo").cluster.server == "https://moved"
    assert kubeconfig.load(path, "demo").namespace == ""


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    put(real, ENTRY)
    link = tmp_path / "link"
    link.symlink_to(real)
    put(link, Entry("other", {"server": "https://other"}, {}))
    assert link.is_symlink()
    assert kubeconfig.read(real).contexts == ("demo", "other")


def test_what_was_put_can_be_removed(tmp_path: Path) -> None:
    path = tmp_path / "config"
    put(path, Entry("other", {"server": "https://other"}, {}))
    put(path, ENTRY)
    remove(path, "demo")
    found = kubeconfig.read(path)
    assert (found.contexts, found.current) == (("other",), "")
    remove(tmp_path / "nowhere", "demo")
    assert not (tmp_path / "nowhere").exists()


def test_two_programs_do_not_write_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "config"
    (tmp_path / "config.lock").touch()
    with pytest.raises(InvalidConfiguration, match=r"another program .* remove .*config\.lock"):
        put(path, ENTRY)
    (tmp_path / "config.lock").unlink()
    put(path, ENTRY)
    assert not (tmp_path / "config.lock").exists()


def test_a_file_that_is_no_kubeconfig_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("clusters: nonsense")
    with pytest.raises(InvalidConfiguration):
        put(path, ENTRY)
    assert path.read_text() == "clusters: nonsense"
    assert [one.name for one in tmp_path.iterdir()] == ["config"]


def test_the_context_of_another_kubeconfig_is_taken_over(tmp_path: Path) -> None:
    put(tmp_path / "theirs", Entry("their-name", {"server": "https://theirs"}, {"token": "t"}, "their-team"))
    entry = entry_from((tmp_path / "theirs").read_bytes(), "tenant")
    assert entry == Entry("tenant", {"server": "https://theirs"}, {"token": "t"}, "their-team")
    assert "'t'" not in repr(entry)
