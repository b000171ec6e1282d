"""Counters, gauges and histograms in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Labels = tuple[str, ...]

LATENCIES = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds in seconds for anything that usually takes a fraction of one."""


@dataclass(slots=True)
class Counter:
    """A number that only grows, for each combination of labels."""

    name: str
    help: str
    labels: Labels = ()
    values: dict[Labels, float] = field(default_factory=dict)

    def add(self, *labels: str, amount: float = 1.0) -> None:
        self.values[labels] = self.values.get(labels, 0.0) + amount

    def get(self, *labels: str) -> float:
        return self.values.get(labels, 0.0)

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, "counter", self.help)
        for labels, value in sorted(self.values.items()):
            yield f"{self.name}{_shown(self.labels, labels)} {_number(value)}"


@dataclass(slots=True)
class Gauge:
    """A number read when it is asked for, for each combination of labels."""

    name: str
    help: str
    labels: Labels = ()
    sources: dict[Labels, Callable[[], float]] = field(default_factory=dict)

    def watch(self, source: Callable[[], float], *labels: str) -> None:
        self.sources[labels] = source

    def get(self, *labels: str) -> float:
        return self.sources[labels]()

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, "gauge", self.help)
        for labels, source in sorted(self.sources.items(), key=lambda item: item[0]):
            yield f"{self.name}{_shown(self.labels, labels)} {_number(source())}"


class Distribution:
    """How often which value was seen, by upper bounds."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    @property
    def count(self) -> int:
        return sum(self.counts)


@dataclass(slots=True)
class Histogram:
    """Distributions, one for each combination of labels."""

    name: str
    help: str
    labels: Labels = ()
    bounds: tuple[float, ...] = LATENCIES
    parts: dict[Labels, Distribution] = field(default_factory=dict)

    def of(self, *labels: str) -> Distribution:
        found = self.parts.get(labels)
        if found is None:
            found = self.parts[labels] = Distribution(self.bounds)
        return found

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, "histogram", self.help)
        for labels, part in sorted(self.parts.items(), key=lambda item: item[0]):
            total = 0
            for bound, count in zip((*map(_number, part.bounds), "+Inf"), part.counts, strict=True):
                total += count
                yield f"{self.name}_bucket{_shown((*self.labels, 'le'), (*labels, bound))} {total}"
            shown = _shown(self.labels, labels)
            yield f"{self.name}_sum{shown} {_number(part.sum)}"
            yield f"{self.name}_count{shown} {total}"


class Metrics:
    """Everything a manager counts, under the names controller-runtime and client-go made customary."""

    def __init__(self) -> None:
        by_controller, by_queue = ("controller",), ("name",)
        self.reconciles = Counter(
            "controller_runtime_reconcile_total", "Reconciliations per controller and result.", ("controller", "result")
        )
        self.errors = Counter(
            "controller_runtime_reconcile_errors_total", "Reconciliations that failed.", by_controller
        )
        self.terminal_errors = Counter(
            "controller_runtime_terminal_reconcile_errors_total", "Failures that no repetition mends.", by_controller
        )
        self.panics = Counter(
            "controller_runtime_reconcile_panics_total", "Failures nobody had thought of.", by_controller
        )
        self.timeouts = Counter(
            "controller_runtime_reconcile_timeouts_total", "Reconciliations that took too long.", by_controller
        )
        self.reconcile_time = Histogram(
            "controller_runtime_reconcile_time_seconds", "Seconds per reconciliation.", by_controller
        )
        self.active_workers = Gauge("controller_runtime_active_workers", "Reconciliations under way.", by_controller)
        self.most_workers = Gauge(
            "controller_runtime_max_concurrent_reconciles", "Reconciliations that may be under way.", by_controller
        )
        self.depth = Gauge("workqueue_depth", "Keys that are ready to be worked on.", by_queue)
        self.adds = Counter("workqueue_adds_total", "Keys added.", by_queue)
        self.retries = Counter("workqueue_retries_total", "Keys added again after a failure.", by_queue)
        self.queue_time = Histogram("workqueue_queue_duration_seconds", "Seconds a key waited, once ready.", by_queue)
        self.work_time = Histogram("workqueue_work_duration_seconds", "Seconds of work per key.", by_queue)
        self.unfinished = Gauge(
            "workqueue_unfinished_work_seconds", "Seconds of work under way, over all keys.", by_queue
        )
        self.longest = Gauge(
            "workqueue_longest_running_processor_seconds", "Seconds the oldest work is under way.", by_queue
        )
        self.requests = Counter(
            "rest_client_requests_total", "Requests to the API by method and answer.", ("code", "method")
        )
        self.request_time = Histogram("rest_client_request_duration_seconds", "Seconds per request.", ("verb",))
        self.leader = Gauge("leader_election_master_status", "1 while this process leads.", by_queue)
        self.objects = Gauge("kubekit_informer_objects", "Objects held in the cache.", ("kind",))
        self.lists = Counter("kubekit_informer_lists_total", "Times everything was listed.", ("kind",))
        self.dropped_events = Counter("kubekit_events_dropped_total", "Events that were not recorded.", ("reason",))

    def text(self) -> str:
        """What `/metrics` answers."""
        parts = [part for part in vars(self).values() if isinstance(part, Counter | Gauge | Histogram)]
        return "".join(f"{line}\n" for part in parts for line in part.lines())


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} {kind}"


def _shown(names: Labels, values: Labels) -> str:
    if not names:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in zip(names, values, strict=True)) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
