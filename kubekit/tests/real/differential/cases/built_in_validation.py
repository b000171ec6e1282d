"""What is wrong with built-in kinds, and which defaults they get."""

from __future__ import annotations

from typing import Any

from tests.real.differential.steps import Step, case, patch, post, put, quietly
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    BINDINGS,
    CORE,
    LEASES,
    MAPS,
    NAMESPACES,
    NODES,
    RBAC,
    ROLES,
    SECRETS,
    SERVICES,
    binding,
    config_map,
    lease,
    made,
    role,
    rule,
    secret,
    service,
)

_NETWORK = "/apis/networking.k8s.io/v1"


def _service(**spec: Any) -> Step:
    return post(f"{SERVICES}?dryRun=All", service("a", **spec))


def _ingress(**spec: Any) -> Step:
    return post(
        f"{_NETWORK}/namespaces/$ns/ingresses?dryRun=All", made("networking.k8s.io/v1", "Ingress", "a", spec=spec)
    )


def _policy(**spec: Any) -> Step:
    return post(
        f"{_NETWORK}/namespaces/$ns/networkpolicies?dryRun=All",
        made("networking.k8s.io/v1", "NetworkPolicy", "a", spec=spec),
    )


def _claim(**spec: Any) -> Step:
    given = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return post(f"{CORE}/persistentvolumeclaims?dryRun=All", made("v1", "PersistentVolumeClaim", "a", spec=given))


_SLICES: tuple[dict[str, Any], ...] = (
    {"addressType": "Some", "endpoints": []},
    {"addressType": "IPv4", "endpoints": [{"addresses": ["x"]}]},
    {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"name": "", "port": 80}]},
    {"endpoints": []},
)

