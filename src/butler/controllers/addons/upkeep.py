"""Having an addon installed, looked after and removed, by hands that are not waited for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from butler.addons.model import Addon, Installer, Seen
from butler.addons.model import AddonState as State
from butler.api.addon import ManagementAddon, TenantAddon
from butler.engines.helm.protocol import Cluster, Place
from kubekit.clock import Chance, Clock, fraction
from kubekit.runtime import failures
from kubekit.runtime.events import Recorder
from kubekit.runtime.reconciler import Note, Outcome

from ..errands import Errands
from . import status as pictures
from .attempts import Attempt, Memory, installing, looking

Subject = TenantAddon | ManagementAddon
"""Whoever asks for an addon."""

_CHECK = timedelta(minutes=10)
"""How often an addon that works is looked at, about."""
_VARIED = 0.2
"""By how much these looks differ, so that addons installed together do not have them together for ever."""
_LOOK_AGAIN = timedelta(minutes=10)
"""When to look again at what is under way, should nothing be heard of it."""
_AT_ONCE, _SOON = timedelta(0), timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Order:
    """An addon as it is to be, and where."""

    addon: Addon
    reach: Callable[[], Awaitable[Cluster]]
    """Raises what keeps the cluster from being reached."""
    repairs: bool = True
    """Whether what drifts is put right, or only told of."""
    belongs_to_others: Callable[[Place], bool] = lambda place: False
    """Whether a release is somebody else's by now."""


