"""What a client is told about an object that is valid, but may not be what it means."""

from __future__ import annotations

from kubekit.model.resource import Object

from ..pods.node_labels import OLD_LABELS, remarks_on_terms
from ..pods.warnings import GONE, SPELT, remarks_on_size, remarks_on_template

_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_SECRETS_ONLY = "kubernetes.io/enforce-mountable-secrets"


def remarks_on_claim(obj: Object) -> list[str]:
    return [*_remarks_on_class(obj), *remarks_on_size(obj["spec"], "spec")]


def _remarks_on_class(obj: Object) -> list[str]:
    notes = obj["metadata"].get("annotations") or {}
    words = 'deprecated since v1.8; use "storageClassName" attribute instead'
    return [f"metadata.annotations[{_OLD_CLASS}]: {words}"] if _OLD_CLASS in notes else []


def remarks_on_volume(obj: Object) -> list[str]:
    spec, found = obj["spec"], _remarks_on_class(obj)
    if spec["persistentVolumeReclaimPolicy"] == "Recycle":
        advice = "Instead, the recommended approach is to use dynamic provisioning."
        found.append(f"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. {advice}")
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    found += remarks_on_terms(terms, "spec.nodeAffinity.required.nodeSelectorTerms")
    given = (name for name in GONE if name not in ("flocker", "gitRepo", "quobyte") and spec.get(name) is not None)
    return found + [f"spec.{SPELT.get(name, name)}: {GONE[name]}" for name in given]


def remarks_on_stateful_set(obj: Object) -> list[str]:
    spec, found = obj["spec"], remarks_on_template("spec", "template")(obj)
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        found += remarks_on_size(claim["spec"], f"spec.volumeClaimTemplates[{index}]")
    if spec.get("revisionHistoryLimit", 0) < 0:
        kept = "a negative value retains all historical revisions; a value >= 0 is recommended"
        found.append(f"spec.revisionHistoryLimit: {kept}")
    return found


def remarks_on_service(obj: Object) -> list[str]:
    spec, found = obj["spec"], []
    is_named, has_ips = spec["type"] == "ExternalName", bool(spec.get("externalIPs"))
    if spec["type"] == "ClusterIP" and spec.get("clusterIP") == "None":
        ignored = {
            "loadBalancerIP": bool(spec.get("loadBalancerIP")),
            "externalIPs": has_ips,
            "SessionAffinity": spec.get("sessionAffinity") != "None",
        }
        found += [f"spec.{name} is ignored for headless services" for name, is_set in ignored.items() if is_set]
    elif has_ips and not is_named:
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if is_named and has_ips:
        found.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if not is_named and spec.get("externalName"):
        found.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def remarks_on_csi_driver(obj: Object) -> list[str]:
    spec = obj["spec"]
    if not spec.get("tokenRequests") or "serviceAccountTokenInSecrets" in spec:
        return []
    advice = "if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"
    return [f"spec.serviceAccountTokenInSecrets is unset; {advice}"]


def remarks_on_ingress(obj: Object) -> list[str]:
    old = "kubernetes.io/ingress.class"
    is_given = old in (obj["metadata"].get("annotations") or {})
    return [f"annotation \"{old}\" is deprecated, please use 'spec.ingressClassName' instead"] if is_given else []


def remarks_on_account(obj: Object) -> list[str]:
    if (obj["metadata"].get("annotations") or {}).get(_SECRETS_ONLY) != "true":
        return []
    advice = "prefer separate namespaces to isolate access to mounted secrets"
    return [f"metadata.annotations[{_SECRETS_ONLY}]: deprecated in v1.32+; {advice}"]


def remarks_on_node(obj: Object) -> list[str]:
    is_given = bool((obj.get("spec") or {}).get("externalID"))
    return ["spec.externalID: this field is deprecated, and is unused by Kubernetes"] if is_given else []


def remarks_on_runtime_class(obj: Object) -> list[str]:
    selector = (obj.get("scheduling") or {}).get("nodeSelector") or {}
    return [f"scheduling.nodeSelector: {OLD_LABELS[key]}" for key in sorted(selector) if key in OLD_LABELS]


def remarks_on_storage_class(obj: Object) -> list[str]:
    return [
        f"allowedTopologies[{index}].matchLabelExpressions[{number}].key: {OLD_LABELS[rule['key']]}"
        for index, term in enumerate(obj.get("allowedTopologies") or ())
        for number, rule in enumerate(term.get("matchLabelExpressions") or ())
        if rule.get("key") in OLD_LABELS
    ]


def remarks_on_cron_job(obj: Object) -> list[str]:
    path = "spec.jobTemplate.spec"
    found = remarks_on_template("spec", "jobTemplate", "spec", "template")(obj)
    spec = obj["spec"]["jobTemplate"]["spec"]
    if spec.get("completionMode") == "Indexed" and _is_huge(spec):
        found.append(f"{path}: {_HUGE}")
    return found


def _is_huge(spec: Object) -> bool:
    return (spec.get("completions") or 0) > 10**5 and (spec.get("parallelism") or 0) > 10**4


_HUGE = (
    "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
    "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
)
