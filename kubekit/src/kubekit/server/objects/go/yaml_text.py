"""YAML as Go reads and writes it.

A text is read event by event, so that its depth is known before anything is built, and what its aliases stand for
before they are spelled out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import yaml

from kubekit.model.yaml_depth import LIMIT

from ..schema.decoding import Malformed
from ..schema.values import copy_json
from .json_text import MOST_CONTAINERS, too_many_containers
from .yaml_scalars import MERGE, value_of

_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TEXT = "tag:yaml.org,2002:str"
_BOOLEANS = frozenset("yYnN")
_representer = yaml.representer.SafeRepresenter()
Resolve = Callable[[Any, str, tuple[bool, bool]], str]
"""What a text would be taken for."""
_FREE_ALIASES, _FREE_VALUES = 400_000, 4_000_000
"""Up to so many values nearly all may come from aliases, and from so many on hardly any."""
MOST_REMARKS = 100
"""A text has more mistakes than anybody reads."""


def encode(value: Any) -> bytes:
    """A value in the layout Go's encoder gives it."""
    written = BytesIO()
    dumper = _Dumper(written, encoding="utf-8", allow_unicode=True)
    try:
        # One by one: the library's own way from a value to a text lets nobody in until it is through.
        for event in _written(value, dumper.resolve):
            dumper.emit(event)
    finally:
        dumper.dispose()
    return written.getvalue()


def _written(value: Any, resolve: Resolve) -> Iterator[yaml.Event]:
    yield yaml.StreamStartEvent(encoding="utf-8")
    yield yaml.DocumentStartEvent(explicit=False)
    yield from _events(value, resolve)
    yield yaml.DocumentEndEvent(explicit=False)
    yield yaml.StreamEndEvent()


def _events(value: Any, resolve: Resolve) -> Iterator[yaml.Event]:
    if isinstance(value, dict):
        yield yaml.MappingStartEvent(None, None, True, flow_style=False)
        for name in sorted(value):
            yield _text(name, resolve)
            yield from _events(value[name], resolve)
        yield yaml.MappingEndEvent()
    elif isinstance(value, list):
        yield yaml.SequenceStartEvent(None, None, True, flow_style=False)
        for item in value:
            yield from _events(item, resolve)
        yield yaml.SequenceEndEvent()
    elif isinstance(value, str):
        yield _text(value, resolve)
    else:
        yield yaml.ScalarEvent(None, None, (True, False), _representer.represent_data(value).value)


def _text(text: str, resolve: Resolve) -> yaml.ScalarEvent:
    """Texts of several lines as blocks; others in double quotes where quotes are needed."""
    if "\n" in text:
        return yaml.ScalarEvent(None, None, (False, True), text, style="|")
    is_plain = bool(text) and text not in _BOOLEANS and resolve(yaml.ScalarNode, text, (True, False)) == _TEXT
    return yaml.ScalarEvent(None, None, (is_plain, True), text, style=None if is_plain else '"')


def decode(content: bytes) -> Any:
    """The first document, brought into the form of JSON. Raises Malformed with Go's words."""
    try:
        return _Document().read(content)
    except yaml.YAMLError as error:
        raise Malformed(f"yaml: {_shown(error)}") from error


def repeated_keys(content: bytes) -> list[str]:
    """Go's words for the first keys that stand twice in a map; none for JSON that is not YAML."""
    document = _Document()
    try:
        document.read(content)
    except (yaml.YAMLError, Malformed):
        return []
    return document.repeated


class _Map:
    """A map on its way, and the key whose value comes next."""

    def __init__(self, anchor: str | None, begun: int) -> None:
        self.anchor, self.begun = anchor, begun
        self.value: dict[str, Any] = {}
        self.key: str | None = None
        self.is_merge = False
        self.line = 0


class _List:
    """A list on its way."""

    def __init__(self, anchor: str | None, begun: int) -> None:
        self.anchor, self.begun = anchor, begun
        self.value: list[Any] = []
        self.are_maps = True
        """Whether nothing but maps stands in it, so that it may be merged."""


