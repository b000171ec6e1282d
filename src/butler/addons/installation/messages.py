"""Errors as people may read them."""

from __future__ import annotations

from kubekit.errors import ApiError, KubeError, NotFound, ServiceUnavailable, Unauthorized

_HARMLESS = (NotFound, ServiceUnavailable, Unauthorized)
"""Errors that say nothing of what an object holds."""
_LONGEST = 1500


def told(error: KubeError) -> str:
    """An API server repeats what it refuses, so that only why and where is told. Other errors hold no values."""
    if not isinstance(error, ApiError) or isinstance(error, _HARMLESS):
        return str(error)[:_LONGEST]
    fields = [cause.field for cause in error.details.causes if cause.field] if error.details else []
    about = f" about {', '.join(dict.fromkeys(fields))}" if fields else ""
    return f"the API server says {error.reason or error.code}{about}"[:_LONGEST]
