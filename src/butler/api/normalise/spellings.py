"""Choosing between two spellings of one field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kubekit.errors import InvalidConfiguration

from ..shared import ProviderRef, SecretRef

T = TypeVar("T")
V = TypeVar("V")
Ref = TypeVar("Ref", ProviderRef, SecretRef)


class Spellings(Struct, frozen=True):
    """Speaks of one object."""

    subject: str
    """How errors name it."""

    def either(self, path: str, value: T | None, other_path: str, other: T | None) -> T | None:
        """The value that is there; the first when both are there and say the same."""
        if value is None:
            return other
        if other is not None and value != other:
            raise self.contradiction(path, value, other_path, other)
        return value

    def contradiction(self, path: str, value: Any, other_path: str, other: Any) -> InvalidConfiguration:
        message = f"is {_shown(value)}, but {other_path}, another name for it, is {_shown(other)}"
        return InvalidConfiguration(self.subject, path, message)

    def needed(self, path: str, value: T | None, other_path: str, other: T | None) -> T:
        """Like either(), and one of them must be there."""
        found = self.either(path, value, other_path, other)
        if found is None:
            raise InvalidConfiguration(self.subject, path, "is required")
        return found

    def parsed(self, path: str, parse: Callable[[V], T], value: V) -> T:
        """What a text stands for; ValueError becomes an error that names the field."""
        try:
            return parse(value)
        except ValueError as error:
            raise InvalidConfiguration(self.subject, path, str(error)) from error


def in_namespace(ref: Ref, namespace: str) -> Ref:
    """A reference with its namespace filled in; unchanged when none is known."""
    return ref if ref.namespace or not namespace else replace(ref, namespace=namespace)


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode()
