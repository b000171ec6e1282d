"""What Kamaji keeps in a tenant's API when it is asked to: CoreDNS and kube-proxy."""

from __future__ import annotations

from collections.abc import Iterator

from butler.engines.kamaji.kinds import TenantAddons, TenantAddonStates
from kubekit.model.resource import Address

from .kubeadm import (
    CLUSTER_ROLE,
    CONFIG_MAP,
    JOINING,
    SERVICE_ACCOUNT,
    SYSTEM,
    Cluster,
    Object,
    Placed,
    account,
    cluster_binding,
    config_map,
    group,
    role,
)

DEPLOYMENT = Address("apps", "v1", "Deployment", "deployments", True)
DAEMON_SET = Address("apps", "v1", "DaemonSet", "daemonsets", True)
SERVICE = Address("", "v1", "Service", "services", True)

CORE_DNS, KUBE_PROXY = "coreDNS", "kubeProxy"

_COREDNS_TAGS = {"1.29": "v1.11.1", "1.30": "v1.11.3", "1.31": "v1.11.3", "1.32": "v1.11.3", "1.33": "v1.12.0"}
_NEWEST_COREDNS = "v1.12.1"
_CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}


def asked_for(addons: TenantAddons) -> frozenset[str]:
    """The addons a control plane is to have, of those that leave anything behind here."""
    wanted = {CORE_DNS: addons.core_dns, KUBE_PROXY: addons.kube_proxy}
    return frozenset(name for name, settings in wanted.items() if settings is not None)


def there(states: TenantAddonStates | None) -> frozenset[str]:
    """The addons a control plane says it has."""
    found = {CORE_DNS: states.core_dns, KUBE_PROXY: states.kube_proxy} if states is not None else {}
    return frozenset(name for name, state in found.items() if state is not None and state.enabled)


def contents(cluster: Cluster, addon: str) -> Iterator[Placed]:
    """Everything an addon consists of."""
    yield from rights(addon)
    yield from settings(cluster, addon)


def settings(cluster: Cluster, addon: str) -> Iterator[Placed]:
    """The part that is of one cluster."""
    if addon == CORE_DNS:
        yield CONFIG_MAP, config_map("coredns", SYSTEM, Corefile=_corefile(cluster))
        yield SERVICE, _dns_service(cluster)
    else:
        yield CONFIG_MAP, config_map("kube-proxy", SYSTEM, **{"config.conf": _proxy_configuration(cluster)})
    yield workload(cluster, addon)


def workload(cluster: Cluster, addon: str) -> Placed:
    """The part that changes with the version."""
    return (DEPLOYMENT, _coredns(cluster)) if addon == CORE_DNS else (DAEMON_SET, _kube_proxy(cluster))


def rights(addon: str) -> Iterator[Placed]:
    """The part that is the same in every cluster: as whom it runs, and what it may do."""
    return _rights_of_coredns() if addon == CORE_DNS else _rights_of_kube_proxy()


def _rights_of_coredns() -> Iterator[Placed]:
    name = "system:coredns"
    yield SERVICE_ACCOUNT, _in_system("coredns")
    read = {"apiGroups": [""], "resources": ["endpoints", "services", "pods", "namespaces"], "verbs": ["list", "watch"]}
    slices = {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]}
    yield CLUSTER_ROLE, {"metadata": {"name": name}, "rules": [read, slices]}
    yield cluster_binding(name, name, account("coredns"))


def _rights_of_kube_proxy() -> Iterator[Placed]:
    yield SERVICE_ACCOUNT, _in_system("kube-proxy")
    yield cluster_binding("kubeadm:node-proxier", "system:node-proxier", account("kube-proxy"))
    yield from role("kube-proxy", SYSTEM, "kube-proxy", group(JOINING))


def _in_system(name: str, labels: dict[str, str] | None = None) -> Object:
    meta: Object = {"name": name, "namespace": SYSTEM}
    return {"metadata": {**meta, "labels": labels} if labels else meta}


def _dns_service(cluster: Cluster) -> Object:
    labels = {
        "k8s-app": "kube-dns",
        "kubernetes.io/cluster-service": "true",
        "kubernetes.io/name": "CoreDNS",
    }
    ports = [
        {"name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
        {"name": "metrics", "port": 9153, "protocol": "TCP", "targetPort": 9153},
    ]
    spec = {"clusterIP": cluster.dns_address, "selector": {"k8s-app": "kube-dns"}, "ports": ports}
    return {**_in_system("kube-dns", labels), "spec": spec}


def _coredns(cluster: Cluster) -> Object:
    minor = cluster.version.removeprefix("v").rpartition(".")[0]
    image = f"{cluster.registry}/coredns/coredns:{_COREDNS_TAGS.get(minor, _NEWEST_COREDNS)}"
    ports = [
        {"containerPort": 53, "name": "dns", "protocol": "UDP"},
        {"containerPort": 53, "name": "dns-tcp", "protocol": "TCP"},
        {"containerPort": 9153, "name": "metrics", "protocol": "TCP"},
    ]
    container = {
        "name": "coredns",
        "image": image,
        "args": ["-conf", "/etc/coredns/Corefile"],
        "ports": ports,
        "resources": {"limits": {"memory": "170Mi"}, "requests": {"cpu": "100m", "memory": "70Mi"}},
    }
    pod = {
        "serviceAccountName": "coredns",
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [_CRITICAL],
        "dnsPolicy": "Default",
        "containers": [container],
    }
    labels = {"k8s-app": "kube-dns"}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return {**_in_system("coredns", labels), "spec": spec}


def _kube_proxy(cluster: Cluster) -> Object:
    container = {
        "name": "kube-proxy",
        "image": f"{cluster.registry}/kube-proxy:{cluster.version}",
        "command": ["/usr/local/bin/kube-proxy", "--config=/var/lib/kube-proxy/config.conf"],
        "securityContext": {"privileged": True},
    }
    pod = {
        "serviceAccountName": "kube-proxy",
        "priorityClassName": "system-node-critical",
        "hostNetwork": True,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    labels = {"k8s-app": "kube-proxy"}
    template = {"metadata": {"labels": labels}, "spec": pod}
    spec = {"selector": {"matchLabels": labels}, "template": template, "updateStrategy": {"type": "RollingUpdate"}}
    return {**_in_system("kube-proxy", labels), "spec": spec}


def _corefile(cluster: Cluster) -> str:
    return f"""\
.:53 {{
    errors
    health {{
       lameduck 5s
    }}
    ready
    kubernetes {cluster.network.cluster_domain} in-addr.arpa ip6.arpa {{
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }}
    prometheus :9153
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}}
"""


def _proxy_configuration(cluster: Cluster) -> str:
    return f"""\
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clusterCIDR: {cluster.network.pod_cidr}
mode: ""
"""
