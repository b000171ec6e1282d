"""The documents: what they link to exists, all are found, and the tours name no module without a link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
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


def test_the_index_leads_to_every_page_and_the_readme_to_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    assert index in targets(ROOT / "README.md")
    seen, ahead = {index}, [index]
    while ahead:
        found = [page for page in targets(ahead.pop()) if page.suffix == ".md" and page not in seen]
        seen |= {*found}
        ahead += found
    pages = {*(ROOT / "docs").rglob("*.md"), *(ROOT / "kubekit" / "docs").rglob("*.md")}
    assert sorted(str(page.relative_to(ROOT)) for page in pages - seen) == []


def test_the_index_names_the_tutorial_guides_and_references_itself() -> None:
    index = ROOT / "docs" / "README.md"
    folders = ("tutorial", "howto", "reference", "explanation", "adr")
    pages = {page for folder in folders for page in (ROOT / "docs" / folder).rglob("*.md")}
    assert sorted(str(page.relative_to(ROOT)) for page in pages - targets(index)) == []


def targets(document: Path) -> set[Path]:
    return {(document.parent / target).resolve() for target in links(document)}


@pytest.mark.parametrize("tour", TOURS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_tour_is_short_and_links_every_module_it_names(tour: Path) -> None:
    text = tour.read_text()
    assert len(text.splitlines()) <= LONGEST_TOUR
    modules = [target for target in links(tour) if target.endswith(".py")]
    assert len(modules) > 40
    assert re.findall(r"(?<!\[)`[\w/]+\.py`", text) == []
