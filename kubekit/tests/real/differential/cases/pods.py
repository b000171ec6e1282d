"""What is wrong with pods, and which defaults they get."""

from __future__ import annotations

from typing import Any

from tests.real.differential.steps import Step, case, patch, post, quietly
from tests.real.differential.vocabulary import (
    ACCOUNT_READY,
    PODS,
    container,
    made,
    pod,
)

_KUBE_ACCESS = ("body.spec.volumes.*.name", "body.spec.containers.*.volumeMounts.*.name")


def _pod(**spec: Any) -> Step:
    return post(f"{PODS}?dryRun=All", pod("a", **spec), ignore=_KUBE_ACCESS)


CASES = (
    case("Pod: defaults", ACCOUNT_READY, _pod()),
    case(
        "Pod: no containers",
        ACCOUNT_READY,
        _pod(containers=[{}]),
        _pod(containers=[container(), container()]),
        _pod(containers=[container("A_b")]),
        _pod(containers=[{"name": "x"}]),
        post(f"{PODS}?dryRun=All", made("v1", "Pod", "a", spec={})),
        post(f"{PODS}?dryRun=All", made("v1", "Pod", "a")),
    ),
    case(
        "Pod: policies",
        ACCOUNT_READY,
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
        ACCOUNT_READY,
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
        ACCOUNT_READY,
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
        ACCOUNT_READY,
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
        ACCOUNT_READY,
        _pod(containers=[container(securityContext={"runAsUser": -1})]),
        _pod(securityContext={"fsGroup": -1}),
        _pod(containers=[container(securityContext={"privileged": True, "allowPrivilegeEscalation": False})]),
        _pod(securityContext={"sysctls": [{"name": "A B", "value": "x"}]}),
        _pod(securityContext={"seccompProfile": {"type": "Some"}}),
        _pod(hostUsers=False, hostNetwork=True),
    ),
    case(
        "Pod: where it may run",
        ACCOUNT_READY,
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
        ACCOUNT_READY,
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
        ACCOUNT_READY,
        _pod(initContainers=[container("init", restartPolicy="Always"), container("other")]),
        _pod(initContainers=[container()]),
        _pod(ephemeralContainers=[{"name": "e", "image": "x"}]),
        _pod(initContainers=[container("i", lifecycle={"preStop": {"exec": {"command": ["x"]}}})]),
    ),
)
