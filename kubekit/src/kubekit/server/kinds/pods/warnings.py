"""What a client is told about a pod that is valid, but may not be what it means."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from kubekit.errors import go_quoted
from kubekit.model.resource import Object
from kubekit.server.objects.problems import first_places
from kubekit.server.objects.request import MOST_WARNINGS

from ..builtin import quantities
from .node_labels import OLD_LABELS, remarks_on_term, remarks_on_terms

BYTES = ("memory", "ephemeral-storage")
GONE = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
"""Sources of volumes that do nothing any more."""
SPELT = {"storageos": "storageOS"}
_OLD_NOTES = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_APPARMOR = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_NO_POD = "a null labelSelector results in matching no pod"
_LISTS = ("initContainers", "containers", "ephemeralContainers")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

Remarks = Callable[[Object], list[str]]


def remarks_on_pod(obj: Object) -> list[str]:
    return list(islice(_remarks(obj, ""), MOST_WARNINGS))


def remarks_on_template(*path: str) -> Remarks:
    """Remarks on the template at a place of an object, such as `spec`, `template`."""

    def remarks(obj: Object) -> list[str]:
        holder = obj
        for name in path:
            holder = holder.get(name) or {}
        return list(islice(_remarks(holder, ".".join((*path, ""))), MOST_WARNINGS))

    return remarks


def _remarks(pod: Object, prefix: str) -> Iterator[str]:
    spec, path = pod.get("spec") or {}, f"{prefix}spec"
    notes, where = (pod.get("metadata") or {}).get("annotations") or {}, f"{prefix}metadata.annotations"
    yield from _on_nodes(spec, path)
    yield from (f"{where}[{key}]: {words}" for key, words in _OLD_NOTES.items() if key in notes)
    yield from _on_volumes(spec, path)
    yield from _on_lists(spec, path)
    yield from remarks_on_bytes(spec.get("overhead") or {}, f"{path}.overhead")
    if notes:
        yield from _on_old_profiles(spec, notes, where)
    for place, container in _containers(spec, path):
        yield from _on_container(container, place)
    yield from _on_ports(spec, path)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        treated = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{path}.terminationGracePeriodSeconds: {treated}"
    yield from _on_affinity(spec.get("affinity") or {}, f"{path}.affinity")
    yield from _on_addresses(spec, path)


def _containers(spec: Object, path: str) -> Iterator[tuple[str, Object]]:
    for name in _LISTS:
        for index, container in enumerate(spec.get(name) or ()):
            yield f"{path}.{name}[{index}]", container


def _on_nodes(spec: Object, path: str) -> Iterator[str]:
    """Where the pod wants to be."""
    selector = spec.get("nodeSelector") or {}
    yield from (f"{path}.nodeSelector[{key}]: {OLD_LABELS[key]}" for key in sorted(selector) if key in OLD_LABELS)
    nodes, place = (spec.get("affinity") or {}).get("nodeAffinity") or {}, f"{path}.affinity.nodeAffinity"
    terms = (nodes.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    yield from remarks_on_terms(terms, f"{place}.{_REQUIRED}.nodeSelectorTerms")
    for index, weighted in enumerate(nodes.get(_PREFERRED) or ()):
        term = weighted.get("preference") or {}
        yield from remarks_on_term(term, f"{place}.{_PREFERRED}[{index}].preference", with_values=True)
    for index, spread in enumerate(spec.get("topologySpreadConstraints") or ()):
        place, key = f"{path}.topologySpreadConstraints[{index}]", spread.get("topologyKey", "")
        if key in OLD_LABELS:
            yield f"{place}.topologyKey: {key} is {OLD_LABELS[key]}"
        if spread.get("labelSelector") is None:
            yield f"{place}.labelSelector: {_NO_POD}"


def _on_volumes(spec: Object, path: str) -> Iterator[str]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        place = f"{path}.volumes[{index}]"
        yield from (f"{place}.{SPELT.get(name, name)}: {GONE[name]}" for name in GONE if volume.get(name) is not None)
        claim = (volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}
        yield from remarks_on_size(claim.get("spec") or {}, f"{place}.ephemeral.volumeClaimTemplate.spec")
    for volume in spec.get("volumes") or ():
        empty = (one for one in (volume.get("projected") or {}).get("sources") or () if not one)
        yield from (f"volume {go_quoted(volume.get('name') or '')} (Projected) has no sources provided" for _ in empty)


def remarks_on_size(spec: Object, path: str) -> Iterator[str]:
    """Sizes of a claim that end within a byte."""
    resources = spec.get("resources") or {}
    for part in ("requests", "limits"):
        yield from remarks_on_bytes(resources.get(part) or {}, f"{path}.resources.{part}", "storage")


def remarks_on_bytes(amounts: Object, path: str, *names: str) -> Iterator[str]:
    for name in names or BYTES:
        if name in amounts and not quantities.is_whole(amounts[name]):
            yield f"{path}[{name}]: fractional byte value {go_quoted(amounts[name])} is invalid, must be an integer"


def _on_lists(spec: Object, path: str) -> Iterator[str]:
    """What stands twice, of which apply keeps one."""
    for holder, member in (("hostAliases", "ip"), ("imagePullSecrets", "name")):
        given = [one.get(member, "") for one in spec.get(holder) or ()]
        first = first_places(given)
        for index, value in enumerate(given):
            if first[value] < index:
                yield f"{path}.{holder}[{index}].{member}: duplicate {member} {go_quoted(value)}"
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{path}.imagePullSecrets[{index}].name: invalid empty name ""'


def _on_old_profiles(spec: Object, notes: Object, where: str) -> Iterator[str]:
    """Annotations that became fields."""
    pod = "seccomp.security.alpha.kubernetes.io/pod"
    if pod in notes and not (spec.get("securityContext") or {}).get("seccompProfile"):
        yield f"{where}[{pod}]: {_SECCOMP}"
    for _, container in _containers(spec, ""):
        context = container.get("securityContext") or {}
        for prefix, field, words in (
            ("container.seccomp.security.alpha.kubernetes.io/", "seccompProfile", _SECCOMP),
            ("container.apparmor.security.beta.kubernetes.io/", "appArmorProfile", _APPARMOR),
        ):
            key = f"{prefix}{container.get('name', '')}"
            if key in notes and not context.get(field):
                yield f"{where}[{key}]: {words}"


def _on_container(container: Object, place: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in BYTES:
        for part in ("limits", "requests"):
            yield from remarks_on_bytes(resources.get(part) or {}, f"{place}.resources.{part}", name)
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name", ""), variable.get("value", "")
        if name in seen and (variable.get("valueFrom") is not None or not _builds_on(value, f"$({name})")):
            hides = f"hides previous definition of {go_quoted(name)}"
            yield f"{place}.env[{index}]: {hides}, which may be dropped when using apply"
        seen.add(name)


def _builds_on(value: str, reference: str) -> bool:
    return reference in value and value != reference


def _on_ports(spec: Object, path: str) -> Iterator[str]:
    """All containers of a pod share its ports."""
    ports = [
        (f"{place}.ports[{index}]", port)
        for place, container in _containers(spec, path)
        for index, port in enumerate(container.get("ports") or ())
    ]
    alike: dict[tuple[Any, Any], list[tuple[str, Object]]] = {}
    for place, port in ports:
        if port.get("hostIP") and not port.get("hostPort"):
            yield f"{place}: hostIP set without hostPort: {_shown(port)}"
        others = alike.setdefault((port.get("containerPort"), port.get("protocol")), [])
        for other_place, other in others:
            if clash := _clash(port, other):
                yield f"{place}: {clash} port definition with {other_place}"
        others.append((place, port))
    names: dict[str, str] = {}
    for place, port in ports:
        if (name := port.get("name")) and (first := names.setdefault(name, place)) != place:
            chosen = f"services and probes that select ports by name will use {first}"
            yield f"{place}: duplicate port name {go_quoted(name)} with {first}, {chosen}"


def _clash(port: Object, other: Object) -> str:
    """How two ports that are one in the container get into each other's way."""
    on_host, other_on_host = port.get("hostPort", 0), other.get("hostPort", 0)
    address, other_address = port.get("hostIP", ""), other.get("hostIP", "")
    if (on_host, address) == (other_on_host, other_address):
        return "duplicate"
    if not on_host or not other_on_host:
        return "overlapping"
    is_ambiguous = on_host == other_on_host and bool(address) != bool(other_address)
    return "dangerously ambiguous" if is_ambiguous else ""


