"""Whose a release is. Records of Butler's have a label, which also a `helm upgrade` by hand keeps."""

from __future__ import annotations

from dataclasses import replace

from butler.api.model import GROUP
from butler.engines.helm.protocol import Release
from butler.engines.helm.records import Record, ReleaseStatus

from ..digests import digest
from ..errors import AddonConflict
from ..model import Addon

LABEL = f"{GROUP}/addon"
_LONGEST = 63


def owned(addon: Addon, release: Release) -> Release:
    """With the label by which it is known later."""
    return replace(release, labels={LABEL: _text(addon.name)})


def is_ours(found: Record, name: str = "") -> bool:
    """Whether Butler installed it, as the addon of that name if one is given."""
    owner = found.labels.get(LABEL, "")
    return owner == _text(name) if name else bool(owner)


def check(addon: Addon, found: Record | None) -> None:
    """Raises AddonConflict."""
    if found is None or found.status is ReleaseStatus.UNINSTALLED or is_ours(found, addon.name):
        return
    if is_ours(found):
        raise AddonConflict(addon.name, f"{addon.place} is that of the addon {found.labels[LABEL]}")
    if not addon.release.take_over:
        raise AddonConflict(addon.name, f"{addon.place} is there already, and Butler did not install it")


def _text(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:50].rstrip('.-')}-{digest(name)}"