CASES = (
    case(
        "ConfigMap: keys",
        *[post(MAPS, config_map("a", data={key: "v"})) for key in ("", "a b", "a/b", "..", "x" * 254)],
        post(MAPS, config_map("a", data={"k": "v"}, binaryData={"k": "dg=="})),
    ),
    case("ConfigMap: too much", post(MAPS, config_map("a", data={"k": "x" * 1_048_577}))),
    case(
        "ConfigMap: immutable",
        *quietly(post(MAPS, config_map("a", data={"k": "v"}, immutable=True))),
        put(f"{MAPS}/a", config_map("a", data={"k": "w"}, immutable=True)),
        put(f"{MAPS}/a", config_map("a", data={"k": "v"})),
        put(f"{MAPS}/a", config_map("a", data={"k": "v"}, binaryData={"b": "dg=="}, immutable=True)),
        patch(f"{MAPS}/a", {"metadata": {"labels": {"still": "possible"}}}),
    ),
    case(
        "Secret: immutable",
        *quietly(post(SECRETS, secret("a", data={"k": "dg=="}, immutable=True))),
        put(f"{SECRETS}/a", secret("a", data={"k": "dw=="}, immutable=True)),
        put(f"{SECRETS}/a", secret("a", data={"k": "dg=="})),
        put(f"{SECRETS}/a", secret("a", type="other/type", data={"k": "dg=="}, immutable=True)),
    ),
    case(
        "Secret: types",
        *[
            post(SECRETS, secret("a", type=f"kubernetes.io/{kind}", data={"x": "dg=="}))
            for kind in ("tls", "dockercfg", "dockerconfigjson", "basic-auth", "ssh-auth", "service-account-token")
        ],
    ),
    case(
        "Secret: contents of types",
        post(SECRETS, secret("a", type="kubernetes.io/dockerconfigjson", data={".dockerconfigjson": "bm8="})),
        post(SECRETS, secret("b", type="kubernetes.io/basic-auth", stringData={"username": "u"})),
        post(SECRETS, secret("c", type="kubernetes.io/tls", stringData={"tls.crt": "", "tls.key": ""})),
        post(SECRETS, secret("d", type="example.org/any", stringData={"x": "y"})),
    ),
    case(
        "Secret: a type stays",
        *quietly(post(SECRETS, secret("a"))),
        put(f"{SECRETS}/a", secret("a", type="other/type")),
    ),
    case(
        "Secret: text wins over data",
        post(SECRETS, secret("a", data={"k": "b25l", "o": "b25l"}, stringData={"k": "two"})),
        post(SECRETS, secret("b", data={"k": "%%%"})),
    ),
    case(
        "Service: defaults",
        _service(),
        _service(type="NodePort"),
        _service(type="LoadBalancer"),
        _service(clusterIP="None"),
        _service(type="ExternalName", externalName="example.org", ports=None),
    ),
    case(
        "Service: ports",
        _service(ports=[]),
        _service(ports=[{"port": 0}]),
        _service(ports=[{"port": 70000}]),
        _service(ports=[{"port": 80}, {"port": 81}]),
        _service(ports=[{"name": "x", "port": 80}, {"name": "x", "port": 81}]),
        _service(ports=[{"name": "x", "port": 80}, {"name": "y", "port": 80}]),
        _service(ports=[{"port": 80, "protocol": "HTTP"}]),
        _service(ports=[{"port": 80, "targetPort": "Not_a_name"}]),
        _service(ports=[{"port": 80, "nodePort": 31000}]),
    ),
    case(
        "Service: types and addresses",
        _service(type="Nonsense"),
        _service(clusterIP="1.2.3.4"),
        _service(clusterIP="x"),
        _service(type="ExternalName"),
        _service(type="ExternalName", externalName="-x-"),
        _service(sessionAffinity="Some"),
        _service(externalIPs=["127.0.0.1"]),
        _service(externalTrafficPolicy="Local"),
        _service(type="NodePort", externalTrafficPolicy="Some"),
        _service(internalTrafficPolicy="Some"),
        _service(ipFamilies=["IPv6"]),
        _service(ipFamilyPolicy="RequireDualStack"),
        _service(clusterIPs=["10.0.0.77"]),
    ),
    case(
        "Service: selector",
        _service(selector={"a b": "c d"}),
        _service(loadBalancerSourceRanges=["x"]),
        _service(type="LoadBalancer", loadBalancerSourceRanges=["x"]),
    ),
    case(
        "Ingress: rules",
        _ingress(),
        _ingress(defaultBackend={"service": {"name": "s", "port": {"number": 80}}}),
        _ingress(defaultBackend={}),
        _ingress(rules=[{"host": "A_b"}]),
        _ingress(rules=[{"host": "1.2.3.4"}]),
        _ingress(rules=[{"http": {"paths": []}}]),
        _ingress(
            rules=[
                {
                    "http": {
                        "paths": [
                            {
                                "path": "x",
                                "pathType": "Prefix",
                                "backend": {"service": {"name": "s", "port": {"number": 80}}},
                            }
                        ]
                    }
                }
            ]
        ),
        _ingress(
            rules=[{"http": {"paths": [{"path": "/", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]
        ),
        _ingress(tls=[{"hosts": ["*.*"]}]),
    ),
    case(
        "NetworkPolicy: rules",
        _policy(),
        _policy(podSelector={}),
        _policy(podSelector={}, policyTypes=["Some"]),
        _policy(podSelector={}, ingress=[{"from": [{}]}]),
        _policy(podSelector={}, ingress=[{"from": [{"ipBlock": {"cidr": "x"}}]}]),
        _policy(podSelector={}, egress=[{"ports": [{"port": 80, "endPort": 70}]}]),
        _policy(podSelector={}, egress=[{}]),
    ),
    case(
        "PersistentVolumeClaim: rules",
        _claim(accessModes=[]),
        _claim(accessModes=["Some"]),
        _claim(resources={}),
        _claim(resources={"requests": {"storage": "0"}}),
        _claim(volumeMode="Some"),
        _claim(storageClassName="A_b"),
    ),
    case(
        "Lease: rules",
        *[
            post(LEASES, lease("a", **spec))
            for spec in (
                {"leaseDurationSeconds": 0},
                {"leaseTransitions": -1},
                {"renewTime": "yesterday"},
                {"renewTime": "2020-01-01T00:00:00Z"},
            )
        ],
    ),
    case(
        "Role and RoleBinding: rules",
        post(ROLES, role("a", {"verbs": [], "resources": ["x"], "apiGroups": [""]})),
        post(ROLES, role("a", {"verbs": ["get"]})),
        post(ROLES, role("a", {"verbs": ["get"], "nonResourceURLs": ["/x"]})),
        post(ROLES, role("a", {"verbs": ["get"], "resources": ["x"]})),
        post(BINDINGS, {**binding("a", "r", "u"), "subjects": [{"kind": "Some", "name": "x"}]}),
        post(BINDINGS, {**binding("a", "r", "u"), "subjects": [{"kind": "ServiceAccount", "name": "x"}]}),
        post(BINDINGS, {**binding("a", "r", "u"), "roleRef": {"kind": "Some", "name": "x"}}),
        post(BINDINGS, {**binding("a", "r", "u"), "roleRef": {}}),
        post(BINDINGS, binding("a", "", "u")),
        post(BINDINGS, binding("a", "r", "")),
    ),
    case(
        "RoleBinding: the role stays",
        *quietly(post(ROLES, role("r", rule("get", "pods"))), post(BINDINGS, binding("a", "r", "u"))),
        put(f"{BINDINGS}/a", binding("a", "other", "u")),
    ),
    case(
        "ClusterRole: aggregation",
        post(f"{RBAC}/clusterroles", made("rbac.authorization.k8s.io/v1", "ClusterRole", "$ns", aggregationRule={})),
        post(
            f"{RBAC}/clusterroles",
            made(
                "rbac.authorization.k8s.io/v1",
                "ClusterRole",
                "$ns",
                aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"a b": "c"}}]},
            ),
        ),
    ),
    case(
        "Namespace: rules",
        post(f"{NAMESPACES}?dryRun=All", made("v1", "Namespace", "$ns-x")),
        post(f"{NAMESPACES}?dryRun=All", made("v1", "Namespace", "$ns-x", spec={"finalizers": ["plain"]})),
        post(
            f"{NAMESPACES}?dryRun=All",
            made("v1", "Namespace", "$ns-x", {"labels": {"kubernetes.io/metadata.name": "other"}}),
        ),
        patch(f"{NAMESPACES}/$ns", {"metadata": {"labels": {"kubernetes.io/metadata.name": "other"}}}),
        patch(f"{NAMESPACES}/$ns", {"metadata": {"labels": None}}),
    ),
    case(
        "Node: rules",
        *[
            post(f"{NODES}?dryRun=All", made("v1", "Node", "$ns", spec=spec), ignore=("body.spec.taints",))
            for spec in (
                {"podCIDR": "x"},
                {"taints": [{"key": "a b", "effect": "NoSchedule"}]},
                {"taints": [{"key": "a", "effect": "Some"}]},
                {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]},
                {"unschedulable": True},
            )
        ],
    ),
    case(
        "ResourceQuota and LimitRange: rules",
        *[
            post(f"{CORE}/resourcequotas?dryRun=All", made("v1", "ResourceQuota", "a", spec=spec))
            for spec in (
                {"hard": {"cpu": "1", "pods": "10"}},
                {"hard": {"nonsense": "1"}},
                {"hard": {"cpu": "-1"}},
                {"scopes": ["Some"]},
            )
        ],
        *[
            post(f"{CORE}/limitranges?dryRun=All", made("v1", "LimitRange", "a", spec=spec))
            for spec in (
                {"limits": [{"type": "Container", "default": {"cpu": "1"}}]},
                {"limits": [{"type": ""}]},
                {"limits": [{"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]},
            )
        ],
    ),
    case(
        "ServiceAccount: defaults",
        post(
            ACCOUNTS,
            made("v1", "ServiceAccount", "a", automountServiceAccountToken=False, imagePullSecrets=[{"name": "s"}]),
        ),
        put(f"{ACCOUNTS}/a", made("v1", "ServiceAccount", "a", secrets=[{"name": "t"}])),
    ),
    case(
        "Endpoints and EndpointSlice: rules",
        post(
            f"{CORE}/endpoints",
            made("v1", "Endpoints", "a", subsets=[{"addresses": [{"ip": "x"}], "ports": [{"port": 80}]}]),
        ),
        post(
            f"{CORE}/endpoints",
            made("v1", "Endpoints", "a", subsets=[{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]),
        ),
        *[
            post(
                "/apis/discovery.k8s.io/v1/namespaces/$ns/endpointslices?dryRun=All",
                made("discovery.k8s.io/v1", "EndpointSlice", "a", **fields),
            )
            for fields in _SLICES
        ],
    ),
    case(
        "cluster-wide kinds: rules",
        post("/apis/storage.k8s.io/v1/storageclasses?dryRun=All", made("storage.k8s.io/v1", "StorageClass", "$ns")),
        post(
            "/apis/storage.k8s.io/v1/storageclasses?dryRun=All",
            made("storage.k8s.io/v1", "StorageClass", "$ns", provisioner="example.org/x", reclaimPolicy="Some"),
        ),
        post(
            "/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All",
            made("scheduling.k8s.io/v1", "PriorityClass", "$ns", value=2_000_000_001),
        ),
        post(
            "/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All",
            made("scheduling.k8s.io/v1", "PriorityClass", "system-$ns", value=1),
        ),
        post(
            "/apis/node.k8s.io/v1/runtimeclasses?dryRun=All",
            made("node.k8s.io/v1", "RuntimeClass", "$ns", handler="A_b"),
        ),
        post("/api/v1/persistentvolumes?dryRun=All", made("v1", "PersistentVolume", "$ns", spec={})),
        post(
            f"{_NETWORK}/ingressclasses?dryRun=All",
            made("networking.k8s.io/v1", "IngressClass", "$ns", spec={"controller": "x"}),
        ),
    ),
)
