"""The keys of a provider's Secret, whichever way they are spelled."""

from __future__ import annotations

from collections.abc import Mapping

from .shared import ProviderType

_SPELLINGS: dict[ProviderType, dict[str, tuple[str, ...]]] = {
    ProviderType.HARVESTER: {"kubeconfig": ()},
    ProviderType.NUTANIX: {
        "username": ("NUTANIX_USER", "NUTANIX_USERNAME"),
        "password": ("NUTANIX_PASSWORD",),
        "endpoint": ("NUTANIX_ENDPOINT",),
        "port": ("NUTANIX_PORT",),
        "insecure": ("NUTANIX_INSECURE",),
        "ca.pem": (),
        "credentials": (),
    },
    ProviderType.PROXMOX: {
        "username": (),
        "password": (),
        "token": ("tokenId", "tokenID"),
        "secret": ("tokenSecret",),
        "url": (),
    },
    ProviderType.AWS: {
        "accessKeyID": ("accessKeyId", "AccessKeyID", "access-key-id", "AWS_ACCESS_KEY_ID"),
        "secretAccessKey": ("SecretAccessKey", "secret-access-key", "AWS_SECRET_ACCESS_KEY"),
        "sessionToken": ("SessionToken", "session-token", "AWS_SESSION_TOKEN"),
        "ca.pem": (),
    },
    ProviderType.AZURE: {
        "tenantID": ("tenantId", "AZURE_TENANT_ID"),
        "clientID": ("clientId", "AZURE_CLIENT_ID"),
        "clientSecret": ("AZURE_CLIENT_SECRET",),
        "subscriptionID": ("subscriptionId", "AZURE_SUBSCRIPTION_ID"),
        "securityGroupName": (),
    },
    ProviderType.GCP: {"serviceAccountKey": ("serviceAccount", "credentials")},
}


_MAIN = {
    ProviderType.HARVESTER: "kubeconfig",
    ProviderType.NUTANIX: "credentials",
    ProviderType.PROXMOX: "token",
    ProviderType.GCP: "serviceAccountKey",
}
"""The key that credentialsRef may call otherwise. AWS and Azure have several that are of no use alone."""


def spellings(provider: ProviderType) -> Mapping[str, tuple[str, ...]]:
    """Every key a Secret may have, and how else it may be spelled; empty where anything goes."""
    return _SPELLINGS.get(provider, {})


def canonical_keys(provider: ProviderType, data: Mapping[str, str], key: str | None = None) -> dict[str, str]:
    """The entries of a Secret under the names Butler uses; `key`, that of credentialsRef, is where the main one is. A
    provider that others wrote gets all entries as they are, or that one alone."""
    if provider is ProviderType.EXTERNAL:
        return {name: value for name, value in data.items() if key in (None, name)}
    known = dict(spellings(provider))
    if key and (main := _MAIN.get(provider)):
        known[main], data = (key,), {name: value for name, value in data.items() if name == key or name != main}
    found = {name: _first(data, (name, *others)) for name, others in known.items()}
    return {name: value for name, value in found.items() if value is not None}


def _first(data: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((data[name] for name in names if name in data), None)
