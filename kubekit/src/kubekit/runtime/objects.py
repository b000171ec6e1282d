"""What every object has, read alike from a Struct of a known kind and from a plain dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from kubekit.client.protocol import address_of
from kubekit.model.resource import Address

Kind = type[Any] | Address
"""A class whose instances are objects, or an address whose objects are dicts."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The part of the metadata by which an object is known."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner reference, as far as it says who to wake."""

    group: str
    kind: str
    name: str
    uid: str
    controls: bool


class ReceiptMeta(msgspec.Struct, rename="camel"):
    """What an answer says of the version that was made."""

    resource_version: str = ""


class Receipt(msgspec.Struct):
    """As little of an object as it takes to know its version."""

    metadata: ReceiptMeta


@cache
def _receipt(address: Any) -> type[Receipt]:
    made = msgspec.defstruct("Receipt", [], bases=(Receipt,), namespace={"address": address})
    assert issubclass(made, Receipt)
    return made


def receipt_for(address: Address) -> type[Receipt]:
    """A class for answers of which only the version matters: the rest is not even decoded."""
    return _receipt(address)


def key_of(obj: Any) -> str:
    """`namespace/name`, or the name of a cluster-wide object."""
    if isinstance(obj, dict):
        meta = obj["metadata"]
        return key(meta.get("namespace", ""), meta["name"])
    return key(obj.metadata.namespace, obj.metadata.name)


def key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def identity_of(obj: Any) -> Identity:
    if isinstance(obj, dict):
        meta = obj["metadata"]
        return Identity(meta.get("namespace", ""), meta.get("name", ""), meta.get("uid", ""))
    return Identity(obj.metadata.namespace, obj.metadata.name, obj.metadata.uid)


def version_of(obj: Any) -> str:
    """The resourceVersion; empty when it has none."""
    if isinstance(obj, dict):
        return str(obj["metadata"].get("resourceVersion", ""))
    return str(obj.metadata.resource_version)


def number(version: str) -> int:
    """A version as its place in history; 0, the beginning, for one that is no number."""
    return int(version) if version.isascii() and version.isdigit() else 0


def generation_of(obj: Any) -> int:
    generation: int = obj["metadata"].get("generation", 0) if isinstance(obj, dict) else obj.metadata.generation
    return generation


def is_deleting(obj: Any) -> bool:
    if isinstance(obj, dict):
        return obj["metadata"].get("deletionTimestamp") is not None
    return obj.metadata.deletion_timestamp is not None


def finalizers_of(obj: Any) -> tuple[str, ...]:
    if isinstance(obj, dict):
        return tuple(obj["metadata"].get("finalizers") or ())
    return tuple(obj.metadata.finalizers)


def owners_of(obj: Any) -> Iterator[Owner]:
    if isinstance(obj, dict):
        for ref in obj["metadata"].get("ownerReferences") or ():
            yield _owner(ref["apiVersion"], ref["kind"], ref["name"], ref["uid"], ref.get("controller"))
        return
    for ref in obj.metadata.owner_references:
        yield _owner(ref.api_version, ref.kind, ref.name, ref.uid, ref.controller)


def _owner(api_version: str, kind: str, name: str, uid: str, controls: bool | None) -> Owner:
    return Owner(api_version.rpartition("/")[0], kind, name, uid, bool(controls))


def owner_reference(obj: Any, kind: Kind | None = None) -> dict[str, Any]:
    """What a child's `ownerReferences` say so that it goes when `obj` goes, and wakes its controller.

    `kind` is needed only where neither the class of an object nor the object itself says what it is."""
    (api_version, name), identity = _what(obj, kind), identity_of(obj)
    return {
        "apiVersion": api_version,
        "kind": name,
        "name": identity.name,
        "uid": identity.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _what(obj: Any, kind: Kind | None) -> tuple[str, str]:
    """The apiVersion and the kind of an object."""
    if kind is None and isinstance(obj, dict):
        if "apiVersion" not in obj or "kind" not in obj:
            raise TypeError("an object that does not say its apiVersion and kind needs the address of its kind")
        return obj["apiVersion"], obj["kind"]
    address = address_of(type(obj) if kind is None else kind)
    return address.api_version, address.kind


def status_of(obj: Any) -> dict[str, Any]:
    """The status as it goes over the wire; empty when there is none."""
    status = obj.get("status") if isinstance(obj, dict) else getattr(obj, "status", None)
    return {} if status is None else wire(status)


def wire(value: Any) -> Any:
    """A value exactly as it arrives elsewhere: lists for tuples, texts for times."""
    return msgspec.json.decode(msgspec.json.encode(value))


def visibly_differs(old: Any, new: Any) -> bool:
    """Whether two states of an object differ in more than their version."""
    if isinstance(new, dict):
        return bool(_unversioned(old) != _unversioned(new))
    if msgspec.structs.replace(old, metadata=new.metadata) != new:
        return True
    same = {"resource_version": new.metadata.resource_version, "generation": new.metadata.generation}
    return bool(msgspec.structs.replace(old.metadata, **same) != new.metadata)


def _unversioned(obj: dict[str, Any]) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "resourceVersion": "", "generation": 0, "managedFields": None}}
