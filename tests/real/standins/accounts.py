"""What two records of the same lives have to say, each in a form in which they should be the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from butler.engines.core import Secret
from kubekit.client.protocol import Signal
from tests.real.standins.objects import EVENTS, NODES
from tests.real.standins.recording import Happening, Record
from tests.real.standins.views import named

_FLEETING = {("MachineDeployment", "troubled: machine deleted, gone", "ScalingUp")}
"""Phases that are over before a controller that looks once a second is sure to have seen them."""
_CONFLICT = "Operation cannot be fulfilled"
Said = tuple[str, str, str]
"""Kind of an object, type of a condition, and what it said as `status/reason`."""


def phases(record: Record, kind: str) -> Counter[str]:
    """Which phases objects of a kind went through, and how many went that way."""
    ways: dict[str, list[str]] = defaultdict(list)
    for one in record.happenings:
        phase = one.object.get("status", {}).get("phase") if one.kind == kind else None
        if (one.kind, one.stage, phase) in _FLEETING:
            continue
        if phase and ways[one.name][-1:] != [phase]:
            ways[one.name].append(phase)
    return Counter(" → ".join(way) for way in ways.values())


def told(record: Record, kind: str) -> Counter[tuple[str, ...]]:
    """What people were told of objects of a kind, in order, and of how many they were told so."""
    stories: dict[str, list[str]] = defaultdict(list)
    for one in record.happenings:
        if one.kind == EVENTS.kind and one.signal is Signal.ADDED:
            event = one.object
            about = event["involvedObject"]
            # That two writers met is nobody's news.
            if about["kind"] == kind and _CONFLICT not in event["message"]:
                stories[f"{about['namespace']}/{about['name']}"].append(
                    f"{event['type']} {event['reason']}: {named(event['message'])}"
                )
    return Counter(tuple(story) for story in stories.values())


def said(record: Record) -> set[Said]:
    """Everything that any condition of an object of Cluster API has ever said."""
    return {
        (one.kind, condition["type"], f"{condition['status']}/{condition.get('reason', '')}")
        for one in record.happenings
        if one.kind != NODES.kind
        for condition in one.object.get("status", {}).get("conditions", ())
    }


def comings_and_goings(record: Record) -> dict[str, list[str]]:
    """By stage, which kinds of objects came and went, each at the first time that one did."""
    found: dict[str, list[str]] = defaultdict(list)
    for one in _in_order(record.happenings):
        what = f"{'+' if one.signal is Signal.ADDED else '-'}{one.kind}"
        if what not in found[one.stage]:
            found[one.stage].append(what)
    return found


def _in_order(happenings: Iterable[Happening]) -> list[Happening]:
    """Those of the management API by its own count, because each kind is watched for itself.

    Without Secrets, which come when the bootstrap provider and go when the garbage collector has time."""
    moves, others = (Signal.ADDED, Signal.DELETED), (EVENTS.kind, NODES.kind, Secret.address.kind)
    there = [one for one in happenings if one.signal in moves and one.kind not in others]
    return sorted(there, key=lambda one: int(one.object["metadata"]["resourceVersion"]))
