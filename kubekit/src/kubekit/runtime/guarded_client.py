"""The client of controllers: counts requests, remembers what was written, and writes only while this process leads."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from kubekit.client.protocol import Client
from kubekit.clock import Clock
from kubekit.errors import ApiError, LeadershipLost
from kubekit.model.resource import Address

from .client_wrapper import Call, Go, WrappedClient
from .metrics import Metrics
from .objects import number, version_of


@dataclass(frozen=True, slots=True)
class Written:
    """A write that took effect, and the version it made."""

    address: Address
    version: int


ledger: ContextVar[list[Written] | None] = ContextVar("kubekit-writes", default=None)
"""Where the writes of the visit under way are noted, so that the next visit can wait until the caches show them."""

_METHODS = {"get": "GET", "list": "GET", "create": "POST", "apply": "PATCH", "patch": "PATCH", "delete": "DELETE"}


class GuardedClient(WrappedClient):
    """Raises LeadershipLost instead of writing when `may_write` says no."""

    def __init__(self, inner: Client, clock: Clock, metrics: Metrics, may_write: Callable[[], bool]) -> None:
        super().__init__(inner)
        self._clock, self._metrics, self._may_write = clock, metrics, may_write

    async def around(self, call: Call, go: Go) -> Any:
        if call.writes and not self._may_write():
            raise LeadershipLost(f"{call.verb} {call.address.plural} {call.name!r}: this process does not lead")
        started = self._clock.monotonic()
        code = "200"
        try:
            answer = await go()
        except ApiError as error:
            code = str(error.code)
            raise
        except BaseException:
            code = "<error>"
            raise
        finally:
            self._metrics.requests.add(code, _METHODS[call.verb])
            self._metrics.request_time.of(call.verb).observe(self._clock.monotonic() - started)
        self._note(call, answer)
        return answer

    def _note(self, call: Call, answer: Any) -> None:
        written = ledger.get()
        if written is not None and call.writes and call.verb != "delete":
            written.append(Written(call.address, number(version_of(answer))))
