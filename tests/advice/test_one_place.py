"""No message spells out a command by itself: all of them come from `butler.advice`, where a test finds them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src" / "butler"
ELSEWHERE = {
    "advice.py": "it is the place",
    "cli/reference.py": "the page of all commands, whose commands are checked by their own names",
    "cli/completion.py": "lines for the files of a shell, which tests of completion run",
}
_COMMAND = re.compile(r"\b(butlerctl|butleradm|kubectl) (?!finds\b)[a-z-]|\b(chmod|chown|sudo|timedatectl) \S")


def texts(tree: ast.Module) -> Iterator[ast.Constant]:
    """Every text that is not a docstring."""
    documents = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node


def spelt_out(path: Path) -> Iterator[str]:
    for node in texts(ast.parse(path.read_text())):
        if _COMMAND.search(str(node.value)):
            yield f"{path.relative_to(SOURCES)}:{node.lineno}: {node.value!r}"


def test_messages_take_their_commands_from_there() -> None:
    paths = [path for path in sorted(SOURCES.rglob("*.py")) if str(path.relative_to(SOURCES)) not in ELSEWHERE]
    spelt = [text for path in paths for text in spelt_out(path)]
    assert not spelt, "take it from butler.advice, and show and run it in tests/advice"


def test_a_command_that_is_spelt_out_is_found(tmp_path: Path) -> None:
    tree = ast.parse('"""Not `butleradm up` here."""\nsay(f"see `butlerctl cluster get {name}`")')
    assert [bool(_COMMAND.search(str(node.value))) for node in texts(tree)] == [True, False]
