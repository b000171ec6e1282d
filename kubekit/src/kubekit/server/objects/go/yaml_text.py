"""YAML as Go reads and writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from kubekit.model import yaml_depth

from ..schema.decoding import Malformed

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SafeDumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_TEXT = "tag:yaml.org,2002:str"
MOST_VALUES = 1_000_000
_BOOLEANS = {"y": True, "Y": True, "n": False, "N": False}


class _Loader(_SafeLoader):  # type: ignore[misc]
    """Tags nobody knows do not matter, dates stay texts, and `y` is true."""


class _Dumper(_SafeDumper):  # type: ignore[misc]
    """Texts of several lines as blocks; others in double quotes where quotes are needed."""


def _plain(loader: Any, _suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_mapping(node, deep=True)


def _text_or_boolean(loader: Any, node: Any) -> Any:
    text = loader.construct_scalar(node)
    return text if node.style else _BOOLEANS.get(text, text)


def _octal(loader: Any, node: Any) -> int:
    return int(loader.construct_scalar(node).replace("_", ""), 8)


_Loader.add_multi_constructor("tag:", _plain)
_Loader.add_multi_constructor("!", _plain)
_Loader.add_constructor(_TEXT, _text_or_boolean)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda loader, node: loader.construct_scalar(node))
_Loader.add_constructor("tag:yaml.org,2002:octal", _octal)
_Loader.add_implicit_resolver("tag:yaml.org,2002:octal", re.compile(r"^0o[0-7_]+$"), ["0"])


def _represented(dumper: Any, text: str) -> Any:
    if "\n" in text:
        return dumper.represent_scalar(_TEXT, text, style="|")
    is_plain = dumper.resolve(yaml.ScalarNode, text, (True, False)) == _TEXT and text not in _BOOLEANS
    return dumper.represent_scalar(_TEXT, text, style=None if is_plain and text else '"')


_Dumper.add_representer(str, _represented)


def encode(value: Any) -> bytes:
    """A value in the layout Go's encoder gives it."""
    written: bytes = yaml.dump(value, Dumper=_Dumper, sort_keys=True, encoding="utf-8", allow_unicode=True)
    return written


def decode(content: bytes) -> Any:
    """The first document, brought into the form of JSON. Raises Malformed with Go's words."""
    loader: Any = None
    try:
        yaml_depth.check(content, _Loader)
        loader = _Loader(content)
        loaded = loader.get_data() if loader.check_data() else None
        if b"*" in content:
            _Aliases().measure(loaded)
        return msgspec.json.decode(json.dumps(loaded, default=_binary))
    except Malformed:
        raise
    except yaml.YAMLError as error:
        raise Malformed(f"yaml: {_shown(error)}") from error
    except (ValueError, TypeError, msgspec.DecodeError) as error:
        raise Malformed(f"yaml: {error}") from error
    finally:
        if loader is not None:
            loader.dispose()


class _Aliases:
    """Measures a value with all aliases spelled out: a few of them can stand for more than fits in any memory."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}

    def measure(self, value: Any) -> int:
        if not isinstance(value, (dict, list)):
            return 1
        known = self._sizes.get(id(value))
        if known is None:
            self._sizes[id(value)] = 0
            members = value.values() if isinstance(value, dict) else value
            known = self._sizes[id(value)] = 1 + sum(self.measure(member) for member in members)
        if known == 0:
            raise Malformed("yaml: anchor value contains itself")
        if known > MOST_VALUES:
            raise Malformed("yaml: document contains excessive aliasing")
        return known


def _binary(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _shown(error: yaml.YAMLError) -> str:
    if not isinstance(error, yaml.MarkedYAMLError):
        return str(error).partition("\n")[0]
    line = error.problem_mark.line if error.problem_mark is not None else 0
    if line and isinstance(error, yaml.scanner.ScannerError):
        line += 1
    return f"line {line}: {error.problem}" if line else str(error.problem)


def repeated_keys(content: bytes) -> list[str]:
    """Go's words for each key that stands twice in a map; none for JSON that is not YAML, nor where it is too deep."""
    loader = _SafeLoader(content)
    try:
        yaml_depth.check(content, _SafeLoader)
        return list(_repeated(loader.get_node())) if loader.check_node() else []
    except (yaml.YAMLError, yaml_depth.TooDeep):
        return []
    finally:
        loader.dispose()


def _repeated(node: Any) -> Iterator[str]:
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated(item)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, member in node.value:
            name = str(key.value)
            if name in seen:
                yield f'line {key.start_mark.line + 1}: key "{name}" already set in map'
            seen.add(name)
            yield from _repeated(member)
