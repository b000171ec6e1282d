"""The formats Kubernetes has for names and small values: each function answers with the rules a value breaks."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

from kubekit.errors import go_quoted

from .bounded_cache import remember_short

Broken = tuple[str, ...]
Format = Callable[[str], Broken]

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_UNDERSCORED_LABEL = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORED = rf"{_UNDERSCORED_LABEL}(\.{_UNDERSCORED_LABEL})*"
_LABEL_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY_NAME = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_PERCENT = r"[0-9]+%"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_HEADER = r"[-A-Za-z0-9]+"

_is_label = re.compile(_LABEL).fullmatch
_is_short_subdomain = re.compile(_SUBDOMAIN).fullmatch
_is_underscored = re.compile(_UNDERSCORED).fullmatch
_is_label_1035 = re.compile(_LABEL_1035).fullmatch
_is_key_name = re.compile(_KEY_NAME).fullmatch
_is_label_value = re.compile(rf"({_KEY_NAME})?").fullmatch
_is_config_key = re.compile(_CONFIG_KEY).fullmatch
_is_percent = re.compile(_PERCENT).fullmatch
_is_http_path = re.compile(_HTTP_PATH).fullmatch
_is_header = re.compile(_HEADER).fullmatch
_is_wildcard = re.compile(rf"\*\.{_SUBDOMAIN}").fullmatch
_is_port_charset = re.compile(r"[-a-z0-9]+").fullmatch
_has_letter = re.compile(r"[a-z]").search

_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_WILDCARD_TEXT = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
)
_KEY_TEXT = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)


def shape(text: str, pattern: str, *examples: str) -> str:
    """A rule as error messages state it: in words, by example and as a pattern."""
    if not examples:
        return f"{text} (regex used for validation is '{pattern}')"
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"


def at_most(length: int) -> str:
    return f"must be no more than {length} characters"


def between(low: int, high: int) -> str:
    return f"must be between {low} and {high}, inclusive"


def _is_subdomain(value: str) -> bool:
    if len(value) <= 253:
        return _is_short_subdomain(value) is not None
    # A pattern would hold up everybody else until it is through.
    return all(_is_label(part) is not None for part in value.split("."))


@remember_short(4096)
def label(value: str) -> Broken:
    """RFC 1123 label."""
    if len(value) <= 63 and _is_label(value):
        return ()
    broken = [at_most(63)] if len(value) > 63 else []
    if not _is_label(value):
        dotted = _is_subdomain(value)
        broken.append("must not contain dots" if dotted else shape(_LABEL_TEXT, _LABEL, "my-name", "123-abc"))
    return tuple(broken)


def subdomain(value: str) -> Broken:
    """RFC 1123 subdomain."""
    if len(value) <= 253 and _is_subdomain(value):
        return ()
    broken = [at_most(253)] if len(value) > 253 else []
    if not _is_subdomain(value):
        broken.append(shape(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return tuple(broken)


def subdomain_with_underscores(value: str) -> Broken:
    """What resolvers are given to search."""
    broken = [at_most(253)] if len(value) > 253 else []
    if not _is_underscored(value):
        text = _SUBDOMAIN_TEXT.replace("characters, '-'", "characters, '_', '-'")
        broken.append(shape(text, _UNDERSCORED, "example.com"))
    return tuple(broken)


def label_1035(value: str) -> Broken:
    """RFC 1035 label: starts with a letter."""
    broken = [at_most(63)] if len(value) > 63 else []
    if not _is_label_1035(value):
        broken.append(shape(_LABEL_1035_TEXT, _LABEL_1035, "my-name", "abc-123"))
    return tuple(broken)


def wildcard(value: str) -> Broken:
    """A subdomain below `*.`."""
    broken = [at_most(253)] if len(value) > 253 else []
    if not _is_wildcard(value):
        broken.append(shape(_WILDCARD_TEXT, rf"\*\.{_SUBDOMAIN}", "*.example.com"))
    return tuple(broken)


def host(value: str) -> Broken:
    return wildcard(value) if "*" in value else subdomain(value)


def path_segment(value: str) -> Broken:
    """A name that may stand in a URL path."""
    if value in {".", ".."}:
        return (f"may not be '{value}'",)
    return tuple(f"may not contain '{mark}'" for mark in "/%" if mark in value)


@remember_short(4096)
def qualified_name(value: str) -> Broken:
    """A label key: a name, perhaps behind a DNS prefix and a slash."""
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        rule = shape(_KEY_TEXT, _KEY_NAME, "MyName", "my.name", "123-abc")
        return (f"a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",)
    broken: list[str] = []
    if slash and not prefix:
        broken.append("prefix part must be non-empty")
    elif slash:
        broken.extend(f"prefix part {rule.replace('253 characters', '253 bytes')}" for rule in subdomain(prefix))
    if not name:
        broken.append("name part must be non-empty")
    elif len(name) > 63:
        broken.append("name part must be no more than 63 bytes")
    if not _is_key_name(name):
        broken.append(f"name part {shape(_KEY_TEXT, _KEY_NAME, 'MyName', 'my.name', '123-abc')}")
    return tuple(broken)


@remember_short(4096)
def label_value(value: str) -> Broken:
    if len(value) <= 63 and _is_label_value(value):
        return ()
    broken = ["must be no more than 63 bytes"] if len(value) > 63 else []
    if not _is_label_value(value):
        text = f"a valid label must be an empty string or {_KEY_TEXT.removeprefix('must ')}"
        broken.append(shape(text, f"({_KEY_NAME})?", "MyValue", "my_value", "12345"))
    return tuple(broken)


def prefixed_path(value: str) -> Broken:
    """A name behind a domain and a slash."""
    domain, slash, path = value.partition("/")
    if not (slash and domain and path):
        return ('must be a domain-prefixed path (such as "acme.io/foo")',)
    return subdomain(domain)


def config_key(value: str) -> Broken:
    """A key of a ConfigMap or Secret."""
    if len(value) <= 253 and _is_config_key(value) and not value.startswith("."):
        return ()
    broken = [at_most(253)] if len(value) > 253 else []
    if not _is_config_key(value):
        text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        broken.append(shape(text, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if value in {".", ".."}:
        broken.append(f"must not be '{value}'")
    elif value.startswith(".."):
        broken.append("must not start with '..'")
    return tuple(broken)


def port_name(value: str) -> Broken:
    broken = [at_most(15)] if len(value) > 15 else []
    if not _is_port_charset(value):
        broken.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _has_letter(value):
        broken.append("must contain at least one letter (a-z)")
    if "--" in value:
        broken.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        broken.append("must not begin or end with a hyphen")
    return tuple(broken)


def port(value: int) -> Broken:
    return () if 1 <= value <= 65535 else (between(1, 65535),)


def percent(value: str) -> Broken:
    if _is_percent(value):
        return ()
    text = "a valid percent string must be a numeric string followed by an ending '%'"
    return (shape(text, _PERCENT, "1%", "93%"),)


def header(value: str) -> Broken:
    if _is_header(value):
        return ()
    text = "a valid HTTP header must consist of alphanumeric characters or '-'"
    return (shape(text, _HEADER, "X-Header-Name"),)


def environment_name(value: str) -> Broken:
    if value.isascii() and value.isprintable() and "=" not in value:
        return ()
    return ("a valid environment variable name must consist only of printable ASCII characters other than '='",)


def http_path(value: str) -> Broken:
    return () if _is_http_path(value) else (shape("Invalid path", _HTTP_PATH),)


def ip(value: str) -> Broken:
    """As for fields that are older than strict rules: any spelling of an address that has one meaning only."""
    address = _address(value)
    if address is None:
        return ("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",)
    if "." in value and ":" not in value and str(address) != value:
        return ("must not have leading 0s",)
    return ("must not be an IPv4-mapped IPv6 address",) if _is_mapped(address) else ()


def usual_ip(value: str) -> Broken:
    """As for newer fields: in the one spelling everybody uses."""
    broken, address = ip(value), _address(value)
    return broken if broken or str(address) == value else (f"must be in canonical form ({go_quoted(str(address))})",)


def cidr(value: str) -> Broken:
    head, _, length = value.partition("/")
    address = _address(head)
    if address is None or not _is_number(length) or int(length) > address.max_prefixlen:
        return ("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",)
    if ip(head)[:1] == ("must not have leading 0s",) or str(int(length)) != length:
        return ("must not have leading 0s in IP or prefix length",)
    if _is_mapped(address):
        return ("must not have an IPv4-mapped IPv6 address",)
    network = ipaddress.ip_network((address, int(length)), strict=False)
    return () if network.network_address == address else ("must not have bits set beyond the prefix length",)


def usual_cidr(value: str) -> Broken:
    """As for newer fields: in the one spelling everybody uses."""
    if broken := cidr(value):
        return broken
    network = str(ipaddress.ip_network(value))
    return () if network == value else (f"must be in canonical form ({go_quoted(network)})",)


def is_ip(value: str) -> bool:
    """Whether Go's parser takes it for an address, in whatever spelling."""
    return _address(value) is not None


def _address(value: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address, also with zeros in front of its numbers."""
    parts = value.split(".")
    if ":" not in value and all(map(_is_number, parts)):
        value = ".".join(str(int(part)) for part in parts)
    try:
        return ipaddress.ip_address(value) if "%" not in value else None
    except ValueError:
        return None


def _is_mapped(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None


_is_number = re.compile(r"[0-9]{1,9}").fullmatch
