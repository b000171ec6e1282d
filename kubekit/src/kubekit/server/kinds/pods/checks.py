"""What must hold wherever a pod is described: in pods and in the templates of workloads."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kubekit.errors import not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, duplicate, forbidden, refuse_each, required, too_long

from ..builtin.label_selectors import check_labels
from ..storage.volumes import check_volumes
from .claims import check_claims
from .container_details import check_app_armor, check_seccomp
from .containers import check_containers, check_init_containers
from .placement import check_affinity, check_spreading

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_LARGEST = 2**31 - 1
_SYSCTL = r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_POD_POLICIES = {
    "fsGroupChangePolicy": ("Always", "OnRootMismatch"),
    "seLinuxChangePolicy": ("MountOption", "Recursive"),
    "supplementalGroupsPolicy": ("Merge", "Strict"),
}
_MOST_SEARCHES, _LONGEST_SEARCHES = 32, 2048
_SYSTEMS = ("linux", "windows")
_ALL_KEYS = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'


def check_template(found: Problems, template: Object, path: str, also_mounted: Iterable[str] = ()) -> None:
    """A pod template; `also_mounted` names volumes that only the pods will have."""
    metadata = template.get("metadata") or {}
    check_labels(found, metadata.get("labels"), f"{path}.labels")
    for key in metadata.get("annotations") or ():
        refuse_each(found, f"{path}.annotations", key, name_rules.qualified_name(key.lower()))
    spec = template.get("spec") or {}
    check_pod_spec(found, spec, f"{path}.spec", is_pod=False, also_mounted=also_mounted)
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        found.append(forbidden(f"{path}.spec.ephemeralContainers", detail))


def check_pod_spec(found: Problems, spec: Object, path: str, *, is_pod: bool, also_mounted: Iterable[str] = ()) -> None:
    volumes = check_volumes(found, spec.get("volumes") or (), f"{path}.volumes")
    volumes.update(also_mounted)
    check_claims(found, spec, path)
    check_containers(found, spec.get("containers") or (), f"{path}.containers", volumes)
    if spec.get("initContainers"):
        check_init_containers(found, spec, f"{path}.initContainers", volumes)
    if spec.get("hostNetwork"):
        _check_host_network(found, spec, f"{path}.containers", is_pod=is_pod)
    if spec["restartPolicy"] not in _RESTART_POLICIES:
        found.append(not_supported(f"{path}.restartPolicy", spec["restartPolicy"], _RESTART_POLICIES))
    if spec["dnsPolicy"] not in _DNS_POLICIES:
        found.append(not_supported(f"{path}.dnsPolicy", spec["dnsPolicy"], _DNS_POLICIES))
    check_labels(found, spec.get("nodeSelector"), f"{path}.nodeSelector")
    if spec.get("hostUsers") is False:
        shared = (name for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name))
        found.extend(forbidden(f"{path}.{name}", "when `hostUsers` is false") for name in shared)
    if spec["securityContext"]:
        _check_pod_security(found, spec["securityContext"], f"{path}.securityContext")
    if spec.get("affinity"):
        check_affinity(found, spec["affinity"], f"{path}.affinity")
    _check_dns(found, spec, path)
    _check_gates(found, spec, path)
    check_spreading(found, spec.get("topologySpreadConstraints") or [], f"{path}.topologySpreadConstraints")
    _check_names(found, spec, path)
    _check_numbers(found, spec, path)
    check_tolerations(found, spec.get("tolerations") or (), f"{path}.tolerations")
    _check_host_aliases(found, spec, path)
    if spec.get("os") is not None:
        _check_system(found, spec["os"].get("name") or "", f"{path}.os")


def _check_system(found: Problems, name: str, path: str) -> None:
    if not name:
        found.append(required(f"{path}.name"))
    elif name not in _SYSTEMS:
        found.append(not_supported(path, name, _SYSTEMS))


def _check_host_network(found: Problems, spec: Object, path: str, *, is_pod: bool) -> None:
    for index, container in enumerate(spec.get("containers") or ()):
        for position, port in enumerate(container.get("ports") or ()):
            on_host = port.get("hostPort") or 0
            if (is_pod or on_host) and on_host != (port.get("containerPort") or 0):
                detail = "must match `containerPort` when `hostNetwork` is true"
                found.append(bad(f"{path}[{index}].ports[{position}].hostPort", on_host, detail))


def _check_pod_security(found: Problems, context: Object, path: str) -> None:
    for name in ("runAsUser", "runAsGroup", "fsGroup"):
        number = context.get(name)
        if number is not None and not 0 <= number <= _LARGEST:
            found.append(bad(f"{path}.{name}", number, name_rules.between(0, _LARGEST)))
    for index, setting in enumerate(context.get("sysctls") or ()):
        name, place = setting.get("name") or "", f"{path}.sysctls[{index}].name"
        if not name:
            found.append(required(place))
        elif len(name) > 253 or not re.fullmatch(_SYSCTL, name):
            found.append(bad(place, name, f"must have at most 253 characters and match regex ^{_SYSCTL}$"))
    for name, supported in _POD_POLICIES.items():
        if context.get(name) is not None and context[name] not in supported:
            found.append(not_supported(f"{path}.{name}", context[name], supported))
    for name, check in (("seccompProfile", check_seccomp), ("appArmorProfile", check_app_armor)):
        if context.get(name) is not None:
            check(found, context[name], f"{path}.{name}")


def _check_dns(found: Problems, spec: Object, path: str) -> None:
    settings = spec.get("dnsConfig")
    if spec["dnsPolicy"] == "None":
        if settings is None:
            found.append(required(f"{path}.dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None"))
        elif not settings.get("nameservers"):
            detail = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            found.append(required(f"{path}.dnsConfig.nameservers", detail))
    for index, server in enumerate((settings or {}).get("nameservers") or ()):
        refuse_each(found, f"{path}.dnsConfig.nameservers[{index}]", server, name_rules.ip(server))
    _check_searches(found, (settings or {}).get("searches") or [], f"{path}.dnsConfig.searches")
    options = (settings or {}).get("options") or ()
    unnamed = (index for index, option in enumerate(options) if not option.get("name"))
    found.extend(required(f"{path}.dnsConfig.options[{index}]", "must not be empty") for index in unnamed)


def _check_searches(found: Problems, searches: list[str], path: str) -> None:
    if len(searches) > _MOST_SEARCHES:
        found.append(bad(path, searches, f"must not have more than {_MOST_SEARCHES} search paths"))
    if len(" ".join(searches)) > _LONGEST_SEARCHES:
        room = f"{_LONGEST_SEARCHES} characters (including spaces) in the search list"
        found.append(bad(path, searches, f"must not have more than {room}"))
    for index, search in enumerate(searches):
        name = search.removesuffix(".")
        if search != ".":
            refuse_each(found, f"{path}[{index}]", name, name_rules.subdomain_with_underscores(name))


def _check_gates(found: Problems, spec: Object, path: str) -> None:
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        kind = gate.get("conditionType") or ""
        refuse_each(found, f"{path}.readinessGates[{index}].conditionType", kind, name_rules.qualified_name(kind))
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate.get("name") or ""
        refuse_each(found, f"{path}.schedulingGates[{index}]", name, name_rules.qualified_name(name))
        if name in seen:
            found.append(duplicate(f"{path}.schedulingGates[{index}]", name))
        seen.add(name)


def _check_names(found: Problems, spec: Object, path: str) -> None:
    for name in ("serviceAccountName", "nodeName"):
        if spec.get(name):
            refuse_each(found, f"{path}.{name}", spec[name], name_rules.subdomain(spec[name]))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _LARGEST:
        found.append(bad(f"{path}.activeDeadlineSeconds", deadline, name_rules.between(1, _LARGEST)))
    if spec.get("hostnameOverride") is not None:
        name = spec["hostnameOverride"]
        if len(name) > 64:
            found.append(too_long(f"{path}.hostnameOverride", 64))
        refuse_each(found, f"{path}.hostnameOverride", name, name_rules.subdomain(name))
    for name in ("hostname", "subdomain"):
        if spec.get(name):
            refuse_each(found, f"{path}.{name}", spec[name], name_rules.label(spec[name]))


def _check_numbers(found: Problems, spec: Object, path: str) -> None:
    for name in ("priorityClassName", "runtimeClassName"):
        if spec.get(name):
            refuse_each(found, f"{path}.{name}", spec[name], name_rules.subdomain(spec[name]))
    policy = spec.get("preemptionPolicy")
    if policy is not None and policy not in _PREEMPTION_POLICIES:
        found.append(not_supported(f"{path}.preemptionPolicy", policy, _PREEMPTION_POLICIES))


def check_tolerations(found: Problems, tolerations: Iterable[Object], path: str) -> None:
    for index, toleration in enumerate(tolerations):
        _check_toleration(found, toleration, f"{path}[{index}]")


def _check_toleration(found: Problems, toleration: Object, path: str) -> None:
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    if key:
        refuse_each(found, f"{path}.key", key, name_rules.qualified_name(key))
    elif operator != "Exists":
        found.append(bad(f"{path}.operator", operator, _ALL_KEYS))
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        found.append(bad(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    if operator in {"", "Equal"}:
        if broken := name_rules.label_value(value):
            found.append(bad(f"{path}.operator", value, ";".join(broken)))
    elif operator == "Exists":
        if value:
            found.append(bad(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'"))
    else:
        found.append(not_supported(f"{path}.operator", operator, ("Equal", "Exists")))
    if effect and effect not in EFFECTS:
        found.append(not_supported(f"{path}.effect", effect, EFFECTS))


def _check_host_aliases(found: Problems, spec: Object, path: str) -> None:
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        place = f"{path}.hostAliases[{index}]"
        refuse_each(found, f"{place}.ip", alias.get("ip") or "", name_rules.ip(alias.get("ip") or ""))
        for position, name in enumerate(alias.get("hostnames") or ()):
            refuse_each(found, f"{place}.hostnames[{position}]", name, name_rules.subdomain(name))
