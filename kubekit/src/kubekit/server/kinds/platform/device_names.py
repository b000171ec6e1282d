"""The names of attributes of devices, and of the drivers that own them."""

from __future__ import annotations

import re

from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, refuse_each, required, too_long

_LONGEST_ID, _LONGEST_DRIVER = 32, 63
_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
_IDENTIFIER_RULE = name_rules.shape(
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    "or '_'",
    _IDENTIFIER,
    "my_name",
    "MY_NAME",
    "MyName",
)
_NEEDS_DOMAIN = "a fully qualified name must be a domain and a name separated by a slash"


def check_driver_reference(found: Problems, driver: str, path: str) -> None:
    """A driver's name."""
    if not driver:
        found.append(required(path))
        return
    if len(driver) > _LONGEST_DRIVER:
        found.append(too_long(path, _LONGEST_DRIVER))
    refuse_each(found, path, driver, name_rules.subdomain(driver.lower()))


def check_full_name(found: Problems, name: str, path: str) -> None:
    """An attribute's name behind the domain of its owner."""
    check_attribute_name(found, name, path)
    if "/" not in name:
        found.append(bad(path, name, _NEEDS_DOMAIN))


def check_attribute_name(found: Problems, name: str, path: str) -> None:
    """An attribute's name, with or without a domain."""
    parts = name.split("/")
    if len(parts) > 2:
        return
    if len(parts) == 2:
        if parts[0]:
            check_driver_reference(found, parts[0], path)
        else:
            found.append(bad(path, "", "the domain must not be empty"))
        if not parts[1]:
            found.append(bad(path, "", "the name must not be empty"))
            return
    _check_identifier(found, parts[-1], path)


def _check_identifier(found: Problems, name: str, path: str) -> None:
    if len(name) > _LONGEST_ID:
        found.append(too_long(path, _LONGEST_ID))
    if not re.fullmatch(_IDENTIFIER, name):
        found.append(bad(path, name, _IDENTIFIER_RULE))