class Upkeep:
    """Decides from what the status of an object says, and from nothing else, whether anything has to be done: a
    manager that is started anew installs nothing again."""

    def __init__(self, installer: Installer | None, clock: Clock, chance: Chance, recorder: Recorder) -> None:
        self.errands: Errands[Attempt, Seen | None] = Errands()
        self._installer, self._clock, self._chance, self._recorder = installer, clock, chance, recorder
        self._memories: dict[str, Memory] = {}

    @property
    def is_possible(self) -> bool:
        """Whether anything here can install."""
        return self._installer is not None

    def is_as_wanted(self, status: pictures.AddonStatus, addon: Addon) -> bool:
        """Whether the status says that it is there as it is to be."""
        return (status.installed_version, status.values_digest) == (addon.version, addon.digest)

    def news(self, obj: Subject) -> Any:
        """The status of an object with what came of its last errand."""
        return self._told(obj.key, obj.status)

    def encourage(self, key: str) -> None:
        """Something else is in the way: once that is over, nothing rests."""
        if key in self._memories:
            self._memories[key].succeed()

    async def forget(self, key: str) -> None:
        """Give up whatever is under way for an object that has nothing any more."""
        self._memories.pop(key, None)
        await self.errands.stop(key)

    def outcome(self, obj: Subject, status: Any, again: timedelta | None = None) -> Outcome:
        """How a visit ends that leaves an object with this status."""
        new = pictures.stamped(obj.status, status, self._clock.now())
        return Outcome(new, again, tuple(pictures.notes_for(obj.status, new)))

    async def pursue(self, obj: Subject, status: Any, order: Order) -> Outcome:
        """Bring an addon closer to how it is to be; `status` is what the visit has come to so far."""
        key, addon = obj.key, order.addon
        if self.errands.under_way(key) is None:
            if (there := pictures.place_of(status)) not in (None, addon.place) and order.belongs_to_others(there):
                status = pictures.changed(status, None, helm_release=None, installed_version=None, values_digest=None)
            attempt = self._due(obj, status, order)
            if attempt is not None and attempt.verb == "install" and pictures.place_of(status) is None:
                return self.outcome(obj, pictures.begun(status, attempt), _AT_ONCE)
            if attempt is not None:
                await self.errands.begin(key, attempt, partial(self._do, obj, attempt, order))
                status = self._told(key, status)
        running = self.errands.under_way(key)
        if running is not None:
            return self.outcome(obj, pictures.under_way(status, running), _LOOK_AGAIN)
        return self.outcome(obj, status, self._again(obj, status, order))

    async def remove(self, obj: Subject, attempt: Attempt, reach: Callable[[], Awaitable[Cluster]]) -> Outcome:
        """Have what is there of an addon removed; finished when `again` is None."""
        key, place = obj.key, attempt.place
        running = self.errands.under_way(key)
        if running is not None and running != attempt:
            await self.errands.stop(key)
        is_idle = self.errands.under_way(key) is None and not self._is_gone(key, attempt)
        if is_idle and not self._memory(key).rests(attempt, self._clock.monotonic()):
            await self.errands.begin(key, attempt, partial(self._remove, obj, attempt, reach))
        if self._is_gone(key, attempt):
            await self.forget(key)
            return Outcome(obj.status)
        ended = self.errands.ended(key)
        if ended is None or ended.error is None:
            going = pictures.deleting(obj.status, "Deleting", f"{place} is being removed")
            return self.outcome(obj, going, _LOOK_AGAIN)
        reason, message = failures.reason_of(ended.error), failures.message_of(ended.error)
        rest = timedelta(seconds=self._memory(key).rests_until - self._clock.monotonic())
        stays = pictures.held_back(obj.status, reason, f"not removed yet: {message}")
        return self.outcome(obj, stays, max(rest, _SOON))

    def _is_gone(self, key: str, removal: Attempt) -> bool:
        ended = self.errands.ended(key)
        return ended is not None and ended.about == removal and ended.error is None

    def tell(self, obj: Subject, note: Note) -> None:
        """Record what no change of status tells, or what the end of an object would swallow."""
        self._recorder.record(obj, type(obj), note)

    def _memory(self, key: str) -> Memory:
        return self._memories.setdefault(key, Memory())

    def _told(self, key: str, status: Any) -> Any:
        ended = self.errands.ended(key)
        return pictures.after(status, ended, self._clock.now()) if ended is not None else status

    def _due(self, obj: Subject, status: Any, order: Order) -> Attempt | None:
        """What has to be done now."""
        memory, now = self._memory(obj.key), self._clock.monotonic()
        attempt = self._next(obj, status, order)
        if attempt.verb == "look" and now < self._look_at(memory, status):
            return None
        return None if memory.rests(attempt, now) else attempt

    def _next(self, obj: Subject, status: Any, order: Order) -> Attempt:
        """What has to be done next, at whatever time."""
        addon, there, generation = order.addon, pictures.place_of(status), obj.metadata.generation
        if there is not None and there != addon.place:
            return Attempt("remove", there)
        if self.is_as_wanted(status, addon) or (pictures.is_elsewhere(status) and status.values_digest is not None):
            return looking(addon, generation, repairs=order.repairs)
        return installing(addon, generation, is_upgrade=status.installed_version is not None)

    def _look_at(self, memory: Memory, status: Any) -> float:
        """When to look: at once where something is not well, and at any time of the next minutes where nobody knows
        when that was done last."""
        now = self._clock.monotonic()
        if memory.look_at is None:
            spread = _CHECK.total_seconds() * fraction(self._chance)
            memory.look_at = now + (spread if pictures.is_settled(status) else 0.0)
        return memory.look_at

    def _again(self, obj: Subject, status: Any, order: Order) -> timedelta:
        if self._due(obj, status, order) is not None:
            return _AT_ONCE
        memory, now = self._memory(obj.key), self._clock.monotonic()
        attempt = self._next(obj, status, order)
        due = self._look_at(memory, status) if attempt.verb == "look" else now
        if memory.rests(attempt, now):
            due = max(due, memory.rests_until)
        return max(timedelta(seconds=due - now), _SOON)

    async def _do(self, obj: Subject, attempt: Attempt, order: Order) -> Seen | None:
        installer, memory = self._installer, self._memory(obj.key)
        assert installer is not None, "nothing is begun without one"
        if attempt.verb == "remove":
            await self._remove(obj, attempt, order.reach)
            return None
        try:
            cluster = await order.reach()
            if attempt.verb == "install":
                (seen,) = await installer.install(cluster, [order.addon])
            else:
                (seen,) = await installer.look(cluster, [order.addon], repair=attempt.repairs)
        except Exception:
            memory.fail(attempt, self._clock.monotonic())
            raise
        self._note(memory, attempt, seen)
        if seen.repaired:
            self.tell(obj, Note("AddonRepaired", f"put right again: {seen.repaired}"))
        return seen

    def _note(self, memory: Memory, attempt: Attempt, seen: Seen) -> None:
        now = self._clock.monotonic()
        if attempt.verb == "install" and (seen.outdated or seen.rolled_back or seen.state is State.FAILED):
            memory.fail(attempt, now)
            return
        memory.succeed()
        if seen.state is State.HEALTHY:
            memory.see_settled(now, _CHECK * (1 - _VARIED / 2 + _VARIED * fraction(self._chance)))
        else:
            memory.see_unready(now)

    async def _remove(self, obj: Subject, attempt: Attempt, reach: Callable[[], Awaitable[Cluster]]) -> None:
        memory = self._memory(obj.key)
        assert self._installer is not None, "nothing is begun without one"
        try:
            await self._installer.remove(
                await reach(), attempt.place, name=attempt.name, holds_volumes=attempt.holds_volumes
            )
        except Exception:
            memory.fail(attempt, self._clock.monotonic())
            raise
        memory.succeed()
