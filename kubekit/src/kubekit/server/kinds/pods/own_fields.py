"""What a pod may learn about itself, through variables and files: its fields and its containers' resources."""

from __future__ import annotations

from kubekit.errors import not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, refuse_each, required

from ..builtin import quantities

FIELDS_OF_VARIABLES = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
FIELDS_OF_FILES = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_KNOWN_FIELDS = {
    *FIELDS_OF_VARIABLES,
    *FIELDS_OF_FILES,
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.hostNetwork",
    "status.phase",
    "status.nominatedNodeName",
}
"""Fields by which pods can be selected, whether or not they can be shown."""
_RESOURCES = tuple(
    f"{part}.{name}" for part in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_CORES = ("1m", "1")
_SIZES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_DIVISORS = {"cpu": _CORES, "memory": _SIZES, "ephemeral-storage": _SIZES}
_SPELT = {"ephemeral-storage": "local ephemeral storage"}


def check_field(found: Problems, reference: Object, path: str, shown: tuple[str, ...]) -> None:
    """A `fieldRef`; `shown` are the fields that may stand there."""
    name, place, version = reference.get("fieldPath") or "", f"{path}.fieldPath", reference.get("apiVersion") or "v1"
    whole, bracket, key = name.partition("[")
    if not name:
        found.append(required(place))
    elif version != "v1":
        found.append(bad(place, name, f"error converting fieldPath: unsupported pod version: {version}"))
    elif bracket and whole in {"metadata.labels", "metadata.annotations"} and key.startswith("'"):
        subscript = key.removeprefix("'").removesuffix("]").removesuffix("'")
        subscript = subscript.lower() if whole == "metadata.annotations" else subscript
        refuse_each(found, path, subscript, name_rules.qualified_name(subscript))
    elif name not in _KNOWN_FIELDS:
        found.append(bad(place, name, f"error converting fieldPath: field label not supported: {name}"))
    elif name not in shown:
        found.append(not_supported(place, name, shown))


def check_resource(found: Problems, reference: Object, path: str, *, of_container: bool) -> None:
    """A `resourceFieldRef`; a file must say `of_container` which, a variable need not."""
    resource = reference.get("resource") or ""
    if of_container and not reference.get("containerName"):
        found.append(required(f"{path}.containerName"))
    elif not resource:
        found.append(required(f"{path}.resource"))
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        found.append(not_supported(f"{path}.resource", resource, _RESOURCES))
    _check_divisor(found, resource, quantities.canonical(reference.get("divisor") or "0"), path)


def _check_divisor(found: Problems, resource: str, divisor: str, path: str) -> None:
    name = resource.partition(".")[2]
    kind = "hugepages" if resource.startswith(_HUGE_PAGES) else name
    allowed = _SIZES if kind == "hugepages" else _DIVISORS.get(name)
    if divisor == "0" or allowed is None or (resource not in _RESOURCES and kind != "hugepages"):
        return
    if divisor not in allowed:
        listed = "1m and 1" if allowed is _CORES else ", ".join(_SIZES)
        detail = f"only divisor's values {listed} are supported with the {_SPELT.get(kind, kind)} resource"
        found.append(bad(f"{path}.divisor", resource, detail))
