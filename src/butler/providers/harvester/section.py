"""What a ProviderConfig and its Secret say about Harvester."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from butler.api.provider import ProviderConfig
from butler.api.sections.harvester import HarvesterSection
from butler.errors import CredentialsInvalid
from kubekit.client import kubeconfig, tls
from kubekit.client.config import Config
from kubekit.errors import InvalidConfiguration

from .. import account_fields

NAME = "harvester"
_KEY = "kubeconfig"


class ObjectName(NamedTuple):
    """An object by namespace and name."""

    namespace: str
    name: str

    @classmethod
    def of(cls, text: str, namespace: str) -> ObjectName:
        """`namespace/name`, or a name alone in the namespace given."""
        left, slash, right = text.strip().partition("/")
        return cls(left, right) if slash else cls(namespace, left)

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Settings:
    """All that is needed to make machines there."""

    account: Config = field(repr=False)
    namespace: str
    """Of the machines and of everything that is made for them."""
    network: ObjectName
    image: ObjectName | None
    storage_class: str
    """Of disks that come from no image; empty for the default one."""
    name_servers: tuple[str, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """Texts that must not be shown."""
        user = self.account.user
        return tuple(one for one in (user.token, user.password, user.key.data.decode(errors="replace")) if one)


def settings(config: ProviderConfig, credentials: Mapping[str, str]) -> Settings:
    """Raises InvalidConfiguration and CredentialsInvalid; neither shows what is in the Secret."""
    section = config.spec.harvester
    assert section is not None, "the registry has seen to it"
    subject = f"ProviderConfig {config.key}"
    return Settings(
        _account(config, section, credentials),
        section.namespace,
        _place(subject, "networkName", section.network_name, section.namespace),
        _place(subject, "imageName", section.image_name, section.namespace) if section.image_name else None,
        section.storage_class_name or "",
        config.spec.network.dns_servers,
    )


def _place(subject: str, name: str, text: str, namespace: str) -> ObjectName:
    place = ObjectName.of(text, namespace)
    if not place.namespace or not place.name or "/" in place.name:
        raise InvalidConfiguration(subject, f"spec.harvester.{name}", f"{text!r} is not namespace/name")
    return place


def _account(config: ProviderConfig, section: HarvesterSection, credentials: Mapping[str, str]) -> Config:
    (text,) = account_fields.needed(config, credentials, _KEY)
    ref = config.spec.credentials_ref
    secret = f"Secret {ref.name}" if ref is not None else "the Secret"
    try:
        found = kubeconfig.self_contained(text, _KEY, section.context or "")
        server = (section.endpoint or found.cluster.server).rstrip("/")
        found = replace(
            found,
            cluster=replace(found.cluster, server=server, insecure=section.insecure, proxy_url=section.proxy or ""),
        )
        # Certificates that are none are told now, and not by the first call.
        if server.startswith("https:"):
            tls.context(found.cluster, found.user.certificate.read(), found.user.key.read())
    except InvalidConfiguration as error:
        raise CredentialsInvalid(NAME, "", f"{secret}: {error}") from None
    return found
