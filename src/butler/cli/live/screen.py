"""Showing a cluster's steps: on a terminal as a picture that moves, elsewhere as a line per change."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, Self, TextIO

import click

from butler.api.cluster import ClusterPhase, TenantCluster
from kubekit.clock import Clock, SystemClock
from kubekit.model.ages import human

from ..output import is_coloured, phase, plain

_ENDS = ("Gone", *(one.value for one in ClusterPhase if one.is_usable))
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_SPINNER = "|/-\\"
_UP, _CLEAR, _HIDE, _SHOW = "\x1b[{}A", "\x1b[2K", "\x1b[?25l", "\x1b[?25h"


class State(Enum):
    """How far a step is."""

    AHEAD = "ahead"
    CURRENT = "current"
    DONE = "done"


@dataclass(slots=True)
class Stage:
    """One step as it is shown."""

    title: str
    state: State = State.AHEAD
    message: str = ""
    began: float | None = None
    ended: float | None = None

    def move(self, state: State, message: str, now: float) -> bool:
        """Take over what is known now; answers whether that is news."""
        is_news = (state, message) != (self.state, self.message)
        if state is State.CURRENT and self.state is not State.CURRENT:
            self.began, self.ended = now, None
        if state is State.DONE and self.state is State.CURRENT:
            self.ended = now
        self.state, self.message = state, message
        return is_news

    def seconds(self, now: float) -> int | None:
        """How long it has been going on, or took; None when nobody saw it."""
        return None if self.began is None else int((self.ended or now) - self.began)


@dataclass
class Track:
    """What has been seen of a cluster since we look."""

    clock: Clock
    title: str = ""
    phase: str = ""
    facts: str = ""
    stages: dict[str, Stage] = field(default_factory=dict)
    started: float = 0.0

    def __post_init__(self) -> None:
        self.started = self.clock.monotonic()

    def update(self, cluster: TenantCluster | None) -> list[Stage]:
        """Answers the stages that have something new."""
        now = self.clock.monotonic()
        if cluster is None:
            self.phase, self.facts = "Gone", ""
            return [stage for stage in self.stages.values() if stage.state is State.CURRENT and _end(stage, now)]
        status = cluster.status
        self.title, self.facts = cluster.key, _facts(cluster)
        self.phase = status.phase.value if status.phase else "Pending"
        if is_of_before(cluster):
            # Steps that are done for what was wanted before would only be taken back in a moment.
            self.phase = ClusterPhase.UPDATING.value
            return []
        if cluster.deleting or status.phase is ClusterPhase.DELETING:
            self.phase = ClusterPhase.DELETING.value
            return self._taking_down(cluster, now)
        return self._building(cluster, now)

    def _building(self, cluster: TenantCluster, now: float) -> list[Stage]:
        from butler.controllers.cluster.steps import STEPS

        news, is_first = [], True
        for step in STEPS:
            is_new = step.condition not in self.stages
            stage = self.stages.setdefault(step.condition, Stage(step.title))
            found = cluster.status.condition(step.condition)
            if found is not None and found.status == "True":
                state, message = State.DONE, ""
            elif found is not None or (is_first and cluster.status.phase is None):
                state, message = State.CURRENT, plain(found.message or found.reason) if found else ""
            else:
                state, message = State.AHEAD, ""
            is_first = is_first and state is State.DONE
            # What was done before anyone looked is no news.
            if stage.move(state, message, now) and not (is_new and state is State.DONE):
                news.append(stage)
        return news

    def _taking_down(self, cluster: TenantCluster, now: float) -> list[Stage]:
        """There is one message at a time, and each one is a stage."""
        ready = cluster.status.condition("Ready")
        message = ready.message if ready is not None and ready.reason == "Deleting" else ""
        message = plain(message) or "Taken note of"
        self.stages = {name: stage for name, stage in self.stages.items() if name.startswith("deleting ")}
        news = [one for one in self.stages.values() if one.title != message and one.state is State.CURRENT]
        for stage in news:
            _end(stage, now)
        current = self.stages.setdefault(f"deleting {message}", Stage(message))
        return [*news, current] if current.move(State.CURRENT, "", now) else news

    def elapsed(self) -> str:
        return human(int(self.clock.monotonic() - self.started))


def is_of_before(cluster: TenantCluster) -> bool:
    """Whether a cluster's status says that all is well with what was wanted before it was changed."""
    status = cluster.status
    is_usable = status.phase is not None and status.phase.is_usable
    return is_usable and not cluster.deleting and (status.observed_generation or 0) < cluster.metadata.generation


def _end(stage: Stage, now: float) -> bool:
    return stage.move(State.DONE, "", now)


def _facts(cluster: TenantCluster) -> str:
    status = cluster.status
    facts = []
    if status.observed_state is not None and status.observed_state.kubernetes_version:
        facts.append(status.observed_state.kubernetes_version)
    if status.worker_nodes_desired is not None:
        facts.append(f"workers {status.worker_nodes_ready or 0}/{status.worker_nodes_desired}")
    return ", ".join(facts)


