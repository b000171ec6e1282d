"""Does an object fit its schema? Yes within microseconds; no with kube-apiserver's explanation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubekit.errors import FieldError

from . import embedded, quick_check, uniqueness
from .correlation import NOTHING, Old
from .explanation import Walker
from .model import Schema


class Validator:
    """Checks custom resources against one schema. Objects are expected pruned and defaulted; others only take longer.

    Not part of it: metadata of the object itself, and CEL rules.
    """

    def __init__(self, schema: Schema, *, root: bool = True) -> None:
        """`root`: the schema describes a whole object, which has apiVersion, kind and metadata without saying so."""
        self._source = schema.source
        self._is_valid: Callable[[Any], bool] | None = quick_check.compiled(schema.source, root)
        self._lists = uniqueness.keyed_lists(schema)
        self._embedded = embedded.objects(schema)

    def validate(self, value: Any, path: str = "") -> list[FieldError]:
        """All problems of a new value; `path` is where it stands in its object, such as `status`."""
        problems = [] if self._surely_valid(value) else Walker(path).problems(self._source, value)
        if self._embedded:
            problems += embedded.problems(value, self._embedded, path)
        if self._lists:
            problems += uniqueness.duplicates(value, self._lists, path)
        return problems

    def validate_update(self, new: Any, old: Any, path: str = "") -> list[FieldError]:
        """All problems of a changed value, except those of parts that have not changed."""
        problems: list[FieldError] = []
        if not self._surely_valid(new):
            known = NOTHING if old is None else Old(self._source, old)
            problems = Walker(path).problems(self._source, new, known)
        if self._embedded:
            problems += embedded.problems(new, self._embedded, path)
        if self._lists:
            repeated = uniqueness.duplicates(new, self._lists, path)
            if repeated and not uniqueness.duplicates(old, self._lists, path):
                problems += repeated
        return problems

    def _surely_valid(self, value: Any) -> bool:
        if self._is_valid is None:
            return False
        try:
            return self._is_valid(value)
        except ValueError:
            # Nested too deeply, or not quite JSON: the walker decides.
            return False
