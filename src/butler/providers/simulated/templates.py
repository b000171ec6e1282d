"""The Cluster API objects of the simulated infrastructure."""

from __future__ import annotations

from butler.api.units import GIB, MIB, whole
from kubekit.model.resource import Address

from ..contract import Blueprint, Object, Pool

_GROUP, _VERSION = "infrastructure.cluster.x-k8s.io", "v1beta2"


class ClusterTemplates:
    """SimulatedCluster and SimulatedMachineTemplate."""

    cluster_kind = Address(_GROUP, _VERSION, "SimulatedCluster", "simulatedclusters", namespaced=True)
    machine_template_kind = Address(
        _GROUP, _VERSION, "SimulatedMachineTemplate", "simulatedmachinetemplates", namespaced=True
    )
    machine_kind = Address(_GROUP, _VERSION, "SimulatedMachine", "simulatedmachines", namespaced=True)
    endpoint_is_handed_over = False

    def cluster(self, blueprint: Blueprint) -> Object:
        config = blueprint.provider.metadata
        return {"providerConfigRef": {"name": config.name, "namespace": config.namespace}}

    def machine(self, blueprint: Blueprint, pool: Pool) -> Object:
        config = blueprint.provider.metadata
        return {
            "providerConfigRef": {"name": config.name, "namespace": config.namespace},
            "cpu": pool.cpu,
            "memoryMB": whole(pool.memory, MIB),
            "diskGB": whole(pool.disk, GIB),
        }

    def joining(self, blueprint: Blueprint, pool: Pool) -> Object:
        return {}

    def extras(self, blueprint: Blueprint) -> tuple[tuple[Address, Object], ...]:
        return ()
