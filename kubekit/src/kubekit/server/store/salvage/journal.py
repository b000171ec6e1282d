"""What a rollback journal keeps: the pages of a database as they were before a transaction that never ended."""

from __future__ import annotations

import struct

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_UNKNOWN = 0xFFFFFFFF
_STEP = 200


def originals(content: bytes, page_size: int) -> dict[int, bytes]:
    """By number, each page that is intact in the journal."""
    found: dict[int, bytes] = {}
    at = 0
    while content[at : at + 8] == _MAGIC and len(content) >= at + 28:
        count, nonce, _, sector, size = struct.unpack_from(">5I", content, at + 8)
        step = page_size + 8
        if size != page_size or not 512 <= sector <= 65536:
            break
        at += sector
        if count in (0, _UNKNOWN):
            count = (len(content) - at) // step
        for _ in range(min(count, (len(content) - at) // step)):
            page = content[at + 4 : at + 4 + page_size]
            number, checksum = (
                struct.unpack_from(">I", content, at)[0],
                struct.unpack_from(">I", content, at + step - 4)[0],
            )
            if _checksum(page, nonce) == checksum:
                found.setdefault(number, page)
            at += step
        at += -at % sector
    return found


def _checksum(page: bytes, nonce: int) -> int:
    return (nonce + sum(page[at] for at in range(len(page) - _STEP, 0, -_STEP))) & 0xFFFFFFFF
