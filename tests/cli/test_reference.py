"""The reference page says what the programs do."""

from __future__ import annotations

from butler.cli import lazy, reference
from butler.cli.adm import butleradm
from butler.cli.ctl import butlerctl

PAGE = reference.page(("butlerctl", butlerctl), ("butleradm", butleradm))


def section(title: str) -> str:
    return PAGE.split(f"\n### {title}\n")[1].split("\n### ")[0]


def test_every_command_has_a_section_with_usage_options_and_an_example() -> None:
    scale = section("butlerctl cluster scale")
    assert "butlerctl cluster scale [OPTIONS] NAME" in scale
    assert "| `-w`, `--workers` INTEGER |  | How many workers there should be. Required. |" in scale
    assert "```sh\nbutlerctl cluster scale shop --workers 5 --wait" in scale
    assert "butleradm apiserver backup" in PAGE


def test_defaults_and_choices_are_told() -> None:
    assert "| `-o`, `--output` table\\|wide\\|json\\|yaml\\|name | `table` |" in section("butlerctl cluster list")
    assert "| `--wait`, `--no-wait` | `--wait` |" in section("butlerctl cluster destroy")
    assert "| `--wait`, `--no-wait` | `--no-wait` |" in section("butlerctl cluster create")
    assert "| `--timeout` DURATION | `15m` |" in section("butlerctl cluster create")


def test_what_every_command_takes_is_told_once() -> None:
    assert PAGE.count("| `--kubeconfig` FILE |") <= 4, "for all, for up, status and doctor"
    assert "--kubeconfig" not in section("butlerctl cluster list")


def test_every_exit_code_is_documented() -> None:
    codes = [
        lazy.OK,
        lazy.FAILED,
        lazy.USAGE,
        lazy.MISSING,
        lazy.DENIED,
        lazy.TIMED_OUT,
        lazy.UNREACHABLE,
        lazy.REFUSED,
    ]
    codes.append(lazy.INTERRUPTED)
    assert all(f"\n| {code} | " in PAGE for code in codes)
