"""All scripts of kubectl commands, by subject."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

from tests.real.differential.commands import Script


def _collected() -> list[Script]:
    found: list[Script] = []
    for file in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        scripts: tuple[Script, ...] = import_module(f"{__name__}.{file.stem}").SCRIPTS
        found += [replace(one, subject=file.stem.replace("_", " ")) for one in scripts]
    return found


SCRIPTS = _collected()
