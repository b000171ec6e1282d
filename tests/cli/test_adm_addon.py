"""Addons of the management cluster and the catalogue, for those who run the platform."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cli.addons import Addons, addons_of, definition
from tests.cli.conftest import User

KIND = "managementaddon"


@pytest.fixture
def addons(user: User) -> Iterator[Addons]:
    with addons_of(user) as made:
        yield made


def test_the_life_of_an_addon_of_the_management_cluster(user: User, addons: Addons) -> None:
    name = addons.define("graphs")
    user.adm("addon", "install", name, "--version", "1.0.0", "--set", "password=hunter2", "--set", "replicas=2")
    assert addons.read(name, KIND)["spec"] == {
        "addon": name, "version": "1.0.0", "values": {"password": "hunter2", "replicas": 2},
    }  # fmt: skip
    release = {"name": name, "namespace": "monitoring", "revision": 1, "status": "deployed"}
    addons.status(name, KIND, phase="Installed", installedVersion="1.0.0", helmRelease=release)
    row = next(line for line in user.adm("addon", "list").out.splitlines() if line.startswith(name))
    assert row.split() == [name, name, "1.0.0", "Installed", "1.0.0", "-"]
    for output in ("text", "json", "yaml"):
        shown = user.adm("addon", "get", name, "-o", output).out
        assert ("hunter2" in shown, "monitoring" in shown) == (False, True)
    user.adm("addon", "upgrade", name, "--set", "replicas=3", "--paused")
    spec = addons.read(name, KIND)["spec"]
    assert (spec["values"]["replicas"], spec["paused"]) == (3, True)
    assert "nothing to --wait for" in user.adm("addon", "upgrade", name, "--set", "a=1", "--wait", fails=7).err
    assert "a" not in addons.read(name, KIND)["spec"]["values"], "it is refused before anything is written"
    assert "Remove addon" in user.adm("addon", "uninstall", name, stdin="n\n", fails=1).err
    assert "is gone" in user.adm("addon", "uninstall", name, "--yes").out
    assert f'the management cluster has no addon "{name}"; `butleradm addon list`' in (
        user.adm("addon", "get", name, fails=3).err
    )


def test_one_of_another_name_waits_until_it_is_there(user: User, addons: Addons) -> None:
    addon = addons.define("graphs")
    name = f"pictures-{addons.ending}"
    ended = user.adm("addon", "install", name, "--addon", addon, "--wait", "--timeout", "0.2", fails=5)
    assert f"`butleradm addon get {name}` says more" in ended.err
    assert addons.read(name, KIND)["spec"]["addon"] == addon
    addons.status(name, KIND, phase="Installed", observedGeneration=2, installedVersion="1.1.0")
    assert "is installed: 1.1.0" in user.adm("addon", "upgrade", name, "--version", "1.1.0", "--wait").out
    again = user.adm("addon", "install", name, "--addon", addon, fails=7).err
    assert f"there is one already; `butleradm addon get {name}` shows it" in again
    user.adm("addon", "uninstall", name, "--yes")


def test_what_cannot_be_installed_is_told_and_not_written(user: User, addons: Addons) -> None:
    schema = {"type": "object", "properties": {"replicas": {"type": "integer"}}}
    name = addons.define("telegraph", valuesSchema=schema)
    close = user.adm("addon", "install", name.replace("telegraph", "telegrph"), fails=3).err
    assert f"did you mean {name}" in close
    assert "values.replicas" in user.adm("addon", "install", name, "--set", "replicas=x", fails=2).err
    assert "--paused keeps it" in user.adm("addon", "install", name, "--paused", "--wait", fails=2).err
    assert yaml.safe_load(user.adm("addon", "install", name, "--dry-run").out)["spec"] == {"addon": name}
    assert name not in addons.names("managementaddons")


def test_an_entry_comes_into_the_catalogue_and_goes(user: User, addons: Addons, tmp_path: Path) -> None:
    name, file = f"ours-{addons.ending}", tmp_path / "ours.yaml"
    file.write_text(yaml.safe_dump(definition(name)))
    assert "would be in the catalogue" in user.adm("addon", "catalog", "create", "-f", str(file), "--dry-run").out
    assert name not in user.adm("addon", "catalog", "list", "-o", "name").out
    user.adm("addon", "catalog", "create", "-f", str(file))
    assert "there is one already" in user.adm("addon", "catalog", "create", "-f", str(file), fails=7).err
    assert name in user.adm("addon", "catalog", "list").out
    assert json.loads(user.adm("addon", "catalog", "get", name, "-o", "json").out)["spec"]["category"] == "other"
    assert "What ours-" in user.adm("addon", "catalog", "get", name).out
    user.adm("addon", "install", name)
    used = user.adm("addon", "catalog", "delete", name, "--yes", fails=7).err
    assert f"is used by addon {name} of the management cluster" in used
    user.adm("addon", "uninstall", name, "--yes")
    assert "nobody is there to answer" in user.adm("addon", "catalog", "delete", name, fails=2).err
    user.adm("addon", "catalog", "delete", name, stdin="y\n")
    assert "the catalogue has no addon" in user.adm("addon", "catalog", "delete", name, fails=3).err


def test_an_entry_may_leave_values_to_its_users(user: User, tmp_path: Path) -> None:
    file, schema = tmp_path / "asking.yaml", {"required": ["domain"], "properties": {"domain": {"type": "string"}}}
    file.write_text(yaml.safe_dump(definition("asking", valuesSchema=schema)))
    user.adm("addon", "catalog", "create", "-f", str(file), "--dry-run")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"categori": "dns"}, "spec.categori: Forbidden: there is no such field; did you mean category?"),
        ({"category": "nonsense"}, "spec.category"),
        ({"chart": {"defaultVersion": "1.x"}}, "is not exactly one version"),
        (
            {"valuesSchema": {"properties": {"n": {"minimum": "one"}}}},
            'the schema of its definition is none: valuesSchema.properties.n.minimum: "one" is not of type "number"\n',
        ),
        (
            {"valuesSchema": {"properties": {"n": {"type": "integer"}}}, "defaults": {"values": {"n": "x"}}},
            "values.n breaks properties/n/type",
        ),
    ],
)
def test_an_entry_that_makes_no_sense_is_refused(
    user: User, tmp_path: Path, change: dict[str, object], told: str
) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(yaml.safe_dump(definition("ours", **change)))
    assert told in user.adm("addon", "catalog", "create", "-f", str(file), fails=2).err


def test_what_butler_brings_goes_only_for_those_who_are_sure(user: User, addons: Addons, tmp_path: Path) -> None:
    labels = {"butler.butlerlabs.dev/source": "builtin"}
    name, file = addons.define("built-in", labels=labels), tmp_path / "ours.yaml"
    file.write_text(yaml.safe_dump(definition("ours", labels=labels)))
    assert "is for what Butler itself brings" in user.adm("addon", "catalog", "create", "-f", str(file), fails=2).err
    assert "comes again with its next start" in user.adm("addon", "catalog", "delete", name, fails=7).err
    assert "comes again with its next start" in user.adm("addon", "catalog", "delete", name, "--yes").err
    assert name not in user.adm("addon", "catalog", "list", "-o", "name").out
