"""Nobody learns a secret from Helm: not from its errors, its command line, its files or its environment."""

from __future__ import annotations

import asyncio
import base64
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from butler.engines.helm import program, workspace
from butler.engines.helm.charts import Chart, Credentials
from butler.engines.helm.engine import Helm
from butler.engines.helm.errors import ChartRefused, HelmError, HelmMissing, ReleaseRefused, RenderFailed
from butler.engines.helm.program import Program
from butler.engines.helm.protocol import Place, Release
from butler.engines.helm.redaction import Redaction
from butler.engines.helm.workspace import Workspace
from tests.engines.helm import charts
from tests.engines.helm.world import World

SECRET = "correct horse/battery=staple"
FAILING = {
    "fail": '{{ fail (printf "wrong password %s" .Values.password) }}',
    "yaml": "a: b: {{ .Values.password }}",
    "encoded": "{{ fail (b64enc .Values.password) }}",
    "quoted": "{{ fail (quote .Values.lines) }}",
    "number": "{{ fail (toJson .Values) }}",
    "refused": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.password | quote }}}",
    "unknown": "apiVersion: v1\nkind: {{ .Values.kind }}\nmetadata: {name: x}",
}
LINES = '-----BEGIN KEY-----\nfirst"line\nsecond-line\n-----END KEY-----\n'


