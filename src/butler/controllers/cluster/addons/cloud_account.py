"""The account for clusters that a ProviderConfig names, for those addons that need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from butler.addons.cloud_secrets import equipped
from butler.addons.model import Addon, AddonState, Seen
from butler.api.provider import ProviderConfig
from butler.api.references import serves
from butler.engines.core import Secret
from butler.errors import ProviderError
from kubekit.client.protocol import Client
from kubekit.errors import InvalidConfiguration, NotFound


async def with_account(
    client: Client, provider: ProviderConfig, addons: Sequence[Addon]
) -> tuple[list[Addon], list[Seen]]:
    """The addons with the Secrets they need, and those that cannot have theirs. `provider` is normalised."""
    if provider.spec.cluster_credentials_ref is None:
        return list(addons), []
    data, missing = await _read(client, provider)
    ready: list[Addon] = []
    lacking: list[Seen] = []
    for addon in addons:
        try:
            able = equipped(addon, provider, data)
            problem = missing if able.secrets else ""
        except (ProviderError, InvalidConfiguration) as error:
            able, problem = addon, missing or str(error)
        if problem:
            lacking.append(Seen(addon.name, addon.version, AddonState.FAILED, problem, reason="CredentialsMissing"))
        else:
            ready.append(able)
    return ready, lacking


async def _read(client: Client, provider: ProviderConfig) -> tuple[Mapping[str, str], str]:
    """What is in the Secret, or why it cannot be had."""
    reference, own = provider.spec.cluster_credentials_ref, provider.metadata.namespace
    assert reference is not None
    namespace = reference.namespace or own
    # The same for both reasons: who may not read a Secret does not learn whether there is one.
    missing = f"there is no Secret {reference.name} in namespace {namespace} that serves namespace {own}"
    try:
        secret = await client.get(Secret, reference.name, namespace)
    except NotFound:
        return {}, missing
    if not serves(secret.metadata, own):
        return {}, missing
    return {name: value.decode(errors="replace") for name, value in secret.data.items()}, ""
