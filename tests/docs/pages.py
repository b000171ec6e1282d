"""A page as its readers see it: blocks in fences, and beside commands what they show."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
GUIDES = ROOT / "docs" / "howto" / "providers"
ELSEWHERE = "elsewhere"
"""The mark, unseen by readers, of commands for a program or an account that is not here."""

_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*) ?(?P<mark>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)
_VARIES = {
    r"(?<=127\.0\.0\.1:)\d+": "PORT",
    r"(?<=process )\d+": "NUMBER",
    r"\d+(?= is ours)": "PORT",
    r"\d+ objects at revision \d+": "OBJECTS",
    r"(?<=Python) +3\.\d+\.\d+": " VERSION",
    r"\d+ of \d+ checks": "CHECKS",
    r"\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?": "DATE",
    r"\d+(\.\d+)? [kMG]?B\b": "SIZE",
    r"(?<![\w.-])(\d+[smhd] ?)+$": "",
    r"(?<![\w.-])(\d+[smhd] ?)+(?=\s)": "AGE ",
    r"(?<=://)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b": "UUID",
    r"\b(?!127\.)\d+\.\d+\.\d+\.\d+\b(?!/)": "ADDRESS",
    r"(?<=-)[a-z0-9]{8,10}(?=-[b-df-hj-np-tv-xz2-9]{5}\b)": "TEMPLATE",
    r"(?<=-)[b-df-hj-np-tv-xz2-9]{5}(-[b-df-hj-np-tv-xz2-9]{5})?\b": "LOT",
    r"(?<=-)[0-9a-f]{8}\b": "UID",
}
"""What a page can only give an example of: ages (which steps that nobody saw do not even have), and the ends of names
that are drawn by lot, among others."""


@dataclass(frozen=True)
class Block:
    """What stands between two fences; of commands also the text below that says what they show."""

    page: Path
    language: str
    mark: str
    text: str
    shown: str | None = None

    @property
    def title(self) -> str:
        """Its first words, by which a test can name it."""
        return f"{self.page.name}: {' '.join(self.text.split()[:3])}"


def blocks(page: Path) -> Iterator[Block]:
    """All of a page, as one would copy them."""
    found = list(_BLOCK.finditer(page.read_text()))
    for match, after in zip(found, [*found[1:], None], strict=True):
        shown = after["text"] if match["language"] == "sh" and after and after["language"] == "text" else None
        text = textwrap.dedent(match["text"])
        yield Block(page, match["language"], match["mark"], text, textwrap.dedent(shown) if shown else None)


def written(page: Path, language: str) -> list[str]:
    """What a page shows in a language."""
    return [block.text for block in blocks(page) if block.language == language]


def objects(*texts: str) -> list[Any]:
    """What YAML describes."""
    return [found for text in texts for found in yaml.safe_load_all(text) if found]


def example(provider: str) -> list[Any]:
    """The Secret and the ProviderConfig that an example has for a provider, and the machine of another."""
    folder = ROOT / "examples"
    return objects(*((folder / kind / f"{provider}.yaml").read_text() for kind in ("providers", "machines")))


def commands(page: Path) -> list[Block]:
    """Those that are typed here, in order."""
    return [block for block in blocks(page) if block.language == "sh" and block.mark != ELSEWHERE]


def is_shown(expected: str, output: str) -> bool:
    """Whether a terminal shows what a page says, line by line; an ellipsis is anything, on its own line any lines."""
    lines = [r"(.*\n)*?" if line.strip() == "…" else f"{_pattern(line)}\n" for line in _lines(expected)]
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in _lines(output))) is not None


def _pattern(line: str) -> str:
    return re.escape(line).replace("…", ".*?")


def _lines(text: str) -> list[str]:
    """Without what varies; spaces between words and empty lines do not matter."""
    for pattern, word in _VARIES.items():
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
