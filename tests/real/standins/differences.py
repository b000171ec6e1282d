"""Where the stand-ins of Cluster API differ from it on purpose. docs/reference/local-platform.md says the same."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from tests.real.standins.accounts import Said

NOTHING = "nothing"


@dataclass(frozen=True)
class Found:
    """A field that is something else when nothing happens any more."""

    stage: str
    kind: str
    path: str
    real: object
    ours: object


@dataclass(frozen=True)
class Difference:
    """One that is meant, in some stages or in any. `*` is anything."""

    kind: str
    path: str
    real: str
    ours: str
    why: str
    stages: tuple[str, ...] = ()

    def covers(self, found: Found) -> bool:
        return (
            found.kind == self.kind
            and (not self.stages or found.stage in self.stages)
            and fnmatchcase(found.path, self.path.replace("[", "[[]"))
            and _fits(found.real, self.real)
            and _fits(found.ours, self.ours)
        )


def _fits(value: object, pattern: str) -> bool:
    return fnmatchcase(NOTHING if value is None else str(value), pattern)


@dataclass(frozen=True)
class Passing:
    """What a condition really says for a moment, and the stand-ins never say."""

    said: Said
    why: str
    always: bool = True
    """Whether the moment is long enough to be seen every time."""


@dataclass(frozen=True)
class Order:
    """Kinds of which objects come earlier than they really do."""

    first: str
    before: tuple[str, ...]
    why: str

    def ours(self, real: list[str]) -> list[str]:
        """How something that really happens in some order happens with the stand-ins."""
        if self.first not in real:
            return real
        others = [one for one in real if one != self.first]
        place = min((others.index(one) for one in self.before if one in others), default=real.index(self.first))
        return [*others[:place], self.first, *others[place:]]


_AT_ONCE = "The last steps of a deletion are taken at once"
_FIRST_LOOK = "What is unknown only at the first look may not be told"

AT_REST = (
    Difference(
        "Cluster", "status.observedGeneration", "old", "newest",
        "A Cluster that is paused still says which generation it has seen", ("troubled: paused",),
    ),
    Difference(
        "Cluster", "status.conditions[RemoteConnectionProbe]", "True/ProbeSucceeded", "False/ProbeFailed",
        "A tenant's API is connected to when its control plane is initialized, even if there is a kubeconfig before",
        ("growing: with infrastructure", "troubled: with infrastructure"),
    ),
    Difference(
        "KubeadmConfig", "spec.joinConfiguration.discovery.*", "*", NOTHING,
        "The token of a machine is not written into its KubeadmConfig",
    ),
    Difference(
        "SimulatedMachine", "metadata.finalizers[simulatedmachine.infrastructure.cluster.x-k8s.io]", NOTHING, "set",
        "The finalizer of a SimulatedMachine is there from the start",
    ),
)  # fmt: skip

IN_PASSING = (
    Passing(("Cluster", "Deleting", "True/DeletionCompleted"), _AT_ONCE),
    Passing(("Cluster", "InfrastructureReady", "False/ObjectDeleted"), _AT_ONCE),
    Passing(("Machine", "Deleting", "True/WaitingForBootstrapDeletion"), _AT_ONCE),
    Passing(("Machine", "Deleting", "True/DeletionCompleted"), _AT_ONCE),
    Passing(("Machine", "BootstrapConfigReady", "False/ObjectDeleted"), _AT_ONCE),
    Passing(("Machine", "InfrastructureReady", "False/ObjectDeleted"), _AT_ONCE),
    Passing(("Cluster", "RollingOut", "Unknown/RollingOutUnknown"), _FIRST_LOOK, always=False),
    Passing(("Cluster", "ScalingDown", "Unknown/ScalingDownUnknown"), _FIRST_LOOK, always=False),
    Passing(("Cluster", "ScalingUp", "Unknown/ScalingUpUnknown"), _FIRST_LOOK, always=False),
    Passing(("Cluster", "WorkersAvailable", "Unknown/AvailableUnknown"), _FIRST_LOOK, always=False),
    Passing(("MachineDeployment", "Available", "Unknown/WaitingForAvailableReplicasSet"), _FIRST_LOOK, always=False),
    Passing(("KubeadmConfig", "Ready", "Unknown/ReadyUnknown"), _FIRST_LOOK, always=False),
    Passing(("Machine", "BootstrapConfigReady", "Unknown/ReadyUnknown"), _FIRST_LOOK, always=False),
    Passing(("Machine", "NodeReady", "Unknown/ConnectionDown"), _FIRST_LOOK, always=False),
    Passing(("Machine", "NodeHealthy", "Unknown/ConnectionDown"), _FIRST_LOOK, always=False),
)

_WITH_THE_API = "The Secrets of a control plane are there once its API answers, not before"
KAMAJI = (
    *(Difference("Secret", "object", name, NOTHING, _WITH_THE_API, ("provisioning",))
      for name in ("shop-admin-kubeconfig", "shop-ca")),
    *(Difference("TenantControlPlane", path, "*", NOTHING, _WITH_THE_API, ("provisioning",))
      for path in ("status.kubeconfig.admin.secretName", "status.certificates.ca.secretName", "status.storage.*")),
    Difference(
        "TenantControlPlane", "metadata.finalizers[finalizer.kamaji.clastix.io/soot]", "set", NOTHING,
        "There is no second finalizer for what Kamaji keeps inside a tenant",
    ),
)  # fmt: skip

ORDER = Order("+Machine", ("+KubeadmConfig", "+SimulatedMachine"), "A Machine comes before what it is made of")
