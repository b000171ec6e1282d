"""The pages for those who try or run a platform of their own do what they say: every command is typed, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from testbed.running import servers
from tests.docs.pages import ROOT, commands
from tests.docs.walks import Walk

UP = "butleradm up --fast --detach $(test -e ~/.butler/local/settings.json || echo --port 0)"
"""As the pages start it, on a port of its own and then always on that; what is simulated takes no time."""
START = {
    "make up": f".venv/bin/{UP}",
    "make up ARGS=--detach": f".venv/bin/{UP}",
    "butleradm up --detach": UP,
    "butleradm up --detach --data": "butleradm up --fast --detach --port 0 --data",
    "butleradm up --detach --kubeconfig": "butleradm up --fast --detach --port 0 --kubeconfig",
}
NEWCOMERS = ("README.md", "docs/tutorial/first-clusters.md", "docs/howto/evaluate.md")
OPERATORS = ("docs/howto/operate.md", "docs/howto/recover-data.md", "docs/howto/run-on-a-cluster.md")
LOOK_AFTER, RECOVER, ON_CLUSTER = (ROOT / page for page in OPERATORS)
DAMAGE = "dd if=/dev/zero of=$HOME/.butler/local.damaged/state.db bs=4096 seek=9 count=1 conv=notrunc status=none"


def walk_of(folder: Path, bytecode: Path, *, has_commands: bool) -> Walk:
    return Walk(folder, bytecode, has_commands=has_commands, instead=START | {"/home/you": str(folder / "home")})


@pytest.fixture
def newcomer(tmp_path: Path, bytecode: Path) -> Iterator[Walk]:
    """Someone with a fresh clone and nothing else."""
    walk = walk_of(tmp_path / "newcomer", bytecode, has_commands=False)
    yield walk
    walk.end()


@pytest.fixture
def operator(tmp_path: Path, bytecode: Path) -> Iterator[Walk]:
    """Someone who has installed the commands."""
    walk = walk_of(tmp_path / "operator", bytecode, has_commands=True)
    yield walk
    walk.end()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", NEWCOMERS)
def test_a_newcomer_comes_to_the_end(page: str, newcomer: Walk) -> None:
    newcomer.follow(commands(ROOT / page))


@pytest.mark.timeout(600)
def test_an_operator_looks_after_a_platform(operator: Walk) -> None:
    operator.follow(commands(LOOK_AFTER))


@pytest.mark.timeout(600)
def test_an_operator_gets_data_back(operator: Walk) -> None:
    """From a platform that runs, and then from a copy of which a page is lost."""
    copy = "cp -a ~/.butler/local ~/.butler/local.damaged"
    operator.instead = {**operator.instead, copy: f"{copy}; {DAMAGE}"}
    start = commands(LOOK_AFTER)[0]
    operator.follow([start, *commands(RECOVER)])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", [servers.embedded, pytest.param(servers.real, marks=pytest.mark.real)])
def test_an_operator_runs_on_a_cluster(kind: Any, operator: Walk, tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    with kind(folder) as cluster:
        operator.write("management.kubeconfig", cluster.kubeconfig.read_text())
        operator.follow(commands(ON_CLUSTER))
        operator.end()


def test_make_up_is_butleradm_up() -> None:
    """What stands for it above does the same."""
    rule = re.search(r"^up:.*\n\t(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert rule is not None
    assert "butleradm up $(ARGS)" in rule[1]
