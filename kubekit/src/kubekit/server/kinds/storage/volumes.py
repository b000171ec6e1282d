"""Volumes of a pod: exactly one source each, and its required parts."""

from __future__ import annotations

from collections.abc import Iterable

from kubekit.errors import not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, duplicate, forbidden, refuse_each, required, too_long

from ..builtin import quantities
from ..builtin.label_selectors import check_labels, check_selector
from .disks import check_disk
from .volume_files import check_downward, check_files, check_no_backsteps, check_projected

_ONE_TYPE = "may not specify more than 1 volume type"
_HOST_PATH_TYPES = (
    "",
    "DirectoryOrCreate",
    "Directory",
    "FileOrCreate",
    "File",
    "Socket",
    "CharDevice",
    "BlockDevice",
)
ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")


def check_volumes(found: Problems, volumes: Iterable[Object], path: str) -> set[str]:
    """Add what is wrong with the volumes and answer with the names that mounts may use."""
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        here: Problems = []
        place = f"{path}[{index}]"
        _check_source(here, volume, place)
        name = volume.get("name") or ""
        if not name:
            here.append(required(f"{place}.name"))
        else:
            refuse_each(here, f"{place}.name", name, name_rules.label(name))
        if name in names:
            here.append(duplicate(f"{place}.name", name))
        if here:
            found.extend(here)
        else:
            names.add(name)
    return names


def _check_source(found: Problems, volume: Object, path: str) -> None:
    sources = [name for name in volume if name != "name" and volume[name] is not None]
    if not sources:
        found.append(required(path, "must specify a volume type"))
        return
    sources.sort(key=_order)
    first, *more = sources
    if check := _CHECKS.get(first):
        check(found, volume[first], f"{path}.{first}")
    else:
        check_disk(found, first, volume[first], path, persistent=False)
    found.extend(forbidden(f"{path}.{name}", _ONE_TYPE) for name in more)


def _order(name: str) -> int:
    return _ORDER.get(name, len(_ORDER))


