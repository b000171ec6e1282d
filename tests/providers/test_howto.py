"""The pages about providers say what the providers do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from butler.providers import registry

ROOT = Path(__file__).parents[2]
INDEX = ROOT / "docs" / "howto" / "providers" / "README.md"
OFFERS = {"yes": True, "yes, from S3": True, "no": False}


def offered() -> dict[str, list[str]]:
    """The rows of the table that compares them."""
    table = INDEX.read_text().partition("## What each offers")[2].partition("\n\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines() if "|" in line]
    return {name: cells for name, *cells in rows[2:]}


def test_every_provider_has_a_row() -> None:
    assert offered().keys() == {*registry.BUILT_IN, "external"}


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_the_table_says_what_there_is(name: str) -> None:
    identity, _, _, balancers, images, kind = offered()[name]
    package = ROOT.joinpath("src", *registry.BUILT_IN[name].split("."))
    assert OFFERS[balancers] is (package / "loadbalancer.py").exists()
    assert OFFERS[images] is (package / "images.py").exists()
    assert kind.strip("`") == registry.templates(name).cluster_kind.kind
    assert re.match(r"`[a-z]+://", identity)


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", INDEX.read_text())
    assert [link for link in links if not (INDEX.parent / link).exists()] == []
