"""Objects by key, with indexes by whatever a function says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

Obj = TypeVar("Obj")

Values = Callable[[Obj], Iterable[str]]
"""Under which values an object is found."""


class Index(Generic[Obj]):
    """Keys by value. Dicts stand for sets, because their order is the same in every run."""

    __slots__ = ("_keys", "values")

    def __init__(self, values: Values[Obj]) -> None:
        self.values = values
        self._keys: dict[str, dict[str, None]] = {}

    def replace(self, key: str, old: Obj | None, new: Obj | None) -> None:
        before = {} if old is None else dict.fromkeys(self.values(old))
        after = {} if new is None else dict.fromkeys(self.values(new))
        for value in before:
            if value not in after:
                self._remove(key, value)
        for value in after:
            self._keys.setdefault(value, {})[key] = None

    def keys(self, value: str) -> Iterable[str]:
        return self._keys.get(value, ())

    def _remove(self, key: str, value: str) -> None:
        keys = self._keys.get(value, {})
        keys.pop(key, None)
        if not keys:
            self._keys.pop(value, None)


class Cache(Generic[Obj]):
    """What is known of one kind. Objects are shared with every reader: nobody changes one."""

    def __init__(self) -> None:
        self._objects: dict[str, Obj] = {}
        self._indexes: dict[str, Index[Obj]] = {}

    def index(self, name: str, values: Values[Obj]) -> None:
        """Let objects be found by `by(name, value)`. The same name again must mean the same function."""
        known = self._indexes.get(name)
        if known is not None:
            if known.values != values:
                raise ValueError(f"there is another index {name!r} already")
            return
        index = self._indexes[name] = Index(values)
        for key, obj in self._objects.items():
            index.replace(key, None, obj)

    def get(self, key: str) -> Obj | None:
        """The object called `namespace/name`, or just `name` where there are no namespaces."""
        return self._objects.get(key)

    def by(self, index: str, value: str) -> list[Obj]:
        """The objects an index finds under a value, in the order they came."""
        return [self._objects[key] for key in self._indexes[index].keys(value)]

    def keys_by(self, index: str, value: str) -> list[str]:
        return list(self._indexes[index].keys(value))

    def put(self, key: str, obj: Obj | None) -> Obj | None:
        """Replace, add or, with None, remove. Answers what was there before."""
        old = self._objects.get(key)
        for index in self._indexes.values():
            index.replace(key, old, obj)
        if obj is None:
            self._objects.pop(key, None)
        else:
            self._objects[key] = obj
        return old

    def keys(self) -> list[str]:
        return list(self._objects)

    def __iter__(self) -> Iterator[Obj]:
        return iter(list(self._objects.values()))

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, key: str) -> bool:
        return key in self._objects
