"""The examples in the help of every command: each is accepted as it stands, and done where there is what it needs."""

from __future__ import annotations

import inspect
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from butler.cli.adm import butleradm
from butler.cli.ctl import butlerctl
from butler.cli.provider import section_flags
from testbed.running.embedded import BIN
from tests.cli.test_ctl_program import commands
from tests.local.shells import Shell

PROGRAMS: dict[str, click.Group] = {"butlerctl": butlerctl, "butleradm": butleradm}
FILES = ("shop.yaml", "lab.yaml", "management.kubeconfig", "harvester.yaml", "aws.env", "backup.tar.gz")
"""What examples read; `shop.yaml` is a cluster, the others only have to be there."""
ORDER = ("create", "list", "get", "nodes", "events", "why", "plan", "export", "kubeconfig", "scale", "upgrade", "edit")
"""The life of a cluster."""
LOOKING = ("watch", "--watch")
"""Words of commands that stay until somebody has seen enough."""
LAB = ("get", "images", "networks", "validate", "audit", "list")
"""What can be done with a provider that is simulated."""


def examples(words: tuple[str, ...], command: click.Command) -> Iterator[str]:
    _, _, text = inspect.cleandoc(command.help or "").partition("Example:\n")
    own = f"{words[0]} {' '.join(words[1:])}".strip()
    for line in map(str.strip, text.splitlines()):
        if line.startswith(own) or own in line:
            yield line


EVERY = [
    pytest.param(line, id=line)
    for program, group in PROGRAMS.items()
    for words, command in [((program,), group), *(((program, *words), one) for words, one in commands(group))]
    for line in examples(words, command)
]


@pytest.mark.parametrize("line", EVERY)
def test_every_example_is_a_command_line_that_is_accepted(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        (tmp_path / name).touch()
    for words in parts(line):
        if words and words[0] in PROGRAMS:
            accept(PROGRAMS[words[0]], words[0], words[1:])


def parts(line: str) -> Iterator[list[str]]:
    """The commands of a line of a shell, without where their output goes."""
    line = line.partition(" #")[0].strip().removeprefix('eval "$(').removesuffix(')"')
    for one in line.split("|"):
        yield shlex.split(one.partition(">")[0])


def accept(group: click.Group, name: str, words: list[str]) -> None:
    """Parse what would be run. Raises UsageError."""
    context = click.Context(group, info_name=name)
    command: click.Command = group
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        _, found, rest = command.resolve_command(context, words)
        assert found is not None
        context = click.Context(found, info_name=words[0], parent=context)
        command, words = found, rest
    if isinstance(command, section_flags.StoredSectionCommand):
        # Its flags are those of a provider that would have to be there.
        context.meta[section_flags.__name__] = "any"
        click.Command.parse_args(command, context, words)
    else:
        command.parse_args(context, words)


@pytest.fixture(scope="module")
def scene(started: Shell, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    return Scene(started, tmp_path_factory.mktemp("scene"))


class Scene:
    """A directory in which somebody types what the help says, beside a platform that runs."""

    def __init__(self, shell: Shell, place: Path) -> None:
        self._place = place
        self._environ = {**shell.environ, "HOME": str(place), "EDITOR": "true", "PATH": f"{BIN}:{os.environ['PATH']}"}
        for name in FILES:
            (place / name).touch()

    def run(self, line: str, *codes: int) -> None:
        is_looking = any(word in shlex.split(line, comments=True) for word in LOOKING)
        ended = subprocess.run(
            ["bash", "-c", f"timeout 3 {line}" if is_looking else f"set -o pipefail; {line}"],
            cwd=self._place, env=self._environ, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert ended.returncode in ((124,) if is_looking else codes or (0,)), f"{line}\n{ended.stdout}{ended.stderr}"


def lines_of(group: click.Group, *path: str) -> list[str]:
    found = next(command for words, command in commands(group) if words == path)
    return list(examples((group.name or "", *path), found))


@pytest.mark.timeout(300)
def test_the_life_of_a_cluster_as_the_help_tells_it(scene: Scene) -> None:
    for verb in ORDER:
        for line in lines_of(butlerctl, "cluster", verb):
            if verb == "create":
                scene.run("butlerctl cluster export shop > shop.yaml", 0, 3)
                scene.run("butlerctl cluster destroy shop --yes", 0, 3)
            if "--pool" not in line:
                scene.run(line)
    scene.run(lines_of(butlerctl, "cluster", "watch")[0])
    scene.run("butlerctl cluster create stage; butlerctl cluster create test")
    scene.run(next(line for line in lines_of(butlerctl, "cluster", "destroy") if "stage" in line))


@pytest.mark.timeout(200)
def test_addons_as_the_help_tells_it(scene: Scene) -> None:
    scene.run("butlerctl cluster create shop --workers 1 --wait", 0, 7)
    for verb in ("catalog", "list"):
        for line in lines_of(butlerctl, "addon", verb):
            scene.run(line)
    scene.run("butlerctl addon install shop sealed-secrets")
    for verb in ("get", "values"):
        for line in lines_of(butlerctl, "addon", verb):
            scene.run(line)
    scene.run(next(line for line in lines_of(butlerctl, "addon", "uninstall") if "--yes" in line))
    for line in (*lines_of(butleradm, "addon", "list"), *lines_of(butleradm, "addon", "catalog", "list")):
        scene.run(line)
    for line in lines_of(butleradm, "addon", "catalog", "get"):
        scene.run(line)


@pytest.mark.timeout(200)
def test_a_provider_and_the_platform_as_the_help_tells_it(scene: Scene) -> None:
    scene.run("butleradm provider create lab --type simulated")
    for verb in LAB:
        for line in lines_of(butleradm, "provider", verb):
            if "--clean" not in line:
                scene.run(line)
    scene.run("butleradm provider update lab --max-clusters-per-team 5 --dry-run")
    scene.run(next(line for line in lines_of(butleradm, "provider", "delete") if "--yes" in line))
    for line in (*lines_of(butleradm, "status")[:1], *lines_of(butleradm, "version"), *lines_of(butlerctl, "version")):
        scene.run(line)
    for shell in ("bash", "zsh", "fish"):
        scene.run(f"butleradm completion {shell}")
