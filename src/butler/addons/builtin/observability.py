"""Metrics, logs and traces, for those who choose them."""

from __future__ import annotations

from .entry import COUNT, FLAG, LIST, MAP, TEXT, Entry, fields

_GRAFANA = "https://grafana.github.io/helm-charts"
_VICTORIA = "https://victoriametrics.github.io/helm-charts"
_SWITCH = fields(enabled=FLAG)

ENTRIES = (
    Entry(
        "prometheus-operator", "Prometheus", "observability", "88.5.3",
        "https://prometheus-community.github.io/helm-charts",
        "Prometheus, Alertmanager and Grafana with rules and dashboards for Kubernetes.",
        chart="kube-prometheus-stack", namespace="monitoring", tier="infrastructure", timeout="15m",
        also=("65.8.1",), conflicts=("victoria-metrics",),
        documentation="https://github.com/prometheus-community/helm-charts/tree/main/charts/kube-prometheus-stack",
        source="https://github.com/prometheus-community/helm-charts",
        values={
            # What is hosted elsewhere, or not there at all, cannot be measured from inside.
            "kubeControllerManager": {"enabled": False},
            "kubeScheduler": {"enabled": False},
            "kubeEtcd": {"enabled": False},
            "kubeProxy": {"enabled": False},
            "prometheus": {"prometheusSpec": {"externalLabels": {"cluster": "$(cluster.name)"}}},
        },
        schema=fields(
            kubeControllerManager=_SWITCH, kubeScheduler=_SWITCH, kubeEtcd=_SWITCH, kubeProxy=_SWITCH,
            grafana=_SWITCH, alertmanager=_SWITCH, nodeExporter=_SWITCH, kubeStateMetrics=_SWITCH,
            prometheus=fields(
                enabled=FLAG,
                prometheusSpec=fields(
                    replicas=COUNT, retention=TEXT, externalLabels={"type": "object", "additionalProperties": TEXT},
                    remoteWrite=LIST, storageSpec=MAP,
                ),
            ),
        ),
    ),
    Entry(
        "vector-agent", "Vector agent", "observability", "0.55.0", "https://helm.vector.dev",
        "Collects logs on every node and sends them on.",
        chart="vector", namespace="vector", also=("0.52.0",),
        documentation="https://vector.dev/docs", source="https://github.com/vectordotdev/helm-charts",
        values={"role": "Agent"},
        schema=fields(
            role={"enum": ["Agent", "Aggregator", "Stateless-Aggregator"]}, customConfig=MAP, tolerations=LIST
        ),
    ),
    Entry(
        "victoria-metrics", "VictoriaMetrics", "observability", "0.54.0", _VICTORIA,
        "Keeps metrics for a long time in little space.",
        chart="victoria-metrics-k8s-stack", namespace="monitoring", timeout="15m", also=("0.28.2",),
        conflicts=("prometheus-operator",),
        documentation="https://docs.victoriametrics.com", source="https://github.com/VictoriaMetrics/helm-charts",
        values={
            "kubeControllerManager": {"enabled": False},
            "kubeScheduler": {"enabled": False},
            "kubeEtcd": {"enabled": False},
            "kubeProxy": {"enabled": False},
        },
        schema=fields(
            kubeControllerManager=_SWITCH, kubeScheduler=_SWITCH, kubeEtcd=_SWITCH, kubeProxy=_SWITCH, grafana=_SWITCH,
            vmsingle=MAP, vmcluster=MAP, vmagent=MAP, vmalert=MAP,
        ),
    ),
    Entry(
        "victoria-logs", "VictoriaLogs", "observability", "0.11.7", _VICTORIA,
        "Keeps logs and searches them quickly.",
        chart="victoria-logs-single", namespace="logging", also=("0.8.13",),
        documentation="https://docs.victoriametrics.com/victorialogs",
        source="https://github.com/VictoriaMetrics/helm-charts",
        schema=fields(server=MAP, vector=_SWITCH),
    ),
    Entry(
        "loki", "Loki", "observability", "6.55.0", _GRAFANA,
        "Keeps logs by labels, beside Grafana: one pod, on one volume.",
        namespace="logging",
        documentation="https://grafana.com/docs/loki/latest", source="https://github.com/grafana/loki",
        values={
            "deploymentMode": "SingleBinary",
            "loki": {
                "auth_enabled": False,
                "commonConfig": {"replication_factor": 1},
                "storage": {"type": "filesystem"},
                "schemaConfig": {
                    "configs": [
                        {
                            "from": "2024-04-01", "store": "tsdb", "object_store": "filesystem", "schema": "v13",
                            "index": {"prefix": "loki_index_", "period": "24h"},
                        }
                    ]
                },
            },
            "singleBinary": {"replicas": 1},
            "read": {"replicas": 0},
            "write": {"replicas": 0},
            "backend": {"replicas": 0},
            "chunksCache": {"enabled": False},
            "resultsCache": {"enabled": False},
        },
        schema=fields(
            deploymentMode=TEXT, loki=MAP, singleBinary=fields(replicas=COUNT), read=fields(replicas=COUNT),
            write=fields(replicas=COUNT), backend=fields(replicas=COUNT),
        ),
    ),
    Entry(
        "tempo", "Tempo", "observability", "1.26.2", "https://grafana-community.github.io/helm-charts",
        "Keeps traces, beside Grafana.",
        namespace="tracing", also=("1.10.3",),
        documentation="https://grafana.com/docs/tempo/latest",
        source="https://github.com/grafana-community/helm-charts",
        schema=fields(replicas=COUNT, tempo=MAP, persistence=fields(enabled=FLAG, size=TEXT)),
    ),
    Entry(
        "jaeger", "Jaeger", "observability", "4.1.0", "https://jaegertracing.github.io/helm-charts",
        "Follows requests through services.",
        namespace="tracing", also=("3.3.1",),
        documentation="https://www.jaegertracing.io/docs", source="https://github.com/jaegertracing/helm-charts",
        schema=fields(storage=MAP, jaeger=MAP, allInOne=_SWITCH),
    ),
    Entry(
        "otel-collector", "OpenTelemetry Collector", "observability", "0.158.3",
        "https://open-telemetry.github.io/opentelemetry-helm-charts",
        "Receives traces, metrics and logs and sends them on.",
        chart="opentelemetry-collector", namespace="otel", also=("0.108.0",),
        documentation="https://opentelemetry.io/docs/collector",
        source="https://github.com/open-telemetry/opentelemetry-helm-charts",
        values={"mode": "daemonset", "image": {"repository": "otel/opentelemetry-collector-k8s"}},
        schema=fields(
            mode={"enum": ["daemonset", "deployment", "statefulset"]}, image=fields(repository=TEXT, tag=TEXT),
            config=MAP, presets=MAP, tolerations=LIST,
        ),
    ),
)  # fmt: skip
