"""Documents of both houses lead where they say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:|#")


def documents() -> list[str]:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    return subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


def links(text: str) -> list[str]:
    """What the relative links of a document name; what stands in code is none."""
    return [link.partition("#")[0] for link in LINK.findall(CODE.sub("", text)) if not ELSEWHERE.match(link)]


def test_links_are_found() -> None:
    text = "[a](b.md#c) [d](https://e) [f](#g)\n`[h](i)` and [j](../k/)\n```\n[l](m)\n```\n[`n`](o.py)"
    assert links(text) == ["b.md", "../k/", "o.py"]


@pytest.mark.parametrize("document", documents())
def test_every_relative_link_leads_somewhere(document: str) -> None:
    page = ROOT / document
    assert [link for link in links(page.read_text()) if not (page.parent / link).exists()] == []