def _check_empty_dir(found: Problems, source: Object, path: str) -> None:
    limit = source.get("sizeLimit")
    if limit is not None and quantities.amount(limit) < quantities.ZERO:
        found.append(forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity"))


def check_host_path(found: Problems, source: Object, path: str) -> None:
    place = source.get("path") or ""
    if not place:
        found.append(required(f"{path}.path"))
        return
    check_no_backsteps(found, place, f"{path}.path")
    kind = source.get("type")
    if kind is not None and kind not in _HOST_PATH_TYPES:
        found.append(not_supported(f"{path}.type", kind, sorted(_HOST_PATH_TYPES)))


def _check_secret(found: Problems, source: Object, path: str) -> None:
    if not source.get("secretName"):
        found.append(required(f"{path}.secretName"))
    check_files(found, source, path)


def _check_config_map(found: Problems, source: Object, path: str) -> None:
    if not source.get("name"):
        found.append(required(f"{path}.name"))
    check_files(found, source, path)


def _check_claim(found: Problems, source: Object, path: str) -> None:
    if not source.get("claimName"):
        found.append(required(f"{path}.claimName"))


def check_nfs(found: Problems, source: Object, path: str) -> None:
    if not source.get("server"):
        found.append(required(f"{path}.server"))
    place = source.get("path") or ""
    if not place:
        found.append(required(f"{path}.path"))
    if not place.startswith("/"):
        found.append(bad(f"{path}.path", place, "must be an absolute path"))


def _check_csi(found: Problems, source: Object, path: str) -> None:
    check_driver(found, source.get("driver") or "", f"{path}.driver")
    secret = source.get("nodePublishSecretRef")
    if secret is None:
        return
    if name := secret.get("name") or "":
        refuse_each(found, f"{path}.name", name, name_rules.subdomain(name))
    else:
        found.append(required(f"{path}.nodePublishSecretRef.name"))


def check_driver(found: Problems, driver: str, path: str) -> None:
    """A CSI driver's name."""
    if not driver:
        found.append(required(path))
        return
    if len(driver) > 63:
        found.append(too_long(path, 63))
    refuse_each(found, path, driver, name_rules.subdomain(driver.lower()))


def _check_ephemeral(found: Problems, source: Object, path: str) -> None:
    template = source.get("volumeClaimTemplate")
    if template is None:
        found.append(required(f"{path}.volumeClaimTemplate"))
        return
    check_template_metadata(found, template.get("metadata") or {}, f"{path}.volumeClaimTemplate.metadata")
    check_claim_spec(found, template.get("spec") or {}, f"{path}.volumeClaimTemplate.spec")


def check_template_metadata(found: Problems, metadata: Object, path: str) -> None:
    """What is made from a template gets its labels and annotations, and nothing else."""
    for key in metadata.get("annotations") or ():
        refuse_each(found, f"{path}.annotations", key, name_rules.qualified_name(key.lower()))
    check_labels(found, metadata.get("labels"), f"{path}.labels")
    others = (name for name, value in metadata.items() if value and name not in {"annotations", "labels"})
    found.extend(forbidden(f"{path}.{name}", "cannot be set") for name in others)


def check_claim_spec(found: Problems, spec: Object, path: str) -> None:
    """The spec of a PersistentVolumeClaim or of a template for one."""
    modes = spec.get("accessModes") or ()
    if not modes:
        found.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    check_selector(found, spec.get("selector"), f"{path}.selector")
    check_access_modes(found, modes, f"{path}.accessModes")
    _check_claim_size(found, spec, f"{path}.resources[storage]")
    _check_class_name(found, spec, "storageClassName", path)
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        found.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    _check_data_sources(found, spec, path)
    _check_class_name(found, spec, "volumeAttributesClassName", path)


def _check_class_name(found: Problems, spec: Object, name: str, path: str) -> None:
    if spec.get(name):
        refuse_each(found, f"{path}.{name}", spec[name], name_rules.subdomain(spec[name]))


def _check_data_sources(found: Problems, spec: Object, path: str) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for name, one in (("dataSource", source), ("dataSourceRef", reference)):
        if one is not None:
            _check_data_source(found, one, f"{path}.{name}")
    if source is None or reference is None:
        return
    parts = ("apiGroup", "kind", "name")
    if reference.get("namespace"):
        found.append(bad(path, {}, "may not be specified when dataSourceRef.namespace is specified"))
    elif any(source.get(part) != reference.get(part) for part in parts):
        found.append(bad(path, {}, "must match dataSourceRef"))


def _check_data_source(found: Problems, source: Object, path: str) -> None:
    found.extend(required(f"{path}.{name}") for name in ("name", "kind") if not source.get(name))
    group, kind, namespace = source.get("apiGroup") or "", source.get("kind") or "", source.get("namespace")
    if group:
        refuse_each(found, f"{path}.apiGroup", group, name_rules.subdomain(group))
    elif kind != "PersistentVolumeClaim":
        found.append(bad(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
    if namespace:
        refuse_each(found, f"{path}.namespace", namespace, name_rules.label(namespace))


def check_access_modes(found: Problems, modes: Iterable[str], path: str) -> None:
    listed = list(modes)
    found.extend(not_supported(path, mode, ACCESS_MODES) for mode in listed if mode not in ACCESS_MODES)
    others = any(mode in ACCESS_MODES and mode != "ReadWriteOncePod" for mode in listed)
    if others and "ReadWriteOncePod" in listed:
        found.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))


def _check_claim_size(found: Problems, spec: Object, path: str) -> None:
    size = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if size is None:
        found.append(required(path))
    elif quantities.amount(size) <= quantities.ZERO:
        found.append(bad(path, size, "must be greater than zero"))


_CHECKS = {
    "emptyDir": _check_empty_dir,
    "hostPath": check_host_path,
    "secret": _check_secret,
    "nfs": check_nfs,
    "persistentVolumeClaim": _check_claim,
    "downwardAPI": check_downward,
    "configMap": _check_config_map,
    "projected": check_projected,
    "csi": _check_csi,
    "ephemeral": _check_ephemeral,
}
_ORDER = {
    name: position
    for position, name in enumerate(
        (
            *("emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi"),
            *(
                "glusterfs",
                "flocker",
                "persistentVolumeClaim",
                "rbd",
                "cinder",
                "cephfs",
                "quobyte",
                "downwardAPI",
                "fc",
            ),
            *("flexVolume", "configMap", "azureFile", "vsphereVolume", "photonPersistentDisk", "portworxVolume"),
            *("azureDisk", "storageos", "projected", "scaleIO", "csi", "ephemeral", "image"),
        )
    )
}
