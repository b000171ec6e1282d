"""The account for clusters, in the form in which each cloud controller and CSI driver wants it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import yaml
from msgspec import structs

from butler.api.credentials import canonical_keys
from butler.api.provider import ProviderConfig
from butler.errors import CredentialsInvalid
from butler.providers.aws import section as aws_section
from butler.providers.azure import section as azure_section
from butler.providers.gcp import section as gcp_section
from butler.providers.harvester import section as harvester_section
from butler.providers.nutanix import section as nutanix_section
from butler.providers.proxmox import section as proxmox_section
from kubekit.model.resource import Object

from .builtin import aws, azure, gcp, harvester, nutanix, proxmox
from .model import Addon

_SYSTEM = "kube-system"
Credentials = Mapping[str, str]


def equipped(addon: Addon, provider: ProviderConfig, data: Mapping[str, str]) -> Addon:
    """The addon with the Secrets that it needs; `data` is that of the Secret that clusterCredentialsRef names. Addons
    that need none stay as they are. Raises CredentialsInvalid and InvalidConfiguration, neither with a value."""
    return replace(addon, secrets=secrets_for(addon.name, provider, data))


def secrets_for(addon: str, provider: ProviderConfig, data: Mapping[str, str]) -> tuple[Object, ...]:
    """What `equipped` adds to an addon of this name."""
    made = _SECRETS.get(addon)
    reference, kind = provider.spec.cluster_credentials_ref, provider.spec.provider
    if made is None or reference is None or kind is None:
        return ()
    # To the provider it is an account like the other one, so that errors name the right Secret.
    config = structs.replace(provider, spec=structs.replace(provider.spec, credentials_ref=reference))
    return (made(config, canonical_keys(kind, data, reference.key)),)


def _aws(config: ProviderConfig, credentials: Credentials) -> Object:
    keys = aws_section.settings_of(config, credentials).keys
    if keys.session_token:
        raise _refused(config, "sessionToken: a session ends, and clusters would have no account any more")
    return _secret(aws.SECRET, _SYSTEM, {"key_id": keys.access_key, "access_key": keys.secret_key})


def _azure(config: ProviderConfig, credentials: Credentials) -> Object:
    section = config.spec.azure
    assert section is not None, "the rules of ProviderConfig demand it"
    # That of the section is the platform's own.
    own = structs.replace(config.spec, azure=structs.replace(section, client_id=None))
    found = azure_section.settings(structs.replace(config, spec=own), credentials)
    text: dict[str, Any] = {
        "cloud": section.environment,
        "tenantId": found.tenant,
        "subscriptionId": found.subscription,
        "aadClientId": found.client,
        "aadClientSecret": found.secret,
        "resourceGroup": found.resource_group,
        "location": found.location,
        "vmType": "vmss",
        "vnetName": _last(found.vnet),
        "vnetResourceGroup": _group(found.vnet),
        "subnetName": _last(found.subnet),
        "loadBalancerSku": "Standard",
        "useManagedIdentityExtension": False,
        "useInstanceMetadata": True,
    }
    if found.security_group:
        text["securityGroupName"] = _last(found.security_group)
        text["securityGroupResourceGroup"] = _group(found.security_group)
    return _secret(azure.SECRET, _SYSTEM, {azure.KEY: _json(text)})


def _gcp(name: str, namespace: str) -> Callable[[ProviderConfig, Credentials], Object]:
    def made(config: ProviderConfig, credentials: Credentials) -> Object:
        gcp_section.settings_of(config, credentials)
        return _secret(name, namespace, {gcp.KEY: credentials["serviceAccountKey"]})

    return made


def _nutanix_controller(config: ProviderConfig, credentials: Credentials) -> Object:
    found = nutanix_section.settings(config, credentials)
    who = {"username": found.username, "password": found.password}
    document = [{"type": "basic_auth", "data": {"prismCentral": who, "prismElements": None}}]
    return _secret(nutanix.CONTROLLER_SECRET, _SYSTEM, {"credentials": _json(document)})


def _nutanix_storage(config: ProviderConfig, credentials: Credentials) -> Object:
    found = nutanix_section.settings(config, credentials)
    if ":" in found.username:
        raise _refused(config, "username: the form in which volumes take it has no room for a colon")
    host = (config.spec.nutanix.prism_element if config.spec.nutanix else None) or ""
    text = f"{host if ':' in host else f'{host}:9440'}:{found.username}:{found.password}"
    return _secret(nutanix.STORAGE_SECRET, nutanix.STORAGE_NAMESPACE, {"key": text})


def _proxmox(namespace: str) -> Callable[[ProviderConfig, Credentials], Object]:
    def made(config: ProviderConfig, credentials: Credentials) -> Object:
        found = proxmox_section.settings(config, credentials)
        if not found.login.is_token:
            raise _refused(config, "token: clusters take a token, and no password")
        here = {
            "url": f"{found.endpoint}/api2/json",
            "insecure": found.trust.insecure,
            "token_id": found.login.user,
            "token_secret": found.login.secret,
            "region": config.metadata.name,
        }
        # JSON is YAML.
        text = _json({"features": {"provider": "capmox"}, "clusters": [here]})
        return _secret(proxmox.SECRET, namespace, {proxmox.KEY: text})

    return made


def _harvester(config: ProviderConfig, credentials: Credentials) -> Object:
    namespace = harvester_section.settings(config, credentials).namespace
    document: Any = yaml.safe_load(credentials["kubeconfig"])
    wanted = (config.spec.harvester.context if config.spec.harvester else None) or document["current-context"]
    # Volumes are looked for where the context says, and are where the VMs are.
    chosen = next(one for one in document["contexts"] if one["name"] == wanted)
    told = {**document, "current-context": wanted, "contexts": [_in_namespace(chosen, namespace)]}
    return _secret(harvester.SECRET, _SYSTEM, {harvester.KEY: yaml.safe_dump(told)})


def _in_namespace(context: Any, namespace: str) -> Any:
    return {**context, "context": {**context["context"], "namespace": namespace}}


_SECRETS: dict[str, Callable[[ProviderConfig, Credentials], Object]] = {
    aws.CONTROLLER: _aws,
    aws.STORAGE: _aws,
    azure.CONTROLLER: _azure,
    azure.STORAGE: _azure,
    gcp.CONTROLLER: _gcp(gcp.CONTROLLER_SECRET, _SYSTEM),
    gcp.STORAGE: _gcp(gcp.STORAGE_SECRET, gcp.STORAGE_NAMESPACE),
    nutanix.CONTROLLER: _nutanix_controller,
    nutanix.STORAGE: _nutanix_storage,
    proxmox.CONTROLLER: _proxmox(_SYSTEM),
    proxmox.STORAGE: _proxmox(proxmox.STORAGE_NAMESPACE),
    harvester.STORAGE: _harvester,
}


def _secret(name: str, namespace: str, data: Mapping[str, str]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app.kubernetes.io/managed-by": "butler"}},
        "type": "Opaque",
        "data": {key: base64.b64encode(value.encode()).decode() for key, value in data.items()},
    }


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _group(path: str) -> str:
    """Of the id of something on Azure: /subscriptions/s/resourceGroups/g/…"""
    return path.split("/")[4]


def _refused(config: ProviderConfig, message: str) -> CredentialsInvalid:
    reference = config.spec.credentials_ref
    assert reference is not None, "secrets_for() has put it there"
    return CredentialsInvalid(config.spec.infrastructure, "", f"Secret {reference.name}: {message}")
