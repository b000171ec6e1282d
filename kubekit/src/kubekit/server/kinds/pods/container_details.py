"""What few containers say: how they restart, are resized and confined, and which devices they use."""

from __future__ import annotations

from kubekit.errors import not_supported
from kubekit.model.resource import Object
from kubekit.server.objects.problems import (
    Problems,
    bad,
    duplicate,
    first_places,
    forbidden,
    missing,
    required,
    too_long,
    too_many,
)

from ..storage.volume_files import check_relative

_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RULE_ACTIONS = ("Restart", "RestartAllContainers")
_OPERATORS = ("In", "NotIn")
_MOST_RULES, _MOST_CODES = 20, 255
_RESIZED = ("cpu", "memory")
_RESIZE_POLICIES = ("NotRequired", "RestartContainer")
_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY = ("Disabled", "Enabled", "IfPossible")
_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_PROC_MOUNTS = ("Default", "Unmasked")
_LONGEST_PROFILE = 4095


def check_restarts(found: Problems, container: Object, path: str, *, is_first: bool = False) -> None:
    """`is_first`: it runs before the others, and its rules are not looked at without a policy."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or ()
    if policy is None and rules:
        found.append(required(f"{path}.restartPolicy", "must specify restartPolicy when restart rules are used"))
        if is_first:
            return
    elif policy is not None and policy not in _RESTART_POLICIES:
        found.append(not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES))
    if len(rules) > _MOST_RULES:
        found.append(too_many(f"{path}.restartPolicyRules", len(rules), _MOST_RULES))
    for index, rule in enumerate(rules):
        _check_restart_rule(found, rule, f"{path}.restartPolicyRules[{index}]")


def _check_restart_rule(found: Problems, rule: Object, path: str) -> None:
    if rule.get("action") not in _RULE_ACTIONS:
        found.append(not_supported(f"{path}.action", rule.get("action") or "", _RULE_ACTIONS))
    codes = rule.get("exitCodes")
    if codes is None:
        found.append(required(f"{path}.exitCodes", "must be specified"))
        return
    if codes.get("operator") not in _OPERATORS:
        found.append(not_supported(f"{path}.exitCodes.operator", codes.get("operator") or "", _OPERATORS))
    if len(codes.get("values") or ()) > _MOST_CODES:
        found.append(too_many(f"{path}.exitCodes.values", len(codes["values"]), _MOST_CODES))


def check_resizing(found: Problems, policies: list[Object], path: str) -> None:
    names = [one.get("resourceName") or "" for one in policies]
    first = first_places(names)
    for index, (name, one) in enumerate(zip(names, policies, strict=True)):
        if first[name] < index:
            found.append(duplicate(f"{path}[{index}]", name))
        for value, supported in ((name, _RESIZED), (one.get("restartPolicy") or "", _RESIZE_POLICIES)):
            if not value:
                found.append(required(path))
            elif value not in supported:
                found.append(not_supported(path, value, supported))


def check_devices(found: Problems, container: Object, path: str, volumes: set[str]) -> None:
    mounts = container.get("volumeMounts") or ()
    names: set[str] = set()
    places: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        place, name, target = f"{path}[{index}]", device.get("name") or "", device.get("devicePath") or ""
        if not name:
            found.append(required(f"{place}.name"))
        if name in names:
            found.append(bad(f"{place}.name", name, "must be unique"))
        if name not in volumes:
            found.append(missing(f"{place}.name", name))
        if not target:
            found.append(required(f"{place}.devicePath"))
        if target in places:
            found.append(bad(f"{place}.devicePath", target, "must be unique"))
        if ".." in target.split("/"):
            found.append(bad(f"{place}.devicePath", target, "can not contain backsteps ('..')"))
        else:
            places.add(target)
        if name in {one.get("name") for one in mounts}:
            found.append(bad(f"{place}.name", name, "must not already exist in volumeMounts"))
        if target in {one.get("mountPath") for one in mounts}:
            found.append(bad(f"{place}.devicePath", target, "must not already exist as a path in volumeMounts"))
        if name:
            names.add(name)


def check_mount_modes(found: Problems, mount: Object, container: Object, path: str) -> None:
    """`path` is that of all mounts, which the real server names instead of the one."""
    propagation, read_only = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    if propagation is not None and propagation not in _PROPAGATIONS:
        found.append(not_supported(f"{path}.mountPropagation", propagation, _PROPAGATIONS))
    elif propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        detail = "Bidirectional mount propagation is available only to privileged containers"
        found.append(forbidden(f"{path}.mountPropagation", detail))
    place = f"{path}.recursiveReadOnly"
    if read_only in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            found.append(forbidden(place, "may only be specified when readOnly is true"))
        if propagation not in (None, "None"):
            detail = "may only be specified when mountPropagation is None or not specified"
            found.append(forbidden(place, detail))
    elif read_only is not None and read_only != "Disabled":
        found.append(not_supported(place, read_only, _READ_ONLY))


def check_proc_mount(found: Problems, context: Object, path: str) -> None:
    mount = context.get("procMount")
    if mount is not None and mount not in _PROC_MOUNTS:
        found.append(not_supported(f"{path}.procMount", mount, _PROC_MOUNTS))


def check_seccomp(found: Problems, profile: Object, path: str) -> None:
    kind, file = profile.get("type") or "", profile.get("localhostProfile")
    if not kind:
        found.append(required(f"{path}.type", "type is required when seccompProfile is set"))
    elif kind not in _PROFILES:
        found.append(not_supported(f"{path}.type", kind, _PROFILES))
    place = f"{path}.localhostProfile"
    if kind != "Localhost":
        if file is not None:
            shown = {"Type": kind, "LocalhostProfile": file}
            found.append(bad(place, shown, "can only be set when seccomp type is Localhost"))
    elif file is None:
        found.append(required(place, "must be set when seccomp type is Localhost"))
    else:
        check_relative(found, file, place)


def check_app_armor(found: Problems, profile: Object, path: str) -> None:
    kind = profile.get("type") or ""
    file: str | None = profile.get("localhostProfile")
    place = f"{path}.localhostProfile"
    if not kind:
        found.append(required(f"{path}.type", "type is required when appArmorProfile is set"))
    elif kind not in _PROFILES:
        found.append(not_supported(f"{path}.type", kind, _PROFILES))
    elif kind != "Localhost":
        if file is not None:
            found.append(bad(place, file, "can only be set when AppArmor type is Localhost"))
    elif file is None or not file.strip():
        found.append(required(place, "must be set when AppArmor type is Localhost"))
    else:
        if file != file.strip():
            found.append(bad(place, file, "must not be padded with whitespace"))
        if len(file) > _LONGEST_PROFILE:
            found.append(too_long(place, _LONGEST_PROFILE))
