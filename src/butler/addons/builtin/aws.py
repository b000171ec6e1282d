"""What clusters on AWS need.

Both take the role of the instance profile; where the ProviderConfig has an account for clusters, the Secret aws-secret
has its keys instead."""

from __future__ import annotations

from .entry import ANYWHERE, COUNT, EVERYWHERE, FLAG, MAP, NO_CONTROL_PLANE, OBJECTS, TEXT, TEXTS, Entry, fields
from .entry import storage_class as _class

CONTROLLER, STORAGE = "aws-cloud-controller-manager", "aws-ebs-csi-driver"
SECRET = "aws-secret"  # noqa: S105  (its name)
_PROVIDERS = ("aws",)


def _key(variable: str, key: str) -> dict[str, object]:
    return {"name": variable, "valueFrom": {"secretKeyRef": {"name": SECRET, "key": key, "optional": True}}}


ENTRIES = (
    Entry(
        CONTROLLER, "AWS cloud controller", "other", "0.0.11", "https://kubernetes.github.io/cloud-provider-aws",
        "Tells nodes who they are on AWS, and makes load balancers for Services.",
        namespace="kube-system", providers=_PROVIDERS, for_nodes=True, tier="infrastructure",
        conflicts=("metallb", "kube-vip"),
        documentation="https://cloud-provider-aws.sigs.k8s.io", source="https://github.com/kubernetes/cloud-provider-aws",
        values={
            "nodeSelector": NO_CONTROL_PLANE,
            "tolerations": EVERYWHERE,
            # It is there before the pod network is.
            "hostNetworking": True,
            "args": [
                "--v=2",
                "--cloud-provider=aws",
                "--cluster-name=$(cluster.name)",
                "--configure-cloud-routes=false",
            ],
            "env": [
                {"name": "KUBERNETES_SERVICE_HOST", "value": "$(cluster.endpoint.host)"},
                {"name": "KUBERNETES_SERVICE_PORT", "value": "$(cluster.endpoint.port)"},
                {"name": "AWS_REGION", "value": "$(provider.region)"},
                _key("AWS_ACCESS_KEY_ID", "key_id"),
                _key("AWS_SECRET_ACCESS_KEY", "access_key"),
            ],
        },
        schema=fields(
            args=TEXTS, env=OBJECTS, hostNetworking=FLAG, nodeSelector=MAP, tolerations=OBJECTS,
            image=fields(repository=TEXT, tag=TEXT), resources=MAP,
        ),
    ),
    Entry(
        STORAGE, "AWS EBS CSI driver", "storage", "2.64.0", "https://kubernetes-sigs.github.io/aws-ebs-csi-driver",
        "Volumes on Elastic Block Store.",
        namespace="kube-system", providers=_PROVIDERS, depends_on=(CONTROLLER,), tier="infrastructure",
        documentation="https://github.com/kubernetes-sigs/aws-ebs-csi-driver/tree/master/docs",
        source="https://github.com/kubernetes-sigs/aws-ebs-csi-driver",
        values={
            "awsAccessSecret": {"name": SECRET, "keyId": "key_id", "accessKey": "access_key"},
            "controller": {
                "region": "$(provider.region)",
                "replicaCount": "$(cluster.smallReplicas)",
                "k8sTagClusterId": "$(cluster.name)",
                "tolerations": ANYWHERE,
            },
        },
        schema=fields(
            controller=fields(
                region=TEXT, replicaCount=COUNT, k8sTagClusterId=TEXT, extraVolumeTags=MAP, tolerations=OBJECTS
            ),
            node=fields(tolerateAllTaints=FLAG, hostNetwork=FLAG),
            awsAccessSecret=fields(name=TEXT, keyId=TEXT, accessKey=TEXT),
            storageClasses=OBJECTS,
        ),
        resources=(_class("ebs-gp3", "ebs.csi.aws.com", type="gp3", encrypted="true"),),
    ),
)  # fmt: skip
