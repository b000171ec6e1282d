"""Seed documents as objects, and the schemas they are checked against."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from butler.api import KINDS
from kubekit.model.resource import Resource
from testbed.running.embedded import ServerProcess, kubectl_for
from tests.api import documents

CRDS = Path(__file__).parents[2] / "deploy" / "crds"
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


@pytest.fixture(scope="session")
def butler_kinds(server_process: ServerProcess) -> None:
    """Butler's own kinds, once for all tests of this worker."""
    kubectl = kubectl_for(server_process.kubeconfig)
    kubectl("apply", "--server-side", "-f", str(CRDS))
    kubectl("wait", "--for=condition=Established", "crd", "-l", "app.kubernetes.io/part-of=butler", "--timeout=60s")
    # kubectl keeps what it knows of the server for hours; `explain` does not look again by itself.
    kubectl("api-resources", "--cached=false", "-o", "name")
