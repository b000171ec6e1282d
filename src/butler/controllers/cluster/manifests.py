"""Objects as they should be, and whether they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from butler.addons.digests import digest
from kubekit.client.protocol import Client
from kubekit.model.resource import Address

from . import names

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Manifest:
    """An object Butler wants to exist. Its fields, and no others, are Butler's."""

    kind: Address
    name: str
    namespace: str
    body: Object
    """The whole object."""

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def manifest(kind: Address, name: str, namespace: str, labels: Mapping[str, str], **content: Any) -> Manifest:
    """The object with its marks: whose it is, and a digest of what Butler says about it."""
    metadata: Object = {"name": name, "labels": dict(labels)}
    if namespace:
        metadata["namespace"] = namespace
    annotations = content.pop("annotations", {})
    metadata["annotations"] = {**annotations, names.APPLIED: digest([labels, annotations, content])}
    return Manifest(
        kind, name, namespace, {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **content}
    )


def differences(live: Any, wanted: Any, path: str = "") -> list[str]:
    """The fields that are not as wanted; what nobody asked for does not count."""
    if isinstance(wanted, Mapping):
        if not isinstance(live, Mapping):
            return [path]
        return [
            found
            for name, value in wanted.items()
            for found in differences(live.get(name), value, f"{path}.{name}" if path else str(name))
        ]
    return [] if live == wanted else [path]


def is_as_wanted(live: Object | None, wanted: Manifest) -> bool:
    """Whether nothing has to be written."""
    return live is not None and not _differs(live, wanted.body)


def _differs(live: Any, wanted: Any) -> bool:
    # What is equal as a whole, most of it, needs no closer look.
    if live == wanted:
        return False
    if type(live) is not dict or type(wanted) is not dict:
        return True
    return any(_differs(live.get(name), value) for name, value in wanted.items())


async def ensure(client: Client, live: Object | None, wanted: Manifest) -> bool:
    """Make an object as wanted. Answers whether that took a write."""
    if is_as_wanted(live, wanted):
        return False
    await client.apply(wanted.body, wanted.kind, manager=names.MANAGER)
    if "status" in wanted.body:
        await client.apply(wanted.body, wanted.kind, manager=names.MANAGER, subresource="status")
    return True
