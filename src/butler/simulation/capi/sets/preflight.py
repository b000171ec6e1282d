"""Whether new machines would get along with their control plane as it is now."""

from __future__ import annotations

import re

from butler.engines.capi.kinds import BOOTSTRAP, MachineSet

from .. import names
from ..external import External

_STABLE = "ControlPlaneIsStable"
_SKEW = "KubernetesVersionSkew"
_KUBEADM = "KubeadmVersionSkew"
_OLDEST = 3
"""How many minor versions a kubelet may be behind."""


def problems(machines: MachineSet, control_plane: External | None) -> list[str]:
    """Why no machine should be created now; empty when one can be."""
    skipped = {one.strip() for one in machines.metadata.annotations.get(names.SKIP_PREFLIGHT, "").split(",")}
    if control_plane is None or not control_plane.version or "All" in skipped:
        return []
    found = {
        _STABLE: _unstable(control_plane),
        _SKEW: _skew(machines, control_plane),
        _KUBEADM: _kubeadm_skew(machines, control_plane),
    }
    return [
        f'{text} ("{check}" preflight check failed)' for check, text in found.items() if text and check not in skipped
    ]


def _unstable(control_plane: External) -> str:
    name = f"{type(control_plane).address.kind} {control_plane.metadata.namespace}/{control_plane.metadata.name}"
    if not control_plane.running_version:
        return f"{name} is provisioning"
    if _numbers(control_plane.running_version) < _numbers(control_plane.version):
        return f"{name} is upgrading"
    return ""


def _skew(machines: MachineSet, control_plane: External) -> str:
    wanted = machines.spec.template.spec.version or ""
    own, theirs = _minor(wanted), _minor(control_plane.version)
    if own is None or theirs is None or theirs - _OLDEST <= own <= theirs:
        return ""
    how = "newer than" if own > theirs else f"more than {_OLDEST} minor versions older than"
    return f"MachineSet version {wanted} is {how} the version of the control plane, {control_plane.version}"


def _kubeadm_skew(machines: MachineSet, control_plane: External) -> str:
    spec = machines.spec.template.spec
    ref, own, theirs = spec.bootstrap.config_ref, _minor(spec.version or ""), _minor(control_plane.version)
    if ref is None or ref.api_group != BOOTSTRAP or ref.kind != "KubeadmConfigTemplate" or None in (own, theirs):
        return ""
    if own == theirs:
        return ""
    wanted = control_plane.version
    return f"MachineSet version {spec.version} cannot join {wanted}: kubeadm only joins its own minor version"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version.partition("-")[0].partition("+")[0])))


def _minor(version: str) -> int | None:
    numbers = _numbers(version)
    return numbers[1] if len(numbers) > 1 else None
