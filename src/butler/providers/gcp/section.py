"""What a ProviderConfig and its Secret say about Google Cloud, with every default filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from butler.api.provider import ProviderConfig
from butler.api.sections.gcp import GcpSection
from butler.errors import CredentialsInvalid
from kubekit.errors import InvalidConfiguration

from .. import account_fields
from ..rest import Trust

NAME = "gcp"
ENDPOINT = "https://compute.googleapis.com"
RESOURCE_MANAGER = "https://cloudresourcemanager.googleapis.com"
DISK_TYPE = "pd-balanced"
RESOURCE_NAME = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_PROJECT = re.compile(r"(?:[a-z0-9.-]+:)?[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_VERSIONED = re.compile(r"https?://[^/]+/compute/[^/]+/")


class KeyFile(msgspec.Struct, frozen=True):
    """The JSON of a service account key, as Google hands it out."""

    client_email: str
    private_key: str
    token_uri: str
    private_key_id: str = ""
    type: str = "service_account"


@dataclass(frozen=True, slots=True)
class Key:
    """What a service account proves with who it is."""

    email: str
    token_uri: str
    id: str
    private: str = field(repr=False)
    """In PEM form."""
    where: str
    """Where it was found, for errors."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What there is to know about an account."""

    subject: str
    """Whose settings these are, for errors."""
    project: str
    region: str
    zone: str
    """Empty when any zone of the region will do."""
    network: str
    """As path; empty when the subnetwork says it."""
    subnetwork: str
    """As path; empty for that of the network."""
    image: str
    """As path; empty when every order has to say it."""
    image_project: str
    machine_type: str
    """Empty for one that fits."""
    disk_type: str
    service_account: str
    tags: tuple[str, ...]
    has_public_ip: bool
    is_internal: bool
    """Whether load balancers are."""
    endpoint: str
    resource_manager: str
    trust: Trust
    key: Key


def settings_of(config: ProviderConfig, credentials: Mapping[str, str]) -> Settings:
    """Raises InvalidConfiguration and CredentialsInvalid."""
    section, subject = config.spec.gcp, f"ProviderConfig {config.key}"
    if section is None:
        raise InvalidConfiguration(subject, "spec.gcp", "is missing; it says which project and region")
    _matching(subject, "projectID", section.project_id, _PROJECT, "a project ID such as my-project")
    _matching(subject, "region", section.region, RESOURCE_NAME, "a region such as europe-west3")
    return Settings(
        subject=subject,
        project=section.project_id,
        region=section.region,
        zone=_zone(subject, section),
        network=_network(subject, section),
        subnetwork=_subnetwork(subject, section),
        image=image_of(section),
        image_project=section.image_project or section.project_id,
        machine_type=section.machine_type or "",
        disk_type=section.disk_type or DISK_TYPE,
        service_account=section.service_account or "",
        tags=_tags(subject, section),
        has_public_ip=section.public_ip is not False,
        is_internal=section.load_balancer == "internal",
        endpoint=section.endpoint or ENDPOINT,
        resource_manager=section.resource_manager_endpoint or RESOURCE_MANAGER,
        trust=_trust(subject, section),
        key=_key(config, credentials),
    )


def image_of(section: GcpSection, image: str = "", family: str = "") -> str:
    """The path of an image: one that is named here, else that of the section; empty when nothing is named."""
    project = section.image_project or section.project_id
    if image or not family:
        image = image or section.image or ""
    if image:
        return image_path(project, image)
    family = family or section.image_family or ""
    return f"projects/{project}/global/images/family/{family}" if family else ""


def image_path(project: str, image: str) -> str:
    """`talos`, `family/talos`, `projects/p/global/images/talos` and whole URLs are all good."""
    image = _VERSIONED.sub("", image)
    if image.startswith("projects/"):
        return image
    if image.startswith("global/"):
        return f"projects/{project}/{image}"
    return f"projects/{project}/global/images/{image}"


def _zone(subject: str, section: GcpSection) -> str:
    zone = section.zone or ""
    if zone and not re.fullmatch(rf"{re.escape(section.region)}-[a-z0-9]+", zone):
        raise InvalidConfiguration(subject, "spec.gcp.zone", f"{zone!r} is no zone of region {section.region!r}")
    return zone


def _network(subject: str, section: GcpSection) -> str:
    network = section.network or ("" if section.subnetwork else "default")
    return network and _path(subject, section, "network", network, "global/networks")


def _subnetwork(subject: str, section: GcpSection) -> str:
    subnetwork = section.subnetwork or ""
    return subnetwork and _path(subject, section, "subnetwork", subnetwork, f"regions/{section.region}/subnetworks")


def _path(subject: str, section: GcpSection, name: str, value: str, collection: str) -> str:
    value = _VERSIONED.sub("", value)
    kind = collection.rpartition("/")[2]
    if re.fullmatch(rf"projects/[^/]+/(global|regions/[^/]+)/{kind}/[^/]+", value):
        return value
    if re.fullmatch(rf"(global|regions/[^/]+)/{kind}/[^/]+", value):
        return f"projects/{section.project_id}/{value}"
    _matching(subject, name, value, RESOURCE_NAME, f"a name or a path such as projects/p/{collection}/name")
    return f"projects/{section.project_id}/{collection}/{value}"


def _tags(subject: str, section: GcpSection) -> tuple[str, ...]:
    for tag in section.tags:
        _matching(subject, "tags", tag, RESOURCE_NAME, "a network tag: lower-case letters, digits and hyphens")
    return section.tags


def _matching(subject: str, name: str, value: str, pattern: re.Pattern[str], what: str) -> None:
    if not pattern.fullmatch(value):
        raise InvalidConfiguration(subject, f"spec.gcp.{name}", f"{value!r} is not {what}")


def _trust(subject: str, section: GcpSection) -> Trust:
    trust = Trust(ca=section.ca_bundle or "", proxy=section.proxy or "")
    try:
        trust.context(subject)
    except InvalidConfiguration:
        raise InvalidConfiguration(subject, "spec.gcp.caBundle", "is not a certificate in PEM form") from None
    return trust


def _key(config: ProviderConfig, credentials: Mapping[str, str]) -> Key:
    (text,) = account_fields.needed(config, credentials, "serviceAccountKey")
    ref = config.spec.credentials_ref
    where = f"Secret {ref.name if ref else ''}: serviceAccountKey"
    try:
        found = msgspec.json.decode(text, type=KeyFile)
    except msgspec.DecodeError as error:
        # What is wrong names a field, and never shows its value.
        raise CredentialsInvalid(NAME, "", f"{where} is not the JSON of a service account key: {error}") from None
    if found.type != "service_account":
        raise CredentialsInvalid(NAME, "", f"{where} is the key of a {found.type!r}, not of a service_account")
    return Key(found.client_email, found.token_uri, found.private_key_id, found.private_key, where)
