"""Cases on both servers at once, several under way together."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field

from tests.real.differential import conversations
from tests.real.differential.sides import Side
from tests.real.differential.steps import Case
from tests.real.differential.verdicts import Verdict, judge

_AT_ONCE = 6


@dataclass
class Pair:
    """The two servers, and the event loop in which they are talked to."""

    runner: asyncio.Runner
    real: Side
    embedded: Side
    counted: int = 0

    def namespace(self, name: str) -> str:
        """One that nobody has used, the same on both."""
        self.counted += 1
        return f"{re.sub('[^a-z0-9]+', '-', name.lower())[:36].strip('-')}-{self.counted}"

    async def compare(self, case: Case) -> Verdict:
        namespace = self.namespace(case.name)
        real, embedded = await asyncio.gather(
            conversations.converse(self.real, case, namespace), conversations.converse(self.embedded, case, namespace)
        )
        return judge(case, real, embedded)


@dataclass
class Comparisons:
    """Cases under way. Several run at once, so that one that waits does not keep the others waiting."""

    pair: Pair
    under_way: dict[str, asyncio.Task[Verdict]] = field(default_factory=dict)

    def start(self, cases: dict[str, Case]) -> None:
        limit = asyncio.Semaphore(_AT_ONCE)

        async def compared(case: Case) -> Verdict:
            async with limit:
                return await self.pair.compare(case)

        async def start() -> None:
            for name, case in cases.items():
                self.under_way[name] = asyncio.create_task(compared(case))

        self.pair.runner.run(start())

    def verdict(self, name: str) -> Verdict:
        async def wait() -> Verdict:
            return await self.under_way[name]

        return self.pair.runner.run(wait())
