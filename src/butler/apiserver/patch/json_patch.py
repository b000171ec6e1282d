"""JSON Patch (RFC 6902), with the habits of the Go library kube-apiserver uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from butler.errors import ApiError, BadRequest, Details, Invalid, TooLarge

from ..resources import Object
from ..schema.decoding import go_kind
from ..schema.values import copy_json, go_json, json_equal

MAX_OPERATIONS = 10_000
MAX_COPIED = 3 * 1024 * 1024
"""Bytes all `copy` operations of a patch may add up to, so that a small patch cannot make a huge object."""

REJECTED = "the server rejected our request due to an error in our request"

_INDEX = re.compile(r"[+-]?[0-9]{1,18}")


class _DoesNotApply(Exception):
    """An operation cannot be done; clients are not told why."""


def apply_json_patch(obj: Object, patch: Any) -> Object:
    """The object after all operations. Raises BadRequest, TooLarge, and Invalid when an operation does not apply."""
    operations = _checked(patch)
    if len(operations) > MAX_OPERATIONS:
        raise TooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MAX_OPERATIONS}, got {len(operations)}"
        )
    document = _Document(obj)
    try:
        for operation in operations:
            document.change(operation)
    except _DoesNotApply as error:
        raise Invalid(REJECTED, Details()) from error
    if not isinstance(document.root, dict):
        raise Invalid(REJECTED, Details())
    return document.root


def _checked(patch: Any) -> list[dict[str, Any]]:
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise _undecodable(f"{go_kind(patch)} into Go value of type []handlers.jsonPatchOp")
    for operation in patch:
        if operation is not None and not isinstance(operation, dict):
            raise _undecodable(f"{go_kind(operation)} into Go value of type handlers.jsonPatchOp")
        for name in ("op", "path", "from"):
            text = operation.get(name) if operation else None
            if text is not None and not isinstance(text, str):
                raise _undecodable(f"{go_kind(text)} into Go struct field jsonPatchOp.{name} of type string")
    return [operation or {} for operation in patch]


def _undecodable(what: str) -> ApiError:
    return BadRequest(f"error decoding patch: json: cannot unmarshal {what}")


class _Document:
    """The object under change; a container is copied when it is first changed, and changed in place from then on."""

    def __init__(self, root: Object) -> None:
        self.root: Any = root
        self._own: dict[int, Any] = {}
        self._copied = 0

    def change(self, operation: dict[str, Any]) -> None:
        kinds: dict[str, Callable[[dict[str, Any]], None]] = {
            "add": self._add,
            "remove": self._remove,
            "replace": self._replace,
            "move": self._move,
            "copy": self._copy,
            "test": self._test,
        }
        kind = kinds.get(operation.get("op") or "")
        if kind is None or operation.get("path") is None:
            raise _DoesNotApply
        kind(operation)

    def _add(self, operation: dict[str, Any]) -> None:
        self._insert(operation["path"], operation.get("value"))

    def _insert(self, path: str, value: Any) -> None:
        container, key = self._container(path, to_change=True)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_index(key, len(container) + 1), value)

    def _remove(self, operation: dict[str, Any]) -> None:
        container, key = self._container(operation["path"], to_change=True)
        _get(container, key, must_exist=True)
        del container[key if isinstance(container, dict) else _index(key, len(container))]

    def _replace(self, operation: dict[str, Any]) -> None:
        value = operation.get("value")
        if operation["path"] == "":
            if not isinstance(value, (dict, list)):
                raise _DoesNotApply
            self.root = value
            return
        container, key = self._container(operation["path"], to_change=True)
        container[key if isinstance(container, dict) else _index(key, len(container))] = value

    def _move(self, operation: dict[str, Any]) -> None:
        source = operation.get("from")
        if source is None:
            raise _DoesNotApply
        container, key = self._container(source, to_change=False)
        # The place it goes to may be changed by others later, unlike the one it comes from.
        value = copy_json(_get(container, key, must_exist=True))
        self._remove({"path": source})
        self._insert(operation["path"], value)

    def _copy(self, operation: dict[str, Any]) -> None:
        if operation.get("from") is None:
            raise _DoesNotApply
        value = copy_json(_get(*self._container(operation["from"], to_change=False)))
        self._copied += len(go_json(value).encode())
        if self._copied > MAX_COPIED:
            raise _DoesNotApply
        self._insert(operation["path"], value)

    def _test(self, operation: dict[str, Any]) -> None:
        found = self.root
        if operation["path"]:
            found = _get(*self._container(operation["path"], to_change=False))
        if not json_equal(found, operation.get("value")):
            raise _DoesNotApply

    def _container(self, path: str, *, to_change: bool) -> tuple[Any, str]:
        """What holds the end of a path, and the name of the end in it."""
        parts = path.split("/")
        if len(parts) < 2:
            raise _DoesNotApply
        names = [part.replace("~1", "/").replace("~0", "~") for part in parts[1:]]
        if to_change:
            self.root = self._mine(self.root)
        container = self.root
        for name in names[:-1]:
            inner = _get(container, name)
            if not isinstance(inner, (dict, list)):
                raise _DoesNotApply
            if to_change:
                inner = self._mine(inner)
                container[name if isinstance(container, dict) else _index(name, len(container))] = inner
            container = inner
        return container, names[-1]

    def _mine(self, container: Any) -> Any:
        if id(container) in self._own:
            return container
        copied = container.copy()
        # The reference keeps the id from being used again.
        self._own[id(copied)] = copied
        return copied


def _get(container: Any, key: str, *, must_exist: bool = False) -> Any:
    """A member or item; a member that is not there is null unless it must exist."""
    if isinstance(container, dict):
        if must_exist and key not in container:
            raise _DoesNotApply
        return container.get(key)
    return container[_index(key, len(container))]


def _index(key: str, size: int) -> int:
    """A place in a list; negative ones count from its end."""
    if not _INDEX.fullmatch(key) or not -size <= int(key) < size:
        raise _DoesNotApply
    return int(key) % size
