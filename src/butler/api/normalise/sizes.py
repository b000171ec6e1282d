"""Machine sizes: whole numbers here, quantities there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from msgspec import Struct

from kubekit.model.resource import Quantity

from .. import units
from ..cluster import MachineTemplate
from ..shared import TemplateSize
from .spellings import Spellings


class Size(TypedDict):
    """The size fields of a machine, as MachineRequest and node pools name them."""

    cpu: int
    memory_mb: int
    disk_gb: int


class Written(Struct, frozen=True):
    """One size field in both spellings: a number (0 when absent) and a quantity, each with its path."""

    path: str
    number: int
    other_path: str
    quantity: Quantity | None


def chosen(spellings: Spellings, cpu: Written, memory: Written, disk: Written) -> Size:
    """Every field from whichever spelling there is; a missing one is refused."""
    return Size(
        cpu=_number(spellings, cpu, 1),
        memory_mb=_number(spellings, memory, units.MIB),
        disk_gb=_number(spellings, disk, units.GIB),
    )


def disk_size(spellings: Spellings, path: str, template: MachineTemplate | TemplateSize) -> Quantity | None:
    """`diskSize`, or `disk`, of the template at this path; 1Gi and 1024Mi are the same."""
    size, disk = template.disk_size, template.disk
    if size is None or disk is None:
        return disk if size is None else size
    paths = f"{path}.diskSize", f"{path}.disk"
    if spellings.parsed(paths[0], units.amount, size) != spellings.parsed(paths[1], units.amount, disk):
        raise spellings.contradiction(paths[0], size, paths[1], disk)
    return size


def in_units(unit: int) -> Callable[[Quantity], int]:
    return lambda quantity: units.whole(quantity, unit)


def _number(spellings: Spellings, written: Written, unit: int) -> int:
    quantity = written.quantity
    converted = None if quantity is None else spellings.parsed(written.other_path, in_units(unit), quantity)
    return spellings.needed(written.path, written.number or None, written.other_path, converted)
