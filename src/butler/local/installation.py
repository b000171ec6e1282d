"""Putting definitions and system objects into an API, again and again, without taking anything from their users."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from butler.api.model import PART_OF
from kubekit import definitions
from kubekit.client.protocol import Client, address_for
from kubekit.errors import Conflict
from kubekit.model import crd
from kubekit.model.resource import Address, Object, Resource

MANAGER = "butler-platform"
"""Who owns what is installed here."""

NAMESPACE = Address("", "v1", "Namespace", "namespaces", False)
CLUSTER_ROLE = Address("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
CLUSTER_ROLE_BINDING = Address("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", False)
SERVICE_ACCOUNT = Address("", "v1", "ServiceAccount", "serviceaccounts", True)

_ATTEMPTS = 5


async def install_definitions(client: Client, kinds: Iterable[type[Resource]]) -> None:
    """Bring the definitions of these kinds up to date, and wait until the API offers them."""
    await definitions.install_all(client, map(definition_of, kinds), manager=MANAGER)


@cache
def definition_of(kind: type[Resource]) -> Object:
    """Made once, because making it takes longer than installing it. Not to be changed."""
    made = crd.definition(kind)
    made["metadata"]["labels"] = {**PART_OF, **kind.definition_labels}
    return made


async def apply_gently(client: Client, obj: Any, kind: Address | None = None) -> None:
    """Apply an object, but leave every field that somebody else has changed as they want it."""
    address = address_for(obj, kind)
    wanted = _plain(obj)
    for _ in range(_ATTEMPTS):
        try:
            await client.apply(wanted, address, manager=MANAGER, force=False)
            return
        except Conflict as conflict:
            taken = [cause.field for cause in conflict.details.causes if cause.field] if conflict.details else []
            for path in taken:
                _drop(wanted, path)


def _plain(obj: Any) -> Object:
    plain: Object = msgspec.json.decode(msgspec.json.encode(obj))
    return plain


def _drop(value: Any, path: str) -> None:
    """Remove what a path such as `.spec.chart.name` leads to. A list goes as a whole: it is wanted as a whole."""
    if not isinstance(value, dict):
        return
    # A key may contain dots, and then only the object itself says where it ends.
    for key in sorted(value, key=len, reverse=True):
        rest = path.removeprefix(f".{key}")
        if rest == path or rest[:1] not in ("", ".", "["):
            continue
        if rest.startswith(".") and isinstance(value[key], dict):
            _drop(value[key], rest)
        else:
            del value[key]
        return
