"""Definitions that are long are read beside the event loop, and nobody notices."""

from __future__ import annotations

from typing import Any

from kubekit import definitions
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.objects.long_work import LARGE
from kubekit.server.serve.server import Server

WIDGETS = Address("example.com", "v1", "Widget", "widgets", False)
_TEXT = {"type": "string", "description": "A word or two. " * 10}


def long_definition(*fields: str) -> dict[str, Any]:
    properties = {"spec": {"type": "object", "properties": dict.fromkeys(fields, _TEXT)}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


async def test_a_kind_is_served_as_soon_as_it_is_said_to_be(server: Server) -> None:
    client, fields = DirectClient(server.root), [f"field{number}" for number in range(LARGE // 100)]
    await definitions.install_all(client, [long_definition(*fields)])
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one"}, "spec": {"field9": "x"}}
    made = await client.create(widget, WIDGETS)
    assert made["spec"] == {"field9": "x"}
