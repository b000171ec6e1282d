"""ProviderConfig: `type` or `provider`, credentials above or inside the section, Prism Central by address or URL."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import wire_name

from ..provider import ProviderConfig
from ..sections.nutanix import Entity, NutanixSection, PrismCentral
from ..shared import SecretRef
from .spellings import Spellings, in_namespace

_UUID = re.compile(r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")


def provider_config(config: ProviderConfig, spellings: Spellings) -> ProviderConfig:
    spec = config.spec
    provider = spellings.needed("spec.provider", spec.provider, "spec.type", spec.type)
    name = provider.value
    section: Any = getattr(spec, name)
    nested: SecretRef | None = getattr(section, "credentials_ref", None)
    credentials = spellings.either(
        "spec.credentialsRef",
        _in_own_namespace(spec.credentials_ref, config),
        f"spec.{name}.credentialsRef",
        _in_own_namespace(nested, config),
    )
    if nested is not None:
        section = replace(section, credentials_ref=None)
    if isinstance(section, NutanixSection):
        section = _nutanix(section, spellings)
    return replace(
        config,
        spec=replace(
            spec,
            provider=provider,
            type=None,
            credentials_ref=credentials,
            cluster_credentials_ref=_in_own_namespace(spec.cluster_credentials_ref, config),
            **{name: section},
        ),
    )


def _in_own_namespace(ref: SecretRef | None, config: ProviderConfig) -> SecretRef | None:
    return in_namespace(ref, config.metadata.namespace) if ref else None


def _nutanix(section: NutanixSection, spellings: Spellings) -> NutanixSection:
    central = section.prism_central or PrismCentral()
    endpoint, endpoint_port = _endpoint(section.endpoint, spellings, "spec.nutanix.endpoint")
    address, address_port = _endpoint(central.address, spellings, "spec.nutanix.prismCentral.address")
    section = replace(
        section,
        endpoint=spellings.either("spec.nutanix.endpoint", endpoint, "spec.nutanix.prismCentral.address", address),
        # Zero is how a Go client writes "unset".
        port=central.port or address_port or section.port or endpoint_port,
        insecure=section.insecure if central.insecure is None else central.insecure,
        prism_central=None,
    )
    for entity in ("cluster", "subnet", "image", "storage_container"):
        section = _with_entity(section, entity, spellings)
    return section


def _endpoint(text: str | None, spellings: Spellings, path: str) -> tuple[str | None, int | None]:
    """A URL without port or trailing slash, and the port."""
    if text is None:
        return None, None
    parts = urlsplit(text if "://" in text else f"https://{text}")
    port = spellings.parsed(path, lambda url: url.port, parts)
    host = parts.netloc if port is None else parts.netloc.rpartition(":")[0]
    if not host:
        raise InvalidConfiguration(spellings.subject, path, f"{text!r} names no host")
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/"), port


def _with_entity(section: NutanixSection, name: str, spellings: Spellings) -> NutanixSection:
    """Either `<name>_uuid`, or `<name>` with nothing but a name that somebody has to look up."""
    entity: Entity = getattr(section, name) or Entity()
    path = f"spec.nutanix.{wire_name(name)}"
    uuid = spellings.either(f"{path}UUID", getattr(section, f"{name}_uuid"), f"{path}.uuid", entity.uuid)
    if uuid and name == "image" and not _UUID.match(uuid):
        uuid, entity = None, Entity(name=uuid)
    remaining = None if uuid or not entity.name else Entity(name=entity.name)
    return replace(section, **{f"{name}_uuid": uuid, name: remaining})
