"""The rows of `kubectl get` for networking, storage, access and the cluster's own kinds."""

from __future__ import annotations

from datetime import datetime

from kubekit.model.ages import human
from kubekit.model.resource import Object

from ..builtin.label_selectors import shown, shown_labels
from .cells import NONE, UNSET, Row, age_of, first_few, name_of

_DEFAULT_STORAGE = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_DEFAULT_INGRESS = ("ingressclass.kubernetes.io/is-default-class",)


def service(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    addresses = spec.get("clusterIPs") or [NONE]
    return [
        name_of(obj),
        spec.get("type", ""),
        addresses[0],
        _external(obj),
        ",".join(_port(one) for one in spec.get("ports") or ()) or NONE,
        age_of(obj, now),
        shown_labels(spec.get("selector")),
    ]


def _port(port: Object) -> str:
    number = f"{port.get('port', 0)}:{port['nodePort']}" if port.get("nodePort") else str(port.get("port", 0))
    return f"{number}/{port.get('protocol', '')}"


def _external(obj: Object) -> str:
    spec = obj.get("spec", {})
    own = ",".join(spec.get("externalIPs") or ())
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return own or NONE
        case "LoadBalancer":
            balanced = _balancer(obj)
            return ",".join(filter(None, (balanced, own))) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case _:
            return "<unknown>"


def _balancer(obj: Object) -> str:
    ingress = ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or ()
    return ",".join(sorted({one.get("ip") or one.get("hostname") or "" for one in ingress} - {""}))


def ingress(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    rules = spec.get("rules") or ()
    hosts = [rule["host"] for rule in rules if rule.get("host")]
    return [
        name_of(obj),
        spec.get("ingressClassName", NONE),
        first_few(hosts, len(rules) if len(hosts) > 3 else len(hosts)) or "*",
        _balancer(obj),
        "80, 443" if spec.get("tls") else "80",
        age_of(obj, now),
    ]


def ingress_class(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    given = spec.get("parameters")
    parameters = NONE
    if given is not None:
        kind = f"{given.get('kind', '')}.{given['apiGroup']}" if given.get("apiGroup") else given.get("kind", "")
        parameters = f"{kind}/{given.get('name', '')}"
    return [_named_default(obj, _DEFAULT_INGRESS), spec.get("controller", ""), parameters, age_of(obj, now)]


def _named_default(obj: Object, marks: tuple[str, ...]) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    is_default = any(annotations.get(mark) == "true" for mark in marks)
    return f"{name_of(obj)} (default)" if is_default else name_of(obj)


def network_policy(obj: Object, now: datetime) -> Row:
    return [name_of(obj), shown(obj.get("spec", {}).get("podSelector")), age_of(obj, now)]


def endpoint_slice(obj: Object, now: datetime) -> Row:
    ports = [str(one.get("port") or one.get("name") or "*") for one in obj.get("ports") or ()]
    listed = obj.get("endpoints") or ()
    addresses = [address for endpoint in listed for address in endpoint.get("addresses") or ()]
    return [
        name_of(obj),
        obj.get("addressType", ""),
        first_few(ports) or UNSET,
        first_few(addresses) or UNSET,
        age_of(obj, now),
    ]


def quota(obj: Object, now: datetime) -> Row:
    status = obj.get("status", {})
    used = status.get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for name, hard in sorted((status.get("hard") or {}).items()):
        column = limits if name.startswith("limits.") else requests
        column.append(f"{name}: {used.get(name, '0')}/{hard}")
    return [name_of(obj), ", ".join(requests), ", ".join(limits), age_of(obj, now)]


def binding(obj: Object, now: datetime) -> Row:
    role = obj.get("roleRef", {})
    named: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in obj.get("subjects") or ():
        name = subject.get("name", "")
        if subject.get("kind") == "ServiceAccount":
            name = f"{subject.get('namespace', '')}/{name}"
        named.setdefault(subject.get("kind", ""), []).append(name)
    return [
        name_of(obj),
        f"{role.get('kind', '')}/{role.get('name', '')}",
        age_of(obj, now),
        *(", ".join(named[kind]) for kind in ("User", "Group", "ServiceAccount")),
    ]


def webhooks(obj: Object, now: datetime) -> Row:
    return [name_of(obj), len(obj.get("webhooks") or ()), age_of(obj, now)]


def policy(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    kind = spec.get("paramKind")
    parameters = UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"
    return [name_of(obj), len(spec.get("validations") or ()), parameters, age_of(obj, now)]


def policy_binding(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    reference = spec.get("paramRef") or {}
    parameters = UNSET
    if reference.get("name"):
        parameters = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference.get("selector") is not None:
        parameters = shown(reference["selector"])
    return [name_of(obj), spec.get("policyName", ""), parameters, age_of(obj, now)]


def lease(obj: Object, now: datetime) -> Row:
    return [name_of(obj), obj.get("spec", {}).get("holderIdentity", ""), age_of(obj, now)]


def storage_class(obj: Object, now: datetime) -> Row:
    return [
        _named_default(obj, _DEFAULT_STORAGE),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy", "Delete"),
        obj.get("volumeBindingMode", "Immediate"),
        obj.get("allowVolumeExpansion", False),
        age_of(obj, now),
    ]


def csi_driver(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    requests = spec.get("tokenRequests")
    return [
        name_of(obj),
        spec.get("attachRequired", True),
        spec.get("podInfoOnMount", False),
        spec.get("storageCapacity", False),
        UNSET if requests is None else ",".join(one.get("audience", "") for one in requests),
        spec.get("requiresRepublish", False),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
        age_of(obj, now),
    ]


def csi_node(obj: Object, now: datetime) -> Row:
    return [name_of(obj), len(obj.get("spec", {}).get("drivers") or ()), age_of(obj, now)]


def attachment(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    return [
        name_of(obj),
        spec.get("attacher", ""),
        (spec.get("source") or {}).get("persistentVolumeName", ""),
        spec.get("nodeName", ""),
        obj.get("status", {}).get("attached", False),
        age_of(obj, now),
    ]


def priority_class(obj: Object, now: datetime) -> Row:
    return [
        name_of(obj),
        obj.get("value", 0),
        obj.get("globalDefault", False),
        age_of(obj, now),
        obj.get("preemptionPolicy", ""),
    ]


def signing_request(obj: Object, now: datetime) -> Row:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    seconds = spec.get("expirationSeconds")
    kinds = {one.get("type") for one in status.get("conditions") or ()}
    words = ["Denied" if "Denied" in kinds else "Approved" if "Approved" in kinds else "Pending"]
    words += ["Failed"] if "Failed" in kinds else []
    words += ["Issued"] if status.get("certificate") else []
    return [
        name_of(obj),
        age_of(obj, now),
        spec.get("signerName") or NONE,
        spec.get("username", ""),
        NONE if seconds is None else human(seconds),
        ",".join(words),
    ]


def runtime_class(obj: Object, now: datetime) -> Row:
    return [name_of(obj), obj.get("handler", ""), age_of(obj, now)]


def api_service(obj: Object, now: datetime) -> Row:
    target = obj.get("spec", {}).get("service")
    place = "Local" if target is None else f"{target.get('namespace', '')}/{target.get('name', '')}"
    conditions = obj.get("status", {}).get("conditions") or ()
    found = next((one for one in conditions if one.get("type") == "Available"), None)
    available = "Unknown"
    if found is not None:
        available = found.get("status", "")
        if available != "True":
            available = f"{available} ({found.get('reason', '')})"
    return [name_of(obj), place, available, age_of(obj, now)]


def ip_address(obj: Object, _: datetime) -> Row:
    parent = obj.get("spec", {}).get("parentRef")
    if parent is None:
        return [name_of(obj), NONE]
    kind = f"{parent.get('resource', '')}.{parent['group']}" if parent.get("group") else parent.get("resource", "")
    return [name_of(obj), "/".join(filter(None, (kind.lower(), parent.get("namespace"), parent.get("name", ""))))]


def service_cidr(obj: Object, now: datetime) -> Row:
    return [name_of(obj), ",".join(obj.get("spec", {}).get("cidrs") or ()), age_of(obj, now)]


def attributes_class(obj: Object, now: datetime) -> Row:
    return [name_of(obj), obj.get("driverName", ""), age_of(obj, now)]


def device_claim(obj: Object, now: datetime) -> Row:
    status, deleted = obj.get("status", {}), bool(obj["metadata"].get("deletionTimestamp"))
    words = ["deleted"] if deleted else []
    if status.get("allocation") is not None:
        words += ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
    elif not deleted:
        words.append("pending")
    return [name_of(obj), ",".join(words), age_of(obj, now)]


def device_slice(obj: Object, now: datetime) -> Row:
    spec = obj.get("spec", {})
    pool = (spec.get("pool") or {}).get("name", "")
    return [name_of(obj), spec.get("nodeName", ""), spec.get("driver", ""), pool, age_of(obj, now)]
