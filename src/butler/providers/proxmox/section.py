"""What a ProviderConfig and its Secret say, with every default filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from butler.api.provider import ProviderConfig
from butler.api.sections.proxmox import ProxmoxSection
from butler.errors import CredentialsInvalid
from kubekit.errors import InvalidConfiguration

from .. import account_fields
from ..rest import Trust

NAME = "proxmox"
ISO_STORAGE = "local"
BRIDGE = "vmbr0"
CPU_TYPE = "x86-64-v2-AES"
VMIDS = range(100_000, 1_000_000)
"""Six digits: hardly anybody numbers machines by hand that high, and it is as far as Proxmox counts by itself."""

_USER = re.compile(r"[^\s:/@!]+@[A-Za-z][A-Za-z0-9.\-_]+")
_TOKEN = re.compile(r"(?P<user>[^\s!=]+)!(?P<name>[A-Za-z][A-Za-z0-9.\-_]*)(=(?P<secret>\S+))?")
_STORAGE = re.compile(r"[A-Za-z][A-Za-z0-9\-_.]*[A-Za-z0-9]")
_NODE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9\-]*[A-Za-z0-9])?")
_LAST = 999_999_999


@dataclass(frozen=True, slots=True)
class Login:
    """Either an API token or a user with a password."""

    user: str
    """With its realm; that of a token with `!` and the token's name."""
    secret: str = field(repr=False)
    is_token: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """A cluster of Proxmox VE and what machines are like there."""

    endpoint: str
    login: Login
    trust: Trust = field(repr=False)
    nodes: tuple[str, ...]
    storage: str
    iso_storage: str
    image_storage: str
    source: str
    """What machines are made from: the number or name of a template, or the volume of a disk image; empty for
    nothing but what an order says."""
    is_full: bool
    """Whether disks of templates are copied."""
    bridge: str
    """Empty for that of the template."""
    vlan: int
    """0 for none."""
    cpu_type: str
    """Empty for that of the template."""
    pool: str
    vmids: range
    name_servers: tuple[str, ...]


def settings(config: ProviderConfig, credentials: Mapping[str, str]) -> Settings:
    """Raises InvalidConfiguration and CredentialsInvalid; neither shows what is in the Secret."""
    section = config.spec.proxmox
    assert section is not None, "the registry asks for it"
    iso_storage = section.iso_storage or ISO_STORAGE
    return Settings(
        endpoint=section.endpoint.rstrip("/").removesuffix("/api2/json"),
        login=_login(config, credentials),
        trust=Trust(ca=section.ca_bundle or "", insecure=section.insecure, proxy=section.proxy or ""),
        nodes=tuple(_named(config, f"nodes[{at}]", one, _NODE) for at, one in enumerate(section.nodes)),
        storage=_named(config, "storage", section.storage, _STORAGE),
        iso_storage=_named(config, "isoStorage", iso_storage, _STORAGE),
        image_storage=_named(config, "imageStorage", section.image_storage or iso_storage, _STORAGE),
        source=_source(config, section),
        is_full=section.full_clone,
        bridge=section.bridge or (BRIDGE if section.vlan else ""),
        vlan=section.vlan or 0,
        cpu_type=section.cpu_type or "",
        pool=section.pool or "",
        vmids=_vmids(config, section),
        name_servers=config.spec.network.dns_servers,
    )


def _source(config: ProviderConfig, section: ProxmoxSection) -> str:
    given = {
        "templateID": str(section.template_id or ""),
        "template": section.template or "",
        "image": section.image or "",
    }
    named = {name: value for name, value in given.items() if value}
    if len(named) > 1:
        first, second = list(named)[:2]
        raise _invalid(config, second, f"{first} says already what machines are made from; leave one of them out")
    if section.image and ":" not in section.image:
        raise _invalid(config, "image", f"{section.image!r} is no volume, such as local:import/talos.qcow2")
    return next(iter(named.values()), "")


def _vmids(config: ProviderConfig, section: ProxmoxSection) -> range:
    if (given := section.vmid_range) is None:
        return VMIDS
    if given.end < given.start:
        raise _invalid(config, "vmidRange.end", f"{given.end} is less than the start, {given.start}")
    if given.end > _LAST:
        raise _invalid(config, "vmidRange.end", f"{given.end} is more than {_LAST}, the last that Proxmox takes")
    return range(given.start, given.end + 1)


def _named(config: ProviderConfig, name: str, value: str, form: re.Pattern[str]) -> str:
    if not form.fullmatch(value):
        raise _invalid(config, name, f"{value!r} is not a name that Proxmox takes there")
    return value


def _login(config: ProviderConfig, credentials: Mapping[str, str]) -> Login:
    """An API token in one entry or in two, or a user with a password; a token wins."""
    token = credentials.get("token", "").strip().removeprefix("PVEAPIToken=")
    if not token:
        user, password = account_fields.needed(config, credentials, "username", "password")
        return Login(_user(user), password)
    user = credentials.get("username", "").strip()
    whole = _TOKEN.fullmatch(token if "!" in token or not user else f"{user}!{token}")
    if whole is None:
        raise _refused("the key token has to be user@realm!name, or user@realm!name=secret")
    secret = whole["secret"] or account_fields.needed(config, credentials, "secret")[0]
    return Login(f"{_user(whole['user'])}!{whole['name']}", secret, is_token=True)


def _user(text: str) -> str:
    if not _USER.fullmatch(text):
        raise _refused("the user has to have a realm, such as butler@pve")
    return text


def _refused(message: str) -> CredentialsInvalid:
    return CredentialsInvalid(NAME, "", f"in the Secret {message}")


def _invalid(config: ProviderConfig, name: str, message: str) -> InvalidConfiguration:
    return InvalidConfiguration(f"ProviderConfig {config.key}", f"spec.proxmox.{name}", message)
