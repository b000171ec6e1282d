"""The rows in a page, each read by itself: one that is damaged does not hide the others."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .pages import Page, Pages

TABLE, INDEX, INNER_INDEX, INNER_TABLE = 13, 10, 2, 5
Value = int | float | bytes | str | None

_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


@dataclass(frozen=True, slots=True)
class Cell:
    """A row: its number, where the table has numbers, and its columns."""

    row: int
    columns: tuple[Value, ...]
    overflow: tuple[int, ...] = ()
    """The pages it goes on in."""


def cells(page: Page, pages: Pages) -> Iterator[Cell | None]:
    """The rows of a page of a tree, with None for each that cannot be read; nothing of any other page."""
    if page.kind not in (TABLE, INDEX, INNER_INDEX):
        return
    for pointer in pointers(page):
        yield cell_at(page, pointer, pages)


def cell_at(page: Page, pointer: int, pages: Pages, kind: int = 0) -> Cell | None:
    """The row that begins there, if one does; of a page of that kind, whatever it says itself."""
    try:
        return _cell(page.content, pointer, pages, kind or page.kind)
    except (IndexError, ValueError, struct.error):
        return None


def pointers(page: Page) -> tuple[int, ...]:
    """Where in a page its rows begin."""
    (count,) = struct.unpack_from(">H", page.content, page.begin + 3)
    begin = page.begin + (8 if page.kind in (TABLE, INDEX) else 12)
    count = min(count, (len(page.content) - begin) // 2)
    return struct.unpack_from(f">{count}H", page.content, begin)


def children(page: Page) -> list[int]:
    """The pages below one that is not a leaf."""
    (last,) = struct.unpack_from(">I", page.content, page.begin + 8)
    size = len(page.content)
    return [int.from_bytes(page.content[at : at + 4], "big") for at in pointers(page) if at + 4 <= size] + [last]


def _cell(content: bytes, at: int, pages: Pages, kind: int) -> Cell:
    usable = len(content)
    if kind == INNER_INDEX:
        at += 4
    length, at = _varint(content, at)
    row = 0
    if kind == TABLE:
        row, at = _varint(content, at)
    most = usable - 35 if kind == TABLE else (usable - 12) * 64 // 255 - 23
    local = _local(length, most, usable)
    payload = content[at : at + local]
    if len(payload) != local:
        raise ValueError("it ends outside of its page")
    if local == length:
        return Cell(row, _columns(payload))
    (first,) = struct.unpack_from(">I", content, at + local)
    return _long_cell(row, payload, length, first, pages)


def _long_cell(row: int, payload: bytes, length: int, first: int, pages: Pages) -> Cell:
    parts, left, used = [payload], length - len(payload), []
    for page in pages.chain(first):
        parts.append(page.content[4 : 4 + left])
        used.append(page.number)
        left -= len(parts[-1])
        if not left:
            return Cell(row, _columns(b"".join(parts)), tuple(used))
    raise ValueError("its end is missing")


def _local(length: int, most: int, usable: int) -> int:
    """How many bytes of a payload lie in the page itself."""
    if length <= most:
        return length
    least = (usable - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable - 4)
    return local if local <= most else least


def _columns(payload: bytes) -> tuple[Value, ...]:
    end, at = _varint(payload, 0)
    if end > len(payload):
        raise ValueError("its head is longer than it is")
    kinds = []
    while at < end:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    found: list[Value] = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        found.append(value)
    return tuple(found)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in (0, 8, 9):
        return (None, 0, 1)[max(0, kind - 7)], at
    size = _INTEGERS.get(kind) or (8 if kind == 7 else (kind - 12) // 2)
    content = payload[at : at + size]
    if len(content) != size or kind in (10, 11):
        raise ValueError("a column ends outside of its row")
    if kind in _INTEGERS:
        return int.from_bytes(content, "big", signed=True), at + size
    if kind == 7:
        return struct.unpack(">d", content)[0], at + size
    return (content.decode() if kind % 2 else content), at + size


def _varint(content: bytes, at: int) -> tuple[int, int]:
    number = 0
    for index in range(9):
        byte = content[at + index]
        if index == 8:
            return number << 8 | byte, at + 9
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + index + 1
    raise ValueError("no number")
