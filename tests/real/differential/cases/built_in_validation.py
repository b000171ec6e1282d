"""What is wrong with built-in kinds, and which defaults they get."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.real.differential.differences import EMPTY_LISTS
from tests.real.differential.steps import Step, case, get, patch, post, put, quietly
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    BINDINGS,
    CORE,
    DEPLOYMENTS,
    LEASES,
    MAPS,
    NAMESPACES,
    NODES,
    PODS,
    RBAC,
    ROLES,
    SECRETS,
    SERVICES,
    binding,
    config_map,
    container,
    deployment,
    lease,
    made,
    pod,
    role,
    rule,
    secret,
    service,
    template,
)

_APPS = "/apis/apps/v1/namespaces/$ns"
_BATCH = "/apis/batch/v1/namespaces/$ns"
_NETWORK = "/apis/networking.k8s.io/v1"
_POLICY = "/apis/policy/v1/namespaces/$ns"
_SCALING = "/apis/autoscaling/v2/namespaces/$ns"
_KUBE_ACCESS = ("body.spec.volumes.*.name", "body.spec.containers.*.volumeMounts.*.name")


def _pod(**spec: Any) -> Step:
    return post(f"{PODS}?dryRun=All", pod("a", **spec), ignore=_KUBE_ACCESS)


def _deployment(**spec: Any) -> Step:
    return post(DEPLOYMENTS, deployment("a", **spec))


def _service(**spec: Any) -> Step:
    return post(f"{SERVICES}?dryRun=All", service("a", **spec))


def _job(**spec: Any) -> Step:
    return post(
        f"{_BATCH}/jobs?dryRun=All",
        made("batch/v1", "Job", "a", spec={"template": template(restartPolicy="Never"), **spec}),
        ignore=("body.spec.template.metadata.labels", "body.metadata.labels"),
    )


def _cron(**spec: Any) -> Step:
    given = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template(restartPolicy="Never")}}, **spec}
    return post(f"{_BATCH}/cronjobs?dryRun=All", made("batch/v1", "CronJob", "a", spec=given))


def _ingress(**spec: Any) -> Step:
    return post(
        f"{_NETWORK}/namespaces/$ns/ingresses?dryRun=All", made("networking.k8s.io/v1", "Ingress", "a", spec=spec)
    )


def _policy(**spec: Any) -> Step:
    return post(
        f"{_NETWORK}/namespaces/$ns/networkpolicies?dryRun=All",
        made("networking.k8s.io/v1", "NetworkPolicy", "a", spec=spec),
    )


def _autoscaler(**spec: Any) -> Step:
    given = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3, **spec}
    return post(
        f"{_SCALING}/horizontalpodautoscalers?dryRun=All",
        made("autoscaling/v2", "HorizontalPodAutoscaler", "a", spec=given),
    )


def _claim(**spec: Any) -> Step:
    given = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return post(f"{CORE}/persistentvolumeclaims?dryRun=All", made("v1", "PersistentVolumeClaim", "a", spec=given))


_READY = get(f"{ACCOUNTS}/default", until=lambda answer: answer.status == 200, is_shown=False)

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
    case("Pod: defaults", _READY, _pod()),
    case(
        "Pod: no containers",
        _READY,
        _pod(containers=[{}]),
        _pod(containers=[container(), container()]),
        _pod(containers=[container("A_b")]),
        _pod(containers=[{"name": "x"}]),
        post(f"{PODS}?dryRun=All", made("v1", "Pod", "a", spec={})),
        post(f"{PODS}?dryRun=All", made("v1", "Pod", "a")),
    ),
    case(
        "Pod: policies",
        _READY,
        _pod(restartPolicy="Sometimes"),
        _pod(dnsPolicy="Some"),
        _pod(terminationGracePeriodSeconds=-1),
        _pod(activeDeadlineSeconds=0),
        _pod(containers=[container(imagePullPolicy="Some")]),
        _pod(containers=[container(terminationMessagePolicy="Some")]),
        _pod(preemptionPolicy="Some"),
        _pod(priorityClassName="none"),
        _pod(runtimeClassName="none"),
        _pod(serviceAccountName="none"),
        _pod(nodeName="A_b"),
    ),
    case(
        "Pod: environment and ports",
        _READY,
        _pod(containers=[container(env=[{"name": "a=b"}])]),
        _pod(
            containers=[
                container(env=[{"name": "a", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}])
            ]
        ),
        _pod(containers=[container(env=[{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "spec.nothing"}}}])]),
        _pod(containers=[container(envFrom=[{}])]),
        _pod(containers=[container(ports=[{"containerPort": 0}])]),
        _pod(containers=[container(ports=[{"containerPort": 80, "protocol": "X"}])]),
        _pod(containers=[container(ports=[{"containerPort": 80, "name": "a"}, {"containerPort": 81, "name": "a"}])]),
        _pod(containers=[container(ports=[{"containerPort": 80, "hostPort": 80}])], hostNetwork=True),
    ),
    case(
        "Pod: volumes",
        _READY,
        _pod(volumes=[{"name": "v"}], containers=[container(volumeMounts=[{"name": "none", "mountPath": "/x"}])]),
        _pod(volumes=[{"name": "V_x", "emptyDir": {}}]),
        _pod(volumes=[{"name": "v", "emptyDir": {}, "configMap": {"name": "x"}}]),
        _pod(volumes=[{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]),
        _pod(
            volumes=[{"name": "v", "emptyDir": {}}],
            containers=[container(volumeMounts=[{"name": "v", "mountPath": ""}])],
        ),
        _pod(volumes=[{"name": "v", "hostPath": {"path": "../x"}}]),
        _pod(volumes=[{"name": "v", "secret": {}}]),
    ),
    case(
        "Pod: probes and resources",
        _READY,
        _pod(containers=[container(livenessProbe={})]),
        _pod(containers=[container(livenessProbe={"httpGet": {"port": 0}})]),
        _pod(containers=[container(readinessProbe={"tcpSocket": {"port": 80}, "exec": {"command": ["x"]}})]),
        _pod(containers=[container(livenessProbe={"tcpSocket": {"port": 80}, "periodSeconds": -1})]),
        _pod(containers=[container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})]),
        _pod(containers=[container(resources={"requests": {"cpu": "-1"}})]),
        _pod(containers=[container(resources={"limits": {"Not A Name": "1"}})]),
        _pod(containers=[container(resources={"limits": {"cpu": "1", "memory": "1Gi"}})]),
        _pod(containers=[container(lifecycle={"preStop": {}})]),
    ),
    case(
        "Pod: security",
        _READY,
        _pod(containers=[container(securityContext={"runAsUser": -1})]),
        _pod(securityContext={"fsGroup": -1}),
        _pod(containers=[container(securityContext={"privileged": True, "allowPrivilegeEscalation": False})]),
        _pod(securityContext={"sysctls": [{"name": "A B", "value": "x"}]}),
        _pod(securityContext={"seccompProfile": {"type": "Some"}}),
        _pod(hostUsers=False, hostNetwork=True),
    ),
    case(
        "Pod: where it may run",
        _READY,
        _pod(tolerations=[{"operator": "Some"}]),
        _pod(tolerations=[{"key": "a", "operator": "Exists", "value": "x"}]),
        _pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}),
        _pod(affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": {}}]}}),
        _pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "x"}]),
        _pod(nodeSelector={"a b": "c d"}),
        _pod(hostAliases=[{"ip": "x"}]),
        _pod(dnsPolicy="None"),
        _pod(schedulingGates=[{"name": ""}]),
    ),
    case(
        "Pod: what stays",
        _READY,
        *quietly(post(PODS, pod("a"))),
        patch(f"{PODS}/a", {"spec": {"containers": [container(image="other")]}}, ignore=_KUBE_ACCESS, is_shown=False),
        patch(
            f"{PODS}/a",
            {"spec": {"restartPolicy": "Never"}},
            ignore=(*_KUBE_ACCESS, "body.message", "body.details.causes.*.message"),
        ),
        patch(f"{PODS}/a", {"metadata": {"labels": {"may": "change"}}}, is_shown=False),
    ),
    case(
        "Pod: init and ephemeral containers",
        _READY,
        _pod(initContainers=[container("init", restartPolicy="Always"), container("other")]),
        _pod(initContainers=[container()]),
        _pod(ephemeralContainers=[{"name": "e", "image": "x"}]),
        _pod(initContainers=[container("i", lifecycle={"preStop": {"exec": {"command": ["x"]}}})]),
    ),
    case("Deployment: defaults", _deployment()),
    case(
        "Deployment: selector and template",
        _deployment(selector=None),
        _deployment(selector={}),
        _deployment(selector={"matchLabels": {"app": "other"}}),
        _deployment(selector={"matchExpressions": [{"key": "app", "operator": "Some", "values": ["a"]}]}),
        _deployment(selector={"matchExpressions": [{"key": "app", "operator": "In"}]}),
        _deployment(template=None),
        _deployment(template=template(restartPolicy="Never")),
        _deployment(template=template(activeDeadlineSeconds=5)),
    ),
    case(
        "Deployment: numbers and strategy",
        _deployment(replicas=-1),
        _deployment(minReadySeconds=-1),
        _deployment(revisionHistoryLimit=-1),
        _deployment(progressDeadlineSeconds=0),
        _deployment(strategy={"type": "Some"}),
        _deployment(strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}),
        _deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
        _deployment(strategy={"rollingUpdate": {"maxSurge": "x%"}}),
        _deployment(strategy={"rollingUpdate": {"maxUnavailable": "101%"}}),
    ),
    case(
        "Deployment: the selector stays",
        *quietly(_deployment()),
        put(
            f"{DEPLOYMENTS}/a", deployment("a", selector={"matchLabels": {"app": "b"}}, template=template({"app": "b"}))
        ),
    ),
    case(
        "StatefulSet, DaemonSet, ReplicaSet: defaults",
        post(
            f"{_APPS}/statefulsets",
            made(
                "apps/v1",
                "StatefulSet",
                "a",
                spec={
                    "selector": {"matchLabels": {"app": "a"}},
                    "serviceName": "s",
                    "template": template(),
                    "volumeClaimTemplates": [
                        {
                            "metadata": {"name": "v"},
                            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                        }
                    ],
                },
            ),
        ),
        post(
            f"{_APPS}/daemonsets",
            made("apps/v1", "DaemonSet", "a", spec={"selector": {"matchLabels": {"app": "a"}}, "template": template()}),
        ),
        post(
            f"{_APPS}/replicasets",
            made(
                "apps/v1", "ReplicaSet", "a", spec={"selector": {"matchLabels": {"app": "a"}}, "template": template()}
            ),
        ),
    ),
    case(
        "StatefulSet: what stays",
        *quietly(
            post(
                f"{_APPS}/statefulsets",
                made(
                    "apps/v1",
                    "StatefulSet",
                    "a",
                    spec={"selector": {"matchLabels": {"app": "a"}}, "serviceName": "s", "template": template()},
                ),
            )
        ),
        patch(f"{_APPS}/statefulsets/a", {"spec": {"serviceName": "t"}}),
        patch(f"{_APPS}/statefulsets/a", {"spec": {"replicas": 4}}),
        patch(f"{_APPS}/statefulsets/a", {"spec": {"podManagementPolicy": "Some"}}),
        patch(f"{_APPS}/statefulsets/a", {"spec": {"updateStrategy": {"type": "Some"}}}),
    ),
    case(
        "Job: defaults and rules",
        _job(),
        _job(completions=-1),
        _job(parallelism=-1),
        _job(backoffLimit=-1),
        _job(completionMode="Some"),
        _job(completionMode="Indexed"),
        _job(template=template()),
        _job(ttlSecondsAfterFinished=-1),
        _job(podReplacementPolicy="Some"),
        _job(managedBy="x"),
        _job(podFailurePolicy={"rules": []}),
    ),
    case(
        "CronJob: defaults and rules",
        _cron(),
        _cron(schedule=""),
        _cron(schedule="every day"),
        _cron(schedule="60 * * * *"),
        _cron(timeZone="Nowhere/At_all"),
        _cron(concurrencyPolicy="Some"),
        _cron(startingDeadlineSeconds=-1),
        _cron(successfulJobsHistoryLimit=-1),
        _cron(schedule="TZ=UTC * * * * *"),
        _cron(schedule="@hourly"),
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
        "HorizontalPodAutoscaler: rules",
        _autoscaler(),
        _autoscaler(maxReplicas=0),
        _autoscaler(minReplicas=5),
        _autoscaler(minReplicas=-1),
        _autoscaler(metrics=[{"type": "Resource"}]),
        _autoscaler(metrics=[{"type": "Some"}]),
        _autoscaler(
            metrics=[
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
                }
            ]
        ),
        _autoscaler(scaleTargetRef={}),
        replace(_autoscaler(behavior={"scaleDown": {"policies": []}}), differs={"answer": EMPTY_LISTS}),
    ),
    case(
        "PodDisruptionBudget: rules",
        *[
            post(f"{_POLICY}/poddisruptionbudgets?dryRun=All", made("policy/v1", "PodDisruptionBudget", "a", spec=spec))
            for spec in (
                {},
                {"minAvailable": 1, "maxUnavailable": 1},
                {"minAvailable": -1},
                {"minAvailable": "x"},
                {"maxUnavailable": "10%", "selector": {"matchLabels": {"a": "b"}}},
                {"unhealthyPodEvictionPolicy": "Some"},
            )
        ],
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
            for fields in (
                {"addressType": "Some", "endpoints": []},
                {"addressType": "IPv4", "endpoints": [{"addresses": ["x"]}]},
                {"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"name": "", "port": 80}]},
                {"endpoints": []},
            )
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
