"""Whether waiting for a machine will help."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from butler.controllers.cluster.machine_troubles import Trouble, find_troubles
from butler.controllers.cluster.step import Whose
from butler.engines.capi.kinds import Machine
from kubekit.client.protocol import EVERYTHING, Listed, Selection
from tests.controllers.clusters import INSIDE, cluster, scope_of

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)


class Shown:
    """An API that shows a machine and what is behind it."""

    def __init__(self, machine: dict[str, Any], behind: dict[str, Any]) -> None:
        self._machine, self._behind = machine, behind

    async def list(self, kind: Any, selection: Selection = EVERYTHING) -> Listed[Any]:
        found = msgspec.convert(self._machine, Machine) if kind is Machine else self._behind
        return Listed((found,), "1")


def condition(name: str, reason: str, status: str = "False", at: str = "11:59") -> dict[str, str]:
    return {
        "type": name, "status": status, "reason": reason, "message": f"{reason} it is.",
        "lastTransitionTime": f"2026-01-01T{at}:00Z",
    }  # fmt: skip


async def trouble(said: dict[str, str], below: dict[str, str] | None = None, **spec: Any) -> Trouble:
    meta = {"name": "web-0", "namespace": INSIDE}
    reference = {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "SimulatedMachine", "name": "web-0"}
    machine = {
        "kind": "Machine", "metadata": meta,
        "spec": {"clusterName": "shop", "bootstrap": {}, "infrastructureRef": reference, **spec},
        "status": {"phase": "Running", "conditions": [said]},
    }  # fmt: skip
    behind = {"metadata": meta, "status": {"conditions": [condition("Ready", "NotReady"), *([below] if below else ())]}}
    api: Any = Shown(machine, behind)
    (found,) = await find_troubles(api, scope_of(cluster()), NOON)
    return found


NOT_READY = condition("InfrastructureReady", "NotReady")


@pytest.mark.parametrize(
    ("said", "below", "whose", "is_lost"),
    [
        (NOT_READY, condition("VMProvisioned", "WaitingForStartupTimeout"), Whose.NOBODY, False),
        (NOT_READY, condition("VMProvisioned", "WaitingForStartupTimeout", at="11:40"), Whose.INFRASTRUCTURE, False),
        (NOT_READY, condition("VMProvisioned", "VMNotFound"), Whose.INFRASTRUCTURE, True),
        (NOT_READY, None, Whose.NOBODY, False),
        (condition("NodeHealthy", "NodeDeleted"), None, Whose.OWNER, True),
    ],
)
async def test_what_a_machine_says_decides_whose_turn_it_is(
    said: dict[str, str], below: dict[str, str] | None, whose: Whose, is_lost: bool
) -> None:
    found = await trouble(said, below, providerID="simulated://1")
    assert (found.whose, found.is_lost) == (whose, is_lost)
    assert found.text == f"Machine web-0 (Running): {(below or said)['message']}"


async def test_a_machine_that_never_was_is_not_lost() -> None:
    found = await trouble(NOT_READY, condition("VMProvisioned", "CapacityExhausted"))
    assert (found.whose, found.is_lost) == (Whose.INFRASTRUCTURE, False)
