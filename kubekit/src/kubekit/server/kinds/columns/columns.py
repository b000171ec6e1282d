"""The columns of `kubectl get` for built-in kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from kubekit.model.resource import Object
from kubekit.server.objects.resource import Column, Resource

from . import cells as cells_of
from . import platform_cells
from .pod_cells import pod_cells

_Row = Callable[[Object, datetime], list[Any]]

_WORDS = {
    "Name": "The name of the object, unique in its namespace.",
    "Age": "How long ago the object was created.",
    "Created At": "When the object was created.",
    "Ready": "How many of those wanted are ready.",
    "Status": "What state the object is in, in one word.",
    "Restarts": "How often containers were restarted, and when last.",
    "IP": "The address of the pod.",
    "Node": "The node it runs on.",
    "Nominated Node": "The node others make room on for the pod.",
    "Readiness Gates": "How many of the extra conditions for readiness hold.",
    "Containers": "The names of the containers in the template.",
    "Images": "The images of the containers in the template.",
    "Selector": "The labels by which its pods are found.",
    "Desired": "How many are wanted.",
    "Current": "How many there are.",
    "Up-to-date": "How many have the newest template.",
    "Available": "How many are ready for long enough.",
    "Type": "What kind of it this is.",
    "Data": "How many entries it has.",
    "Endpoints": "The first of its addresses.",
    "Message": "What happened, in a sentence.",
    "Reason": "Why, in one word.",
    "Object": "What it is about.",
}


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns after the name, as text, and what fills a row.

    Columns are separated by `|`; `:` adds a type, a further `:` a format, a trailing `*` marks wide ones.
    """

    text: str
    row: _Row
    has_name: bool = True

    def columns(self) -> tuple[Column, ...]:
        first = ["Name:string:name"] if self.has_name else []
        return tuple(_column(one) for one in [*first, *filter(None, self.text.split("|"))])


def _column(text: str) -> Column:
    name, _, rest = text.removesuffix("*").partition(":")
    kind, _, form = rest.partition(":")
    return Column(name, kind or "string", "", form, _WORDS.get(name, f"{name}."), int(text.endswith("*")))


_EVENT = _Layout(
    "Last Seen|Type|Reason|Object|Subobject*|Source*|Message|First Seen*|Count*|Name:string:name*",
    cells_of.event,
    has_name=False,
)
_REPLICAS = "Desired:integer|Current:integer|Ready:integer|Age|Containers*|Images*|Selector*"
_BINDING = _Layout("Role|Age|Users*|Groups*|ServiceAccounts*", platform_cells.binding)
_WEBHOOKS = _Layout("Webhooks:integer|Age", platform_cells.webhooks)
_ADMISSION, _RBAC, _STORAGE = "admissionregistration.k8s.io", "rbac.authorization.k8s.io", "storage.k8s.io"
_NETWORKING, _DEVICES = "networking.k8s.io", "resource.k8s.io"

