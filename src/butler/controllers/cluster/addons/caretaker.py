"""What a visit to a cluster does about its addons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from butler.addons.model import Addon, Installer, Seen
from butler.api.cluster import ObservedAddon
from butler.engines.core import Secret
from butler.engines.helm.protocol import Cluster
from butler.engines.tenants import Tenants, admin_kubeconfig_secret
from kubekit.client.protocol import Client

from .. import kinds
from ..scope import Scope
from .cloud_account import with_account
from .installations import Installations
from .observed import observed, place_of
from .progress import attempt_at

_LOOKED_AT = {"Healthy", "Degraded", "Installing"}


@dataclass(frozen=True, slots=True)
class Caretaker:
    """Has addons installed, looked after and removed, by hands that are not waited for. Every verb answers what is
    known of the cluster then."""

    client: Client
    tenants: Tenants
    installer: Installer | None
    hands: Installations

    async def hear(self, scope: Scope) -> Scope:
        """With what happened since somebody looked. Nothing is in a cluster that has no control plane."""
        if not scope.running_version:
            await self.hands.stop(scope.cluster.key)
        state = scope.cluster.status.observed_state
        told = state.addons if state is not None else ()
        return replace(scope, news=self.hands.news(scope.cluster.key, told))

    async def install(self, scope: Scope, addons: Sequence[Addon]) -> Scope:
        installer = self.installer
        if installer is None:
            nobody = {one.name: observed(one, "Pending") for one in addons}
            return replace(scope, news={**(scope.news or {}), **nobody})

        async def install(due: Sequence[Addon]) -> tuple[Seen, ...]:
            able, lacking = await with_account(self.client, scope.accepted.provider, due)
            return *await installer.install(await self._reach(scope), able), *lacking

        await self.hands.begin(scope.cluster.key, addons, install)
        return await self.hear(scope)

    async def remove(self, scope: Scope, unwanted: Sequence[ObservedAddon]) -> Scope:
        installer = self.installer
        if installer is None:
            return scope

        async def remove(one: ObservedAddon) -> None:
            definition = scope.definition(one.name)
            keeps = definition is not None and definition.spec.category == "storage"
            place = place_of(one, definition)
            await installer.remove(await self._reach(scope), place, name=one.name, holds_volumes=keeps)

        await self.hands.remove(scope.cluster.key, unwanted, remove)
        return await self.hear(scope)

    async def look(self, scope: Scope) -> Scope:
        """When it is time for that. What drifted is written back, unless the cluster is only observed."""
        installer, repair = self.installer, scope.cluster.spec.management_policy.mode != "Observe"
        if installer is None or scope.is_kept or scope.endpoint is None:
            return scope

        async def look(due: Sequence[Addon]) -> tuple[Seen, ...]:
            able, lacking = await with_account(self.client, scope.accepted.provider, due)
            return *await installer.look(await self._reach(scope), able, repair=repair), *lacking

        there = [one for one in scope.addons.addons if (seen := attempt_at(scope, one)) and seen.status in _LOOKED_AT]
        await self.hands.look_after(scope.cluster.key, there, look)
        return await self.hear(scope)

    async def _reach(self, scope: Scope) -> Cluster:
        """Asks for the Secret only where it changed. Raises InvalidConfiguration, NotFound."""
        assert scope.endpoint is not None, "a control plane that answers has one"
        name = admin_kubeconfig_secret(scope.name)
        seen = scope.sight.get(kinds.SecretSeen, f"{scope.namespace}/{name}")
        known = self.tenants.known(seen.metadata, scope.endpoint) if seen is not None else None
        if known is not None:
            return known
        secret = await self.client.get(Secret, name, scope.namespace)
        return await self.tenants.cluster_for(secret, scope.endpoint)
