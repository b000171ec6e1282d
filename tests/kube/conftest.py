"""The APIs that every client must get along with."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from butler.kube import kubeconfig
from tests.kube import worlds
from tests.kube.worlds import World

REAL = os.environ.get("BUTLER_REAL_KUBECONFIG", "")
"""A kubeconfig of a cluster to run the suite on as well, as an administrator."""


@pytest.fixture(params=["https", "direct", *(["real"] if REAL else [])])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    namespace = f"conformance-{uuid.uuid4().hex[:8]}"
    match request.param:
        case "https":
            async with worlds.embedded_https_world(tmp_path / "data", namespace) as made:
                yield made
        case "direct":
            async with worlds.direct_world(tmp_path / "data", namespace) as made:
                yield made
        case "real":
            config = kubeconfig.load(Path(REAL))
            async with worlds.https_world(config, namespace, lambda: "1") as made:
                await worlds.furnish(made)
                yield made
                await made.client.delete(worlds.NAMESPACE, namespace)
