"""A few small files as an ISO image: ISO 9660 with Rock Ridge and Joliet, so that every reader sees their names."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

_SECTOR = 2048
_PRIMARY, _JOLIET, _END = 16, 17, 18
"""Where the descriptors are; the first sixteen sectors belong to nobody."""
_DATE = bytes((126, 1, 1, 0, 0, 0, 0))
"""The first day of 2026: the same files give the same image."""
_LONG_DATE = b"2026010100000000\0"
_NO_DATE = b"0" * 16 + b"\0"
_DIRECTORY = 2
_FILE_MODE, _DIRECTORY_MODE = 0o100444, 0o040555
_UCS2_LEVEL_3 = b"%/E"
"""How Joliet says in which letters it is written."""


@dataclass(frozen=True, slots=True)
class _Tree:
    """One of the two directories that name the same files, and where it lies."""

    records: bytes
    path_table: bytes
    at: int


def image(label: str, files: Mapping[str, bytes]) -> bytes:
    """Files in the root directory of a volume. Their names are at most 64 letters of ASCII."""
    names = sorted(files)
    plain_at, joliet_at, first_file = _END + 1, _END + 4, _END + 7
    places = _places(first_file, [len(files[name]) for name in names])
    plain = _tree(plain_at, sorted((_short(at, name), places[at], name) for at, name in enumerate(names)))
    joliet = _tree(joliet_at, sorted((name.encode("utf-16-be"), places[at], "") for at, name in enumerate(names)))
    total = places[-1][0] + _sectors(places[-1][1]) if places else first_file
    sectors = [
        *[b""] * _PRIMARY,
        _descriptor(1, label.encode().ljust(32), b"", plain, total),
        _descriptor(2, label.ljust(16).encode("utf-16-be"), _UCS2_LEVEL_3, joliet, total),
        b"\xffCD001\x01",
        *(part for tree in (plain, joliet) for part in (tree.records, tree.path_table, _big(tree))),
        *(files[name] for name in names),
    ]
    return b"".join(_padded(part) for part in sectors)


def _places(first: int, sizes: list[int]) -> list[tuple[int, int]]:
    """Where each file begins, and how long it is."""
    found, at = [], first
    for size in sizes:
        found.append((at, size))
        at += _sectors(size)
    return found


def _sectors(size: int) -> int:
    return max(-(-size // _SECTOR), 1)


def _padded(part: bytes) -> bytes:
    return part.ljust(_sectors(len(part)) * _SECTOR, b"\0")


def _short(number: int, name: str) -> bytes:
    """A name in the letters of plain ISO 9660, for readers that know nothing else."""
    letters = "".join(one if one.isalnum() else "_" for one in name.upper())
    return f"{letters[:7]}{number}.;1".encode()


def _tree(at: int, entries: list[tuple[bytes, tuple[int, int], str]]) -> _Tree:
    """A directory; entries with a full name have it by Rock Ridge."""
    is_rock_ridge = any(name for _, _, name in entries)
    itself = _sharing() + _posix(_DIRECTORY_MODE) if is_rock_ridge else b""
    records = _record(b"\0", at, _SECTOR, _DIRECTORY, itself) + _record(b"\1", at, _SECTOR, _DIRECTORY)
    for short, place, name in entries:
        records += _record(short, *place, more=_posix(_FILE_MODE) + _named(name) if name else b"")
    return _Tree(records, struct.pack("<BBIH2s", 1, 0, at, 1, b"\0\0"), at)


def _sharing() -> bytes:
    """What says that there is more in the records than ISO 9660 knows."""
    return b"SP\x07\x01\xbe\xef\0" + b"ER\x12\x01\x0a\0\0\x01RRIP_1991A"


def _posix(mode: int) -> bytes:
    return b"PX\x24\x01" + _both(mode) + _both(1) + _both(0) * 2


def _named(name: str) -> bytes:
    return b"NM" + bytes((5 + len(name), 1, 0)) + name.encode()


def _big(tree: _Tree) -> bytes:
    """The path table once more, for machines that count from the other end."""
    return struct.pack(">BBIH2s", 1, 0, tree.at, 1, b"\0\0")


def _record(name: bytes, at: int, size: int, flags: int = 0, more: bytes = b"") -> bytes:
    body = bytes((len(name),)) + name + b"\0" * ((33 + len(name)) % 2) + more
    body += b"\0" * ((32 + len(body)) % 2)
    head = struct.pack("<BB", 32 + len(body), 0) + _both(at) + _both(size) + _DATE
    return head + struct.pack("<BBB", flags, 0, 0) + _both_short(1) + body


def _descriptor(kind: int, label: bytes, letters: bytes, tree: _Tree, total: int) -> bytes:
    table = tree.at + 1
    blank = b" " * 128 if kind == 1 else b"\0 " * 64
    return b"".join((
        bytes((kind,)), b"CD001\x01\0", blank[:32], label, b"\0" * 8, _both(total), letters.ljust(32, b"\0"),
        _both_short(1), _both_short(1), _both_short(_SECTOR), _both(10),
        struct.pack("<II", table, 0), struct.pack(">II", table + 1, 0),
        _record(b"\0", tree.at, _SECTOR, _DIRECTORY), *[blank] * 4, *[blank[:36] + b"\0"] * 3,
        _LONG_DATE, _LONG_DATE, _NO_DATE, _NO_DATE, b"\x01\0",
    ))  # fmt: skip


def _both(number: int) -> bytes:
    """A number from both ends, as ISO 9660 wants it."""
    return struct.pack("<I", number) + struct.pack(">I", number)


def _both_short(number: int) -> bytes:
    return struct.pack("<H", number) + struct.pack(">H", number)
