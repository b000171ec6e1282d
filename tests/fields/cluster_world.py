"""A platform in memory on which one cluster is asked for, and everything that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import msgspec
from msgspec import structs

from butler.addons.model import Addon
from butler.api import KINDS
from butler.api.addon import AddonDefinition
from butler.api.cluster import TenantCluster
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.team import Team
from butler.controllers.cluster.acceptance import Refused, accept
from butler.controllers.cluster.addons.progress import missing_addons
from butler.controllers.cluster.lookup import Snapshot
from butler.controllers.cluster.scope import Scope
from butler.controllers.cluster.steps import STEPS
from butler.engines.kamaji.kinds import TenantControlPlane
from kubekit.clock import SystemChance, SystemClock
from kubekit.errors import Invalid
from kubekit.testing.memory import MemorySpace
from tests.controllers.clusters import CATALOGUE, INSIDE, UID
from tests.fields.proof import Observe, Proof, Refusal

SYSTEM, TENANTS, TEAM = "butler-system", "butler-tenants", "web"
BY_NAME = {kind.address.kind: kind for kind in KINDS}
VERSION = "v1.31.4"


@dataclass(frozen=True)
class Setting:
    """What there is besides the field that is tried: specs by kind, and how far the cluster is."""

    cluster: Mapping[str, Any] = field(default_factory=dict)
    team: Mapping[str, Any] | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    provider: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    definition: Mapping[str, Any] | None = None
    """What the catalogue says of traefik, where it is not what it usually says."""
    older: int = 0
    """Clusters of the same team that came before."""
    status: Mapping[str, Any] = field(default_factory=dict)
    """Of the cluster; with one, its control plane runs."""

    def documents(self) -> dict[str, dict[str, Any]]:
        """Everything by its kind, as people write it."""
        home = TEAM if self.team is not None else TENANTS
        owner = {"teamRef": {"name": TEAM}} if self.team is not None else {}
        spec = {"kubernetesVersion": VERSION, "workers": {"replicas": 2}, **owner, **self.cluster}
        made = {
            "TenantCluster": _document("shop", spec, home, labels=self.labels, annotations=self.annotations),
            "ButlerConfig": _document(
                "butler",
                {"defaultProviderConfigRef": {"name": "lab"}, "multiTenancy": {"mode": "Optional"}, **self.config},
            ),
            "ProviderConfig": _document("lab", {"provider": "simulated", **self.provider}, SYSTEM),
        }
        if self.definition is not None:
            made["AddonDefinition"] = _document("traefik", self.definition)
        if self.team is not None:
            made["Team"] = _document(TEAM, dict(self.team))
        return msgspec.json.decode(msgspec.json.encode(made))  # type: ignore[no-any-return]


def _document(name: str, spec: Mapping[str, Any], namespace: str = "", **meta: Any) -> dict[str, Any]:
    place = {"namespace": namespace} if namespace else {}
    return {"metadata": {"name": name, **place, **meta}, "spec": dict(spec)}


def put(holder: Any, names: list[str], value: Any) -> None:
    """Set the field at a path; of a list, that of its first item."""
    name, *rest = names
    plain = name.removesuffix("[]")
    if not rest:
        holder[plain] = value
        return
    below = holder.setdefault(plain, [{}])[0] if name.endswith("[]") else holder.setdefault(plain, {})
    put(below, rest, value)


def observing(path: str, setting: Setting) -> Observe:
    """Has the API take in the documents with the field at a value, and looks at all that follows."""
    kind, *names = path.split(".")

    async def observe(value: Any) -> object:
        documents = setting.documents()
        put(documents[kind], names, value)
        try:
            cluster, sight = await _stored(documents, setting)
        except Invalid as error:
            return str(error)
        return _consequences(cluster, sight)

    return observe


async def _stored(documents: dict[str, dict[str, Any]], setting: Setting) -> tuple[TenantCluster, Snapshot]:
    clock = SystemClock()
    space = MemorySpace(clock, SystemChance(), kinds=KINDS, namespaces=(SYSTEM, TENANTS, TEAM))
    client, sight = space.client(), Snapshot()
    await client.create(_document("default", {"provider": "simulated"}, SYSTEM), ProviderConfig.address)
    for name, document in documents.items():
        await client.create(document, BY_NAME[name].address)
    for kind in (ButlerConfig, ProviderConfig, Team):
        sight.put(kind, (await client.list(kind)).items)
    meta = documents["TenantCluster"]["metadata"]
    found = await client.get(TenantCluster, meta["name"], meta["namespace"])
    cluster = structs.replace(found, metadata=structs.replace(found.metadata, uid=UID))
    sight.put(AddonDefinition, (*CATALOGUE, *(await client.list(AddonDefinition)).items))
    sight.put(TenantCluster, [_older(cluster, number) for number in range(setting.older)])
    if setting.status:
        sight.put(TenantControlPlane, [_control_plane()])
        cluster = structs.replace(cluster, status=msgspec.convert(setting.status, type(cluster.status)))
    return cluster, sight


def _older(cluster: TenantCluster, number: int) -> TenantCluster:
    meta = structs.replace(cluster.metadata, name=f"old{number}", uid=f"old{number}", creation_timestamp=_long_ago())
    return structs.replace(cluster, metadata=meta)


def _long_ago() -> Any:
    return msgspec.convert("2020-01-01T00:00:00Z", type(SystemClock().now()))


def _control_plane() -> TenantControlPlane:
    version = {"version": VERSION, "status": "Ready"}
    return msgspec.convert(
        {
            "kind": "TenantControlPlane",
            "metadata": {"name": "shop", "namespace": INSIDE},
            "spec": {"controlPlane": {"service": {"serviceType": "LoadBalancer"}}, "kubernetes": {
                "version": VERSION, "kubelet": {}}},
            "status": {"controlPlaneEndpoint": "10.0.0.5:6443", "kubernetesResources": {"version": version}},
        },
        TenantControlPlane,
    )  # fmt: skip


def _consequences(cluster: TenantCluster, sight: Snapshot) -> object:
    """Why the cluster is refused; or else what is made for it, what is installed into it, and what is said of it."""
    try:
        scope = Scope(accept(cluster, sight), INSIDE, sight)
    except Refused as refused:
        return f"{refused.condition_reason}: {refused}"
    made = [(one.kind.kind, one.name, one.body) for step in STEPS for one in step.manifests(scope)]
    said = [(step.condition, str(step.verdict(scope))) for step in STEPS]
    return made, [_told(one) for one in missing_addons(scope)], said


def _told(addon: Addon) -> object:
    """Everything of an addon."""
    return {**{one.name: getattr(addon, one.name) for one in fields(addon)}, "values": addon.release.values}


def acts(path: str, one: Any, other: Any, setting: Setting | None = None) -> tuple[str, Proof]:
    """A field whose value makes a difference to a cluster."""
    return path, Proof(observing(path, setting or Setting()), one, other)


def refused(path: str, value: Any, message: str, setting: Setting | None = None) -> tuple[str, Refusal]:
    """A field for which a cluster is refused, or kept waiting with this message."""
    return path, Refusal(observing(path, setting or Setting()), value, message)
