"""Containers of a pod: names, images, ports, variables, mounts, probes and resources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubekit.errors import not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    forbidden,
    missing,
    not_negative,
    refuse_each,
    required,
)

from ..builtin.compute import check_resources
from ..storage.volume_files import check_relative
from .container_details import (
    check_app_armor,
    check_devices,
    check_mount_modes,
    check_proc_mount,
    check_resizing,
    check_restarts,
    check_seccomp,
)
from .own_fields import FIELDS_OF_VARIABLES, check_field, check_resource

PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_SCHEMES = ("HTTP", "HTTPS")
_ACTIONS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_ONE_VALUE = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
    "may not have more than one field specified at a time",
)
_SECURITY = (
    "capabilities",
    "privileged",
    "sELinuxOptions",
    "windowsOptions",
    "runAsUser",
    "runAsGroup",
    "runAsNonRoot",
    "readOnlyRootFilesystem",
    "allowPrivilegeEscalation",
    "procMount",
    "seccompProfile",
    "appArmorProfile",
)
"""The members of a security context in the order error messages show them."""
_SIDECAR_ONLY = "may not be set for init containers without restartPolicy=Always"


def check_containers(found: Problems, containers: Iterable[Object], path: str, volumes: set[str]) -> None:
    listed = list(containers)
    if not listed:
        found.append(required(path))
        return
    names: set[str] = set()
    for index, container in enumerate(listed):
        place = f"{path}[{index}]"
        _check_container(found, container, place, volumes)
        _claim_name(found, container, place, names)
        _check_hooks(found, container, place)
        check_restarts(found, container, place)
    _check_host_ports(found, listed, path)


def check_init_containers(found: Problems, spec: Object, path: str, volumes: set[str]) -> None:
    names = {container.get("name") or "" for container in spec.get("containers") or ()}
    for index, container in enumerate(spec.get("initContainers") or ()):
        place = f"{path}[{index}]"
        _check_container(found, container, place, volumes)
        check_restarts(found, container, place, is_first=True)
        _claim_name(found, container, place, names)
        _check_host_ports(found, [container], path)
        if container.get("restartPolicy") == "Always":
            _check_hooks(found, container, place)
            continue
        for name in ("lifecycle", *_PROBES):
            if container.get(name) is not None:
                found.append(forbidden(f"{place}.{name}", _SIDECAR_ONLY))


def _claim_name(found: Problems, container: Object, path: str, names: set[str]) -> None:
    name = container.get("name") or ""
    if name in names:
        found.append(duplicate(f"{path}.name", name))
    elif name:
        names.add(name)


def _check_container(found: Problems, container: Object, path: str, volumes: set[str]) -> None:
    name = container.get("name") or ""
    if name:
        refuse_each(found, f"{path}.name", name, name_rules.label(name))
    else:
        found.append(required(f"{path}.name"))
    image = container.get("image") or ""
    if not image:
        found.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy")
    if policy not in _MESSAGE_POLICIES:
        found.append(not_supported(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES))
    _check_ports(found, container.get("ports") or (), f"{path}.ports")
    for index, variable in enumerate(container.get("env") or ()):
        _check_variable(found, variable, f"{path}.env[{index}]")
    _check_env_from(found, container.get("envFrom") or (), f"{path}.envFrom")
    if container.get("volumeMounts"):
        _check_mounts(found, container, f"{path}.volumeMounts", volumes)
    if container.get("volumeDevices"):
        check_devices(found, container, f"{path}.volumeDevices", volumes)
    if container.get("imagePullPolicy") not in _PULL_POLICIES:
        found.append(not_supported(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), _PULL_POLICIES))
    if container.get("resources"):
        check_resources(found, container["resources"], f"{path}.resources")
    if container.get("resizePolicy"):
        check_resizing(found, container["resizePolicy"], f"{path}.resizePolicy")
    if container.get("securityContext"):
        _check_security(found, container["securityContext"], f"{path}.securityContext")


def check_image_spaces(found: Problems, spec: Object, path: str) -> None:
    """New pods may not name an image with blanks around it; templates may."""
    for list_name in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(list_name) or ()):
            image = container.get("image") or ""
            if image != image.strip():
                place = f"{path}.{list_name}[{index}].image"
                found.append(bad(place, image, "must not have leading or trailing whitespace"))


def _check_ports(found: Problems, ports: Iterable[Object], path: str) -> None:
    names: set[str] = set()
    for index, port in enumerate(ports):
        place = f"{path}[{index}]"
        if name := port.get("name"):
            if broken := name_rules.port_name(name):
                refuse_each(found, f"{place}.name", name, broken)
            elif name in names:
                found.append(duplicate(f"{place}.name", name))
            names.add(name)
        number = port.get("containerPort") or 0
        if number == 0:
            found.append(required(f"{place}.containerPort"))
        else:
            refuse_each(found, f"{place}.containerPort", number, name_rules.port(number))
        if host_port := port.get("hostPort"):
            refuse_each(found, f"{place}.hostPort", host_port, name_rules.port(host_port))
        check_protocol(found, port, place)


def check_app_protocol(found: Problems, port: Object, path: str) -> None:
    if port.get("appProtocol") is not None:
        name = port["appProtocol"]
        refuse_each(found, f"{path}.appProtocol", name, name_rules.qualified_name(name))


def check_protocol(found: Problems, port: Object, path: str) -> None:
    protocol = port.get("protocol")
    if not protocol:
        found.append(required(f"{path}.protocol"))
    elif protocol not in PROTOCOLS:
        found.append(not_supported(f"{path}.protocol", protocol, PROTOCOLS))


def check_port_or_name(found: Problems, value: int | str, path: str) -> None:
    broken = name_rules.port(value) if isinstance(value, int) else name_rules.port_name(value)
    refuse_each(found, path, value, broken)


def _check_host_ports(found: Problems, containers: Iterable[Object], path: str) -> None:
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for position, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            claim = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if claim in taken:
                found.append(duplicate(f"{path}[{index}].ports[{position}].hostPort", claim))
            taken.add(claim)


def _check_variable(found: Problems, variable: Object, path: str) -> None:
    name = variable.get("name") or ""
    if name:
        refuse_each(found, f"{path}.name", name, name_rules.environment_name(name))
    else:
        found.append(required(f"{path}.name"))
    source = variable.get("valueFrom")
    if source is None:
        return
    path = f"{path}.valueFrom"
    given = [kind for kind in source if source[kind] is not None]
    if "fieldRef" in given:
        check_field(found, source["fieldRef"], f"{path}.fieldRef", FIELDS_OF_VARIABLES)
    if "resourceFieldRef" in given:
        check_resource(found, source["resourceFieldRef"], f"{path}.resourceFieldRef", of_container=False)
    for kind in ("configMapKeyRef", "secretKeyRef"):
        if kind in given:
            _check_key_reference(found, source[kind], f"{path}.{kind}")
    if not given:
        found.append(bad(path, "", _ONE_VALUE[0]))
    elif variable.get("value"):
        found.append(bad(path, "", "may not be specified when `value` is not empty"))
    elif len(given) > 1:
        found.append(bad(path, "", _ONE_VALUE[1]))


def _check_key_reference(found: Problems, reference: Object, path: str) -> None:
    name, key = reference.get("name") or "", reference.get("key") or ""
    refuse_each(found, f"{path}.name", name, name_rules.subdomain(name))
    if key:
        refuse_each(found, f"{path}.key", key, name_rules.config_key(key))
    else:
        found.append(required(f"{path}.key"))


def _check_env_from(found: Problems, sources: Iterable[Object], path: str) -> None:
    for index, source in enumerate(sources):
        given = [kind for kind in ("configMapRef", "secretRef") if source.get(kind) is not None]
        for kind in given:
            name = source[kind].get("name") or ""
            if name:
                refuse_each(found, f"{path}[{index}].{kind}.name", name, name_rules.subdomain(name))
            else:
                found.append(required(f"{path}[{index}].{kind}.name"))
        if not given:
            found.append(bad(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            found.append(bad(path, "", _ONE_VALUE[1]))


def _check_mounts(found: Problems, container: Object, path: str, volumes: set[str]) -> None:
    places: set[str] = set()
    for index, mount in enumerate(container["volumeMounts"]):
        place = f"{path}[{index}]"
        name, target = mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            found.append(required(f"{place}.name"))
        if name not in volumes:
            found.append(missing(f"{place}.name", name))
        if not target:
            found.append(required(f"{place}.mountPath"))
        if target in places:
            found.append(bad(f"{place}.mountPath", target, "must be unique"))
        places.add(target)
        if mount.get("subPath"):
            check_relative(found, mount["subPath"], f"{place}.subPath")
        if mount.get("subPathExpr"):
            if mount.get("subPath"):
                detail = "subPathExpr and subPath are mutually exclusive"
                found.append(bad(f"{place}.subPathExpr", mount["subPathExpr"], detail))
            check_relative(found, mount["subPathExpr"], f"{place}.subPathExpr")
        check_mount_modes(found, mount, container, path)


def _check_hooks(found: Problems, container: Object, path: str) -> None:
    for name in ("postStart", "preStop"):
        action = (container.get("lifecycle") or {}).get(name)
        if action is not None:
            _check_action(found, action, f"{path}.lifecycle.{name}")
    for name in _PROBES:
        if container.get(name) is not None:
            _check_probe(found, container[name], f"{path}.{name}", name)


def _check_probe(found: Problems, probe: Object, path: str, name: str) -> None:
    _check_action(found, probe, path)
    numbers = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
    for number in numbers:
        not_negative(found, probe, number, path)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and name == "readinessProbe":
        found.append(bad(f"{path}.terminationGracePeriodSeconds", grace, "must not be set for readinessProbes"))
    elif grace is not None and grace <= 0:
        found.append(bad(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
    if name != "readinessProbe" and probe.get("successThreshold") != 1:
        found.append(bad(f"{path}.successThreshold", probe.get("successThreshold"), "must be 1"))


def _check_action(found: Problems, holder: Mapping[str, Object], path: str) -> None:
    given = [name for name in _ACTIONS if holder.get(name) is not None]
    if not given:
        found.append(required(path, "must specify a handler type"))
        return
    first, *more = given
    action, place = holder[first], f"{path}.{first}"
    match first:
        case "exec" if not action.get("command"):
            found.append(required(f"{place}.command"))
        case "httpGet":
            _check_http(found, action, place)
        case "tcpSocket":
            check_port_or_name(found, action.get("port") or 0, f"{place}.port")
        case "grpc":
            refuse_each(found, f"{place}.port", action.get("port") or 0, name_rules.port(action.get("port") or 0))
        case _:
            pass
    found.extend(forbidden(f"{path}.{name}", "may not specify more than 1 handler type") for name in more)


def _check_http(found: Problems, action: Object, path: str) -> None:
    check_port_or_name(found, action.get("port") or 0, f"{path}.port")
    if action.get("scheme") not in _SCHEMES:
        found.append(not_supported(f"{path}.scheme", action.get("scheme"), _SCHEMES))
    for header in action.get("httpHeaders") or ():
        name = header.get("name") or ""
        refuse_each(found, f"{path}.httpHeaders", name, name_rules.header(name))


def _check_security(found: Problems, context: Object, path: str) -> None:
    for name in ("runAsUser", "runAsGroup"):
        number = context.get(name)
        if number is not None and not 0 <= number <= 2**31 - 1:
            found.append(bad(f"{path}.{name}", number, name_rules.between(0, 2**31 - 1)))
    check_proc_mount(found, context, path)
    for name, check in (("seccompProfile", check_seccomp), ("appArmorProfile", check_app_armor)):
        if context.get(name) is not None:
            check(found, context[name], f"{path}.{name}")
    if context.get("allowPrivilegeEscalation") is False and context.get("privileged"):
        detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        found.append(bad(path, {name[0].upper() + name[1:]: context.get(name) for name in _SECURITY}, detail))
