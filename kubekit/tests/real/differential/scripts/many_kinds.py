"""kubectl get and describe of many built-in kinds."""

# ruff: noqa: E501 - a command is easier to read on one line

from __future__ import annotations

from tests.real.differential.commands import Command, script

_TEMPLATE = "template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i}]}}"
_WORKLOADS = f"""
{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: rs}}, spec: {{selector: {{matchLabels: {{app: a}}}}, {_TEMPLATE}}}}}
---
{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: ds}}, spec: {{selector: {{matchLabels: {{app: a}}}}, {_TEMPLATE}}}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: sts}}
spec:
  serviceName: s
  selector: {{matchLabels: {{app: a}}}}
  {_TEMPLATE}
  volumeClaimTemplates:
  - {{metadata: {{name: data}}, spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}
---
{{apiVersion: v1, kind: ReplicationController, metadata: {{name: rc}}, spec: {{selector: {{app: a}}, {_TEMPLATE}}}}}
---
{{apiVersion: v1, kind: PodTemplate, metadata: {{name: pt}}, {_TEMPLATE}}}
---
{{apiVersion: apps/v1, kind: ControllerRevision, metadata: {{name: cr}}, revision: 3}}
"""
_NETWORK = """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: np}
spec: {podSelector: {matchLabels: {app: a}}, ingress: [{from: [{namespaceSelector: {}}], ports: [{port: 80}]}]}
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: $ns}, spec: {controller: example.org/c}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: es, labels: {kubernetes.io/service-name: svc}}
addressType: IPv4
endpoints: [{addresses: [1.2.3.4], conditions: {ready: true}}]
ports: [{name: http, port: 80}]
---
{apiVersion: v1, kind: Endpoints, metadata: {name: ep}, subsets: [{addresses: [{ip: 1.2.3.4}], ports: [{port: 80}]}]}
"""
_STORAGE = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: $ns}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}, storageClassName: s}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: $ns}, provisioner: example.org/p}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: $ns.example.org}, spec: {attachRequired: false}}
---
{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: $ns}, spec: {drivers: []}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: lr}, spec: {limits: [{type: Container, max: {cpu: "1"}}]}}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l}, spec: {holderIdentity: me}}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: $ns}, handler: h}
"""
_ADMISSION = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: $ns}
webhooks:
- name: a.example.org
  clientConfig: {url: "https://example.org/x"}
  sideEffects: None
  admissionReviewVersions: [v1]
  rules: [{apiGroups: [none.example.org], apiVersions: [v1], resources: [things], operations: [CREATE]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $ns}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [none.example.org], apiVersions: [v1], resources: [things], operations: [CREATE]}]
  validations: [{expression: "true"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: $ns}
spec: {policyName: $ns, validationActions: [Deny]}
"""

SCRIPTS = (
    script(
        "workloads",
        Command("create -f -", _WORKLOADS),
        "get rs,ds,sts,rc,podtemplates,controllerrevisions",
        "get rs,ds,sts,rc,podtemplates,controllerrevisions -o wide",
        "describe rs rs",
        "describe ds ds",
        "describe sts sts",
        "describe rc rc",
        "scale sts sts --replicas=3",
        "scale rc rc --replicas=3",
        "rollout status sts sts --timeout=1s",
        "rollout status ds ds --watch=false",
        "rollout history sts sts",
        "rollout restart ds ds",
        Command("delete -f -", _WORKLOADS),
    ),
    script(
        "networks",
        Command("create -f -", _NETWORK),
        "get networkpolicies,endpointslices,endpoints",
        "get ingressclass $ns",
        "get networkpolicies,endpointslices -o wide",
        "describe networkpolicy np",
        "describe endpointslice es",
        "describe endpoints ep",
        "describe ingressclass $ns",
        Command("delete -f -", _NETWORK),
    ),
    script(
        "storage and others",
        Command("create -f -", _STORAGE),
        "get limitranges,leases",
        "get pv/$ns storageclass/$ns csidriver/$ns.example.org csinode/$ns runtimeclass/$ns",
        "get pv/$ns storageclass/$ns -o wide",
        Command("describe pv $ns", shown="^(?!Finalizers)"),
        "describe storageclass $ns",
        "describe limitrange lr",
        "describe priorityclass system-node-critical",
        "get resourceslices --field-selector=spec.driver=a,spec.nodeName=b",
        "get resourceslices --field-selector=spec.pool=a",
        "get jobs --field-selector=status.failed=1",
        "describe lease l",
        Command("delete -f -", _STORAGE.partition("---")[2]),
        "delete pv $ns --wait=false",
    ),
    script(
        "admission",
        Command("create -f -", _ADMISSION),
        "get validatingwebhookconfiguration $ns",
        "get validatingadmissionpolicy $ns",
        "get validatingadmissionpolicybinding $ns",
        "describe validatingwebhookconfiguration $ns",
        "get validatingwebhookconfiguration $ns -o yaml",
        Command("delete -f -", _ADMISSION),
    ),
)
