"""kubectl where a valid object may not be what is meant."""

# ruff: noqa: E501 - a command is easier to read on one line

from __future__ import annotations

from tests.real.differential.commands import Command, script

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_OLD_OS = "[{matchExpressions: [{key: beta.kubernetes.io/os, operator: Exists}]}]"
_OLD_ZONE = "{matchExpressions: [{key: failure-domain.beta.kubernetes.io/zone, operator: In, values: ['-bad']}]}"
_SPECS = (
    "nodeSelector: {beta.kubernetes.io/arch: amd64}",
    "nodeSelector: {node-role.kubernetes.io/master: ''}",
    f"affinity: {{nodeAffinity: {{{_REQUIRED}: {{nodeSelectorTerms: {_OLD_OS}}}, {_PREFERRED}: [{{weight: 1, preference: {_OLD_ZONE}}}]}}}}",
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: failure-domain.beta.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]",
    f"affinity: {{podAffinity: {{{_REQUIRED}: [{{topologyKey: a}}], {_PREFERRED}: [{{weight: 1, podAffinityTerm: {{topologyKey: a}}}}]}}, podAntiAffinity: {{{_REQUIRED}: [{{topologyKey: a}}]}}}}",
    "hostAliases: [{ip: 1.2.3.4, hostnames: [a]}, {ip: 1.2.3.4, hostnames: [b]}]",
    "imagePullSecrets: [{name: a}, {name: a}, {}]",
    "dnsConfig: {nameservers: ['fd00:0::1', 1.2.3.4]}, dnsPolicy: None",
    "terminationGracePeriodSeconds: -5",
    "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100m}}}}}}]",
    "volumes: [{name: v, projected: {sources: [{configMap: {name: a, items: [{key: k, path: p}]}}, {secret: {name: s, items: [{key: k, path: p}]}}]}}]",
)
_CONTAINERS = (
    "env: [{name: A, value: b}, {name: A, value: c}]",
    "env: [{name: A, value: b}, {name: A, value: '$(A)c'}]",
    "env: [{name: A, value: b}, {name: A, value: '$(A)'}]",
    "env: [{name: A, value: b}, {name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
    "ports: [{containerPort: 80}, {containerPort: 80}]",
    "ports: [{containerPort: 80, hostPort: 80}, {containerPort: 80}]",
    "ports: [{containerPort: 80, hostPort: 80, hostIP: 1.2.3.4}, {containerPort: 80, hostPort: 80}]",
    "ports: [{containerPort: 80, hostIP: 1.2.3.4}]",
    "resources: {requests: {memory: 100m}}",
)
_NOTES = (
    "scheduler.alpha.kubernetes.io/critical-pod",
    "security.alpha.kubernetes.io/sysctls",
    "seccomp.security.alpha.kubernetes.io/pod",
    "container.seccomp.security.alpha.kubernetes.io/c",
    "container.apparmor.security.beta.kubernetes.io/c",
)
_JOB = "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}"
_OTHERS = (
    "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: p, annotations: {kubernetes.io/ingress.class: x}}, spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}}",
    f"{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: p}}, spec: {{schedule: '0 0 * * *', jobTemplate: {{spec: {{completionMode: Indexed, completions: 200000, parallelism: 20000, {_JOB}}}}}}}}}",
    "{apiVersion: v1, kind: Service, metadata: {name: p}, spec: {ports: [{port: 80}], type: LoadBalancer, loadBalancerSourceRanges: [1.2.3.4/8]}}",
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 1.2.3.4/8}}]}]}}",
    "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: p}, spec: {podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 01.0.0.0/8}}]}]}}",
    "{apiVersion: v1, kind: Node, metadata: {name: $ns-p}, spec: {externalID: x}}",
    f"{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: $ns-p, annotations: {{volume.beta.kubernetes.io/storage-class: x}}}}, spec: {{capacity: {{storage: 1Gi}}, accessModes: [ReadWriteOnce], hostPath: {{path: /x}}, nodeAffinity: {{required: {{nodeSelectorTerms: {_OLD_OS}}}}}}}}}",
    "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $ns-p}, handler: h, scheduling: {nodeSelector: {beta.kubernetes.io/arch: amd64}}}",
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: $ns-p}, provisioner: a.b/c, allowedTopologies: [{matchLabelExpressions: [{key: beta.kubernetes.io/arch, values: [a]}]}]}",
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p, annotations: {volume.beta.kubernetes.io/storage-class: x}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}",
    "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: p}, addressType: IPv6, endpoints: [{addresses: ['fd00:0::1']}], ports: []}",
    "{apiVersion: v1, kind: ServiceAccount, metadata: {name: p, annotations: {kubernetes.io/enforce-mountable-secrets: 'true'}}}",
)


def _trial(text: str) -> Command:
    return Command("create --dry-run=server -f -", text)


def _pod(spec: str = "", container: str = "", note: str = "") -> Command:
    notes, more, members = _parts(spec, container, note)
    return _trial(
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: p{notes}}}, spec: {{containers: [{{name: c, image: i{members}}}]{more}}}}}"
    )


def _deployment(spec: str = "", container: str = "", note: str = "") -> Command:
    notes, more, members = _parts(spec, container, note)
    template = (
        f"{{metadata: {{labels: {{a: b}}{notes}}}, spec: {{containers: [{{name: c, image: i{members}}}]{more}}}}}"
    )
    return _trial(
        f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: p}}, spec: {{selector: {{matchLabels: {{a: b}}}}, template: {template}}}}}"
    )


def _parts(spec: str, container: str, note: str) -> tuple[str, str, str]:
    notes = f", annotations: {{{note}: runtime/default}}" if note else ""
    return notes, f", {spec}" if spec else "", f", {container}" if container else ""


SCRIPTS = (
    script(
        "of pods",
        "wait --for=create serviceaccount/default --timeout=20s",
        *[_pod(spec=one) for one in _SPECS],
        *[_pod(container=one) for one in _CONTAINERS],
        *[_pod(note=one) for one in _NOTES],
    ),
    script(
        "of templates",
        *[_deployment(spec=one) for one in _SPECS],
        *[_deployment(container=one) for one in _CONTAINERS],
        *[_deployment(note=one) for one in _NOTES],
    ),
    script("of other kinds", *[_trial(one) for one in _OTHERS]),
)
