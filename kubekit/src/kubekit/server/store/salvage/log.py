"""The frames of a write-ahead log, each judged by itself.

SQLite reads a log up to the first frame that is not intact. But each frame's checksum begins with that of the frame
before it, which is written there: so those behind a damaged one can be told to be intact too.
"""

from __future__ import annotations

import struct
import sys
from array import array
from dataclasses import dataclass, replace

HEADER, FRAME_HEADER = 32, 24
_BIG_ENDIAN, _LITTLE_ENDIAN = 0x377F0683, 0x377F0682
_MASK = 0xFFFFFFFF
_FIRST = 7

Sum = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Frame:
    """One page, as a transaction left it."""

    number: int
    content: bytes
    ends_commit: bool
    is_intact: bool


def frames(content: bytes, page_size: int) -> list[Frame]:
    """The frames of the newest generation of a log. What an older one left behind them is not among them."""
    step = FRAME_HEADER + page_size
    begins = range(HEADER, len(content) - FRAME_HEADER, step)
    heads = [struct.unpack_from(">6I", content, begin) for begin in begins]
    if not heads:
        return []
    magic, *_, salt1, salt2, sum1, sum2 = struct.unpack_from(">8I", content)
    order = "big" if magic == _BIG_ENDIAN else "little" if magic == _LITTLE_ENDIAN else sys.byteorder
    salts = (salt1, salt2)
    if not any(salts) or _checksum(content[:24], (0, 0), order) != (sum1, sum2):
        # Which generation is the newest, the first frames tell.
        first = [head[2:4] for head in heads[:_FIRST] if any(head[2:4])]
        salts = max(first, key=first.count, default=salts)
    last = max((index for index, head in enumerate(heads) if head[2:4] == salts), default=-1)
    found: list[Frame] = []
    written = computed = (sum1, sum2)
    for head, begin in zip(heads[: last + 1], begins, strict=False):
        page = content[begin + FRAME_HEADER : begin + step].ljust(page_size, b"\0")
        text, ours = content[begin : begin + 8] + page, head[2:4] == salts
        actual = _checksum(text, written, order)
        is_intact = ours and actual == head[4:6]
        if ours and not is_intact and found and not found[-1].is_intact:
            actual = _checksum(text, computed, order)
            if is_intact := actual == head[4:6]:
                # It follows from what the one before really holds: of that only the checksum was damaged.
                found[-1] = replace(found[-1], is_intact=True)
        found.append(Frame(head[0], page, head[1] != 0, is_intact))
        written, computed = head[4:6], actual
    return found


def _checksum(text: bytes, seed: Sum, order: str) -> Sum:
    words = array("I", text)
    if order != sys.byteorder:
        words.byteswap()
    first, second = seed
    numbers = iter(words)
    for one, other in zip(numbers, numbers, strict=True):
        first = (first + one + second) & _MASK
        second = (second + other + first) & _MASK
    return first, second
