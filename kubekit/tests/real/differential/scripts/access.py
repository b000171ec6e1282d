"""kubectl auth, impersonation and certificates."""

from __future__ import annotations

from tests.real.differential.commands import Command, script

_ROLES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: $ns-ann}]
"""
_REQUEST = (
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1IQUNBUUF3RGpFTU1Bb0dBMVVFQXd3RFlXNXVNRmt3RXdZ"
    "SEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRApRZ0FFU0xZZStBNzZNK05rS0hUN0lWNzJHdTJqMm9SOHNHM0xrc05jNlJsNjkwK2Ir"
    "UkNHLzZmSkFlR2tHUWdTCnlyUWZsaytMY2hjVGpUODhyakU2aFhCWTNLQUFNQW9HQ0NxR1NNNDlCQU1DQTBjQU1FUUNJQjgyNTNT"
    "aG5hY1IKSml3emRDZzh3OE41Vy8wY1YwbUVVYVFPMlZQekR4SUJBaUFFQWJmSHJHbGM2NzdBenlrTVYvOC9ONEwrZ0NWcAordVNJ"
    "T1BGTjJmdnBlZz09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="
)
"""For a certificate of a user called ann."""
_CSR = """
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: $ns}
spec: {request: REQUEST, signerName: example.org/signer, usages: [client auth]}
""".replace("REQUEST", _REQUEST)

SCRIPTS = (
    script(
        "can-i",
        Command("create -f -", _ROLES),
        "auth can-i get configmaps",
        "auth can-i get configmaps --as=$ns-ann",
        "auth can-i delete configmaps --as=$ns-ann",
        "auth can-i get configmaps/a --as=$ns-ann",
        "auth can-i get pods --subresource=log --as=$ns-ann",
        "auth can-i get /healthz --as=$ns-ann",
        "auth can-i get /logs --as=$ns-ann",
        "auth can-i '*' '*' --as=$ns-ann",
        "auth can-i get nonsense --as=$ns-ann",
        "auth can-i nonsense configmaps --as=$ns-ann",
        "auth can-i get nodes --as=$ns-ann",
        "auth can-i get configmaps -A --as=$ns-ann",
        "auth can-i get configmaps --as=$ns-ann -q",
        "auth can-i --list --as=$ns-ann",
        "auth can-i --list --as=nobody --as-group=team",
        "auth can-i --list",
        "auth can-i get configmaps --as=system:serviceaccount:$ns:default",
        "auth whoami --as=$ns-ann --as-group=team --as-uid=7 --as-user-extra=why=because -o yaml",
        "auth whoami --as=$ns-ann",
    ),
    script(
        "impersonation",
        Command("create -f -", _ROLES),
        "create configmap a --as=$ns-ann",
        "get configmaps --as=$ns-ann",
        "get configmap none --as=$ns-ann",
        "get secrets --as=$ns-ann",
        "get pods -A --as=$ns-ann",
        "get nodes --as=$ns-ann",
        "delete configmaps --all --as=$ns-ann",
        "label configmap a x=y --as=$ns-ann",
        "get configmaps --as=$ns-ann --as-group=system:masters",
        "get namespaces --as=system:serviceaccount:$ns:default",
        "get --raw /metrics --as=$ns-ann",
        "create role more --verb=delete --resource=pods --as=$ns-ann",
        "create rolebinding more --clusterrole=cluster-admin --user=$ns-ann --as=$ns-ann",
        Command("apply --server-side -f - --as=$ns-ann", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"),
        Command("apply -f - --as=$ns-ann", "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"),
        "auth can-i create rolebindings --as=$ns-ann",
    ),
    script(
        "escalation",
        "create clusterrole $ns-limited --verb=create,get,update,patch --resource=roles,rolebindings",
        "create rolebinding limited --clusterrole=$ns-limited --user=$ns-ann",
        "create role more --verb=delete --resource=pods --as=$ns-ann",
        "create role same --verb=get --resource=roles --as=$ns-ann",
        "create rolebinding more --clusterrole=cluster-admin --user=$ns-ann --as=$ns-ann",
        "create rolebinding same --role=same --user=$ns-bob --as=$ns-ann",
    ),
    script(
        "certificates",
        Command("create -f -", _CSR),
        "get csr $ns",
        "certificate approve $ns",
        "certificate approve $ns",
        "get csr $ns",
        "describe csr $ns",
        "delete csr $ns",
        Command("create -f -", _CSR),
        "certificate deny $ns",
        "certificate approve $ns",
        "get csr $ns -o jsonpath={.status.conditions[0].type}",
        "certificate approve none",
        "certificate deny none",
        Command("create -f -", _CSR.replace("client auth", "some use").replace("name: $ns", "name: $ns-wrong")),
        Command("create -f -", _CSR.replace("example.org/signer", "signer").replace("name: $ns", "name: $ns-wrong")),
        "delete csr $ns",
    ),
)
