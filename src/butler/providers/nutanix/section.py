"""What a ProviderConfig and its Secret say about Nutanix, with every default filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from butler.api.provider import ProviderConfig
from butler.api.sections.nutanix import NUTANIX_PORT, Entity, NutanixSection
from butler.errors import CredentialsInvalid
from kubekit.errors import InvalidConfiguration

from .. import account_fields
from ..rest import Trust

NAME = "nutanix"
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0", "")


@dataclass(frozen=True, slots=True)
class Settings:
    """An account of a Prism Central, and where its machines go."""

    url: str
    """With scheme and port."""
    username: str
    password: str = field(repr=False)
    trust: Trust = field(repr=False)
    cluster: Entity
    subnet: Entity
    image: Entity | None
    storage_container: Entity | None
    boot_type: str
    """legacy or uefi."""


def settings(config: ProviderConfig, credentials: Mapping[str, str]) -> Settings:
    """Raises InvalidConfiguration, CredentialsInvalid."""
    section = config.spec.nutanix
    assert section is not None, "the registry looks for it"
    subject = f"ProviderConfig {config.key}"
    username, password = _who(config, credentials)
    insecure = section.insecure if section.insecure is not None else _insecure(config, credentials)
    return Settings(
        url=_url(config, section, credentials),
        username=username,
        password=password,
        trust=Trust(credentials.get("ca.pem", ""), insecure, section.proxy or ""),
        cluster=_needed(subject, "cluster", _entity(section.cluster_uuid, section.cluster)),
        subnet=_needed(subject, "subnet", _entity(section.subnet_uuid, section.subnet)),
        image=_entity(section.image_uuid, section.image),
        storage_container=_entity(section.storage_container_uuid, section.storage_container),
        boot_type=section.boot_type,
    )


def _entity(uuid: str | None, named: Entity | None) -> Entity | None:
    if uuid:
        return Entity(uuid=uuid)
    return named if named is not None and (named.name or named.uuid) else None


def _needed(subject: str, name: str, entity: Entity | None) -> Entity:
    if entity is None:
        raise InvalidConfiguration(subject, f"spec.nutanix.{name}", "is missing; it needs a name or a uuid")
    return entity


def _url(config: ProviderConfig, section: NutanixSection, credentials: Mapping[str, str]) -> str:
    """The endpoint of the section wins over that of the Secret; either may lack scheme and port."""
    given = section.endpoint or credentials.get("endpoint", "").strip()
    if not given:
        raise InvalidConfiguration(f"ProviderConfig {config.key}", "spec.nutanix.endpoint", "is missing")
    try:
        parts = urlsplit(given if "://" in given else f"https://{given}")
        port = section.port or parts.port or _port(config, credentials) or NUTANIX_PORT
        host = parts.hostname or ""
    except ValueError:
        host, port = "", 0
    if not host:
        path = "spec.nutanix.endpoint"
        raise InvalidConfiguration(f"ProviderConfig {config.key}", path, f"{given!r} is not the address of a host")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port}"


def _port(config: ProviderConfig, credentials: Mapping[str, str]) -> int:
    text = credentials.get("port", "").strip()
    if text and not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise CredentialsInvalid(NAME, "", f"Secret {_secret(config)}: port is {text!r}, and not a port")
    return int(text or 0)


def _insecure(config: ProviderConfig, credentials: Mapping[str, str]) -> bool:
    text = credentials.get("insecure", "").strip().lower()
    if text not in (*_YES, *_NO):
        raise CredentialsInvalid(
            NAME, "", f"Secret {_secret(config)}: insecure is {text!r}, and neither true nor false"
        )
    return text in _YES


def _who(config: ProviderConfig, credentials: Mapping[str, str]) -> tuple[str, str]:
    """User and password, as entries of their own or as Cluster API's Nutanix provider writes them."""
    if "credentials" in credentials and not credentials.get("username"):
        return _from_document(config, credentials["credentials"])
    username, password = account_fields.needed(config, credentials, "username", "password")
    return username, password


def _from_document(config: ProviderConfig, text: str) -> tuple[str, str]:
    try:
        documents: Any = msgspec.json.decode(text)
        found = next(one for one in documents if one["type"] == "basic_auth")["data"]["prismCentral"]
        return str(found["username"]), str(found["password"])
    except (msgspec.DecodeError, LookupError, TypeError, StopIteration):
        message = f"Secret {_secret(config)}: credentials is not a JSON list with an entry of type basic_auth"
        raise CredentialsInvalid(NAME, "", message) from None


def _secret(config: ProviderConfig) -> str:
    ref = config.spec.credentials_ref
    return ref.name if ref is not None else "of the provider"
