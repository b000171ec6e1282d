"""One leader among several replicas, by a Lease, with a fence: who cannot renew in time stops before another begins.

A leader counts from the moment it *sent* its last successful renewal, and gives up after `renew_deadline`. Another
takes over only after it has *seen* the same record for `lease_duration`, which is longer. So even with clocks that
disagree there is a pause between the last write of one and the first of the other, as long as they run equally fast.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kubekit.client.protocol import Client
from kubekit.clock import Chance, Clock, fraction
from kubekit.errors import AlreadyExists, ApiError, Conflict, NotFound
from kubekit.model.resource import Address

from .logs import say

LEASE = Address("coordination.k8s.io", "v1", "Lease", "leases", True)


@dataclass(frozen=True, slots=True)
class Election:
    """Which lease, and how patient everyone is."""

    name: str
    namespace: str
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0

    def __post_init__(self) -> None:
        if not self.retry_period < self.renew_deadline < self.lease_duration:
            raise ValueError("retry_period < renew_deadline < lease_duration must hold, or the fence has a gap")


class Leadership:
    """A candidate. `campaign` returns when it leads, `keep` when it no longer does."""

    def __init__(self, client: Client, election: Election, identity: str, clock: Clock, chance: Chance) -> None:
        self._client, self._election, self.identity = client, election, identity
        self._clock, self._chance = clock, chance
        self._until = 0.0
        self._stopped = False
        self._seen: tuple[str, str] = ("", "")
        self._seen_at = 0.0
        self._lease: dict[str, Any] = {}
        self.heard = 0.0
        """When the lease was last read or written, by the monotonic clock."""

    def holds(self) -> bool:
        """Whether this process may write: false from the moment another might lead."""
        return not self._stopped and self._clock.monotonic() < self._until

    @property
    def remaining(self) -> float:
        """Seconds until this process stops leading unless it renews; 0 when it does not lead."""
        return 0.0 if self._stopped else max(self._until - self._clock.monotonic(), 0.0)

    async def campaign(self) -> None:
        """Try until the lease is ours."""
        while not await self.attempt():
            await self._clock.sleep(self._election.retry_period * (0.8 + 0.4 * fraction(self._chance)))

    async def keep(self) -> None:
        """Renew, and return once the lease could not be renewed in time or is someone else's."""
        with suppress(TimeoutError):
            while self.holds():
                await self._clock.sleep(min(self._election.retry_period, self.remaining))
                # Not a moment longer than we may lead, however long an answer takes.
                async with asyncio.timeout(self.remaining):
                    if not await self.attempt() and self._holder() != self.identity:
                        break
        self._until = 0.0
        say(logging.WARNING, "no longer leading", lease=self._election.name, identity=self.identity)

    async def release(self) -> None:
        """Let another lead at once. From here on nothing is written; a failure only costs the others some patience."""
        held, self._stopped = self.holds(), True
        if not held:
            return
        spec = {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _micro(self._clock.now())}
        try:
            await self._patch(spec)
        except ApiError as error:
            say(logging.INFO, "lease not released", lease=self._election.name, error=error)

    async def attempt(self) -> bool:
        """Take or renew the lease if that is possible now. Answers whether it is ours; failures are a no."""
        started = self._clock.monotonic()
        try:
            async with asyncio.timeout(self._election.renew_deadline / 2):
                taken = await self._take()
        except (AlreadyExists, Conflict):
            return False
        except (ApiError, TimeoutError) as error:
            say(logging.WARNING, "lease not reached", lease=self._election.name, error=error or "timeout")
            return False
        self.heard = self._clock.monotonic()
        if taken:
            if not self.holds():
                say(logging.INFO, "leading", lease=self._election.name, identity=self.identity)
            self._stopped, self._until = False, started + self._election.renew_deadline
        return taken

    async def _take(self) -> bool:
        if self.holds():
            with suppress(Conflict):
                self._lease = await self._patch(self._claim(self.identity))
                return True
        try:
            self._lease = await self._client.get(LEASE, self._election.name, self._election.namespace)
        except NotFound:
            self._lease = await self._client.create(self._new(), LEASE, manager=self._election.name)
            return True
        holder = self._holder()
        if holder not in ("", self.identity) and not self._has_expired():
            return False
        self._lease = await self._patch(self._claim(holder))
        return True

    def _holder(self) -> str:
        return str(self._lease.get("spec", {}).get("holderIdentity") or "")

    def _has_expired(self) -> bool:
        """Whether the same record has been there for longer than whoever wrote it may lead, by our own clock."""
        spec = self._lease.get("spec", {})
        record = (self._holder(), str(spec.get("renewTime") or ""))
        now = self._clock.monotonic()
        if record != self._seen:
            self._seen, self._seen_at = record, now
        duration = max(float(spec.get("leaseDurationSeconds") or 0), self._election.lease_duration)
        return now - self._seen_at >= duration

    def _claim(self, holder: str) -> dict[str, Any]:
        now = _micro(self._clock.now())
        claim: dict[str, Any] = {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": int(self._election.lease_duration),
            "renewTime": now,
        }
        if holder != self.identity:
            transitions = self._lease.get("spec", {}).get("leaseTransitions") or 0
            claim |= {"acquireTime": now, "leaseTransitions": transitions + 1}
        return claim

    async def _patch(self, spec: dict[str, Any]) -> Any:
        change = {"metadata": {"resourceVersion": self._lease["metadata"]["resourceVersion"]}, "spec": spec}
        return await self._client.patch(
            LEASE, self._election.name, change, self._election.namespace, manager=self._election.name
        )

    def _new(self) -> dict[str, Any]:
        return {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.kind,
            "metadata": {"name": self._election.name, "namespace": self._election.namespace},
            "spec": {**self._claim(self.identity), "acquireTime": _micro(self._clock.now()), "leaseTransitions": 0},
        }


def _micro(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
