"""kubectl in namespaces with ResourceQuotas."""

# ruff: noqa: E501 - a command is easier to read on one line

from __future__ import annotations

from tests.real.differential.commands import Command, script

_CREATE = "create -f -"
_READY = "wait --for=create serviceaccount/default configmap/kube-root-ca.crt --timeout=20s"
_COUNTS = 'configmaps: "3", secrets: "1", services: "2", services.nodeports: "2", services.loadbalancers: "0", count/deployments.apps: "1", resourcequotas: "1"'
_COMPUTE = 'pods: "2", requests.cpu: "1", limits.memory: 1Gi, cpu: "1", requests.example.org/gpu: "1"'
_STORAGE = 'persistentvolumeclaims: "2", requests.storage: 3Gi, gold.storageclass.storage.k8s.io/requests.storage: 1Gi, gold.storageclass.storage.k8s.io/persistentvolumeclaims: "1"'
_OF_CLASS = (
    ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [system-node-critical]}]}"
)
_AFFINE = ", affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {}, namespaces: [b]}]}}"


def _quota(name: str, hard: str, more: str = "") -> Command:
    text = f"{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: {name}}}, spec: {{hard: {{{hard}}}{more}}}}}"
    return Command(_CREATE, text)


def _used(name: str, what: str, value: int) -> str:
    return f"wait --for=jsonpath='{{.status.used.{what}}}'={value} quota/{name} --timeout=20s"


def _container(name: str, requests: str = "", limits: str = "") -> str:
    return f"{{name: {name}, image: i, resources: {{requests: {{{requests}}}, limits: {{{limits}}}}}}}"


def _pod(name: str, *containers: str, more: str = "") -> Command:
    spec = f"{{containers: [{', '.join(containers)}]{more}}}"
    return Command(_CREATE, f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {spec}}}")


def _service(name: str, kind: str) -> Command:
    spec = f"{{ports: [{{port: 80, name: a}}, {{port: 81, name: b}}], type: {kind}}}"
    return Command(_CREATE, f"{{apiVersion: v1, kind: Service, metadata: {{name: {name}}}, spec: {spec}}}")


def _claim(name: str, size: str, storage_class: str = "") -> Command:
    chosen = f"storageClassName: {storage_class}, " if storage_class else ""
    spec = f"{{accessModes: [ReadWriteOnce], {chosen}resources: {{requests: {{storage: {size}}}}}}}"
    return Command(
        _CREATE, f"{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {spec}}}"
    )


SCRIPTS = (
    script(
        "objects",
        _READY,
        _quota("q", _COUNTS),
        _used("q", "configmaps", 1),
        "get quota q",
        "describe quota q",
        "get quota q -o yaml",
        "create configmap a",
        "create configmap b",
        "create configmap c",
        "create configmap c --dry-run=server",
        _used("q", "configmaps", 3),
        "describe quota q",
        "delete configmap b",
        _used("q", "configmaps", 2),
        "create configmap c",
        "create secret generic a",
        "create secret generic b",
        "create deployment a --image=x",
        "create deployment b --image=x",
        _service("first", "NodePort"),
        _service("second", "NodePort"),
        _service("second", "ClusterIP"),
        _service("third", "ClusterIP"),
        """patch service second -p '{"spec":{"type":"NodePort"}}'""",
        """patch service second -p '{"spec":{"type":"LoadBalancer"}}'""",
        "label service second a=b",
        _quota("r", 'pods: "1"'),
        "scale deployment a --replicas=5",
        Command("apply --server-side -f -", "{apiVersion: v1, kind: ConfigMap, metadata: {name: z}}"),
        _used("q", "services", 2),
        "describe quota q",
        "describe namespace $ns",
        """patch quota q -p '{"spec":{"hard":{"configmaps":"9"}}}'""",
        "wait --for=jsonpath={.status.hard.configmaps}=9 quota/q --timeout=20s",
        "create configmap z",
        "delete quota q",
        "create secret generic y",
    ),
    script(
        "pods",
        _READY,
        _quota("q", _COMPUTE),
        _used("q", "pods", 0),
        _pod("a", _container("c")),
        _pod("a", _container("c", "cpu: 100m"), _container("d", "", "memory: 1Mi")),
        _pod("a", _container("c", "cpu: 600m", "memory: 100Mi")),
        _used("q", "pods", 1),
        "get quota q -o yaml",
        _pod("b", _container("c", "cpu: 600m", "memory: 100Mi")),
        _pod("b", _container("c", "cpu: 500m", "memory: 2Gi")),
        _pod("b", _container("c", "cpu: 100m, example.org/gpu: 2", "memory: 1Mi, example.org/gpu: 2")),
        _pod("b", _container("c", "cpu: 100m, example.org/gpu: 1", "memory: 1Mi, example.org/gpu: 1")),
        _pod("d", _container("c", "cpu: 10m", "memory: 1Mi")),
        "describe quota q",
        """patch pod a --subresource=status -p '{"status":{"phase":"Succeeded"}}'""",
        _used("q", "pods", 1),
        _pod("d", _container("c", "cpu: 10m", "memory: 1Mi")),
        "delete pod d b --force --grace-period=0",
        _used("q", "pods", 0),
        "describe quota q",
    ),
    script(
        "scopes",
        _READY,
        _quota("careless", 'pods: "1"', ", scopes: [BestEffort]"),
        _quota("careful", 'pods: "1", cpu: "1"', ", scopes: [NotBestEffort]"),
        _quota("ending", 'pods: "1"', ", scopes: [Terminating]"),
        _quota("important", 'pods: "0"', _OF_CLASS),
        _quota("affine", 'pods: "0"', ", scopes: [CrossNamespacePodAffinity]"),
        *[_used(name, "pods", 0) for name in ("careless", "careful", "ending", "important", "affine")],
        _pod("a", _container("c"), more=_AFFINE),
        _pod("a", _container("c"), more=", priorityClassName: system-node-critical"),
        _pod("a", _container("c")),
        _pod("b", _container("c")),
        _pod("b", _container("c", "cpu: 100m")),
        _pod("d", _container("c", "cpu: 100m")),
        _pod("d", _container("c", "memory: 1Mi")),
        """patch pod a -p '{"spec":{"activeDeadlineSeconds":50}}'""",
        """patch pod b -p '{"spec":{"activeDeadlineSeconds":50}}'""",
        *[_used(name, "pods", 1) for name in ("careless", "careful", "ending")],
        "get quota",
        "describe quota careless",
        "describe quota important",
    ),
    script(
        "claims",
        _quota("q", _STORAGE),
        _used("q", "persistentvolumeclaims", 0),
        _claim("a", "2Gi", "gold"),
        _claim("a", "1Gi", "gold"),
        _claim("b", "1Gi", "gold"),
        _claim("b", "3Gi"),
        _claim("b", "1500Mi", "iron"),
        _claim("d", "1Mi"),
        _used("q", "persistentvolumeclaims", 2),
        "describe quota q",
        "delete pvc b --wait=false",
    ),
)
