"""Where objects are in an API: paths made of names that can stand in them."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import SplitResult, quote, urlencode, urlsplit

from kubekit.errors import BadRequest
from kubekit.model.resource import Address

from .protocol import EVERYTHING, Selection

_SAFE = "!$&'()*+,;=:@-._~"
"""What may stand in a part of a path as it is."""


def collection(address: Address, namespace: str = "") -> str:
    """The path of a kind's objects: in one namespace, or everywhere. Raises BadRequest."""
    root = f"/apis/{address.group}/{address.version}" if address.group else f"/api/{address.version}"
    if not namespace or not address.namespaced:
        return f"{root}/{address.plural}"
    return f"{root}/namespaces/{segment(namespace)}/{address.plural}"


def one(address: Address, name: str, namespace: str, subresource: str = "") -> str:
    """The path of an object or of a part of it. Raises BadRequest."""
    check(address, name, namespace)
    path = f"{collection(address, namespace)}/{segment(name)}"
    return f"{path}/{subresource}" if subresource else path


def check(address: Address, name: str, namespace: str) -> None:
    """An object has a name and, unless its kind is cluster-wide, a namespace. Raises BadRequest."""
    if not name:
        raise BadRequest("resource name may not be empty")
    if address.namespaced and not namespace:
        raise BadRequest("an empty namespace may not be set when a resource name is provided")


def check_new(address: Address, namespace: str) -> None:
    """Raises BadRequest."""
    if address.namespaced and not namespace:
        raise BadRequest("an empty namespace may not be set during creation")


def segment(name: str) -> str:
    """A name as a part of a path; never one that leads elsewhere. Raises BadRequest."""
    if name.isascii() and name.replace("-", "").isalnum():
        return name
    if name in ("", ".", "..") or "/" in name or "%" in name:
        raise BadRequest(f"{name!r} cannot be a name: it may not be empty, '.' or '..', nor contain '/' or '%'")
    return quote(name, safe=_SAFE)


def query(selection: Selection = EVERYTHING, /, **parameters: str | int | Sequence[str] | None) -> str:
    """A query string of what is set."""
    given = {"labelSelector": selection.labels, "fieldSelector": selection.fields, **parameters}
    wanted = {name: value for name, value in given.items() if value not in ("", None)}
    return f"?{urlencode(wanted, doseq=True)}" if wanted else ""


def address_parts(text: str) -> SplitResult | None:
    """The parts of an address; None when it is none, as one with a port that is not a number."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return parts
