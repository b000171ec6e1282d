"""A stand-in for the butlerctl of the original Butler: the requests it makes, what it reads of the answers, and how it
decides. It knows nothing of ours, and fields it does not read are not read here."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

TENANTS, SYSTEM = "butler-tenants", "butler-system"
_BUTLER = "/apis/butler.butlerlabs.dev/v1alpha1"
_CLUSTER_API = "/apis/cluster.x-k8s.io/v1beta1"
_OF_SYSTEM = ("kubectl.kubernetes.io/", "kubernetes.io/", "control-plane.alpha.kubernetes.io/", "helm.sh/")
_KEYS = ("admin.conf", "kubeconfig", "value")


class Refused(Exception):
    """What the API answered instead."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass
class Info:
    """What its lists and views show of a cluster."""

    name: str
    namespace: str
    phase: str
    version: str
    ready: int
    desired: int
    endpoint: str
    tenant_namespace: str
    provider: str


class UpstreamClient:
    """Its commands, for those who have a kubeconfig of the platform."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._server = urlsplit(cluster["server"])
        self._trust = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as pair:
            pair.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            pair.flush()
            self._trust.load_cert_chain(pair.name)

    def list(self, namespace: str = TENANTS) -> list[Info]:
        found = self._ask("GET", f"{_BUTLER}/namespaces/{namespace}/tenantclusters")["items"]
        return [self._info(one) for one in sorted(found, key=lambda one: one["metadata"]["name"])]

    def get(self, name: str) -> tuple[Info, dict[str, tuple[str, str]]]:
        """The cluster, and of each condition its status and reason."""
        cluster = self._cluster(name)
        conditions = at(cluster, "status", "conditions") or []
        return self._info(cluster), {one["type"]: (one["status"], one.get("reason", "")) for one in conditions}

    def create(self, name: str, workers: int, version: str, lb_pool: str) -> None:
        """With the only provider there is; a pool of addresses for load balancers is a must."""
        self._require_management_cluster()
        providers = self._ask("GET", f"{_BUTLER}/namespaces/{SYSTEM}/providerconfigs")["items"]
        (provider,) = [one["metadata"]["name"] for one in providers]
        if self._exists(name):
            raise ValueError(f"{name} already exists")
        start, _, end = lb_pool.partition("-")
        spec = {
            "kubernetesVersion": version,
            "providerConfigRef": {"name": provider},
            "workers": {
                "replicas": workers,
                "machineTemplate": {"cpu": 4, "memory": "8192Mi", "diskSize": "50Gi"},
            },
            "networking": {"loadBalancerPool": {"start": start, "end": end or start}},
        }
        body = {
            "apiVersion": "butler.butlerlabs.dev/v1alpha1", "kind": "TenantCluster",
            "metadata": {"name": name, "namespace": TENANTS}, "spec": spec,
        }  # fmt: skip
        self._ask("POST", f"{_BUTLER}/namespaces/{TENANTS}/tenantclusters", body)

    def scale(self, name: str, workers: int) -> None:
        self._require_management_cluster()
        current = at(self._cluster(name), "spec", "workers", "replicas") or 1
        if current != workers:
            self._patch(name, {"spec": {"workers": {"replicas": workers}}})

    def is_scaled(self, name: str, workers: int) -> bool:
        """How it decides that it need not wait any longer."""
        return self._info(self._cluster(name)).ready == workers

    def upgrade(self, name: str, version: str) -> None:
        if at(self._cluster(name), "spec", "kubernetesVersion") != version:
            self._patch(name, {"spec": {"kubernetesVersion": version}})

    def export(self, name: str) -> dict[str, Any]:
        cluster = self._cluster(name)
        meta = cluster["metadata"]
        kept: dict[str, Any] = {"name": meta["name"], "namespace": meta["namespace"]}
        for field in ("labels", "annotations"):
            mine = {key: value for key, value in meta.get(field, {}).items() if not key.startswith(_OF_SYSTEM)}
            kept |= {field: mine} if mine else {}
        return {key: value for key, value in cluster.items() if key not in ("metadata", "status")} | {"metadata": kept}

    def kubeconfig(self, name: str) -> str:
        namespace = at(self._cluster(name), "status", "tenantNamespace")
        secret = self._ask("GET", f"/api/v1/namespaces/{namespace}/secrets/{name}-admin-kubeconfig")
        return _decoded(next(secret["data"][key] for key in _KEYS if key in secret["data"]))

    def destroy(self, name: str) -> None:
        self._require_management_cluster()
        self._info(self._cluster(name))
        self._ask("DELETE", _path_of(name))

    def is_gone(self, name: str) -> bool:
        return not self._exists(name)

    def _require_management_cluster(self) -> None:
        self._ask("GET", f"/api/v1/namespaces/{SYSTEM}")
        self._ask("GET", f"{_BUTLER}/namespaces/{TENANTS}/tenantclusters?limit=1")

    def _info(self, cluster: Mapping[str, Any]) -> Info:
        name, namespace = cluster["metadata"]["name"], at(cluster, "status", "tenantNamespace") or ""
        info = Info(
            name=name,
            namespace=cluster["metadata"]["namespace"],
            phase=at(cluster, "status", "phase") or "",
            version=at(cluster, "spec", "kubernetesVersion") or "",
            ready=at(cluster, "status", "observedState", "workers", "ready") or 0,
            desired=at(cluster, "status", "observedState", "workers", "desired") or 0,
            endpoint=at(cluster, "status", "controlPlaneEndpoint") or "",
            tenant_namespace=namespace,
            provider=at(cluster, "spec", "providerConfigRef", "name") or "",
        )
        info.desired = info.desired or at(cluster, "spec", "workers", "replicas") or 0
        if namespace:
            self._count_machines(info)
        return info

    def _count_machines(self, info: Info) -> None:
        """By the MachineDeployment, where the version of Cluster API that it knows is served."""
        for name in (f"{info.name}-workers", f"{info.name}-md-0"):
            try:
                path = f"{_CLUSTER_API}/namespaces/{info.tenant_namespace}/machinedeployments/{name}"
                deployment = self._ask("GET", path)
            except Refused:
                continue
            info.desired = at(deployment, "spec", "replicas") or info.desired
            counts = [at(deployment, "status", f"{which}Replicas") for which in ("ready", "available", "updated")]
            info.ready = next((count for count in counts if count), 0)
            return

    def _cluster(self, name: str) -> dict[str, Any]:
        return self._ask("GET", _path_of(name))

    def _exists(self, name: str) -> bool:
        try:
            self._cluster(name)
        except Refused as refused:
            if refused.code == http.HTTPStatus.NOT_FOUND:
                return False
            raise
        return True

    def _patch(self, name: str, change: Mapping[str, Any]) -> None:
        self._ask("PATCH", _path_of(name), change, "application/merge-patch+json")

    def _ask(self, verb: str, path: str, body: Any = None, kind: str = "application/json") -> dict[str, Any]:
        connection = http.client.HTTPSConnection(str(self._server.netloc), timeout=60, context=self._trust)
        try:
            sent = None if body is None else json.dumps(body)
            connection.request(verb, path, sent, {"Content-Type": kind, "Accept": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            raise Refused(answer.status, text)
        found: dict[str, Any] = json.loads(text)
        return found


def at(found: Any, *fields: str) -> Any:
    """A field deep in an answer; None where something on the way is missing."""
    for field in fields:
        found = found.get(field) if isinstance(found, dict) else None
    return found


def _path_of(name: str) -> str:
    return f"{_BUTLER}/namespaces/{TENANTS}/tenantclusters/{name}"


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()
