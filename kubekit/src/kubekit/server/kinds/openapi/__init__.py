"""What the server offers, as OpenAPI v3 and v2."""

from .documents import OpenApi

__all__ = ["OpenApi"]
