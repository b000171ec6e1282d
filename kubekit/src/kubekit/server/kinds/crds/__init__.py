"""CustomResourceDefinitions: what they may say, how they are accepted and what they offer."""

from .behaviour import CrdBehaviour
from .conversion import conversion_of, validate_conversion
from .life import (
    CLEANUP_FINALIZER,
    TakenNames,
    default_crd,
    established_status,
    prepare_create,
    prepare_update,
    resources_of,
    set_condition,
    taken_names,
    terminating_status,
)
from .schemas import CustomSchema
from .validation import is_established, validate_crd, validate_crd_update

__all__ = [
    "CLEANUP_FINALIZER",
    "CrdBehaviour",
    "CustomSchema",
    "TakenNames",
    "conversion_of",
    "default_crd",
    "established_status",
    "is_established",
    "prepare_create",
    "prepare_update",
    "resources_of",
    "set_condition",
    "taken_names",
    "terminating_status",
    "validate_conversion",
    "validate_crd",
    "validate_crd_update",
]
