"""The conformance kit: every rule of the provider contract as a test, for any provider, with pytest.

class TestTinycloud(ConformanceKit):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        async with TinycloudHarness() as made:
            yield made
"""

import pytest

for _module in ("kit", "driving", *(f"rules.{name}" for name in (
    "identity", "creating", "facts", "deleting", "failing", "telling", "choosing", "breaking", "balancing", "imaging",
))):  # fmt: skip
    pytest.register_assert_rewrite(f"{__name__}.{_module}")

from .faults import Fault, Faults  # noqa: E402 -- asserts are made telling before they are imported
from .harness import Harness, Seen  # noqa: E402
from .kit import ConformanceKit  # noqa: E402

__all__ = ["ConformanceKit", "Fault", "Faults", "Harness", "Seen"]
