"""JSON Patch (RFC 6902), with the habits of the Go library kube-apiserver uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from kubekit.errors import ApiError, BadRequest, Details, Invalid, TooLarge, go_quoted
from kubekit.model.resource import Object

from ..schema.decoding import TYPE_STRUCT, go_kind
from ..schema.values import copy_json, json_equal

MAX_OPERATIONS = 10_000
MAX_COPIED = 3 * 1024 * 1024
"""Bytes all `copy` operations of a patch may add up to, so that a small patch cannot make a huge object."""

REJECTED = "the server rejected our request due to an error in our request"

_INDEX = re.compile(r"[+-]?[0-9]{1,18}")


class DoesNotApply(Exception):
    """An operation cannot be done. Clients are not told why, authors of webhooks are."""


def apply_json_patch(obj: Object, patch: Any) -> Object:
    """The object after all operations. Raises BadRequest, TooLarge, and Invalid when an operation does not apply."""
    try:
        return patched(obj, patch)
    except DoesNotApply as error:
        raise Invalid(REJECTED, Details()) from error


def patched(obj: Object, patch: Any) -> Object:
    """The same, but what does not apply raises DoesNotApply, which says why."""
    operations = _checked(patch)
    if len(operations) > MAX_OPERATIONS:
        raise TooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MAX_OPERATIONS}, got {len(operations)}"
        )
    document = _Document(obj)
    for operation in operations:
        document.change(operation)
    if not isinstance(document.root, dict):
        unfit = f"json: cannot unmarshal {go_kind(document.root)} into Go value of type {TYPE_STRUCT}"
        raise DoesNotApply(f"couldn't get version/kind; json parse error: {unfit}")
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
        self._whole: set[int] = set()
        """Those of them that were copied with all that is in them, and need not be again."""
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
        name = operation.get("op") or "unknown"
        kind = kinds.get(name)
        if kind is None:
            raise DoesNotApply(f"Unexpected kind: {name}")
        if operation.get("path") is None:
            raise DoesNotApply(f"{name} operation failed to decode path: missing value")
        kind(operation)

    def _add(self, operation: dict[str, Any]) -> None:
        path = operation["path"]
        with _about(f"error in add for path: '{path}'"):
            self._insert(path, operation.get("value"), f'add operation does not apply: doc is missing path: "{path}"')

    def _insert(self, path: str, value: Any, if_nowhere: str) -> None:
        container, key = self._container(path, if_nowhere, to_change=True)
        if isinstance(container, dict):
            container[key] = value
        elif key == "-":
            container.append(value)
        else:
            container.insert(_new_index(key, len(container) + 1), value)

    def _remove(self, operation: dict[str, Any]) -> None:
        path = operation["path"]
        if_nowhere = f'remove operation does not apply: doc is missing path: "{path}"'
        container, key = self._container(path, if_nowhere, to_change=True)
        with _about(f"error in remove for path: '{path}'"):
            _take(container, key)

    def _replace(self, operation: dict[str, Any]) -> None:
        path, value = operation["path"], operation.get("value")
        if path == "":
            if not isinstance(value, (dict, list)):
                raise DoesNotApply("replace operation value must be object or array: %!w(<nil>)")
            self.root = value
            return
        missing = "replace operation does not apply: doc is missing"
        container, key = self._container(path, f"{missing} path: {path}", to_change=True)
        try:
            container[key if isinstance(container, dict) else _index(key, len(container))] = value
        except _Wrong as error:
            raise DoesNotApply(f"{missing} key: {path}: missing value") from error

    def _move(self, operation: dict[str, Any]) -> None:
        source, path = _source(operation), operation["path"]
        missing = "move operation does not apply: doc is missing"
        container, key = self._container(source, f"{missing} from path: {source}", to_change=True)
        with _about(f"error in move for path: '{key}'"):
            # The place it goes to may be changed by others later, unlike the one it comes from.
            value = self._all_mine(_take(container, key))
        with _about(f"error in move for path: '{path}'"):
            self._insert(path, value, f"{missing} destination path: {path}")

    def _copy(self, operation: dict[str, Any]) -> None:
        source, path = _source(operation), operation["path"]
        missing = "copy operation does not apply: doc is missing"
        container, key = self._container(source, f"{missing} from path: {source}", to_change=False)
        with _about(f"error in copy for from: '{source}'"):
            value = copy_json(_get(container, key))
        self._copied += len(msgspec.json.encode(value))
        if self._copied > MAX_COPIED:
            raise DoesNotApply(REJECTED)
        with _about("error while adding value during copy"):
            self._insert(path, value, f"{missing} destination path: {path}")

    def _test(self, operation: dict[str, Any]) -> None:
        found, path = self.root, operation["path"]
        if path:
            if_nowhere = f"test operation does not apply: is missing path: {path}"
            container, key = self._container(path, if_nowhere, to_change=False)
            with _about(f"error in test for path: '{path}'"):
                found = _get(container, key)
        if not json_equal(found, operation.get("value")):
            raise DoesNotApply(f"testing value {path} failed: test failed")

    def _container(self, path: str, if_nowhere: str, *, to_change: bool) -> tuple[Any, str]:
        """What holds the end of a path, and the name of the end in it."""
        names = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]
        if not names:
            raise DoesNotApply(f"{if_nowhere}: missing value")
        if to_change:
            self.root = self._mine(self.root)
        container = self.root
        for name in names[:-1]:
            try:
                inner = _get(container, name)
            except _Wrong:
                inner = None
            if not isinstance(inner, (dict, list)):
                raise DoesNotApply(f"{if_nowhere}: missing value")
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

    def _all_mine(self, value: Any) -> Any:
        if not isinstance(value, (dict, list)) or id(value) in self._whole:
            return value
        if isinstance(value, dict):
            copied: Any = {name: self._all_mine(member) for name, member in value.items()}
        else:
            copied = [self._all_mine(item) for item in value]
        self._own[id(copied)] = copied
        self._whole.add(id(copied))
        return copied


class _Wrong(Exception):
    """The end of a path is not there."""


class _NoNumber(_Wrong):
    """It should be a place in a list."""


@contextmanager
def _about(what: str) -> Iterator[None]:
    """Say of which operation a mistake in its path is."""
    try:
        yield
    except _Wrong as error:
        raise DoesNotApply(f"{what}: {error}") from error


def _source(operation: dict[str, Any]) -> str:
    source = operation.get("from")
    if source is None:
        raise DoesNotApply(
            f"{operation['op']} operation failed to decode from: operation, missing from field: missing value"
        )
    return str(source)


def _get(container: Any, key: str) -> Any:
    """A member or item; a member that is not there is null."""
    return container.get(key) if isinstance(container, dict) else container[_index(key, len(container))]


def _take(container: Any, key: str) -> Any:
    """Remove a member or item that must be there."""
    if isinstance(container, list):
        return container.pop(_index(key, len(container)))
    if key not in container:
        raise _Wrong(f"Unable to remove nonexistent key: {key}: missing value")
    return container.pop(key)


def _index(key: str, size: int) -> int:
    """A place in a list; negative ones count from its end."""
    if not _INDEX.fullmatch(key):
        raise _NoNumber(f"strconv.Atoi: parsing {go_quoted(key)}: invalid syntax")
    if not -size <= int(key) < size:
        raise _Wrong(f"Unable to access invalid index: {key}: invalid index referenced")
    return int(key) % size


def _new_index(key: str, size: int) -> int:
    """A place in a list that is about to get longer."""
    try:
        return _index(key, size)
    except _NoNumber as error:
        raise _Wrong(f"value was not a proper array index: '{key}': {error}") from error
