"""The scale of an object: one number, read and set without knowing its kind."""

from __future__ import annotations

from typing import Any

import msgspec

from kubekit.model.resource import Address, Model, ObjectMeta

from .protocol import Client, address_of


class ScaleSpec(Model):
    """How many are wanted."""

    replicas: int = msgspec.field(default=0)


class ScaleStatus(Model):
    """How many there are, and how to find them."""

    replicas: int = msgspec.field(default=0)
    selector: str = ""


class Scale(Model):
    """`autoscaling/v1` Scale."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ScaleSpec = ScaleSpec()
    status: ScaleStatus = ScaleStatus()


async def get_scale(client: Client, kind: type[Any] | Address, name: str, namespace: str = "") -> Scale:
    """Raises NotFound, also for kinds that have none."""
    return msgspec.convert(await client.get(address_of(kind), name, namespace, subresource="scale"), Scale)


async def set_scale(
    client: Client, kind: type[Any] | Address, name: str, namespace: str, replicas: int, *, manager: str = ""
) -> Scale:
    """Say how many are wanted; answers the scale as it is then."""
    change = {"spec": {"replicas": replicas}}
    scale = await client.patch(address_of(kind), name, change, namespace, subresource="scale", manager=manager)
    return msgspec.convert(scale, Scale)
