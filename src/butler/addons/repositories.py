"""Where charts may come from that tenants name themselves: whoever names a repository chooses whom Butler talks to.

Helm resolves names and follows redirects itself, so that a name on the internet may still lead inside. Where that
matters, `allowedRepositories` has to say which are trusted, or the network which addresses Butler reaches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, unquote, urlsplit

from butler.api.config import Charts
from butler.engines.helm.charts import REMOTE

from .errors import RepositoryRefused

_PORTS = {"https": 443, "http": 80, "oci": 443}
_PLAIN = re.compile(r"[!-~]+")
_NUMERIC = re.compile(r"\d+|0[xX][0-9a-fA-F]*")
_NAT64 = IPv6Network("64:ff9b::/96")
_INSIDE = ("localhost", "local", "internal", "lan", "home", "corp", "svc", "intranet")


@dataclass(frozen=True, slots=True)
class _Origin:
    scheme: str
    host: str
    port: int
    path: tuple[str, ...]

    def covers(self, other: _Origin) -> bool:
        same = (self.scheme, self.host, self.port) == (other.scheme, other.host, other.port)
        return same and other.path[: len(self.path)] == self.path


def check(addon: str, repository: str, charts: Charts) -> None:
    """Raises RepositoryRefused, which does not repeat an address that holds a password."""
    try:
        origin = _origin(repository)
        if charts.allowed_repositories:
            _check_allowed(origin, charts.allowed_repositories)
        else:
            try:
                _check_public(origin.host)
            except _Unfit as unfit:
                raise _Unfit(f"{unfit}; charts.allowedRepositories of the ButlerConfig may allow it") from None
    except _Unfit as unfit:
        raise RepositoryRefused(addon, f"charts may not come from this repository: {unfit}") from None


class _Unfit(ValueError):
    """Why not."""


def _origin(repository: str) -> _Origin:
    if not _PLAIN.fullmatch(repository) or "\\" in repository:
        raise _Unfit("its address has letters that no address has")
    try:
        parts = urlsplit(repository)
        port = parts.port
    except ValueError:
        raise _Unfit("it is no address") from None
    if parts.scheme not in REMOTE:
        raise _Unfit(f"its address begins with none of {', '.join(f'{one}://' for one in REMOTE)}")
    if "@" in parts.netloc:
        raise _Unfit("its address must hold no name or password; give credentials instead")
    if parts.query or parts.fragment or "?" in repository or "#" in repository:
        raise _Unfit("its address must have neither ? nor #")
    return _Origin(parts.scheme, _host(parts), port or _PORTS[parts.scheme], _path(parts))


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    if not host or "%" in host:
        raise _Unfit("its address names no host")
    return host


def _path(parts: SplitResult) -> tuple[str, ...]:
    segments = tuple(one for one in parts.path.split("/") if one)
    if any(one in (".", "..") for one in re.split(r"[/\\]", unquote(parts.path))):
        raise _Unfit("its address must not go back by ..")
    return segments


def _check_allowed(origin: _Origin, allowed: tuple[str, ...]) -> None:
    for one in allowed:
        try:
            if _origin(one).covers(origin):
                return
        except _Unfit:
            continue
    raise _Unfit(f"it begins with none of those that are allowed here: {', '.join(allowed)}")


def _check_public(host: str) -> None:
    address = _address(host)
    if address is not None:
        if not all(one.is_global and not one.is_multicast for one in (address, *_within(address))):
            raise _Unfit(f"{host} is not an address on the internet")
        return
    labels = host.split(".")
    if len(labels) < 2 or labels[-1] in _INSIDE or host.endswith(".home.arpa") or ".svc." in host:
        raise _Unfit(f"{host} is not a name on the internet")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        # Some resolvers take 127.1 or 0x7f000001 for an address.
        if _NUMERIC.fullmatch(host.rpartition(".")[2]):
            raise _Unfit(f"{host} is neither a name nor an address") from None
        return None


def _within(address: IPv4Address | IPv6Address) -> tuple[IPv4Address, ...]:
    """Addresses that an address stands for where networks translate it."""
    if isinstance(address, IPv4Address):
        return ()
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return tuple(one for one in found if one is not None)
