"""Whatever happens, in whatever order: no more than a wave is under way, a failure stops it, and in the end all is as
the profile says."""

from __future__ import annotations

import random
from typing import Any

import pytest
from msgspec import structs

from butler.api.addon import TenantAddon
from butler.api.cluster import TenantCluster
from butler.controllers.addon_profiles.plan import Plan
from tests.controllers.addon_profiles.profiles import NAMESPACE, Platform, cluster, profile

STEPS = 80
ROLLOUTS: list[dict[str, Any]] = [
    {"waveSize": 1},
    {"waveSize": "30%"},
    {"waveSize": 3, "maxFailures": 1},
    {"waveSize": 2, "order": [{"matchLabels": {"canary": "yes"}}]},
]


class History:
    """A platform to which things happen by lot, and somebody who checks what is done about it."""

    def __init__(self, seed: int) -> None:
        self.lot = random.Random(seed)
        self.rollout = ROLLOUTS[seed % len(ROLLOUTS)]
        self.names = [f"c{number}" for number in range(9)]
        self.platform = Platform(profile(addons=self.addons(1), rollout=self.rollout))
        for name in self.names[:6]:
            self.platform.add(self.cluster(name))
        self.version = 1

    def addons(self, version: int) -> list[dict[str, Any]]:
        """Two or one, of another version each time."""
        found = [{"name": "a", "addon": "a", "version": f"1.0.{version}"}]
        return found if version % 3 == 0 else [*found, {"name": "b", "addon": "b", "version": f"2.0.{version}"}]

    def cluster(self, name: str) -> TenantCluster:
        labels = {"tier": "gold"} | ({"canary": "yes"} if self.lot.random() < 0.2 else {})
        return cluster(name, phase=self.lot.choice(["Running", "Running", "Updating", "Provisioning"]), labels=labels)

    def step(self) -> None:
        lot, platform = self.lot, self.platform
        match lot.choice(["visit"] * 6 + ["tell"] * 8 + ["cluster", "label", "gone", "change", "pause", "drift"]):
            case "visit":
                self.visit()
            case "tell" if platform.addons:
                phase = lot.choice(["Installing", "Installed", "Installed", "Installed", "Degraded", "Failed"])
                platform.tell(lot.choice(sorted(platform.addons)), phase)
            case "cluster":
                platform.add(self.cluster(lot.choice(self.names)))
            case "label" if platform.clusters:
                name = platform.clusters[lot.choice(sorted(platform.clusters))].metadata.name
                platform.label(name, tier=lot.choice(["gold", "gold", "iron"]))
            case "gone" if platform.clusters:
                del platform.clusters[lot.choice(sorted(platform.clusters))]
            case "change":
                self.version += 1
                platform.become(addons=self.addons(self.version))
            case "pause":
                platform.become(rollout={**self.rollout, "pause": lot.random() < 0.5})
            case "drift" if platform.addons:
                live = platform.addons[lot.choice(sorted(platform.addons))]
                spec = structs.replace(live.spec, version="0.0.0")
                meta = structs.replace(live.metadata, generation=live.metadata.generation + 1)
                platform.addons[live.key] = structs.replace(live, spec=spec, metadata=meta)

    def visit(self) -> None:
        before, is_complete = self.failed, self._is_complete
        underway = self.underway
        now = self.platform.visit()
        touched = {one.cluster.key for one in now.started if self._counts(one.cluster)}
        spec = self.platform.profile.spec
        if spec.rollout.pause:
            assert (now.writes, now.deletions) == ([], [])
        if len(before) > spec.rollout.max_failures:
            assert not now.writes
        if touched and not is_complete:
            assert len(touched - underway) <= max(self._size() - len(underway), 0)
            self._check_order(now, touched, before)

    def _check_order(self, now: Plan, touched: set[str], failed: set[str]) -> None:
        """Whoever comes before has everything, or may fail."""
        order = [one for wave in now.waves for one in wave]
        wave = next(found for found in now.waves if any(one.cluster.key in touched for one in found))
        earlier = order[: next(place for place, one in enumerate(order) if one is wave[0])]
        for one in earlier:
            key = one.cluster.key
            assert key in failed or not self._counts(one.cluster) or self._has_everything(one.cluster)
        assert {one.cluster.key for one in wave} >= touched

    @property
    def _is_complete(self) -> bool:
        found = self.platform.profile
        return found.status.completed_generation == found.metadata.generation

    def _size(self) -> int:
        matched, size = len(self.matched), self.rollout["waveSize"]
        return size if isinstance(size, int) else max(-(-matched * int(size[:-1]) // 100), 1)

    @property
    def matched(self) -> list[TenantCluster]:
        return [one for one in self.platform.clusters.values() if one.metadata.labels.get("tier") == "gold"]

    def _counts(self, found: TenantCluster) -> bool:
        return found.status.phase in ("Running", "Updating")

    def _live(self, found: TenantCluster) -> list[tuple[str, TenantAddon | None]]:
        """The addons that a cluster is to have, with their versions."""
        addons = self.platform.profile.spec.addons
        get = self.platform.addons.get
        return [(one.version, get(f"{NAMESPACE}/{found.metadata.name}-{one.name}")) for one in addons]

    def _has_everything(self, found: TenantCluster) -> bool:
        return all(
            live is not None and live.status.phase == "Installed" and live.status.installed_version == version
            for version, live in self._live(found)
        )

    def _in_phases(self, *phases: str, but: bool = False) -> set[str]:
        """Clusters that were told of an addon as it is now, of which this is said."""
        return {
            one.key
            for one in self.matched
            if self._counts(one)
            for version, live in self._live(one)
            if live is not None and live.spec.version == version
            if (live.status.phase in phases and live.status.observed_generation == live.metadata.generation) != but
        }

    @property
    def failed(self) -> set[str]:
        return self._in_phases("Failed", "Degraded")

    @property
    def underway(self) -> set[str]:
        return self._in_phases("Installed", "Failed", "Degraded", but=True) - self.failed

    def end(self) -> None:
        """Nothing happens any more, everything works, and everybody is awake."""
        self.platform.become(rollout=self.rollout)
        self.platform.install_all()
        self.platform.roll_out()


@pytest.mark.parametrize("seed", range(120))
def test_a_history(seed: int) -> None:
    history = History(seed)
    for _ in range(STEPS):
        history.step()
    history.end()
    platform = history.platform
    addons = platform.profile.spec.addons
    assert platform.has == {f"{one.metadata.name}-{addon.name}" for one in history.matched for addon in addons}
    assert {one.spec.version for one in platform.addons.values()} <= {addon.version for addon in addons}
    now = platform.plan()
    assert (now.writes, now.deletions, now.is_complete) == ([], [], True)


def test_things_happen_in_these_histories() -> None:
    """Otherwise they would show nothing."""
    failures = waves = prunes = 0
    for seed in range(20):
        history = History(seed)
        for _ in range(STEPS):
            history.step()
            now = history.platform.plan()
            failures += now.stop is not None and now.stop.reason == "AddonFailed"
            waves += now.wave > 1 and bool(now.started)
            prunes += bool(now.deletions)
    assert min(failures, waves, prunes) > 20
