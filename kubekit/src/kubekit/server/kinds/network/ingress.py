"""Ingress and IngressClass."""

from __future__ import annotations

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    Problems,
    bad,
    forbidden,
    refuse_each,
    required,
    too_long,
    unchanged,
)

from ..builtin.behaviour import BuiltIn
from ..builtin.warnings import remarks_on_ingress

_SCOPES = ("Cluster", "Namespace")
_GROUP = "networking.k8s.io"
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_ENDINGS = ("/..", "/.")


def _fill_ingress(obj: Object) -> None:
    spec = obj["spec"]
    if "defaultBackend" in spec and not spec.get("rules"):
        # Nobody asks any more whether they were given.
        spec.pop("rules", None)


def _check_ingress_new(obj: Object) -> list[FieldError]:
    found = _check_ingress(obj)
    annotation = (obj["metadata"].get("annotations") or {}).get("kubernetes.io/ingress.class")
    name = obj["spec"].get("ingressClassName")
    if annotation is not None and name is not None and annotation != name:
        detail = "must match `ingressClassName` when both are specified"
        found.append(bad("annotations.kubernetes.io/ingress.class", annotation, detail))
    return found


def _check_ingress(obj: Object) -> list[FieldError]:
    found: Problems = []
    spec = obj["spec"]
    rules, backend = spec.get("rules"), spec.get("defaultBackend")
    if not rules and backend is None:
        found.append(bad("spec", rules, "either `defaultBackend` or `rules` must be specified"))
    if backend is not None:
        _check_backend(found, backend, "spec.defaultBackend")
    for index, rule in enumerate(rules or ()):
        _check_ingress_rule(found, rule, f"spec.rules[{index}]")
    for index, tls in enumerate(spec.get("tls") or ()):
        for position, host in enumerate(tls.get("hosts") or ()):
            refuse_each(found, f"spec.tls[{index}].hosts[{position}]", host, name_rules.host(host))
        if tls.get("secretName"):
            secret = tls["secretName"]
            refuse_each(found, f"spec.tls[{index}].secretName", secret, name_rules.subdomain(secret))
    if spec.get("ingressClassName") is not None:
        name = spec["ingressClassName"]
        refuse_each(found, "spec.ingressClassName", name, name_rules.subdomain(name))
    return found


def _check_ingress_rule(found: Problems, rule: Object, path: str) -> None:
    host = rule.get("host") or ""
    if host:
        if name_rules.is_ip(host):
            found.append(bad(f"{path}.host", host, "must be a DNS name, not an IP address"))
        refuse_each(found, f"{path}.host", host, name_rules.host(host))
    http = rule.get("http")
    if http is None:
        return
    if not http.get("paths"):
        found.append(required(f"{path}.http.paths"))
    for index, route in enumerate(http.get("paths") or ()):
        _check_route(found, route, f"{path}.http.paths[{index}]")


def _check_route(found: Problems, route: Object, path: str) -> None:
    kind, place = route.get("pathType"), route.get("path") or ""
    if kind is None:
        found.append(required(f"{path}.pathType", "pathType must be specified"))
        return
    if kind in {"Exact", "Prefix"}:
        if not place.startswith("/"):
            found.append(bad(f"{path}.path", place, "must be an absolute path"))
        for part in _BAD_SEQUENCES:
            if part in place:
                found.append(bad(f"{path}.path", place, f"must not contain '{part}'"))
        for part in _BAD_ENDINGS:
            if place.endswith(part):
                found.append(bad(f"{path}.path", place, f"cannot end with '{part}'"))
    elif kind == "ImplementationSpecific":
        if place and not place.startswith("/"):
            found.append(bad(f"{path}.path", place, "must be an absolute path"))
    else:
        found.append(not_supported(f"{path}.pathType", kind, _PATH_TYPES))
    _check_backend(found, route.get("backend") or {}, f"{path}.backend")


def _check_backend(found: Problems, backend: Object, path: str) -> None:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        found.append(bad(path, "", "cannot set both resource and service backends"))
    elif resource is not None:
        _check_reference(found, resource, f"{path}.resource")
    elif service is not None:
        _check_service_backend(found, service, path)
    else:
        found.append(bad(path, "", "resource or service backend is required"))


def _check_service_backend(found: Problems, service: Object, path: str) -> None:
    name = service.get("name") or ""
    if name:
        refuse_each(found, f"{path}.service.name", name, name_rules.label(name))
    else:
        found.append(required(f"{path}.service.name"))
    port = service.get("port") or {}
    port_name, number = port.get("name") or "", port.get("number") or 0
    if port_name and number:
        found.append(bad(path, "", "cannot set both port name & port number"))
    elif port_name:
        refuse_each(found, f"{path}.service.port.name", port_name, name_rules.port_name(port_name))
    elif number:
        refuse_each(found, f"{path}.service.port.number", number, name_rules.port(number))
    else:
        found.append(required(path, "port name or number is required"))


def _fill_ingress_class(obj: Object) -> None:
    parameters = obj["spec"].get("parameters")
    if parameters is not None and parameters["scope"] is None:
        parameters["scope"] = "Cluster"


def _check_ingress_class(obj: Object) -> list[FieldError]:
    found: Problems = []
    controller = obj["spec"].get("controller") or ""
    if len(controller) > 250:
        found.append(too_long("spec.controller", 250))
    check_prefixed_path(found, controller, "spec.controller")
    if "parameters" in obj["spec"]:
        _check_parameters(found, obj["spec"]["parameters"], "spec.parameters")
    return found


def _check_reference(found: Problems, reference: Object, path: str) -> None:
    """Something of any kind."""
    if reference.get("apiGroup") is not None:
        refuse_each(found, f"{path}.apiGroup", reference["apiGroup"], name_rules.subdomain(reference["apiGroup"]))
    for name in ("kind", "name"):
        value = reference.get(name) or ""
        if not value:
            found.append(required(f"{path}.{name}"))
        refuse_each(found, f"{path}.{name}", value, name_rules.path_segment(value))


def _check_parameters(found: Problems, parameters: Object, path: str) -> None:
    _check_reference(found, parameters, path)
    scope, namespace = parameters["scope"], parameters.get("namespace")
    if scope not in _SCOPES:
        found.append(not_supported(f"{path}.scope", scope, _SCOPES))
    elif scope == "Cluster":
        if namespace is not None:
            found.append(forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    elif namespace is None:
        found.append(required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
    else:
        refuse_each(found, f"{path}.namespace", namespace, name_rules.label(namespace))


def check_prefixed_path(found: Problems, value: str, path: str) -> None:
    """A domain, a slash and a path: `acme.io/foo`."""
    domain, _, rest = value.partition("/")
    if not value:
        found.append(required(path))
    elif not domain or not rest:
        found.append(bad(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")'))
    else:
        refuse_each(found, path, domain, name_rules.subdomain(domain))
        refuse_each(found, path, rest, name_rules.http_path(rest))


def _check_ingress_class_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    unchanged(found, "spec.controller", obj["spec"].get("controller"), old["spec"].get("controller"))
    return [*found, *_check_ingress_class(obj)]


KINDS = {
    (_GROUP, "Ingress"): BuiltIn(
        fill=_fill_ingress,
        check=_check_ingress_new,
        check_update=lambda obj, _: _check_ingress(obj),
        first_remarks=remarks_on_ingress,
        status=True,
        generation=("spec",),
    ),
    (_GROUP, "IngressClass"): BuiltIn(
        fill=_fill_ingress_class,
        check=_check_ingress_class,
        check_update=_check_ingress_class_update,
        generation=("spec",),
    ),
}
