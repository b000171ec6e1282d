"""Lives of a cluster, stage by stage, each left alone until nothing happens any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from butler.engines.kamaji.kinds import KamajiControlPlane
from butler.simulation.infrastructure.kinds import SimulatedCluster
from tests.real.standins import objects
from tests.real.standins.hands import Hands
from tests.real.standins.objects import NEXT_VERSION, OLD_VERSION, VERSION
from tests.real.standins.recording import Snapshot

Act = Callable[[Hands], Awaitable[object]]
Reached = Callable[[Snapshot], bool]


@dataclass(frozen=True)
class Stage:
    """What is done, and how one sees that it had its effect; nothing to see if it need not have any."""

    name: str
    act: Act
    reached: Reached = lambda _: True


def machines(count: int, phase: str = "") -> Reached:
    """So many machines there are, and if a phase is given, in it."""

    def look(snapshot: Snapshot) -> bool:
        found = [one.get("status", {}).get("phase") for one in snapshot["Machine"]]
        return len(found) >= count and (not phase or found.count(phase) == count)

    return look


def says(kind: str, condition: str, said: str) -> Reached:
    """Some object of a kind has a condition with such a `status/reason`."""

    def look(snapshot: Snapshot) -> bool:
        return any(
            said == f"{one['status']}/{one['reason']}"
            for obj in snapshot[kind]
            for one in obj.get("status", {}).get("conditions", ())
            if one["type"] == condition
        )

    return look


def available(count: int) -> Reached:
    """So many workers are available, and the cluster knows."""

    def look(snapshot: Snapshot) -> bool:
        workers = [one.get("status", {}).get("workers", {}) for one in snapshot["Cluster"]]
        return [one.get("availableReplicas") for one in workers] == [count]

    return look


def settled(count: int) -> Reached:
    """So many workers there are, all of one revision."""
    return lambda now: available(count)(now) and len(now["Machine"]) == count and len(now["MachineSet"]) == 1


def gone(*kinds: str) -> Reached:
    return lambda snapshot: not any(snapshot[kind] for kind in kinds)


async def _boot(hands: Hands) -> None:
    await hands.boot()


async def _mend(hands: Hands) -> None:
    await hands.say_of_machines("True", "Running")
    await hands.say_of_nodes()


async def _roll(hands: Hands) -> None:
    obj, kind = objects.template_of_machines("shop-worker-2")
    await hands.create(obj, kind)
    ref = objects.reference("infrastructure.cluster.x-k8s.io", "SimulatedMachineTemplate", "shop-worker-2")
    await hands.change_workers(template={"spec": {"infrastructureRef": ref}})


async def _upgrade(hands: Hands) -> None:
    await hands.ask_for_version(NEXT_VERSION)
    await hands.change_workers(template={"spec": {"version": NEXT_VERSION}})


async def _delete_a_busy_machine(hands: Hands) -> None:
    name = await hands.some_machine()
    await hands.run_a_pod_on(name)
    await hands.delete_machine(name)


def _provisioned(now: Snapshot) -> bool:
    return any(one.get("status", {}).get("phase") == "Provisioned" for one in now["Cluster"])


_WAITING = says("Machine", "Deleting", "True/WaitingForInfrastructureDeletion")
_END = (
    Stage("deleted", lambda hands: hands.delete_cluster(), _WAITING),
    Stage("deleted, without workers", lambda hands: hands.let_go(), gone("MachineDeployment")),
    Stage("deleted, without control plane", lambda hands: hands.let_go(KamajiControlPlane), gone("KamajiControlPlane")),
    Stage("gone", lambda hands: hands.let_go(SimulatedCluster), gone("Cluster")),
)
_LESS = {"labels": {"colour": None, "node-role.kubernetes.io/worker": None}, "annotations": {"note": None}}
_GROWING = (
    Stage("asked for", lambda hands: hands.ask_for_cluster(1), says("MachineSet", "ScalingUp", "True/ScalingUp")),
    Stage("with infrastructure", lambda hands: hands.provide_infrastructure(), _provisioned),
    # Too old for workers, so that it is known to everybody before there are any.
    Stage("with a control plane", lambda hands: hands.report_version(OLD_VERSION),
          says("Cluster", "ControlPlaneInitialized", "True/Initialized")),
    Stage("with machines", lambda hands: hands.report_version(VERSION), machines(1, "Provisioning")),
    Stage("booted", lambda hands: hands.boot(with_nodes=False), machines(1, "Provisioned")),
    Stage("joined", lambda hands: hands.join(), machines(1, "Running")),
    Stage("ready", lambda hands: hands.say_of_nodes(), available(1)),
    Stage("scaled up", lambda hands: hands.change_workers(replicas=2), machines(2)),
    Stage("scaled up, ready", _boot, available(2)),
    Stage("relabelled", lambda hands: hands.change_workers(template={"metadata": {"labels": {"colour": "blue"}}})),
    Stage("less labelled", lambda hands: hands.change_workers(template={"metadata": _LESS})),
    Stage("rolling", _roll, machines(3)),
    Stage("rolling, first ready", _boot, machines(1, "Deleting")),
    Stage("rolling, first gone", lambda hands: hands.let_go(), machines(1, "Provisioning")),
    Stage("rolling, second ready", _boot, machines(1, "Deleting")),
    Stage("rolled", lambda hands: hands.let_go(), settled(2)),
    Stage("scaled down", lambda hands: hands.change_workers(replicas=1), _WAITING),
    Stage("scaled down, gone", lambda hands: hands.let_go(), settled(1)),
    *_END,
)  # fmt: skip
_TROUBLED = (
    Stage("asked for", lambda hands: hands.ask_for_cluster(1), says("MachineSet", "ScalingUp", "True/ScalingUp")),
    Stage("with infrastructure", lambda hands: hands.provide_infrastructure(), _provisioned),
    Stage("with a control plane", lambda hands: hands.report_version(OLD_VERSION),
          says("Cluster", "ControlPlaneInitialized", "True/Initialized")),
    Stage("with machines", lambda hands: hands.report_version(VERSION), machines(1, "Provisioning")),
    Stage("ready", _boot, available(1)),
    Stage("upgrading", _upgrade, lambda now: len(now["MachineSet"]) == 2),
    Stage("upgrading workers", lambda hands: hands.report_version(NEXT_VERSION), machines(2)),
    Stage("upgrading, ready", _boot, machines(1, "Deleting")),
    Stage("upgraded", lambda hands: hands.let_go(), settled(1)),
    Stage("node not ready", lambda hands: hands.say_of_nodes(ready="False"), available(0)),
    Stage("node unknown", lambda hands: hands.say_of_nodes(ready="Unknown"),
          says("Machine", "NodeReady", "Unknown/NodeReadyUnknown")),
    Stage("disk full", lambda hands: hands.say_of_nodes(pressure="True"),
          says("Machine", "NodeReady", "True/NodeReady")),
    Stage("machine broken", lambda hands: hands.say_of_machines("False", "Broken"),
          says("Machine", "InfrastructureReady", "False/Broken")),
    Stage("well again", _mend, available(1)),
    Stage("machine deleted, drained", _delete_a_busy_machine, says("Machine", "Deleting", "True/DrainingNode")),
    Stage("machine deleted, pod gone", lambda hands: hands.end_the_pod(), _WAITING),
    Stage("machine deleted, gone", lambda hands: hands.let_go(), machines(1, "Provisioning")),
    Stage("machine replaced", _boot, available(1)),
    Stage("node lost", lambda hands: hands.lose_a_node(), says("Machine", "NodeReady", "False/NodeDeleted")),
    Stage("paused", lambda hands: hands.change_cluster(paused=True), says("Machine", "Paused", "True/Paused")),
    Stage("resumed", lambda hands: hands.change_cluster(paused=None), says("Machine", "Paused", "False/NotPaused")),
    *_END,
)  # fmt: skip
LIVES = {"growing": _GROWING, "troubled": _TROUBLED}
STAGES = tuple(f"{life}: {stage.name}" for life, stages in LIVES.items() for stage in stages)
LAST = tuple(f"{life}: {stages[-1].name}" for life, stages in LIVES.items())
