"""A controller that does what a test says, with an API and a manager around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import structs

from kubekit.client.protocol import Selection
from kubekit.runtime.client_wrapper import Call, Go, WrappedClient
from kubekit.runtime.events import EVENT
from kubekit.runtime.manager import Manager, ManagerSettings
from kubekit.runtime.queue import Backoff
from kubekit.runtime.reconciler import Outcome, Reconciler
from kubekit.testing.deterministic_loop import Loop
from tests.runtime.world import NAMESPACE, Widget, WidgetSpace, widget

Act = Callable[[Widget], Awaitable[Outcome]]


class Counting(WrappedClient):
    """Remembers what was asked of the API."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.calls: list[Call] = []
        self.fail: Callable[[Call], Exception | None] = lambda call: None

    async def around(self, call: Call, go: Go) -> Any:
        self.calls.append(call)
        error = self.fail(call)
        if error is not None:
            raise error
        return await go()

    def writes(self, plural: str = "widgets") -> list[tuple[str, str]]:
        return [(call.verb, call.subresource) for call in self.calls if call.writes and call.address.plural == plural]


class Scripted(Reconciler[Widget]):
    """Does what the test says."""

    kind = Widget
    workers = 2
    patience = 30.0

    def __init__(self, act: Act) -> None:
        self.act, self.seen = act, list[Widget]()
        self.undo: Act = done

    async def reconcile(self, obj: Widget) -> Outcome:
        self.seen.append(obj)
        return await self.act(obj)

    async def finalize(self, obj: Widget) -> Outcome:
        return await self.undo(obj)


async def done(obj: Widget) -> Outcome:
    return Outcome()


class World:
    """An API, a manager and a scripted controller."""

    def __init__(self, loop: Loop, space: WidgetSpace) -> None:
        self.loop, self.space = loop, space
        self.user = self.space.client()
        self.client = Counting(self.space.client())
        self.manager = Manager(
            self.client,
            ManagerSettings("test", backoff=Backoff(first=1.0, variation=0.0)),
            clock=loop.clock,
            chance=loop.chance,
        )
        self.controller = Scripted(done)

    async def start(self) -> None:
        self.manager.add(self.controller)
        await self.user.create(widget("first"))
        await self.user.delete(Widget, "first", NAMESPACE)
        self.running = asyncio.ensure_future(self.manager.run())
        await asyncio.sleep(1)

    async def get(self, name: str = "a") -> Widget:
        found: Widget = await self.user.get(Widget, name, NAMESPACE)
        return found

    async def reasons(self) -> list[str]:
        return [event["reason"] for event in (await self.user.list(EVENT, Selection(NAMESPACE))).items]

    def count(self, result: str) -> float:
        return self.manager.metrics.reconciles.get("widgets", result)


def answering(**status: Any) -> Act:
    async def act(obj: Widget) -> Outcome:
        return Outcome(structs.replace(obj.status, **status))

    return act


def failing(error: Exception, times: int = 1_000) -> Act:
    left = [times]

    async def act(obj: Widget) -> Outcome:
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return Outcome(structs.replace(obj.status, parts=1))

    return act
