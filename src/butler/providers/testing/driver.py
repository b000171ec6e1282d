"""What the controller does with a provider, without a controller: ask again until it is done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from butler.errors import ProviderError, ProviderUnavailable, RateLimited

from ..contract import NOTHING_KNOWN, Known, Machine, MachineOrder, Power, Provider
from .harness import Harness

Answer = TypeVar("Answer")


@asynccontextmanager
async def connected(harness: Harness) -> AsyncIterator[Provider]:
    provider = await harness.connect()
    try:
        yield provider
    finally:
        await provider.close()


async def _nothing(_: ProviderError) -> None:
    """What most do about an error."""


async def until(
    harness: Harness,
    ask: Callable[[], Awaitable[Answer | None]],
    complaint: str,
    after: Callable[[ProviderError], Awaitable[None]] = _nothing,
) -> Answer:
    """Ask again and again until there is an answer; only errors that can be tried again are taken."""
    last = ""
    for _ in range(int(harness.patience / harness.step)):
        try:
            if (answer := await ask()) is not None:
                return answer
        except ProviderError as error:
            assert error.retryable, f"{complaint}: {error}"
            last = str(error)
            await after(error)
        await harness.pass_time(harness.step)
    raise AssertionError(f"{complaint} within {harness.patience:g} s; {last}")


class Driver:
    """A controller's memory of one machine. One that crashes has lost its connection and all it knew."""

    def __init__(self, harness: Harness, *, crashes: bool = False) -> None:
        self._harness, self._crashes = harness, crashes
        self._provider: Provider | None = None
        self._known = NOTHING_KNOWN

    async def bring_up(self, order: MachineOrder) -> Machine:
        """Ask for a machine until it runs and has an address."""

        async def ask(provider: Provider) -> Machine | None:
            machine = await provider.create(order, self._known)
            self._known = Known(machine.id or self._known.id, machine.task)
            return machine if machine.power is Power.RUNNING and machine.addresses else None

        return await self._until(ask, f"machine {order.name} does not come to run")

    async def take_down(self, order: MachineOrder) -> None:
        """Ask for its end until nothing is left, and long enough to be sure."""
        waited = 0.0

        async def ask(provider: Provider) -> bool | None:
            nonlocal waited
            is_gone = await provider.delete(order.name, order.token, self._known)
            is_sure = bool(self._known.id) or waited >= provider.settles_in
            waited += self._harness.step
            return True if is_gone and is_sure else None

        await self._until(ask, f"machine {order.name} does not go")

    async def close(self) -> None:
        provider, self._provider = self._provider, None
        if provider is not None:
            await provider.close()

    async def _until(self, ask: Callable[[Provider], Awaitable[Answer | None]], complaint: str) -> Answer:
        return await until(self._harness, lambda: self._visit(ask), complaint, self._after)

    async def _visit(self, ask: Callable[[Provider], Awaitable[Answer | None]]) -> Answer | None:
        if self._provider is None:
            self._provider = await self._harness.connect()
        return await ask(self._provider)

    async def _after(self, error: ProviderError) -> None:
        if self._crashes:
            self._known = NOTHING_KNOWN
            await self.close()
        elif not isinstance(error, ProviderUnavailable | RateLimited):
            self._known = Known(self._known.id)


@asynccontextmanager
async def driving(harness: Harness, *, crashes: bool = False) -> AsyncIterator[Driver]:
    driver = Driver(harness, crashes=crashes)
    try:
        yield driver
    finally:
        await driver.close()


async def made(harness: Harness, name: str) -> MachineOrder:
    """The order of a machine that runs."""
    order = harness.order(name)
    async with driving(harness) as driver:
        await driver.bring_up(order)
    return order


async def names(harness: Harness) -> list[str]:
    """What machines there are, past the provider."""
    return sorted(seen.name for seen in await harness.machines())


async def seen_of(harness: Harness, token: str) -> list[object]:
    return [seen for seen in await harness.machines() if seen.token == token]