class Screen(Protocol):
    """Where progress is shown; as a context manager it leaves the terminal as it was."""

    moves: bool
    """Whether `tick` wants to be called."""

    def show(self, cluster: TenantCluster | None) -> None: ...

    def tick(self) -> None: ...

    def note(self, text: str) -> None:
        """Something people should know that is not about a step."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def screen_for(
    stream: TextIO | None = None, clock: Clock | None = None, environ: Mapping[str, str] = os.environ
) -> Screen:
    """What fits the stream, which is stderr if none is given."""
    stream, clock = stream or sys.stderr, clock or SystemClock()
    if stream.isatty() and environ.get("TERM", "dumb") != "dumb":
        return LiveScreen(stream, clock)
    return LineScreen(stream, clock)


class LineScreen:
    """A line whenever something changes."""

    moves = False

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream, self._track = stream, Track(clock)
        self._phase = ""

    def show(self, cluster: TenantCluster | None) -> None:
        news = self._track.update(cluster)
        is_end = self._track.phase in _ENDS
        if not is_end:
            self._tell_phase()
        for stage in news:
            if stage.state is State.DONE:
                self.note(f"  done: {stage.title}")
            elif stage.state is State.CURRENT:
                self.note(f"  {stage.title}: {stage.message}" if stage.message else f"  {stage.title}")
        self._tell_phase()

    def _tell_phase(self) -> None:
        track = self._track
        if track.phase != self._phase:
            self._phase = track.phase
            self.note(f"{track.phase} ({track.facts})" if track.facts else track.phase)

    def tick(self) -> None:
        pass

    def note(self, text: str) -> None:
        self._stream.write(f"{self._track.elapsed():>6}  {text}\n")
        self._stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class LiveScreen:
    """All steps, drawn over themselves."""

    moves = True

    def __init__(self, stream: TextIO, clock: Clock) -> None:
        self._stream, self._clock, self._track = stream, clock, Track(clock)
        self._drawn = 0
        self._note = ""
        self._is_shown = False
        self._spinner = _SPINNER if _can_write(stream, _SPINNER) else _PLAIN_SPINNER

    def show(self, cluster: TenantCluster | None) -> None:
        self._track.update(cluster)
        self._note, self._is_shown = "", True
        self._draw()

    def tick(self) -> None:
        if self._is_shown:
            self._draw()

    def note(self, text: str) -> None:
        self._note = plain(text)
        self._draw()

    def __enter__(self) -> Self:
        self._stream.write(_HIDE)
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.write(_SHOW)
        self._stream.flush()

    def _draw(self) -> None:
        width, height = self._size()
        lines = self._lines(width)[-(height - 1) :]
        back = _UP.format(self._drawn) if self._drawn else ""
        # A picture that has become smaller leaves lines behind it.
        left_over = max(self._drawn - len(lines), 0)
        rest = f"{_CLEAR}\n" * left_over + (_UP.format(left_over) if left_over else "")
        self._stream.write("\r" + back + "".join(f"{_CLEAR}{line}\n" for line in lines) + rest)
        self._stream.flush()
        self._drawn = len(lines)

    def _size(self) -> tuple[int, int]:
        try:
            width, height = os.get_terminal_size(self._stream.fileno())
        except (OSError, ValueError):
            width, height = 0, 0
        # A terminal that does not know its size says 0.
        return width or 80, height or 24

    def _lines(self, width: int) -> Sequence[str]:
        track = self._track
        rest = f"  {track.facts}  {track.elapsed()}" if track.facts else f"  {track.elapsed()}"
        head = f"{track.title}  {phase(track.phase, self._stream)}{rest}"
        if len(f"{track.title}  {track.phase}{rest}") >= width:
            head = f"{track.title}  {track.phase}{rest}"[: width - 1]
        longest = max((len(stage.title) for stage in track.stages.values()), default=0)
        lines = [head, *(self._line(stage, longest, width) for stage in track.stages.values())]
        return [*lines, f"  {self._note}"[: width - 1]] if self._note else lines

    def _line(self, stage: Stage, longest: int, width: int) -> str:
        now = self._clock.monotonic()
        seconds = stage.seconds(now)
        took = f"{human(seconds):>5}" if seconds is not None else " " * 5
        text = f"{stage.title.ljust(longest)}  {took}  {stage.message}".rstrip()
        text = text if len(text) <= width - 5 else f"{text[: width - 6]}…"
        mark, colour = self._mark(stage, now)
        if not is_coloured(self._stream):
            return f"  {mark} {text}"
        dim = stage.state is State.AHEAD
        return f"  {click.style(mark, fg=colour)} {click.style(text, dim=True) if dim else text}"

    def _mark(self, stage: Stage, now: float) -> tuple[str, str]:
        is_rich = self._spinner is _SPINNER
        match stage.state:
            case State.DONE:
                return "✓" if is_rich else "+", "green"
            case State.CURRENT:
                return self._spinner[int(now * 10) % len(self._spinner)], "yellow"
        return "·" if is_rich else ".", "bright_black"


def _can_write(stream: TextIO, letters: str) -> bool:
    try:
        letters.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True
