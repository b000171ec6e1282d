"""The tutorial does what it says: every command in it is run, in order, in one shell."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from testbed.running.embedded import BIN

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial" / "first-clusters.md"
START = "make up"
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[str, str]]:
    """Each block of commands, with what the tutorial shows as its output, if anything."""
    blocks = _BLOCK.findall(TUTORIAL.read_text())
    for index, (language, content) in enumerate(blocks):
        if language == "sh":
            shown = blocks[index + 1][1] if index + 1 < len(blocks) and blocks[index + 1][0] == "text" else ""
            yield content, shown


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    environment = {**os.environ, "HOME": str(tmp_path), "NO_COLOR": "1"}
    for name in ("KUBECONFIG", "BUTLER_HOME", "BUTLER_NAMESPACE"):
        environment.pop(name, None)
    (tmp_path / ".venv").symlink_to(BIN.parent)
    yield environment
    subprocess.run([BIN / "butleradm", "down"], env=environment, check=False, capture_output=True)


@pytest.mark.timeout(180)
def test_every_command_of_the_tutorial_works(environment: dict[str, str], tmp_path: Path) -> None:
    (first, _), *rest = commands()
    assert first.strip() == START
    up = [str(BIN / "butleradm"), "up", "--fast", "--detach", "--port", "0"]
    subprocess.run(up, env=environment, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    script = "set -eu\n" + "".join(f"echo '<<{number}>>'\n{content}\n" for number, (content, _) in enumerate(rest))
    done = subprocess.run(
        ["sh", "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    outputs = re.split(r"<<\d+>>\n", done.stdout)[1:]
    for (content, shown), output in zip(rest, outputs, strict=True):
        for line in shown.splitlines():
            assert _words(line) in map(_words, output.splitlines()), f"{content}\n{output}"


def _words(line: str) -> list[str]:
    """A line of a table without its last column, which is an age."""
    return line.split()[:-1]


def test_make_up_is_butleradm_up() -> None:
    makefile = (ROOT / "Makefile").read_text()
    rule = re.search(r"^up:.*\n\t(.*)$", makefile, re.MULTILINE)
    assert rule is not None
    assert "butleradm up" in rule[1]
