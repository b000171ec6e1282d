"""How a list is written in parts: as JSON, indented JSON, YAML or protobuf; each part when it is there."""

from __future__ import annotations

from collections.abc import Iterable
from tempfile import SpooledTemporaryFile
from typing import Any, Protocol

import msgspec

from kubekit.model.resource import Object
from kubekit.server.kinds import protobuf
from kubekit.server.objects.go import yaml_text
from kubekit.server.store import json_values

_HELD = 1024 * 1024
"""Bytes of a list that are held in memory while its length is not known."""
_PIECE = 64 * 1024


class ListForm(Protocol):
    """One list on its way to the client."""

    def begin(self, head: Object, name: str) -> bytes:
        """What comes before the first item; `head` has all but the items, which are called `name`, and metadata."""

    def items(self, items: list[bytes]) -> bytes:
        """Some items, each given as JSON."""

    def end(self, metadata: Object) -> Iterable[bytes]:
        """What comes after the last one, piece by piece."""


class JsonForm:
    """Stored bytes side by side."""

    def __init__(self) -> None:
        self._separator = b""

    def begin(self, head: Object, name: str) -> bytes:
        return msgspec.json.encode(head)[:-1] + b',"%b":[' % name.encode()

    def items(self, items: list[bytes]) -> bytes:
        separator, self._separator = self._separator, b","
        return separator + b",".join(items)

    def end(self, metadata: Object) -> Iterable[bytes]:
        yield b'],"metadata":%b}\n' % msgspec.json.encode(metadata)


class PrettyForm:
    """JSON, indented."""

    def __init__(self) -> None:
        self._separator = b"\n    "

    def begin(self, head: Object, name: str) -> bytes:
        return _indented(msgspec.json.encode(head))[:-2] + b',\n  "%b": [' % name.encode()

    def items(self, items: list[bytes]) -> bytes:
        separator, self._separator = self._separator, b",\n    "
        return separator + b",\n    ".join(_indented(item).replace(b"\n", b"\n    ") for item in items)

    def end(self, metadata: Object) -> Iterable[bytes]:
        shown = _indented(msgspec.json.encode(metadata)).replace(b"\n", b"\n  ")
        yield b'\n  ],\n  "metadata": %b\n}' % shown


def _indented(value: bytes) -> bytes:
    return msgspec.json.format(value, indent=2)


class YamlForm:
    """YAML, whose members stand in the order of their names."""

    def begin(self, head: Object, name: str) -> bytes:
        self._after = {key: value for key, value in head.items() if key > name}
        before = {key: value for key, value in head.items() if key < name}
        return yaml_text.encode(before) + b"%b:\n" % name.encode()

    def items(self, items: list[bytes]) -> bytes:
        return b"".join(yaml_text.encode([json_values.decode(item)]) for item in items)

    def end(self, metadata: Object) -> Iterable[bytes]:
        yield yaml_text.encode({**self._after, "metadata": metadata})


class ProtobufForm:
    """Kubernetes' protobuf: the length of a list stands before it, so nothing is sent before all of it is there."""

    def __init__(self) -> None:
        self._written = SpooledTemporaryFile(_HELD)  # noqa: SIM115 - it goes with the form

    def begin(self, head: Object, name: str) -> bytes:
        self._head = head
        return b""

    def items(self, items: list[bytes]) -> bytes:
        self._written.write(protobuf.list_items(self._head, (json_values.decode(item) for item in items)))
        return b""

    def end(self, metadata: Object) -> Iterable[bytes]:
        with self._written as written:
            yield protobuf.list_opening(self._head, metadata, written.tell())
            written.seek(0)
            while piece := written.read(_PIECE):
                yield piece
            yield protobuf.LIST_END


def list_form(layout: Any) -> ListForm:
    if layout.is_protobuf:
        return ProtobufForm()
    if layout.is_yaml:
        return YamlForm()
    return PrettyForm() if layout.pretty else JsonForm()
