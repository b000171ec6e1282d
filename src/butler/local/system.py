"""What a platform has before anyone asks for a cluster: namespaces, settings, a provider, the catalogue, rights."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from butler.addons import builtin
from butler.api import admission
from butler.api.config import BUTLER_CONFIG_NAME, ButlerConfig, ButlerConfigSpec
from butler.api.model import GROUP, PART_OF
from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.simulated import SimulatedSection
from butler.api.shared import SYSTEM_NAMESPACE, TENANTS_NAMESPACE, ProviderRef, ProviderType
from kubekit.client.protocol import Client, Selection
from kubekit.errors import NotFound
from kubekit.model.resource import ObjectMeta
from kubekit.runtime.permissions import rules_for
from kubekit.runtime.reconciler import Permission, Reconciler

from .installation import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, MANAGER, NAMESPACE, SERVICE_ACCOUNT, apply_gently

log = logging.getLogger("butler.local")
SIMULATED = "simulated"
LABELS = {"app.kubernetes.io/managed-by": "butler"}


async def install(client: Client, *, simulated: bool) -> None:
    """Create what is missing and update what nobody changed."""
    await asyncio.gather(*(apply_gently(client, _namespace(name), NAMESPACE) for name in NAMESPACES))
    objects: list[Any] = [_config(simulated), *builtin.definitions()]
    if simulated:
        objects.append(_provider())
    await asyncio.gather(*(apply_gently(client, obj) for obj in objects))
    await install_policies(client)


async def install_policies(client: Client) -> None:
    """Have the API server enforce what roles cannot say, and warn of what does not act yet."""
    try:
        for kind, policy in admission.policies():
            await apply_gently(client, policy, kind)
        await _forget_policies(client)
    except NotFound:
        log.warning("this Kubernetes is older than 1.30: it does not keep anyone from redirecting credentials")


async def _forget_policies(client: Client) -> None:
    """Remove those that an earlier release had: a field that acts by now must not be warned of."""
    wanted = {(kind, policy["metadata"]["name"]) for kind, policy in admission.policies()}
    ours = Selection(labels=",".join(f"{name}={value}" for name, value in PART_OF.items()))
    for kind in (admission.BINDING, admission.POLICY):
        for found in (await client.list(kind, ours)).items:
            name = found["metadata"]["name"]
            if name.endswith(f".{GROUP}") and (kind, name) not in wanted:
                await client.delete(kind, name)


NAMESPACES = (SYSTEM_NAMESPACE, TENANTS_NAMESPACE)


def _namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": LABELS}}


def _config(simulated: bool) -> ButlerConfig:
    provider = ProviderRef(name=SIMULATED) if simulated else None
    return ButlerConfig(
        metadata=ObjectMeta(name=BUTLER_CONFIG_NAME, labels=LABELS),
        spec=ButlerConfigSpec(default_provider_config_ref=provider),
    )


def _provider() -> ProviderConfig:
    return ProviderConfig(
        metadata=ObjectMeta(name=SIMULATED, namespace=SYSTEM_NAMESPACE, labels=LABELS),
        spec=ProviderConfigSpec(provider=ProviderType.SIMULATED, simulated=SimulatedSection()),
    )


async def grant(
    client: Client, account: str, reconcilers: Iterable[Reconciler[Any]], also: Iterable[Permission] = ()
) -> None:
    """A service account in butler-system that may do exactly what these controllers declare."""
    metadata = {"name": account, "namespace": SYSTEM_NAMESPACE, "labels": LABELS}
    who = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}
    role = rules_for(reconcilers, account, also=also)
    role["metadata"]["labels"] = LABELS
    binding = {
        "apiVersion": CLUSTER_ROLE_BINDING.api_version,
        "kind": CLUSTER_ROLE_BINDING.kind,
        "metadata": {"name": account, "labels": LABELS},
        "roleRef": {"apiGroup": CLUSTER_ROLE.group, "kind": CLUSTER_ROLE.kind, "name": account},
        "subjects": [{"kind": SERVICE_ACCOUNT.kind, "name": account, "namespace": SYSTEM_NAMESPACE}],
    }
    await client.apply(role, CLUSTER_ROLE, manager=MANAGER)
    await client.apply(who, SERVICE_ACCOUNT, manager=MANAGER)
    await client.apply(binding, CLUSTER_ROLE_BINDING, manager=MANAGER)
