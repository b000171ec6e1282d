"""An addon of the catalogue in one glance, and the words that several of them need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from butler.api.addon import (
    AddonDefinition,
    AddonDefinitionSpec,
    AddonLinks,
    CatalogueChart,
    Category,
    InstallDefaults,
)
from butler.api.model import GROUP
from kubekit.model.resource import ObjectMeta

SOURCE = f"{GROUP}/source"
CATEGORY = f"{GROUP}/category"
LABELS = {"app.kubernetes.io/managed-by": "butler", SOURCE: "builtin"}

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
LIST: Schema = {"type": "array"}
TEXTS: Schema = {"type": "array", "items": TEXT}
OBJECTS: Schema = {"type": "array", "items": {"type": "object"}}
MAP: Schema = {"type": "object"}

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
NO_CONTROL_PLANE = {CONTROL_PLANE: None}
"""For a nodeSelector: tenants have no node with that label, and only a null takes it away from what a chart says."""
EVERYWHERE = [{"operator": "Exists"}]
"""Tolerations of what runs on every node, whatever becomes of the node."""
ANYWHERE = [
    {"operator": "Exists", "effect": "NoSchedule"},
    {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
]
"""Tolerations of what runs on any node, and leaves one that is lost."""
DEFAULT_CLASS = {"storageclass.kubernetes.io/is-default-class": "true"}


def fields(**properties: Schema) -> Schema:
    """A schema that knows some fields and lets all others be."""
    return {"type": "object", "properties": properties}


def storage_class(name: str, provisioner: str, **parameters: str) -> dict[str, Any]:
    """The StorageClass of claims that name none."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": DEFAULT_CLASS},
        "provisioner": provisioner,
        "parameters": parameters,
        "allowVolumeExpansion": True,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


@dataclass(frozen=True, slots=True)
class Entry:
    """`chart` and `namespace` are named like the addon unless they say otherwise."""

    name: str
    title: str
    category: Category
    version: str
    repository: str
    description: str
    chart: str = ""
    namespace: str = ""
    also: tuple[str, ...] = ()
    """Further versions."""
    depends_on: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    kubernetes: str = ">=1.28"
    providers: tuple[str, ...] = ()
    for_nodes: bool = False
    platform: bool = False
    tier: Literal["infrastructure", "apps"] | None = None
    timeout: str = "10m"
    values: Mapping[str, Any] = field(default_factory=dict)
    schema: Schema = field(default_factory=fields)
    resources: tuple[Mapping[str, Any], ...] = ()
    documentation: str = ""
    source: str = ""

    def definition(self) -> AddonDefinition:
        return AddonDefinition(
            metadata=ObjectMeta(name=self.name, labels={**LABELS, CATEGORY: self.category}),
            spec=AddonDefinitionSpec(
                display_name=self.title,
                description=self.description,
                category=self.category,
                chart=CatalogueChart(
                    repository=self.repository,
                    name=self.chart or self.name,
                    default_version=self.version,
                    available_versions=self.also,
                ),
                defaults=InstallDefaults(
                    namespace=self.namespace or self.name, timeout=self.timeout, values=self.values or None
                ),
                depends_on=self.depends_on,
                conflicts=self.conflicts,
                kubernetes_versions=self.kubernetes or None,
                providers=self.providers,
                for_nodes=self.for_nodes,
                values_schema=self.schema,
                resources=self.resources,
                platform=self.platform,
                tier=self.tier,
                links=AddonLinks(documentation=self.documentation or None, source=self.source or None),
            ),
        )
