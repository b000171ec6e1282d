"""From when to when a certificate is valid, read without any cryptography, which would be slow to load."""

from __future__ import annotations

import binascii
from datetime import UTC, datetime

_BEGIN, _END = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"
_SEQUENCE, _VERSION = 0x30, 0xA0


def validity_of(certificate: bytes) -> tuple[datetime, datetime]:
    """When a PEM certificate begins and ends. Raises ValueError for anything else."""
    text = certificate.partition(_BEGIN)[2].partition(_END)[0]
    try:
        der = binascii.a2b_base64(text)
        return _validity(der)
    except (IndexError, binascii.Error) as error:
        raise ValueError("not a certificate") from error


def _validity(der: bytes) -> tuple[datetime, datetime]:
    at, _ = _inside(der, 0, _SEQUENCE)
    at, _ = _inside(der, at, _SEQUENCE)
    # Before it there are the serial number, the algorithm and the issuer, and mostly a version.
    for _ in range(4 if der[at] == _VERSION else 3):
        at = _inside(der, at)[1]
    at, _ = _inside(der, at, _SEQUENCE)
    return _time(der, at), _time(der, _inside(der, at)[1])


def _inside(der: bytes, at: int, expected: int | None = None) -> tuple[int, int]:
    """Where the contents of an element begin and end."""
    if expected not in (None, der[at]):
        raise ValueError("not a certificate")
    length, begin = der[at + 1], at + 2
    if length & 0x80:
        count = length & 0x7F
        length, begin = int.from_bytes(der[begin : begin + count], "big"), begin + count
    return begin, begin + length


def _time(der: bytes, at: int) -> datetime:
    begin, end = _inside(der, at)
    text = der[begin:end].decode("ascii")
    match der[at]:
        case 0x17 if len(text) == 13:
            # Two digits stand for the years from 1950 to 2049.
            text = f"{'19' if text[:2] >= '50' else '20'}{text}"
        case 0x18 if len(text) == 15:
            pass
        case _:
            raise ValueError("not a time")
    parts = (text[0:4], text[4:6], text[6:8], text[8:10], text[10:12], text[12:14])
    year, month, day, hour, minute, second = map(int, parts)
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
