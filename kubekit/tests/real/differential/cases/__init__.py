"""All cases, by subject."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from tests.real.differential.steps import Case


def _collected() -> list[Case]:
    found: list[Case] = []
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        cases: tuple[Case, ...] = import_module(f"{__name__}.{file.stem}").CASES
        found += [replace(one, subject=file.stem.replace("_", " ")) for one in cases]
    return found


CASES = _collected()
