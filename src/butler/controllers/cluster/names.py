"""Names, labels and annotations of what belongs to a tenant cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from butler.api.cluster import TenantCluster
from butler.api.model import GROUP
from butler.engines.capi.kinds import CLUSTER_NAME

MANAGER = "butler-controller/tenantcluster"
"""Owner of the fields Butler writes."""

FINALIZER = f"{GROUP}/tenantcluster"
MANAGED_BY = "app.kubernetes.io/managed-by"
TENANT = f"{GROUP}/tenant"
SOURCE_NAMESPACE = f"{GROUP}/source-namespace"
SOURCE_NAME = f"{GROUP}/source-name"
TEAM = f"{GROUP}/team"
ENVIRONMENT = f"{GROUP}/environment"
OWNER = f"{GROUP}/owner"
CREATOR = f"{GROUP}/creator-email"
APPLIED = f"{GROUP}/applied"
"""Annotation with a digest of what Butler last applied, so that what is no longer wanted is noticed too."""

LONGEST = 54
"""The longest name of a cluster: its namespace adds nine letters to it."""


def is_ours(obj: Mapping[str, Any]) -> bool:
    """Whether Butler made an object."""
    return bool((obj["metadata"].get("labels") or {}).get(MANAGED_BY) == "butler")


def tenant_namespace(name: str, uid: str) -> str:
    """Where the control plane and the Cluster API objects of a cluster are."""
    return f"{name}-{uid[:8]}"


def deployment(cluster: str, pool: str) -> str:
    return f"{cluster}-{pool}" if pool else f"{cluster}-workers"


def template(cluster: str, pool: str) -> str:
    return f"{cluster}-{pool}-worker" if pool else f"{cluster}-worker"


def namespace_labels(cluster: TenantCluster) -> dict[str, str]:
    """Labels of everything that belongs to a cluster."""
    spec, meta = cluster.spec, cluster.metadata
    labels = {
        MANAGED_BY: "butler",
        TENANT: meta.name,
        SOURCE_NAMESPACE: meta.namespace,
        SOURCE_NAME: meta.name,
    }
    if spec.team_ref is not None:
        labels[TEAM] = spec.team_ref.name
    if environment := meta.labels.get(ENVIRONMENT):
        labels[ENVIRONMENT] = environment
    return labels


def object_labels(cluster: TenantCluster) -> dict[str, str]:
    """Labels of the Cluster API objects of a cluster."""
    return {**namespace_labels(cluster), CLUSTER_NAME: cluster.metadata.name}
