"""`testbed/build`: what it makes, keeps, tries again and says. Go is played by a script."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from testbed import go, manifests, places
from testbed.parts import MANIFESTS, PROGRAMS, Manifests, Program

ROOT = Path(__file__).parent.parent.parent
# It notes what it was asked, and makes the file that is wanted.
GO = """#!/bin/bash
echo "$*" >> "$ASKED"
{before}
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then echo "{content}" > "$2"; fi; shift; done
{after}
"""


@dataclass
class Workshop:
    """A cache of its own, and a Go that does as it is told."""

    folder: Path

    def go_is(self, before: str = "", content: str = "built", after: str = "") -> None:
        script = self.folder / "bin" / "go"
        script.write_text(GO.format(before=before, content=content, after=after))
        script.chmod(0o755)

    def build(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "PYTHON": os.environ.get("PYTHON", "python3"),
            "BUTLER_TESTBED": str(self.folder / "cache"),
            "ASKED": str(self.folder / "asked"),
        }
        return subprocess.run(
            [ROOT / "testbed" / "build", *arguments], env=environment, capture_output=True, text=True, check=False
        )

    @property
    def asked(self) -> list[str]:
        noted = self.folder / "asked"
        return noted.read_text().splitlines() if noted.exists() else []


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    (tmp_path / "bin").mkdir()
    # As `make` finds it, whatever else this machine has in its path.
    (tmp_path / "bin" / "python3").symlink_to(os.path.realpath("/proc/self/exe"))
    made = Workshop(tmp_path)
    made.go_is()
    return made


def test_a_program_is_built_once_and_found_by_its_name(workshop: Workshop) -> None:
    first = workshop.build("etcd")
    assert first.returncode == 0
    assert (Path(first.stdout.strip()) / "etcd").read_text() == "built\n"
    assert "1 of 1: etcd, done in 0 s" in first.stderr
    second = workshop.build("etcd")
    assert (second.stdout, second.stderr) == (first.stdout, "")
    assert len(workshop.asked) == 1


def test_where_is_known_before_anything_is_built(workshop: Workshop) -> None:
    before = workshop.build("--where").stdout
    assert before == workshop.build("etcd").stdout
    assert len(workshop.asked) == 1


def test_progress_says_which_and_how_many(workshop: Workshop) -> None:
    lines = workshop.build("etcd", "kwok").stderr.splitlines()
    assert lines[0] == "testbed: 1 of 2: etcd"
    assert lines[2] == "testbed: 2 of 2: kwok"


def test_what_was_built_before_a_failure_is_kept(workshop: Workshop) -> None:
    workshop.go_is(before='[[ "$*" == *kwok* ]] && kill -9 $PPID')
    assert workshop.build("etcd", "kwok").returncode != 0
    workshop.go_is()
    assert "1 of 1: kwok" in workshop.build("etcd", "kwok").stderr


def test_half_a_program_is_not_taken_for_one(workshop: Workshop) -> None:
    workshop.go_is(content="half", after="kill -9 $PPID")
    assert workshop.build("etcd").returncode != 0
    assert [path.read_text() for path in (workshop.folder / "cache").rglob(".etcd*")] == ["half\n"]
    workshop.go_is(content="whole")
    built = workshop.build("etcd")
    assert (Path(built.stdout.strip()) / "etcd").read_text() == "whole\n"


def test_without_go_one_line_says_what_is_missing(workshop: Workshop) -> None:
    (workshop.folder / "bin" / "go").unlink()
    refused = workshop.build("etcd")
    assert refused.returncode == 1
    assert refused.stderr == "testbed: Go is needed to build the real programs; install Go 1.26 or newer\n"


def test_without_go_what_is_built_is_still_found(workshop: Workshop) -> None:
    built = workshop.build("etcd")
    (workshop.folder / "bin" / "go").unlink()
    assert workshop.build("etcd").stdout == built.stdout


def test_an_unknown_name_is_refused_with_those_there_are(workshop: Workshop) -> None:
    refused = workshop.build("etdc")
    assert refused.returncode == 2
    assert refused.stderr.startswith("testbed: no such part: etdc; there are ")


def test_a_failed_download_is_tried_again(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = 'if [ "$(wc -l < "$ASKED")" -lt 3 ]; then echo "dial tcp: timeout" >&2; exit 1; fi'
    workshop.go_is(before=failing)
    monkeypatch.setenv("PATH", f"{workshop.folder}/bin:/usr/bin:/bin")
    monkeypatch.setenv("ASKED", str(workshop.folder / "asked"))
    monkeypatch.setattr(go, "PAUSE", 0)
    go.run_go("etcd", "build")
    assert len(workshop.asked) == 3


def test_what_always_fails_is_said_in_one_line(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop.go_is(before='echo "first" >&2; echo "no such host" >&2; exit 1')
    monkeypatch.setenv("PATH", f"{workshop.folder}/bin:/usr/bin:/bin")
    monkeypatch.setenv("ASKED", str(workshop.folder / "asked"))
    monkeypatch.setattr(go, "PAUSE", 0)
    with pytest.raises(go.BuildFailed, match=r"^no such host$"):
        go.run_go("etcd", "build")
    assert len(workshop.asked) == go.ATTEMPTS


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
def test_every_program_is_pinned(program: Program) -> None:
    assert f'"{program.package}"' in (places.HERE / program.folder / "tools.go").read_text()


@pytest.mark.parametrize("part", [one for one in MANIFESTS if one.module], ids=lambda one: one.name)
def test_the_modules_of_manifests_are_pinned(part: Manifests) -> None:
    version = places.version_of(part.folder, part.module)
    assert f"{part.module} {version} h1:" in (places.HERE / part.folder / "go.sum").read_text()


def test_kubernetes_is_told_its_version() -> None:
    (server,) = [one for one in PROGRAMS if one.name == "kube-apiserver"]
    version = places.version_of("kubernetes", "k8s.io/kubernetes")
    assert f"-X k8s.io/component-base/version.gitVersion={version}" in " ".join(places.arguments(server))


def test_labels_are_put_where_there_are_none() -> None:
    definition = "kind: X\nmetadata:\n  name: a\nspec: {}\n"
    labelled = manifests.labelled(definition, "    a: b\n")
    assert labelled == "kind: X\nmetadata:\n  labels:\n    a: b\n  name: a\nspec: {}\n"


def test_labels_that_are_there_stay() -> None:
    definition = "metadata:\n  labels:\n    x: y\n  name: a\nspec:\n  labels:\n"
    labelled = manifests.labelled(definition, "    a: b\n")
    assert labelled == "metadata:\n  labels:\n    a: b\n    x: y\n  name: a\nspec:\n  labels:\n"
