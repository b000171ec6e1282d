"""Field ownership (managedFields) and server-side apply."""

from .managers import Writer
from .recording import keep_times, record_create, record_update
from .serverside import apply

__all__ = ["Writer", "apply", "keep_times", "record_create", "record_update"]
