"""The documents: what they link to exists, and the tours name no module without a link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "kubekit").glob("*.md"),
    *(ROOT / "kubekit" / "docs").rglob("*.md"),
    *(ROOT / "examples").rglob("*.md"),
]
TOURS = [ROOT / "docs/explanation/tour.md", ROOT / "kubekit/docs/explanation/tour.md"]
LONGEST_TOUR = 150

_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)")
_CODE = re.compile(r"^```.*?^```|(?<!\[)`[^`\n]+`", re.DOTALL | re.MULTILINE)


def links(document: Path) -> list[str]:
    """Where a document leads to, apart from other places on the network."""
    found = _LINK.findall(_CODE.sub("", document.read_text()))
    return [target for target in found if "://" not in target and not target.startswith("mailto:")]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    assert [target for target in links(document) if not (document.parent / target).exists()] == []


@pytest.mark.parametrize("tour", TOURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_tour_is_short_and_links_every_module_it_names(tour: Path) -> None:
    text = tour.read_text()
    assert len(text.splitlines()) <= LONGEST_TOUR
    modules = [target for target in links(tour) if target.endswith(".py")]
    assert len(modules) > 40
    assert re.findall(r"(?<!\[)`[\w/]+\.py`", text) == []
