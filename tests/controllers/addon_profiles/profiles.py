"""Profiles, clusters and TenantAddons, and what becomes of them when a plan is carried out."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import structs

from butler.api.addon import TenantAddon
from butler.api.addon_profile import AddonProfile
from butler.api.cluster import TenantCluster
from butler.controllers.addon_profiles.plan import Plan, plan
from butler.controllers.addon_profiles.status import status_after
from butler.controllers.addon_profiles.survey import Memory, Sight, cluster_key

NAMESPACE = "butler-tenants"
CERTIFICATES = {"name": "certificates", "addon": "cert-manager", "version": "1.0.0"}


def cluster(name: str, *, phase: str | None = "Running", **meta: Any) -> TenantCluster:
    team = {"teamRef": {"name": meta.pop("team")}} if "team" in meta else {}
    document = {
        "kind": "TenantCluster",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"tier": "gold"}, **meta},
        "spec": team,
        "status": {"phase": phase} if phase else {},
    }
    return msgspec.convert(document, TenantCluster)


def profile(
    name: str = "base", *, addons: Any = (CERTIFICATES,), rollout: Any = None, created: str = "2026-01-01", **spec: Any
) -> AddonProfile:
    document = {
        "kind": "AddonProfile",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "generation": 1,
            "creationTimestamp": f"{created}T00:00:00Z",
        },
        "spec": {
            "clusterSelector": {"matchLabels": {"tier": "gold"}},
            "addons": list(addons),
            "rollout": rollout or {},
            **spec,
        },
    }
    return msgspec.convert(document, AddonProfile)


class Platform:
    """Objects by key, as an API would keep them."""

    def __init__(self, profile: AddonProfile, *clusters: TenantCluster, others: tuple[AddonProfile, ...] = ()) -> None:
        self.profile, self.others = profile, others
        self.clusters = {one.key: one for one in clusters}
        self.addons: dict[str, TenantAddon] = {}
        self.memory = Memory()

    def plan(self) -> Plan:
        uid = self.profile.metadata.uid
        owned = [one for one in self.addons.values() if any(o.uid == uid for o in one.metadata.owner_references)]
        sight = Sight(list(self.clusters.values()), self.addons.get, self._inside, owned, (self.profile, *self.others))
        now = plan(self.profile, sight, self.memory)
        assert now == plan(self.profile, sight), "who remembers comes to the same as who does not"
        return now

    def _inside(self, cluster: str) -> list[TenantAddon]:
        return [one for one in self.addons.values() if cluster_key(one) == cluster]

    def visit(self) -> Plan:
        """Carry out the plan, as the controller does."""
        now = self.plan()
        for wanted in now.writes:
            live = self.addons.get(wanted.key)
            self.put(wanted.body(self.profile, live))
        for gone in now.deletions:
            del self.addons[gone.key]
        self.profile = structs.replace(self.profile, status=status_after(self.profile, now))
        return now

    def put(self, body: dict[str, Any]) -> TenantAddon:
        """Write a TenantAddon, as an API does: another spec is another generation."""
        made = msgspec.convert(msgspec.json.decode(msgspec.json.encode(body)), TenantAddon)
        live = self.addons.get(made.key)
        generation = 1 if live is None else live.metadata.generation + (live.spec != made.spec)
        made = structs.replace(
            made,
            metadata=structs.replace(made.metadata, generation=generation, uid=f"uid-{made.key}"),
            status=made.status if live is None else live.status,
        )
        self.addons[made.key] = made
        return made

    def tell(self, key: str, phase: str = "Installed", message: str = "", version: str | None = None) -> None:
        """Say what the controller of TenantAddons would."""
        live = self.addons[key]
        status = {
            "phase": phase,
            "observedGeneration": live.metadata.generation,
            "installedVersion": version or live.spec.version or "1.0.0",
            "message": message or None,
        }
        self.addons[key] = structs.replace(live, status=msgspec.convert(status, type(live.status)))

    def install_all(self) -> None:
        for key in self.addons:
            self.tell(key)

    def roll_out(self, visits: int = 100) -> None:
        """Until nothing is left to do, with everything installed as soon as it is asked for."""
        for _ in range(visits):
            if not (now := self.visit()).started and now.is_complete and not now.deletions:
                return
            self.install_all()
        raise AssertionError("it does not come to an end")

    def become(self, **spec: Any) -> None:
        """Change the profile."""
        old = self.profile
        wire = {**msgspec.to_builtins(old.spec), **spec}
        meta = structs.replace(old.metadata, generation=old.metadata.generation + 1)
        self.profile = structs.replace(old, metadata=meta, spec=msgspec.convert(wire, type(old.spec)))

    def label(self, name: str, **labels: str) -> None:
        old = self.clusters[f"{NAMESPACE}/{name}"]
        self.clusters[old.key] = structs.replace(old, metadata=structs.replace(old.metadata, labels=labels))

    def add(self, *clusters: TenantCluster) -> None:
        self.clusters |= {one.key: one for one in clusters}

    @property
    def has(self) -> set[str]:
        """The names of all TenantAddons."""
        return {one.metadata.name for one in self.addons.values()}


def clusters(count: int, **more: Any) -> list[TenantCluster]:
    return [cluster(f"c{number:04}", **more) for number in range(count)]