_LAYOUTS: dict[tuple[str, str], _Layout] = {
    ("", "ConfigMap"): _Layout("Data|Age", cells_of.config_map),
    ("", "Secret"): _Layout("Type|Data|Age", cells_of.secret),
    ("", "Namespace"): _Layout("Status|Age", cells_of.namespace),
    ("", "ServiceAccount"): _Layout("Age", cells_of.only_age),
    ("", "Endpoints"): _Layout("Endpoints|Age", cells_of.endpoints),
    ("", "Event"): _EVENT,
    ("events.k8s.io", "Event"): _EVENT,
    ("", "Node"): _Layout(
        "Status|Roles|Age|Version|Internal-IP*|External-IP*|OS-Image*|Kernel-Version*|Container-Runtime*", cells_of.node
    ),
    ("", "PersistentVolumeClaim"): _Layout(
        "Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode*", cells_of.claim
    ),
    ("", "PersistentVolume"): _Layout(
        "Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age|VolumeMode*",
        cells_of.volume,
    ),
    ("", "Pod"): _Layout("Ready|Status|Restarts|Age|IP*|Node*|Nominated Node*|Readiness Gates*", pod_cells),
    ("", "PodTemplate"): _Layout("Containers|Images|Pod Labels", cells_of.pod_template),
    ("", "ReplicationController"): _Layout(_REPLICAS, cells_of.replication_controller),
    ("", "ResourceQuota"): _Layout("Request|Limit|Age", platform_cells.quota),
    ("", "Service"): _Layout("Type|Cluster-IP|External-IP|Port(s)|Age|Selector*", platform_cells.service),
    ("apps", "Deployment"): _Layout(
        "Ready|Up-to-date|Available|Age|Containers*|Images*|Selector*", cells_of.deployment
    ),
    ("apps", "ReplicaSet"): _Layout(_REPLICAS, cells_of.replica_set),
    ("apps", "StatefulSet"): _Layout("Ready|Age|Containers*|Images*", cells_of.stateful_set),
    ("apps", "DaemonSet"): _Layout(
        "Desired:integer|Current:integer|Ready:integer|Up-to-date:integer|Available:integer|Node Selector|Age"
        "|Containers*|Images*|Selector*",
        cells_of.daemon_set,
    ),
    ("apps", "ControllerRevision"): _Layout("Controller|Revision|Age", cells_of.revision),
    ("batch", "Job"): _Layout("Status|Completions|Duration|Age|Containers*|Images*|Selector*", cells_of.job),
    ("batch", "CronJob"): _Layout(
        "Schedule|Timezone|Suspend:boolean|Active:integer|Last Schedule|Age|Containers*|Images*|Selector*",
        cells_of.cron_job,
    ),
    ("autoscaling", "HorizontalPodAutoscaler"): _Layout(
        "Reference|Targets|MinPods|MaxPods|Replicas|Age", cells_of.autoscaler
    ),
    ("autoscaling", "Scale"): _Layout("Desired:integer|Available:integer|Age", cells_of.scale),
    ("policy", "PodDisruptionBudget"): _Layout(
        "Min Available|Max Unavailable|Allowed Disruptions:integer|Age", cells_of.budget
    ),
    (_NETWORKING, "Ingress"): _Layout("Class|Hosts|Address|Ports|Age", platform_cells.ingress),
    (_NETWORKING, "IngressClass"): _Layout("Controller|Parameters|Age", platform_cells.ingress_class),
    (_NETWORKING, "IPAddress"): _Layout("ParentRef", platform_cells.ip_address),
    (_NETWORKING, "ServiceCIDR"): _Layout("CIDRs|Age", platform_cells.service_cidr),
    (_NETWORKING, "NetworkPolicy"): _Layout("Pod-Selector|Age", platform_cells.network_policy),
    ("discovery.k8s.io", "EndpointSlice"): _Layout("AddressType|Ports|Endpoints|Age", platform_cells.endpoint_slice),
    (_RBAC, "RoleBinding"): _BINDING,
    (_RBAC, "ClusterRoleBinding"): _BINDING,
    (_STORAGE, "StorageClass"): _Layout(
        "Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age", platform_cells.storage_class
    ),
    (_STORAGE, "CSIDriver"): _Layout(
        "AttachRequired:boolean|PodInfoOnMount:boolean|StorageCapacity:boolean|TokenRequests|RequiresRepublish:boolean"
        "|Modes|Age",
        platform_cells.csi_driver,
    ),
    (_STORAGE, "CSINode"): _Layout("Drivers:integer|Age", platform_cells.csi_node),
    (_STORAGE, "VolumeAttachment"): _Layout(
        "Attacher:string:name|PV|Node|Attached:boolean|Age", platform_cells.attachment
    ),
    (_STORAGE, "VolumeAttributesClass"): _Layout("DriverName|Age", platform_cells.attributes_class),
    (_DEVICES, "DeviceClass"): _Layout("Age", cells_of.only_age),
    (_DEVICES, "ResourceClaim"): _Layout("State|Age", platform_cells.device_claim),
    (_DEVICES, "ResourceClaimTemplate"): _Layout("Age", cells_of.only_age),
    (_DEVICES, "ResourceSlice"): _Layout("Node|Driver|Pool|Age", platform_cells.device_slice),
    (_ADMISSION, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "ValidatingAdmissionPolicy"): _Layout("Validations:integer|ParamKind|Age", platform_cells.policy),
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): _Layout("PolicyName|ParamRef|Age", platform_cells.policy_binding),
    ("coordination.k8s.io", "Lease"): _Layout("Holder|Age", platform_cells.lease),
    ("scheduling.k8s.io", "PriorityClass"): _Layout(
        "Value:integer|Global-Default:boolean|Age|PreemptionPolicy", platform_cells.priority_class
    ),
    ("certificates.k8s.io", "CertificateSigningRequest"): _Layout(
        "Age|SignerName|Requestor|RequestedDuration|Condition", platform_cells.signing_request
    ),
    ("node.k8s.io", "RuntimeClass"): _Layout("Handler|Age", platform_cells.runtime_class),
    ("apiregistration.k8s.io", "APIService"): _Layout("Service|Available|Age", platform_cells.api_service),
}
_OTHERS = _Layout("Created At:date", cells_of.creation)


def _layout(resource: Resource) -> _Layout:
    return _LAYOUTS.get((resource.group, resource.kind), _OTHERS)


@cache
def _columns(layout: _Layout) -> tuple[Column, ...]:
    return layout.columns()


def columns_of(resource: Resource) -> tuple[Column, ...]:
    """What a Table of a built-in kind has in its head."""
    return _columns(_layout(resource))


def cells(resource: Resource, obj: Object, now: datetime) -> list[Any]:
    """One row of such a Table."""
    return _layout(resource).row(obj, now)
