"""Machines on the fake of every infrastructure: how many calls each of them takes."""

from __future__ import annotations

from bench.table import Table
from butler.errors import ProviderError
from butler.providers.contract import NOTHING_KNOWN, Known, MachineOrder, Power, Provider
from butler.providers.testing import Harness
from tests.providers.fakes import FAKES
from tests.providers.test_simulated_conformance import SimulatedHarness

COUNT = 20
_STEP = 5.0
"""Seconds of the infrastructure's time between two looks, as of a controller."""
_MOST_LOOKS = 200


async def all_of(table: Table, scale: float, _peer: bool) -> None:
    """One connection makes all the machines, so that what is asked once is shared by them."""
    count = max(2, int(COUNT * scale))
    for name, fake in FAKES.items():
        async with fake() as made:
            await _measure(table, name, made.harness, count)
    simulated = SimulatedHarness()
    await _measure(table, "simulated", simulated, count)
    simulated.datacentre.close()


async def _measure(table: Table, row: str, harness: Harness, count: int) -> None:
    provider = await harness.connect()
    try:
        await _lives(table, row, harness, provider, count)
    finally:
        await provider.close()


async def _lives(table: Table, row: str, harness: Harness, provider: Provider, count: int) -> None:
    orders = [harness.order(f"m-{number}") for number in range(count)]
    harness.faults.forget()
    known = await _bring_up(harness, provider, orders)
    table.add(row, "until Running", len(harness.faults.calls) / count, more_is_better=False)
    harness.faults.forget()
    for order in orders:
        await provider.find(order.name, order.token, known[order.token])
    table.add(row, "for a look", len(harness.faults.calls) / count, more_is_better=False)
    harness.faults.forget()
    await _take_down(harness, provider, orders, known)
    table.add(row, "until gone", len(harness.faults.calls) / count, more_is_better=False)


async def _bring_up(harness: Harness, provider: Provider, orders: list[MachineOrder]) -> dict[str, Known]:
    known = {order.token: NOTHING_KNOWN for order in orders}
    waiting = list(orders)
    for _ in range(_MOST_LOOKS):
        for order in list(waiting):
            known[order.token], is_done = await _asked(provider, order, known[order.token])
            if is_done:
                waiting.remove(order)
        if not waiting:
            return known
        await harness.pass_time(_STEP)
    raise TimeoutError(f"{len(waiting)} machines of {provider.name} do not come to run")


async def _asked(provider: Provider, order: MachineOrder, known: Known) -> tuple[Known, bool]:
    """What is known of a machine after asking for it, and whether it runs."""
    try:
        machine = await provider.create(order, known)
    except ProviderError as error:
        if not error.retryable:
            raise
        return Known(known.id), False
    return Known(machine.id or known.id, machine.task), machine.power is Power.RUNNING and bool(machine.addresses)


async def _take_down(harness: Harness, provider: Provider, orders: list[MachineOrder], known: dict[str, Known]) -> None:
    waiting = list(orders)
    for _ in range(_MOST_LOOKS):
        for order in list(waiting):
            if await _is_gone(provider, order, known[order.token]):
                waiting.remove(order)
        if not waiting:
            return
        await harness.pass_time(_STEP)
    raise TimeoutError(f"{len(waiting)} machines of {provider.name} do not go")


async def _is_gone(provider: Provider, order: MachineOrder, known: Known) -> bool:
    try:
        return await provider.delete(order.name, order.token, known)
    except ProviderError as error:
        if not error.retryable:
            raise
        return False
