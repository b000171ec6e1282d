"""butleradm as a program: every command helps."""

from __future__ import annotations

import click
import pytest

from butler.cli.adm import butleradm
from tests.cli.test_ctl_program import commands

COMMANDS = list(commands(butleradm))


@pytest.mark.parametrize(
    ("words", "command"), COMMANDS, ids=lambda part: " ".join(part) if isinstance(part, tuple) else ""
)
def test_every_command_has_help_with_an_example_of_itself(words: tuple[str, ...], command: click.Command) -> None:
    text = command.help or ""
    assert "Example:" in text
    assert f"butleradm {' '.join(words)}" in text
    described = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
    assert [option.name for option in described if not option.help] == []


def test_every_list_can_be_had_by_programs() -> None:
    for words, command in COMMANDS:
        if words[0] in ("provider", "addon") and words[-1] in (
            "list",
            "get",
            "validate",
            "audit",
            "images",
            "networks",
        ):
            output = next(option for option in command.params if option.name == "output")
            assert isinstance(output.type, click.Choice)
            assert {"json", "yaml"} <= set(output.type.choices)
