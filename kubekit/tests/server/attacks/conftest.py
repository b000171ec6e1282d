"""What tests of attacks share."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def as_served() -> Iterator[None]:
    """The interpreter as it is set up where the server is what it mainly runs: for tests that measure."""
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    sys.setswitchinterval(0.001)
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)
