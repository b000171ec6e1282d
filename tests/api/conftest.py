"""Seed documents as objects, and the schemas they are checked against."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from butler.api import KINDS
from butler.api.model import Resource

SEEDS = Path(__file__).parent.parent / "fixtures" / "seeds"
BY_KIND = {kind.address.kind: kind for kind in KINDS}


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        nested = isinstance(value, dict) and isinstance(base.get(key), dict)
        merged[key] = _merge(base[key], value) if nested else value
    return merged


@pytest.fixture
def document() -> Callable[..., dict[str, Any]]:
    """A seed document by file name, with fragments merged over it."""

    def load(name: str, *fragments: str) -> dict[str, Any]:
        made: dict[str, Any] = yaml.safe_load((SEEDS / f"{name}.yaml").read_text())
        for fragment in fragments:
            made = _merge(made, yaml.safe_load((SEEDS / f"{fragment}.fragment.yaml").read_text()))
        return made

    return load


@pytest.fixture
def read() -> Callable[[dict[str, Any]], Any]:
    """A document as the typed object of its kind."""

    def convert(document: dict[str, Any]) -> Resource:
        return msgspec.json.decode(msgspec.json.encode(document), type=BY_KIND[document["kind"]])

    return convert
