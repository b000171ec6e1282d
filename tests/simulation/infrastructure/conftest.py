"""A management API and a simulated data centre, in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kubekit.testing.deterministic_loop import Loop
from tests.simulation.infrastructure_world import World


@pytest.fixture
def fast() -> bool:
    """Whether the data centre takes no time; a test may have this as a parameter."""
    return False


@pytest.fixture
def world(kubekit_loop: Loop, fast: bool) -> Iterator[World]:
    made = World(kubekit_loop, fast)
    yield made
    made.datacentre.close()
