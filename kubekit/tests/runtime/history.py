"""One history: managers that crash on an API that misbehaves, users who change their minds, and what must hold."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from kubekit.errors import ApiError
from kubekit.runtime.conditions import RECONCILED
from kubekit.testing import deterministic_loop
from kubekit.testing.deterministic_loop import Loop
from tests.runtime.stage import NAMES, Stage
from tests.runtime.witnesses import Violation
from tests.runtime.world import PART, Paint, Widget

TROUBLED = 30.0
"""Seconds of faults."""
PATIENCE = 240.0
"""Seconds without faults within which everything must be as it should."""
QUIET = 20.0
"""Seconds in which then nothing may happen."""
_MOST_ATTEMPTS = 40
"""How often an object may be visited while its cloud is down: a few dozen with backoff, thousands without."""


class History(Stage):
    """What happens under one seed."""

    async def run(self) -> str:
        """Raises Violation; answers a digest of everything that happened."""
        async with asyncio.TaskGroup() as self._meddlers:
            for _ in range(2):
                self._start()
            await self._trouble()
            self._calm()
            await self._settle()
            for exercise in self._exercises():
                await exercise()
                await self._settle()
        self._check_attempts()
        await self._stay_quiet()
        for replica in self._replicas:
            await replica.stop()
        self._check_panics()
        self._check_violations()
        return str(self.record.trace.hexdigest())

    async def _trouble(self) -> None:
        deeds, weights = self._deeds()
        await self._mix_paints()
        while self._loop.time() < TROUBLED:
            await asyncio.sleep(self._random.expovariate(1.3))
            with suppress(ApiError):
                await self._random.choices(deeds, weights)[0]()

    async def _settle(self) -> None:
        self._check_violations()
        deadline = self._loop.time() + PATIENCE
        while (problem := await self._problem()) and self._loop.time() < deadline:  # noqa: ASYNC110 - virtual
            await asyncio.sleep(2)
        if problem:
            raise Violation(f"not reached: {problem}")

    def _check_attempts(self) -> None:
        attempts = max(self.record.attempts.values(), default=0)
        if attempts > _MOST_ATTEMPTS:
            raise Violation(f"{attempts} visits while the cloud was down")

    async def _problem(self) -> str:
        """What is not as it should be; empty when everything is."""
        widgets = (await self._client.list(Widget)).items
        parts = (await self._client.list(PART)).items
        paints = {one.metadata.name: one.spec.colour for one in (await self._client.list(Paint)).items}
        for one in widgets:
            if problem := self._problem_with(one, paints.get(one.spec.paint), parts):
                return f"{one.key}: {problem}"
        uids = {one.metadata.uid for one in widgets}
        if stray := [part for part in parts if part["metadata"]["ownerReferences"][0]["uid"] not in uids]:
            return f"part {stray[0]['metadata']['name']} belongs to nobody"
        if any(uid not in uids and self.record.cloud.find(uid) for uid in list(self.record.cloud.machines)):
            return "a machine belongs to nobody"
        return ""

    def _problem_with(self, one: Widget, colour: str | None, parts: Any) -> str:
        if one.deleting:
            return "still there"
        status = one.status
        if status.observed_generation != one.metadata.generation:
            return f"generation {one.metadata.generation} not observed"
        failed = status.condition(RECONCILED)
        if one.spec.broken:
            return "" if failed is not None and failed.status == "False" else "its error is not shown"
        if failed is not None and failed.status != "True":
            return "an old error is still shown"
        names = sorted(
            part["metadata"]["name"]
            for part in parts
            if part["metadata"]["ownerReferences"][0]["uid"] == one.metadata.uid
        )
        wanted = [f"{one.metadata.name}-{number}" for number in range(one.spec.size)]
        if names != wanted:
            return f"has {names} instead of {wanted}"
        ready = status.condition("Ready")
        shown = (status.parts, status.colour, status.address, ready.status if ready else None)
        expected = (one.spec.size, colour, f"10.0.0.{one.spec.size}", "True")
        return "" if shown == expected else f"shows {shown} instead of {expected}"

    async def _stay_quiet(self) -> None:
        await asyncio.sleep(5)
        writes, visits = self.record.writes, self.record.visits
        await asyncio.sleep(QUIET)
        if self.record.writes != writes:
            raise Violation(f"{self.record.writes - writes} writes although nothing happened")
        # A broken widget is looked at again now and then.
        if self.record.visits - visits > 5 * len(NAMES):
            raise Violation(f"{self.record.visits - visits} visits although nothing happened")

    def _check_violations(self) -> None:
        if self.record.violations:
            raise Violation(self.record.violations[0])

    def _check_panics(self) -> None:
        for replica in self._replicas:
            if panics := replica.manager.metrics.panics.get("widgets"):
                raise Violation(f"{panics} visits ended in an error nobody had thought of")


def play(seed: int) -> str:
    """Run one history. Raises Violation."""

    async def main(loop: Loop) -> str:
        return await History(loop, seed).run()

    return deterministic_loop.run(main, seed)
