"""IP addresses and networks."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface

from ..language.functions import Overload, Priced, functions, members
from ..language.values import CelError, name_type

IP, CIDR = "net.IP", "net.CIDR"
Address = IPv4Address | IPv6Address
name_type(IPv4Address, IP)
name_type(IPv6Address, IP)


@dataclass(frozen=True, slots=True)
class Network:
    """An address and the length of its network's prefix; bits behind the prefix may be set."""

    interface: IPv4Interface | IPv6Interface

    def __str__(self) -> str:
        return f"{self.interface.ip}/{self.interface.network.prefixlen}"


name_type(Network, CIDR)


def _address(text: str) -> Address:
    """Raises CelError."""
    try:
        found = _read(text)
    except ValueError:
        problem = _address_problem(text)
        raise CelError(f"IP Address {_quoted(text)} parse error during conversion from string: {problem}") from None
    if isinstance(found, IPv6Address):
        if found.scope_id:
            raise CelError(f"IP address {_quoted(text)} with zone value is not allowed")
        if found.ipv4_mapped:
            raise CelError(f"IPv4-mapped IPv6 address {_quoted(text)} is not allowed")
    return found


def _read(text: str) -> Address:
    """Raises ValueError."""
    if len(text) > _LONGEST:
        raise ValueError("too long")
    return ipaddress.ip_address(text)


_LONGEST = 256


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _address_problem(text: str) -> str:
    """Why Go does not take an address; it tells the causes within IPv4 apart, those within IPv6 are one here."""
    first = next((letter for letter in text if letter in ".:%"), "")
    problem = "unable to parse IP"
    if first == "%":
        problem = "missing IPv6 address"
    elif first == ".":
        problem = _ipv4_problem(text)
    return f"ParseAddr({_quoted(text)}): {problem}"


def _ipv4_problem(text: str) -> str:
    field, fields = "", 0
    for at, letter in enumerate(text):
        if letter == ".":
            if not field or at == len(text) - 1:
                return f"IPv4 field must have at least one digit (at {_quoted(text[at:])})"
            if fields == 3:
                return "IPv4 address too long"
            field, fields = "", fields + 1
        elif letter not in "0123456789":
            return f"unexpected character (at {_quoted(text[at:])})"
        elif field == "0":
            return "IPv4 field has octet with leading zero"
        else:
            field += letter
            if len(field) > 3 or int(field) > 255:
                return "IPv4 field has value >255"
    return "IPv4 address too short"


def _network(text: str) -> Network:
    """Raises CelError."""
    try:
        return Network(_interface(text))
    except ValueError as error:
        words = "network address parse error during conversion from string: "
        raise CelError(f"{words}{error}") from None


def _interface(text: str) -> IPv4Interface | IPv6Interface:
    address, slash, bits = text.rpartition("/")
    words = f"network address parse error during conversion from string: netip.ParsePrefix({_quoted(text)}): "
    if not slash:
        raise ValueError(f"{words}no '/'")
    try:
        found = _read(address)
    except ValueError:
        raise ValueError(words + _address_problem(address)) from None
    if isinstance(found, IPv6Address) and found.scope_id:
        raise ValueError(f"{words}IPv6 zones cannot be present in a prefix")
    if not (bits.isascii() and bits.isdecimal()) or (len(bits) > 1 and bits.startswith("0")):
        raise ValueError(f"{words}bad bits after slash: {_quoted(bits)}")
    if len(bits) > 3 or int(bits) > found.max_prefixlen:
        raise ValueError(f"{words}prefix length out of range")
    if isinstance(found, IPv6Address) and found.ipv4_mapped:
        raise ValueError(f"IPv4-mapped IPv6 address {_quoted(text)} is not allowed")
    return ipaddress.ip_interface(f"{found}/{bits}")


def _is_address(text: str) -> bool:
    try:
        _address(text)
    except CelError:
        return False
    return True


def _is_network(text: str) -> bool:
    try:
        _interface(text)
    except ValueError:
        return False
    return True


def _is_link_local_multicast(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return address in ipaddress.IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


def _is_global_unicast(address: Address) -> bool:
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and str(address) != "255.255.255.255"


def _contains_address(network: Network, address: Address) -> bool:
    return address in network.interface.network


def _contains_network(network: Network, other: Network) -> bool:
    outer, inner = network.interface.network, other.interface.network
    return outer.version == inner.version and inner.subnet_of(outer)  # type: ignore[arg-type]


def _contains_address_text(network: Network, text: str) -> bool:
    if not _is_address(text):
        raise CelError("no such overload")
    return _contains_address(network, _address(text))


def _contains_network_text(network: Network, text: str) -> bool:
    if not _is_network(text):
        raise CelError("no such overload")
    return _contains_network(network, _network(text))


def _masked(network: Network) -> Network:
    return Network(ipaddress.ip_interface(str(network.interface.network)))


def _reading(text: str) -> int:
    return 120 + len(text)


def _reading_network(text: str) -> int:
    return 200 + len(text)


def _reading_second(_network: Network, text: str = "") -> int:
    return 300 + 2 * len(text)


def _comparing(*_: object) -> int:
    return 100


def overloads() -> list[Overload]:
    return [
        *functions(
            ("ip", f"string -> {IP}", Priced(_reading, _address)),
            ("isIP", "string -> bool", Priced(_reading, _is_address)),
            ("ip.isCanonical", "string -> bool", Priced(_reading, lambda text: str(_address(text)) == text)),
            ("string", f"{IP} -> string", Priced(_comparing, str)),
            ("cidr", f"string -> {CIDR}", Priced(_reading_network, _network)),
            ("isCIDR", "string -> bool", Priced(_reading_network, _is_network)),
            ("string", f"{CIDR} -> string", Priced(_comparing, str)),
        ),
        *members(
            ("family", f"{IP} -> int", lambda one: one.version),
            ("isUnspecified", f"{IP} -> bool", lambda one: one.is_unspecified),
            ("isLoopback", f"{IP} -> bool", lambda one: one.is_loopback),
            ("isLinkLocalMulticast", f"{IP} -> bool", _is_link_local_multicast),
            ("isLinkLocalUnicast", f"{IP} -> bool", lambda one: one.is_link_local),
            ("isGlobalUnicast", f"{IP} -> bool", _is_global_unicast),
            ("containsIP", f"{CIDR}, string -> bool", Priced(_reading_second, _contains_address_text)),
            ("containsIP", f"{CIDR}, {IP} -> bool", Priced(_comparing, _contains_address)),
            ("containsCIDR", f"{CIDR}, string -> bool", Priced(_reading_second, _contains_network_text)),
            ("containsCIDR", f"{CIDR}, {CIDR} -> bool", Priced(_comparing, _contains_network)),
            ("ip", f"{CIDR} -> {IP}", lambda one: one.interface.ip),
            ("prefixLength", f"{CIDR} -> int", lambda one: one.interface.network.prefixlen),
            ("masked", f"{CIDR} -> {CIDR}", Priced(_reading_second, _masked)),
        ),
    ]
