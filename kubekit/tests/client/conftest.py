"""The APIs that every client must get along with."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kubekit.client import kubeconfig
from tests.client import worlds
from tests.client.worlds import World


@pytest.fixture(params=["https", "direct", pytest.param("real", marks=pytest.mark.real)])
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
            config = kubeconfig.load(request.getfixturevalue("real_server").kubeconfig)
            async with worlds.https_world(config, namespace, lambda: "1") as made:
                await worlds.furnish(made)
                yield made
                await made.client.delete(worlds.NAMESPACE, namespace)