class _Document:
    """One document, from its first event to its last."""

    def __init__(self) -> None:
        self.repeated: list[str] = []
        self._open: list[_Map | _List] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        """What an anchor stands for, and how many values that is."""
        self._values = self._aliased = self._containers = 0
        self._root: Any = None
        self._takes: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: lambda event: self._begin(_Map(event.anchor, self._values)),
            yaml.SequenceStartEvent: lambda event: self._begin(_List(event.anchor, self._values)),
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
        }

    def read(self, content: bytes) -> Any:
        parser = _Parser(content)
        try:
            while parser.check_event():
                event = parser.get_event()
                kind = type(event)
                if kind is yaml.DocumentEndEvent:
                    break
                if take := self._takes.get(kind):
                    take(event)
            return self._root
        finally:
            parser.dispose()

    def _begin(self, container: _Map | _List) -> None:
        if len(self._open) >= LIMIT:
            raise Malformed(f"yaml: exceeded max depth of {LIMIT}")
        if self._open and isinstance(parent := self._open[-1], _Map) and parent.key is None:
            raise Malformed("yaml: invalid map key: a map or a list")
        if container.anchor is not None:
            self._anchors.pop(container.anchor, None)
        self._containers += 1
        if self._containers > MOST_CONTAINERS:
            raise too_many_containers()
        self._values += 1
        self._open.append(container)

    def _end(self, _: Any) -> None:
        done = self._open.pop()
        if done.anchor is not None:
            self._anchors[done.anchor] = done.value, self._values - done.begun
        self._put(done.value, is_mergeable=isinstance(done, _Map) or done.are_maps)

    def _scalar(self, event: Any) -> None:
        self._values += 1
        text, tag, is_plain = event.value, event.tag, event.implicit[0]
        if self._open and isinstance(parent := self._open[-1], _Map) and parent.key is None:
            parent.is_merge = text == "<<" and (is_plain or tag == MERGE)
            parent.line = event.start_mark.line + 1
            parent.key = text if parent.is_merge else _key(value_of(text, tag, is_plain=is_plain))
            if event.anchor is not None:
                self._anchors[event.anchor] = parent.key, 1
            return
        value = value_of(text, tag, is_plain=is_plain)
        if event.anchor is not None:
            self._anchors[event.anchor] = value, 1
        self._put(value, is_mergeable=False)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            if any(one.anchor == event.anchor for one in self._open):
                raise Malformed(f"yaml: anchor '{event.anchor}' value contains itself")
            raise Malformed(f"yaml: unknown anchor '{event.anchor}' referenced")
        value, size = self._anchors[event.anchor]
        self._values += size + 1
        self._aliased += size
        self._check_aliases()
        if self._open and isinstance(parent := self._open[-1], _Map):
            if parent.key is None:
                if isinstance(value, (dict, list)):
                    raise Malformed("yaml: invalid map key: a map or a list")
                parent.key, parent.line = _key(value), event.start_mark.line + 1
                return
            if parent.is_merge:
                # It is taken apart at once.
                self._put(value, is_mergeable=isinstance(value, dict))
                return
        self._put(copy_json(value), is_mergeable=isinstance(value, dict))

    def _check_aliases(self) -> None:
        """A few aliases can stand for more than fits in any memory. Raises Malformed."""
        if self._aliased <= 100 or self._values <= 1000:
            return
        share = (self._values - _FREE_ALIASES) / (_FREE_VALUES - _FREE_ALIASES)
        if self._aliased > self._values * (0.99 - 0.89 * min(max(share, 0), 1)):
            raise Malformed("yaml: document contains excessive aliasing")

    def _put(self, value: Any, *, is_mergeable: bool) -> None:
        if not self._open:
            self._root = value
            return
        parent = self._open[-1]
        if isinstance(parent, _List):
            parent.value.append(value)
            parent.are_maps = parent.are_maps and isinstance(value, dict)
            return
        key, parent.key = parent.key, None
        assert key is not None
        if not parent.is_merge:
            self._set(parent, key, value)
            return
        if not is_mergeable:
            raise Malformed("yaml: map merge requires map or sequence of maps as the value")
        for merged in reversed(value) if isinstance(value, list) else (value,):
            for name, member in merged.items():
                self._set(parent, name, copy_json(member))

    def _set(self, parent: _Map, key: str, value: Any) -> None:
        if key in parent.value and len(self.repeated) < MOST_REMARKS:
            self.repeated.append(f'line {parent.line}: key "{key}" already set in map')
        parent.value[key] = value


def _key(value: Any) -> str:
    """A key as JSON has it."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def _shown(error: yaml.YAMLError) -> str:
    if not isinstance(error, yaml.MarkedYAMLError):
        return str(error).partition("\n")[0]
    line = error.problem_mark.line if error.problem_mark is not None else 0
    if line and isinstance(error, yaml.scanner.ScannerError):
        line += 1
    return f"line {line}: {error.problem}" if line else str(error.problem)
