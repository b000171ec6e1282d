"""Protobuf's wire format: tagged numbers and byte strings, without any notion of what they mean."""

from __future__ import annotations

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

Value = int | bytes
"""A number (VARINT), or the bytes of any other wire type."""


class Malformed(ValueError):
    """The bytes are not what their place calls for."""


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned number and the position behind it."""
    try:
        first = data[position]
        if first < 0x80:
            return first, position + 1
        number, shift = first & 0x7F, 7
        while shift < 64:
            position += 1
            byte = data[position]
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number & 0xFFFF_FFFF_FFFF_FFFF, position + 1
            shift += 7
    except IndexError:
        raise Malformed("unexpected EOF") from None
    raise Malformed("proto: integer overflow")


def read_value(data: bytes, position: int, wire_type: int) -> tuple[Value, int]:
    """What follows a tag, and the position behind it."""
    if wire_type == VARINT:
        return read_varint(data, position)
    if wire_type == BYTES:
        length, position = read_varint(data, position)
    elif wire_type == FIXED64:
        length = 8
    elif wire_type == FIXED32:
        length = 4
    else:
        raise Malformed(f"proto: illegal wireType {wire_type}")
    end = position + length
    if end > len(data):
        raise Malformed("unexpected EOF")
    return data[position:end], end


def signed(number: int, bits: int) -> int:
    """A number of the wire as two's complement of so many bits."""
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def varint(number: int) -> bytes:
    number &= 0xFFFF_FFFF_FFFF_FFFF
    if number < 0x80:
        return bytes((number,))
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def with_length(content: bytes) -> bytes:
    return varint(len(content)) + content
