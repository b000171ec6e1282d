"""Definitions in a chart's `crds/`, which Helm installs once and never changes again."""

from __future__ import annotations

import re

from kubekit.client.protocol import Client
from kubekit.model.resource import Address, Object

from .drift import MANAGER
from .manifest import objects

_DEFINITION = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
_SOURCE = re.compile(r"^# Source: (\S+)$", re.MULTILINE)


def in_crds(rendered: str, subject: str) -> tuple[Object, ...]:
    """Those of `crds/`, of the chart and of the subcharts that are on, in what Helm rendered with them."""
    parts = _SOURCE.split(rendered)
    texts = [text for path, text in zip(parts[1::2], parts[2::2], strict=True) if "/crds/" in path]
    found = [one for text in texts for one in objects(text, subject)]
    return tuple(one for one in found if one.get("kind") == _DEFINITION.kind)


async def write(client: Client, definitions: tuple[Object, ...]) -> None:
    """Bring them to what the chart says; none is ever removed, since all objects of the kind would go with it."""
    for one in definitions:
        await client.apply(one, _DEFINITION, manager=MANAGER)
