"""A catalogue and addons, written by a test in place of those who keep them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.cli.conftest import User, running

API = "butler.butlerlabs.dev/v1alpha1"
TENANTS = "butler-tenants"
PLATFORM = [
    {"name": "cilium", "version": "1.17.0", "status": "Healthy", "managedBy": "butler"},
    {"name": "traefik", "version": "34.3.0", "status": "Degraded", "managedBy": "flux", "message": "one pod of two"},
]


def definition(name: str, **spec: Any) -> dict[str, Any]:
    chart = {"repository": "https://charts.example.com", "name": name, "defaultVersion": "1.0.0"}
    said = {"displayName": name.title(), "description": f"What {name} does.", "category": "other", **spec}
    return {
        "apiVersion": API,
        "kind": "AddonDefinition",
        "metadata": {"name": name, "labels": said.pop("labels", {})},
        "spec": {**said, "chart": {**chart, **said.get("chart", {})}},
    }


class Addons:
    """What a test says there is. Names have an ending of their own: the catalogue is everybody's."""

    def __init__(self, user: User) -> None:
        self._user, self.ending = user, uuid.uuid4().hex[:6]
        self._made: list[str] = []

    def define(self, prefix: str, **spec: Any) -> str:
        name = f"{prefix}-{self.ending}"
        body = definition(name, **spec)
        self._user.kubectl("create", "-f", "-", stdin=json.dumps(body))
        self._made.append(name)
        return name

    def cluster(self, **status: Any) -> str:
        """A cluster that runs, with addons of the platform."""
        name = self._user.cluster()
        seen = {"kubernetesVersion": "v1.32.2", "addons": PLATFORM}
        where = {"name": "simulated", "namespace": "butler-system"}
        self._user.status(name, **running(observedState=seen, providerConfigRef=where, **status))
        return name

    def read(self, name: str, kind: str = "tenantaddon") -> dict[str, Any]:
        where = ("-n", TENANTS) if kind == "tenantaddon" else ()
        found: dict[str, Any] = json.loads(self._user.kubectl("get", kind, name, *where, "-o", "json").out)
        return found

    def names(self, kind: str = "tenantaddons") -> str:
        return self._user.kubectl(
            "get", kind, "-A" if kind == "tenantaddons" else "--ignore-not-found", "-o", "name"
        ).out

    def status(self, name: str, kind: str = "tenantaddon", **status: Any) -> None:
        """As its controller would write it."""
        where = ("-n", TENANTS) if kind == "tenantaddon" else ()
        change = json.dumps({"status": status})
        self._user.kubectl("patch", kind, name, *where, "--subresource=status", "--type=merge", "-p", change)

    def hold(self, name: str, *finalizers: str, kind: str = "tenantaddon") -> None:
        where = ("-n", TENANTS) if kind == "tenantaddon" else ()
        change = json.dumps({"metadata": {"finalizers": list(finalizers) or None}})
        self._user.kubectl("patch", kind, name, *where, "--type=merge", "-p", change)

    def secret(self, name: str, **content: str) -> str:
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": f"{name}-{self.ending}", "namespace": TENANTS},
            "stringData": {key.replace("_", "."): text for key, text in content.items()},
        }
        self._user.kubectl("create", "-f", "-", stdin=json.dumps(body))
        return f"{name}-{self.ending}"

    def clear(self) -> None:
        if self._made:
            self._user.kubectl("delete", "addondefinition", "--ignore-not-found", *self._made)


@contextmanager
def addons_of(user: User) -> Iterator[Addons]:
    made = Addons(user)
    yield made
    made.clear()
