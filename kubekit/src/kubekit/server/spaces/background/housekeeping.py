"""Forgetting: objects whose time is over, and history nobody needs any more."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from kubekit.clock import Clock
from kubekit.server.pipeline.commit import encode
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store

log = logging.getLogger("kubekit.server")

HISTORY_SECONDS = 300.0
"""How far back a watch can resume and a paged list can go on."""
HISTORY_REVISIONS = 20_000
"""And how many revisions at most, so that a busy server does not hoard."""
_INTERVAL = 10.0
_SET_BACK = 60.0
"""Seconds by which a clock must have been set back to matter."""


class Housekeeping:
    """Keeps the size of the store proportional to what is alive."""

    def __init__(self, store: Store, clock: Clock, renew: Callable[[], object]) -> None:
        self._store, self._clock, self._renew = store, clock, renew
        self._marks: deque[tuple[float, int]] = deque()
        self._renewed = clock.monotonic()
        self._lead = self._clock_lead()

    async def run(self) -> None:
        while True:
            await self._clock.sleep(_INTERVAL)
            try:
                self.tidy()
            except Exception:
                # Such as a full disk: it may have passed by the next time.
                log.exception("housekeeping failed")

    def tidy(self) -> None:
        """Once: drop what has expired, and history older than the window."""
        for bucket, key in self._store.expired(int(self._clock.now().timestamp())):
            row = self._store.latest(bucket, key)
            if row is not None:
                obj = row.decode()
                obj["metadata"]["resourceVersion"] = str(self._store.next_revision())
                deleted = self._store.write(bucket, key, Change.DELETED, encode(obj), previous=row)
                # If that is lost, it is found again the next time.
                deleted.add_done_callback(asyncio.Future.exception)
        if self._store.problem():
            self._store.try_again()
        now = self._clock.monotonic()
        self._marks.append((now, self._store.committed))
        horizon = self._store.committed - HISTORY_REVISIONS
        while self._marks and now - self._marks[0][0] >= HISTORY_SECONDS:
            horizon = max(horizon, self._marks.popleft()[1])
        self._store.compact(horizon)
        lead = self._clock_lead()
        if now - self._renewed > 24 * 3600 or lead < self._lead - _SET_BACK:
            self._renewed, self._lead = now, lead
            self._renew()
        self._lead = max(self._lead, lead)

    def _clock_lead(self) -> float:
        """Becomes less only when somebody sets the clock back: what was made before may then be of the future."""
        return self._clock.now().timestamp() - self._clock.monotonic()
