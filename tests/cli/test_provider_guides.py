"""What the guides to providers tell people to write is taken by the platform, and their commands exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from butler.cli.adm import butleradm
from tests.cli.conftest import User

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "docs" / "howto" / "providers").glob("*.md"))
EXAMPLES = sorted((ROOT / "examples" / "providers").glob("*.yaml"))
TAKEN = ("ProviderConfig", "MachineRequest", "LoadBalancerRequest", "ImageSync", "Secret")


def blocks(guide: Path, language: str) -> Iterator[str]:
    """What is shown in a language, as one would copy it."""
    yield from re.findall(rf"^```{language}\n(.*?)^```", guide.read_text(), re.MULTILINE | re.DOTALL)


def objects(texts: Iterator[str]) -> list[dict[str, Any]]:
    found = [one for text in texts for one in yaml.safe_load_all(text) if isinstance(one, dict)]
    return [one for one in found if one.get("kind") in TAKEN]


def check(user: User, found: list[dict[str, Any]]) -> None:
    for one in found:
        one["metadata"].setdefault("namespace", "butler-system")
    user.kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump_all(found))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_taken(example: Path, user: User) -> None:
    found = objects(iter([example.read_text()]))
    assert {"ProviderConfig", "Secret", "MachineRequest"} <= {one["kind"] for one in found}
    check(user, found)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_what_a_guide_shows_is_taken(guide: Path, user: User) -> None:
    if found := objects(blocks(guide, "yaml")):
        check(user, found)
    assert found or guide.name == "README.md"


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.name)
def test_a_command_of_a_guide_is_one(guide: Path) -> None:
    lines = [line for text in blocks(guide, "sh") for line in text.replace("\\\n", " ").splitlines()]
    typed = [shlex.split(line.partition(" #")[0]) for line in lines if line.startswith("butleradm provider ")]
    assert typed
    for words in typed:
        name, *arguments = words[2:]
        group = butleradm.get_command(click.Context(butleradm), "provider")
        assert isinstance(group, click.Group)
        command = group.get_command(click.Context(group), name)
        assert command is not None, words
        command.make_context(name, [word for word in arguments if word != "…"])
