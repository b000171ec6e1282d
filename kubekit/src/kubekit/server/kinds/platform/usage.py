"""What an object counts for in a ResourceQuota, and which quotas it is counted by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kubekit.model.quantity import Quantity
from kubekit.model.resource import Object

from ..builtin.compute import is_native
from ..builtin.quantities import amount
from ..pods.pods import quality_of_service
from ..pods.totals import Amounts, amounts, total

_ONE = Quantity(1)
_DEVICES, _DEVICE_CLAIMS = ".deviceclass.resource.k8s.io/devices", "resource.k8s.io/resourceclaims"
_MOST_DEVICES = 32
"""What a claim for all devices of a class counts for: no claim ever gets more."""
_BY_CLASS = ".storageclass.storage.k8s.io/"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_OF_PODS = {"pods", *_COMPUTE, *(f"{part}.{name}" for part in ("requests", "limits") for name in _COMPUTE)}
_DEMANDED = frozenset(f"{part}{name}" for part in ("", "requests.", "limits.") for name in ("cpu", "memory"))
_PLAIN_COUNTS = frozenset({"configmaps", "replicationcontrollers", "resourcequotas", "secrets"})
PODS, SERVICES, CLAIMS = "/pods", "/services", "/persistentvolumeclaims"


def counted_resource(name: str) -> str:
    """The storage key of the resource that a name in a quota counts; empty when nothing does."""
    if name.startswith("count/"):
        plural, _, group = name.removeprefix("count/").partition(".")
        return f"{group}/{plural}"
    if name in _PLAIN_COUNTS:
        return f"/{name}"
    if name.endswith(_DEVICES):
        return _DEVICE_CLAIMS
    if name in ("persistentvolumeclaims", "requests.storage") or _BY_CLASS in name:
        return CLAIMS
    if name == "services" or name.startswith("services."):
        return SERVICES
    is_extended = name.startswith("requests.") and not is_native(name)
    is_huge = name.removeprefix("requests.").startswith("hugepages-")
    return PODS if name in _OF_PODS or is_extended or is_huge else ""


def usage(storage_key: str, obj: Object) -> Amounts:
    """Everything that one object uses, by the names of quotas."""
    group, _, plural = storage_key.partition("/")
    found = {f"count/{plural}.{group}" if group else f"count/{plural}": _ONE}
    if storage_key == PODS:
        return found | (_of_pod(obj) if _is_alive(obj) else {})
    if storage_key == SERVICES:
        return found | _of_service(obj["spec"])
    if storage_key == CLAIMS:
        return found | _of_claim(obj)
    if storage_key == _DEVICE_CLAIMS:
        return found | _of_device_claim(obj["spec"])
    return found | {plural: _ONE} if not group and plural in _PLAIN_COUNTS else found


def _is_alive(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") not in ("Failed", "Succeeded")


def _of_pod(pod: Object) -> Amounts:
    return {"pods": _ONE, **_asked(total(pod["spec"], "requests"), total(pod["spec"], "limits"))}


def _asked(requests: Amounts, limits: Amounts) -> Amounts:
    found = {f"limits.{name}": value for name, value in limits.items() if name in _COMPUTE}
    for name, value in requests.items():
        if name in _COMPUTE or name.startswith("hugepages-"):
            found[name] = value
        found[f"requests.{name}"] = value
    return found


def _of_service(spec: Object) -> Amounts:
    ports, kind = spec.get("ports") or (), spec.get("type")
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        ports = [one for one in ports if one.get("nodePort")]
    on_nodes = len(ports) if kind in ("NodePort", "LoadBalancer") else 0
    return {
        "services": _ONE,
        "services.loadbalancers": Quantity(int(kind == "LoadBalancer")),
        "services.nodeports": Quantity(on_nodes),
    }


def _of_claim(claim: Object) -> Amounts:
    found = {"persistentvolumeclaims": _ONE}
    asked = (claim["spec"].get("resources") or {}).get("requests") or {}
    if "storage" in asked:
        allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage", "0")
        found["requests.storage"] = max(amount(asked["storage"]), amount(allocated))
    annotations = claim["metadata"].get("annotations") or {}
    named = annotations.get(_CLASS_ANNOTATION) or claim["spec"].get("storageClassName")
    return found | ({f"{named}{_BY_CLASS}{name}": value for name, value in found.items()} if named else {})


def _of_device_claim(spec: Object) -> Amounts:
    """Every device by its class; of alternatives the most that any of them takes of a class."""
    counts: dict[str, int] = {}
    for request in (spec.get("devices") or {}).get("requests") or ():
        peak: dict[str, int] = {}
        for one in request.get("firstAvailable") or [request.get("exactly") or {}]:
            named, mode = one.get("deviceClassName", ""), one.get("allocationMode", "ExactCount")
            wanted = _MOST_DEVICES if mode == "All" else one.get("count", 1)
            peak[named] = max(peak.get(named, 0), wanted)
        counts |= {named: counts.get(named, 0) + wanted for named, wanted in peak.items()}
    return {f"{named}{_DEVICES}": Quantity(count) for named, count in counts.items()}


def left_unsaid(names: Iterable[str], pod: Object) -> str:
    """What the containers of a pod have to say where a quota limits it, and do not."""
    demanded = sorted(_DEMANDED.intersection(names))
    if not demanded or any((pod["spec"].get("resources") or {}).values()):
        return ""
    containers = [*(pod["spec"].get("containers") or ()), *(pod["spec"].get("initContainers") or ())]
    said = [(one["name"], _asked(*_resources(one))) for one in containers]
    silent = {name: sorted({who for who, asked in said if name not in asked}) for name in demanded}
    return "; ".join(f"{name} for: {','.join(who)}" for name, who in silent.items() if who)


def _resources(container: Object) -> tuple[Amounts, Amounts]:
    resources = container.get("resources") or {}
    return amounts(resources.get("requests")), amounts(resources.get("limits"))


def is_terminating(pod: Object) -> bool:
    """Whether a pod ends by itself."""
    return (pod["spec"].get("activeDeadlineSeconds") or -1) >= 0


def is_in_scope(spec: Object, storage_key: str, obj: Object) -> bool:
    """Whether all scopes of a quota hold for an object."""
    requirements = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    requirements += (spec.get("scopeSelector") or {}).get("matchExpressions") or ()
    return all(_holds(one, storage_key, obj) for one in requirements)


def _holds(requirement: Object, storage_key: str, obj: Object) -> bool:
    name = requirement.get("scopeName", "")
    if storage_key == PODS and name in _FACTS:
        return _FACTS[name](obj)
    if storage_key == PODS and name == "PriorityClass":
        return _names(requirement, {obj["spec"].get("priorityClassName")})
    if storage_key == CLAIMS and name == "VolumeAttributesClass":
        return _names(requirement, _attributes_classes(obj))
    return False


def _attributes_classes(claim: Object) -> set[str | None]:
    status = claim.get("status") or {}
    target = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
    return {claim["spec"].get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"), target}


def _names(requirement: Object, named: set[str | None]) -> bool:
    """Whether one of the names is wanted; without any only the absence can be."""
    found, wanted = {one for one in named if one}, set(requirement.get("values") or ())
    match requirement.get("operator"):
        case "Exists":
            return bool(found)
        case "DoesNotExist":
            return not found
        case "In":
            return bool(found & wanted)
        case _:
            return not found or bool(found - wanted)


def _reaches_other_namespaces(pod: Object) -> bool:
    affinity = pod["spec"].get("affinity") or {}
    terms = (term for kind in ("podAffinity", "podAntiAffinity") for term in _terms(affinity.get(kind) or {}))
    return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)


def _terms(affinity: Object) -> Iterator[Object]:
    yield from affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    for weighted in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
        yield weighted.get("podAffinityTerm") or {}


def _is_best_effort(pod: Object) -> bool:
    return quality_of_service(pod["spec"]) == "BestEffort"


_FACTS: dict[str, Callable[[Object], bool]] = {
    "Terminating": is_terminating,
    "NotTerminating": lambda pod: not is_terminating(pod),
    "BestEffort": _is_best_effort,
    "NotBestEffort": lambda pod: not _is_best_effort(pod),
    "CrossNamespacePodAffinity": _reaches_other_namespaces,
}
