"""Seed documents as objects, and the schemas they are checked against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from butler.api import KINDS
from butler.api.model import Resource
from tests.api import documents

BY_KIND = {kind.address.kind: kind for kind in KINDS}


@pytest.fixture
def document() -> Callable[..., dict[str, Any]]:
    """A seed document by file name, with fragments merged over it."""
    return documents.load


@pytest.fixture
def read() -> Callable[[dict[str, Any]], Any]:
    """A document as the typed object of its kind."""

    def convert(document: dict[str, Any]) -> Resource:
        return msgspec.json.decode(msgspec.json.encode(document), type=BY_KIND[document["kind"]])

    return convert
