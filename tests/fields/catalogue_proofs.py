"""What an AddonDefinition says makes a difference to a cluster that is to have the addon."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fields.cluster_world import Setting, acts
from tests.fields.proof import Proof

_CHART = {"repository": "https://charts.example.com", "name": "traefik", "defaultVersion": "1.0.0"}
_SPEC: dict[str, Any] = {"displayName": "Traefik", "description": "HTTP.", "category": "ingress", "chart": _CHART}
_OPENED = {**_CHART, "credentialsRef": {"name": "login"}}
_OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "namespace": "traefik"}}
_NUMBERS = {"type": "object", "properties": {"size": {"type": "integer"}}}
_TEXTS = {"type": "object", "properties": {"size": {"type": "string"}}}
_ONE, _OTHER = ({"1.0.0": f"sha256:{digit * 64}"} for digit in "ab")


def _definition() -> Iterator[tuple[str, Proof]]:
    spec, usual = "AddonDefinition.spec", Setting(definition=_SPEC)
    sized = Setting({"addons": {"ingress": {"values": {"size": 1}}}}, definition=_SPEC)
    opened = Setting(definition={**_SPEC, "chart": _OPENED})
    yield acts(f"{spec}.category", "ingress", "storage", usual)
    yield acts(f"{spec}.chart.repository", "https://a.example.com", "https://b.example.com", usual)
    yield acts(f"{spec}.chart.name", "one", "two", usual)
    yield acts(f"{spec}.chart.defaultVersion", "1.0.0", "2.0.0", usual)
    yield acts(f"{spec}.chart.digests", _ONE, _OTHER, usual)
    yield acts(f"{spec}.chart.credentialsRef.name", "one", "two", opened)
    yield acts(f"{spec}.chart.credentialsRef.namespace", "one", "two", opened)
    yield acts(f"{spec}.chart.plainHttp", True, False, usual)
    yield acts(f"{spec}.defaults.namespace", "one", "two", usual)
    yield acts(f"{spec}.defaults.releaseName", "one", "two", usual)
    yield acts(f"{spec}.defaults.createNamespace", True, False, usual)
    yield acts(f"{spec}.defaults.timeout", "1m", "2m", usual)
    yield acts(f"{spec}.defaults.values", {"size": 1}, {"size": 2}, usual)
    yield acts(f"{spec}.dependsOn", [], ["cert-manager"], usual)
    yield acts(f"{spec}.conflicts", [], ["cert-manager"], usual)
    yield acts(f"{spec}.kubernetesVersions", ">=1.28", ">=1.40", usual)
    yield acts(f"{spec}.providers", ["simulated"], ["aws"], usual)
    yield acts(f"{spec}.forNodes", True, False, usual)
    yield acts(f"{spec}.valuesSchema", _NUMBERS, _TEXTS, sized)
    yield acts(f"{spec}.resources", [], [_OBJECT], usual)
    yield acts(f"{spec}.platform", True, False, usual)


PROOFS = dict(_definition())
