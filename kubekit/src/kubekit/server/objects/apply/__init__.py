"""Field ownership (managedFields) and server-side apply."""

from .managers import Writer
from .ownership import keep_times, record_create, record_update
from .server_side import apply, key_and_kind, kind_of

__all__ = ["Writer", "apply", "keep_times", "key_and_kind", "kind_of", "record_create", "record_update"]
