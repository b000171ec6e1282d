"""What the fields of an AddonProfile do: to which clusters it brings what, in which order, and what it takes away."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import structs

from butler.api import KINDS
from butler.api.addon_profile import AddonProfile
from kubekit.clock import SystemChance, SystemClock
from kubekit.testing.memory import MemorySpace
from tests.controllers.addon_profiles.profiles import NAMESPACE, Platform, cluster
from tests.fields.cluster_world import put
from tests.fields.proof import Observe, Proof

_CHART = {"repository": "https://charts.example.com", "chart": "agent"}
_ONE = {"name": "one", "addon": "first", "version": "1.0.0"}
_OTHER = {"name": "other", "addon": "second", "version": "1.0.0"}


def _clusters() -> list[Any]:
    gold = {"tier": "gold"}
    return [
        cluster("a", labels=gold),
        cluster("b", labels={**gold, "canary": "yes"}),
        cluster("c", labels={"tier": "iron", "canary": "no"}, team="web"),
        cluster("d", labels=gold, namespace="elsewhere"),
    ]


async def _profile(spec: dict[str, Any]) -> AddonProfile:
    """As the API takes it in."""
    kinds = tuple(kind for kind in KINDS if kind is AddonProfile)
    client = MemorySpace(SystemClock(), SystemChance(), kinds=kinds).client()
    await client.create({"metadata": {"name": "base"}, "spec": spec}, AddonProfile.address)
    found: AddonProfile = await client.get(AddonProfile, "base")
    return structs.replace(found, metadata=structs.replace(found.metadata, uid="uid-base"))


def observing(path: str, **spec: Any) -> Observe:
    """What is written and deleted by and by. In cluster a, something failed that is asked for as it was in the
    beginning, and something is left that nobody asks for any more."""

    async def observe(value: Any) -> object:
        written: dict[str, Any] = {"clusterSelector": {}, "addons": [dict(_ONE)], "rollout": {"waveSize": 2}, **spec}
        written = msgspec.json.decode(msgspec.json.encode(written))
        put({"spec": written}, path.split("."), value)
        platform = Platform(await _profile(written), *_clusters())
        seen = []
        for visit in range(4):
            now = platform.visit()
            seen.append(([_told(platform, one.key) for one in now.writes], [one.key for one in now.deletions]))
            if visit == 0:
                _burden(platform)
            for key in platform.addons:
                if platform.addons[key].status.phase is None:
                    platform.tell(key)
        return seen

    return observe


def _told(platform: Platform, key: str) -> Any:
    """Without the digest, which differs with whatever is written."""
    live = platform.addons[key]
    return live.metadata.name, dict(live.metadata.labels), msgspec.to_builtins(live.spec)


def _burden(platform: Platform) -> None:
    for live in list(platform.addons.values())[:1]:
        platform.tell(live.key, "Failed")
        meta = structs.replace(live.metadata, name="a-gone", namespace=NAMESPACE)
        reference = structs.replace(live.spec.cluster_ref, name="a")
        left = structs.replace(live, metadata=meta, spec=structs.replace(live.spec, cluster_ref=reference))
        platform.addons[left.key] = left


def acts(path: str, one: Any, other: Any, **spec: Any) -> tuple[str, Proof]:
    return f"AddonProfile.spec.{path}", Proof(observing(f"spec.{path}", **spec), one, other)


def _selector_proofs(path: str, **spec: Any) -> dict[str, Proof]:
    """Of a selector, wherever it stands."""
    holder = path.removesuffix("[]")

    def selecting(**requirement: Any) -> dict[str, Any]:
        selector = {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["gold"], **requirement}]}
        if "." not in holder:
            return {**spec, holder: selector}
        above, _, name = holder.partition(".")
        return {**spec, above: {**spec.get(above, {}), name: [selector]}}

    expressions = f"{path}.matchExpressions[]"
    return dict(
        [
            acts(f"{path}.matchLabels", {"canary": "yes"}, {"canary": "no"}, **spec),
            acts(f"{expressions}.key", "tier", "canary", **selecting(operator="In", values=["yes", "gold"])),
            acts(f"{expressions}.operator", "In", "NotIn", **selecting()),
            acts(f"{expressions}.values", ["gold"], ["iron"], **selecting()),
        ]
    )


def _helm(**chart: Any) -> dict[str, Any]:
    return {"addons": [{"name": "one", "version": "1.0.0", "helm": {**_CHART, **chart}}]}


PROOFS: dict[str, Proof] = dict(
    [
        acts("namespaces", ["elsewhere"], [NAMESPACE]),
        acts("teams", ["web"], []),
        acts("addons[].name", "one", "other"),
        acts("addons[].addon", "first", "second"),
        acts("addons[].version", "1.0.0", "2.0.0"),
        acts("addons[].values", {"replicas": 1}, {"replicas": 2}),
        acts("addons[].dependsOn", ["other"], [], addons=[_ONE, _OTHER]),
        acts("addons[].helm.repository", "https://one.example.com", "https://two.example.com", **_helm()),
        acts("addons[].helm.chart", "agent", "other", **_helm()),
        acts("addons[].helm.releaseName", "mine", "theirs", **_helm()),
        acts("addons[].helm.namespace", "here", "there", **_helm()),
        acts("addons[].helm.createNamespace", True, False, **_helm()),
        acts("addons[].helm.credentialsRef.name", "one", "other", **_helm()),
        acts("addons[].helm.digest", "sha256:0", "sha256:1", **_helm()),
        acts("rollout.waveSize", 1, "100%"),
        acts("rollout.pause", True, False),
        acts("rollout.maxFailures", 0, 1),
        acts("prune", True, False, rollout={"maxFailures": 1}),
    ]
)
PROOFS |= _selector_proofs("clusterSelector")
PROOFS |= _selector_proofs("rollout.order[]", rollout={"waveSize": 1, "maxFailures": 4})