@pytest.mark.parametrize("template", FAILING)
async def test_no_error_holds_a_value(world: World, template: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    world.chart = charts.folder(world.folder / "source", more={"templates/bad.yaml": FAILING[template]})
    values: dict[str, Any] = {"password": SECRET, "lines": LINES, "kind": "SecretKind", "deep": [{"er": "deep-secret"}]}
    with pytest.raises(HelmError) as caught:
        await world.deploy(values)
    shown = f"{caught.value!s} {caught.value!r} {caught.value.__cause__!r} {caplog.text}"
    encoded = base64.b64encode(SECRET.encode()).decode()
    for secret in (SECRET, encoded, "second-line", 'first\\"line', "SecretKind", "deep-secret", "horse"):
        assert secret not in shown
    assert "release addons/web" in str(caught.value)


async def test_a_template_that_fails_is_named_with_its_line(world: World) -> None:
    world.chart = charts.folder(world.folder / "source", more={"templates/bad.yaml": "\n\n{{ fail .Values.why }}"})
    with pytest.raises(RenderFailed, match=r"web/templates/bad\.yaml:3: ") as caught:
        await world.deploy({"why": "because"})
    assert (caught.value.template, caught.value.line) == ("web/templates/bad.yaml", 3)
    assert await world.states() == []


@pytest.mark.parametrize(
    ("text", "where"), [("{{ if }}", "bad.yaml:1"), ("a: {{ nofunction }}", "bad.yaml:1"), ("a: [", "bad.yaml")]
)
async def test_a_template_that_is_none_is_named(world: World, text: str, where: str) -> None:
    world.chart = charts.folder(world.folder / "source", more={"templates/bad.yaml": text})
    with pytest.raises(RenderFailed, match=where):
        await world.deploy()


async def test_a_chart_gets_only_so_much_memory(world: World) -> None:
    bomb = {"templates/bomb.yaml": "a: {{ until 3000000000 | len }}"}
    world.chart = charts.folder(world.folder / "source", more=bomb)
    with pytest.raises(RenderFailed, match="takes more memory than a run of Helm may have"):
        await world.deploy()


async def test_values_against_a_charts_schema(world: World) -> None:
    schema = '{"properties": {"size": {"type": "integer"}}}'
    world.chart = charts.folder(world.folder / "source", more={**charts.SMALL, "values.schema.json": schema})
    with pytest.raises(RenderFailed, match="size") as caught:
        await world.deploy({"size": SECRET})
    assert SECRET not in str(caught.value)


async def test_old_values_are_not_told_either(world: World) -> None:
    world.chart = charts.folder(
        world.folder / "source", more={**charts.SMALL, "templates/deployment.yaml": charts.DEPLOYMENT}
    )
    await world.deploy({"image": SECRET})
    with pytest.raises(HelmError) as caught:
        await world.helm.rollback(world.cluster, world.place, 99)
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(await world.record()) + repr(world.wanted({"a": SECRET}))


SPY = """#!/bin/sh
case "$1" in version) echo v3.17.3; exit 0;; esac
{ echo "$@"; env; stat -c '%a %n' "$PWD" "$PWD"/*; cat /proc/$$/cmdline; } > "FOLDER/seen-$1"
exit 1
"""


@pytest.fixture
def spy(world: World) -> Path:
    path = world.folder / "spy"
    path.write_text(SPY.replace("FOLDER", str(world.folder)))
    path.chmod(0o755)
    return path


async def test_secrets_are_in_private_files_only(world: World, spy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "HELM_NAMESPACE",
        "HELM_KUBETOKEN",
        "KUBECONFIG",
        "DOCKER_CONFIG",
        "AWS_SECRET_ACCESS_KEY",
        "HELM_DEBUG",
    ):
        monkeypatch.setenv(name, "inherited")
    world.helm = Helm(world.folder / "helm", spy)
    world.wanted()
    credentials = Credentials("robot-name", "robot-password")
    with pytest.raises(HelmError):
        await world.deploy({"password": SECRET}, credentials=credentials)
    seen = (world.folder / "seen-upgrade").read_text()
    user = world.cluster.config.user
    for hidden in (SECRET, "robot", "inherited", user.token or user.key.data.decode()[30:60]):
        assert hidden not in seen
    modes = [line.split(" ", 1) for line in seen.splitlines() if line[:3].isdecimal()]
    assert {mode for mode, name in modes if name.endswith(("kubeconfig", "values.json"))} == {"600"}
    folder = next(name for mode, name in modes if mode == "700")
    assert f"HOME={folder}" in seen
    assert not os.access(folder, os.F_OK)


async def test_helm_keeps_nothing_of_what_a_cluster_serves(world: World) -> None:
    path, real = world.folder / "watched", world.helm.program.path
    path.write_text(f'#!/bin/sh\n{real} "$@"\ncode=$?\n[ -e "$HOME/.kube" ] && : >{world.folder}/kept\nexit $code\n')
    path.chmod(0o755)
    world.helm = Helm(world.folder / "helm", path)
    assert (await world.deploy()).record.status == "deployed"
    assert not (world.folder / "kept").exists()


async def test_credentials_of_repositories_are_in_files_only(world: World, spy: Path) -> None:
    world.helm = Helm(world.folder / "helm", spy)
    for repository, verb in (("https://charts.invalid", "repo"), ("oci://charts.invalid/x", "pull")):
        chart = Chart(repository, "web", "1.0.0")
        with pytest.raises(HelmError):
            await world.deploy(chart=chart, credentials=Credentials("robot-name", "robot-password"))
        assert "robot" not in (world.folder / f"seen-{verb}").read_text()


async def test_a_program_that_does_not_want_to_end_is_made_to(tmp_path: Path) -> None:
    path = tmp_path / "deaf"
    path.write_text("#!/bin/sh\ntrap '' TERM\nsleep 1000 & wait\nwait\n")
    path.chmod(0o755)
    with Workspace(tmp_path / "runs") as folder:
        ran = await Program(path, grace=0.2).run(folder, patience=0.2)
    assert ran.timed_out
    assert not ran.succeeded


async def test_no_more_runs_at_once_than_allowed(tmp_path: Path) -> None:
    path = tmp_path / "counting"
    path.write_text(f"#!/bin/sh\nmkdir {tmp_path}/busy || exit 9\nsleep 0.05\nrmdir {tmp_path}/busy\n")
    path.chmod(0o755)
    running = Program(path, most=1)
    with Workspace(tmp_path / "runs") as folder:
        ran = await asyncio.gather(*(running.run(folder, patience=30) for _ in range(5)))
    assert [one.code for one in ran] == [0] * 5


def test_folders_of_the_dead_are_swept(tmp_path: Path) -> None:
    dead, ours = tmp_path / "run-4200000-x", tmp_path / f"run-{os.getpid()}-x"
    for path in (dead, ours):
        path.mkdir()
        (path / "kubeconfig").touch()
    workspace.sweep(tmp_path)
    assert (dead.exists(), ours.exists()) == (False, True)


def test_files_are_private_from_the_first_byte(tmp_path: Path) -> None:
    os.umask(old := os.umask(0))
    os.umask(0)
    try:
        with Workspace(tmp_path / "runs") as folder:
            assert stat.S_IMODE(folder.write("x", b"y").stat().st_mode) == 0o600
            assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    finally:
        os.umask(old)


def test_a_missing_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(HelmMissing, match=f"on PATH or in {tmp_path}"):
        program.find({"PATH": str(tmp_path)})


async def test_a_program_that_is_no_helm_is_told(tmp_path: Path) -> None:
    with Workspace(tmp_path / "runs") as folder, pytest.raises(HelmMissing, match="which version"):
        await Program(Path("/bin/true")).version(folder)
    with Workspace(tmp_path / "runs") as folder, pytest.raises(HelmMissing, match="cannot be run"):
        await Program(tmp_path / "nothing").version(folder)


@pytest.mark.parametrize(
    "place", [Place("--help", "x"), Place("a/b", "x"), Place("a" * 54, "x"), Place("a", "X"), Place("", "")]
)
async def test_names_that_mean_something_else_are_refused(world: World, place: Place) -> None:
    chart = charts.folder(world.folder / "source")
    with pytest.raises(ChartRefused, match="must be of small letters"):
        await world.helm.deploy(world.cluster, Release(place, chart))
    with pytest.raises(ChartRefused, match="must be of small letters"):
        await world.helm.render(world.cluster, Release(place, chart))
    with pytest.raises(ChartRefused, match="must be of small letters"):
        await world.helm.uninstall(world.cluster, place)


def test_words_that_everybody_uses_stay_readable() -> None:
    hide = Redaction({"a": True, "b": "true", "c": "abc", "d": "web", "e": "web-config"}, public=("web-config",))
    assert hide("web-config is true: abc") == "web-config is true: abc"


async def test_an_api_that_refuses_is_quoted(world: World) -> None:
    bad = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 99999}]}"
    world.chart = charts.folder(world.folder / "source", more={"templates/bad.yaml": bad})
    with pytest.raises(
        ReleaseRefused, match=r"Service \"web\" is invalid: \[spec\.ports\[0\]\.port: Invalid value: 99999"
    ):
        await world.deploy()
