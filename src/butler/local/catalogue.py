"""The addon catalogue every platform starts with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from butler.api.addon import AddonDefinition, AddonDefinitionSpec, CatalogueChart, Category, InstallDefaults
from butler.api.model import GROUP
from kubekit.model.resource import ObjectMeta

SOURCE = f"{GROUP}/source"
LABELS = {"app.kubernetes.io/managed-by": "butler", SOURCE: "builtin"}

_BITNAMI = "https://charts.bitnami.com/bitnami"
_GRAFANA = "https://grafana.github.io/helm-charts"
_VICTORIA = "https://victoriametrics.github.io/helm-charts"


@dataclass(frozen=True, slots=True)
class Entry:
    """An addon in one glance; `chart` and `namespace` are named like it unless they say otherwise."""

    name: str
    title: str
    category: Category
    version: str
    repository: str
    description: str
    chart: str = ""
    namespace: str = ""
    depends_on: tuple[str, ...] = ()
    platform: bool = False
    for_nodes: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)

    def definition(self) -> AddonDefinition:
        return AddonDefinition(
            metadata=ObjectMeta(name=self.name, labels=LABELS),
            spec=AddonDefinitionSpec(
                display_name=self.title,
                description=self.description,
                category=self.category,
                chart=CatalogueChart(
                    repository=self.repository, name=self.chart or self.name, default_version=self.version
                ),
                defaults=InstallDefaults(namespace=self.namespace or self.name, values=self.values or None),
                depends_on=self.depends_on,
                platform=self.platform,
                for_nodes=self.for_nodes,
            ),
        )


PLATFORM = (
    Entry(
        "cilium", "Cilium", "cni", "1.17.0", "https://helm.cilium.io",
        "Pod networking, network policies and load balancing with eBPF.",
        namespace="kube-system", platform=True, for_nodes=True,
        values={"ipam": {"mode": "kubernetes"}, "kubeProxyReplacement": True},
    ),
    Entry(
        "metallb", "MetalLB", "loadbalancer", "0.14.9", "https://metallb.github.io/metallb",
        "Addresses for LoadBalancer Services where no cloud gives any.",
        namespace="metallb-system", depends_on=("cilium",), platform=True,
    ),
    Entry(
        "cert-manager", "cert-manager", "certmanager", "v1.16.2", "https://charts.jetstack.io",
        "Issues certificates and renews them.",
        platform=True, values={"crds": {"enabled": True}},
    ),
    Entry(
        "longhorn", "Longhorn", "storage", "1.7.2", "https://charts.longhorn.io",
        "Replicated volumes on the disks of the workers.",
        namespace="longhorn-system", platform=True, values={"persistence": {"defaultClassReplicaCount": 2}},
    ),
    Entry(
        "traefik", "Traefik", "ingress", "34.3.0", "https://traefik.github.io/charts",
        "Brings HTTP from outside to Services.",
        depends_on=("metallb",), platform=True, values={"ingressClass": {"isDefaultClass": True}},
    ),
    Entry(
        "metrics-server", "Metrics Server", "observability", "3.12.2", "https://kubernetes-sigs.github.io/metrics-server",
        "CPU and memory figures for kubectl top and autoscaling.",
        namespace="kube-system", platform=True,
    ),
)  # fmt: skip
"""Part of every cluster unless its author says otherwise."""

OPTIONAL = (
    Entry(
        "prometheus-operator", "Prometheus", "observability", "65.8.1",
        "https://prometheus-community.github.io/helm-charts",
        "Prometheus, Alertmanager and Grafana with rules and dashboards for Kubernetes.",
        chart="kube-prometheus-stack", namespace="monitoring",
    ),
    Entry(
        "vector-agent", "Vector agent", "observability", "0.52.0", "https://helm.vector.dev",
        "Collects logs on every node and sends them on.",
        chart="vector", namespace="vector", values={"role": "Agent"},
    ),
    Entry(
        "victoria-metrics", "VictoriaMetrics", "observability", "0.28.2", _VICTORIA,
        "Keeps metrics for a long time in little space.",
        chart="victoria-metrics-k8s-stack",
    ),
    Entry(
        "victoria-logs", "VictoriaLogs", "observability", "0.8.13", _VICTORIA,
        "Keeps logs and searches them quickly.",
        chart="victoria-logs-single",
    ),
    Entry(
        "loki", "Loki", "observability", "2.10.2", _GRAFANA,
        "Keeps logs by labels, beside Grafana.",
        chart="loki-stack",
    ),
    Entry("tempo", "Tempo", "observability", "1.10.3", _GRAFANA, "Keeps traces, beside Grafana."),
    Entry(
        "jaeger", "Jaeger", "observability", "3.3.1", "https://jaegertracing.github.io/helm-charts",
        "Follows requests through services.",
    ),
    Entry(
        "otel-collector", "OpenTelemetry Collector", "observability", "0.108.0",
        "https://open-telemetry.github.io/opentelemetry-helm-charts",
        "Receives traces, metrics and logs and sends them on.",
        chart="opentelemetry-collector", namespace="opentelemetry", values={"mode": "daemonset"},
    ),
    Entry(
        "velero", "Velero", "backup", "8.1.0", "https://vmware-tanzu.github.io/helm-charts",
        "Backs up objects and volumes, and restores them.",
    ),
    Entry(
        "flux", "Flux", "gitops", "2.14.1", "https://fluxcd-community.github.io/helm-charts",
        "Keeps a cluster as a Git repository says.",
        chart="flux2", namespace="flux-system",
    ),
    Entry(
        "argocd", "Argo CD", "gitops", "7.7.5", "https://argoproj.github.io/argo-helm",
        "Keeps applications as Git repositories say, with a console.",
        chart="argo-cd",
    ),
    Entry(
        "external-secrets", "External Secrets", "security", "0.12.1", "https://charts.external-secrets.io",
        "Brings Secrets from vaults into the cluster.",
    ),
    Entry(
        "sealed-secrets", "Sealed Secrets", "security", "2.16.2", "https://bitnami-labs.github.io/sealed-secrets",
        "Secrets that are safe to keep in Git.",
        namespace="kube-system",
    ),
    Entry(
        "external-dns", "ExternalDNS", "dns", "1.15.0", "https://kubernetes-sigs.github.io/external-dns",
        "Names for Services and Ingresses at your DNS provider.",
    ),
    Entry(
        "istio", "Istio", "service-mesh", "1.24.2", "https://istio-release.storage.googleapis.com/charts",
        "Encrypts, routes and observes traffic between services.",
        chart="istiod", namespace="istio-system",
    ),
    Entry(
        "linkerd", "Linkerd", "service-mesh", "1.16.11", "https://helm.linkerd.io/stable",
        "A small service mesh: encryption, retries and metrics.",
        chart="linkerd-control-plane",
    ),
    Entry(
        "cnpg", "CloudNativePG", "database", "0.22.1", "https://cloudnative-pg.github.io/charts",
        "PostgreSQL clusters with failover and backups.",
        chart="cloudnative-pg", namespace="cnpg-system",
    ),
    Entry("redis", "Redis", "database", "20.6.0", _BITNAMI, "An in-memory store and cache."),
    Entry(
        "nats", "NATS", "messaging", "1.2.7", "https://nats-io.github.io/k8s/helm/charts",
        "Lightweight messages and streams.",
    ),
    Entry("rabbitmq", "RabbitMQ", "messaging", "15.1.3", _BITNAMI, "A message broker with queues."),
)  # fmt: skip
"""What people choose."""


def definitions() -> tuple[AddonDefinition, ...]:
    return tuple(entry.definition() for entry in (*PLATFORM, *OPTIONAL))