def _shown(port: Object) -> str:
    fields = {"Name": "", "HostPort": 0, "ContainerPort": 0, "Protocol": "", "HostIP": ""}
    given = {name: port.get(f"{name[0].lower()}{name[1:]}", absent) for name, absent in fields.items()}
    return "{" + " ".join(f"{name}:{value}" for name, value in given.items()) + "}"


def _on_affinity(affinity: Object, path: str) -> Iterator[str]:
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        for index, term in enumerate(terms.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.{kind}.{_REQUIRED}[{index}].labelSelector: {_NO_POD}"
        for index, weighted in enumerate(terms.get(_PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{path}.{kind}.{_PREFERRED}[{index}].podAffinityTerm.labelSelector: {_NO_POD}"


def _on_addresses(spec: Object, path: str) -> Iterator[str]:
    for index, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from _on_address(server, f"{path}.dnsConfig.nameservers[{index}]")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        yield from _on_address(alias.get("ip", ""), f"{path}.hostAliases[{index}].ip")


def _on_address(value: str, path: str) -> Iterator[str]:
    """An address that can be written shorter. Those that are none are refused elsewhere."""
    if ":" not in value:
        return
    try:
        usual = str(ipaddress.IPv6Address(value))
    except ValueError:
        return
    if usual != value:
        yield f"{path}: IPv6 address {go_quoted(value)} should be in RFC 5952 canonical format ({go_quoted(usual)})"
