"""A command in a container: what goes in, what comes out, and how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import msgspec

from kubekit.errors import ApiError, InternalError, ServiceUnavailable, error_from_status

if TYPE_CHECKING:
    from .transport import Websocket

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_CHUNK = 2**15


class Channel(Enum):
    """The first byte of every message."""

    STDIN = 0
    STDOUT = 1
    STDERR = 2
    ERROR = 3
    RESIZE = 4
    CLOSE = 255


@dataclass(frozen=True, slots=True)
class Output:
    """Some bytes, from standard output or standard error."""

    channel: Channel
    data: bytes


class Execution:
    """A running command. Read `output` to its end, then `code` is known."""

    def __init__(self, websocket: Websocket) -> None:
        self._websocket = websocket
        self._status: dict[str, Any] | None = None
        self._sending = asyncio.Lock()

    async def write(self, data: bytes) -> None:
        """Send to standard input."""
        for start in range(0, len(data), _CHUNK):
            await self._send(Channel.STDIN, data[start : start + _CHUNK])

    async def end_input(self) -> None:
        """Say that nothing more will be written. Older servers cannot be told; then nothing happens."""
        if self._websocket.protocol == PROTOCOLS[0]:
            await self._send(Channel.CLOSE, bytes([Channel.STDIN.value]))

    async def resize(self, columns: int, rows: int) -> None:
        """Tell the terminal's size."""
        await self._send(Channel.RESIZE, msgspec.json.encode({"Width": columns, "Height": rows}))

    async def output(self) -> AsyncGenerator[Output, None]:
        """What the command writes, as it writes it, until it ends. Raises ServiceUnavailable when the line is cut."""
        async for message in self._websocket:
            if not isinstance(message.data, bytes) or not message.data:
                continue
            number, data = message.data[0], message.data[1:]
            if number == Channel.ERROR.value:
                self._status = _status(data)
            elif data and number in (Channel.STDOUT.value, Channel.STDERR.value):
                yield Output(Channel(number), data)
        if self._status is None:
            raise ServiceUnavailable("the connection to the container was cut before the command ended")

    @property
    def code(self) -> int:
        """The exit code, once the output has ended. Raises ApiError when the command could not be run."""
        if self._status is None:
            raise InternalError("the command has not ended")
        return exit_code(self._status)

    async def close(self) -> None:
        await self._websocket.close()

    async def _send(self, channel: Channel, data: bytes) -> None:
        try:
            async with self._sending:
                await self._websocket.send_bytes(bytes([channel.value]) + data)
        except ConnectionError as error:
            raise ServiceUnavailable("the connection to the container was cut") from error


def exit_code(status: dict[str, Any]) -> int:
    """What the final Status tells. Raises ApiError when it is not about an exit code."""
    if status.get("status") == "Success":
        return 0
    error: ApiError = error_from_status(status, 500)
    for cause in error.details.causes if error.details else ():
        if cause.reason == "ExitCode" and cause.message.isdigit():
            return int(cause.message)
    raise error


def _status(data: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {"status": "Failure", "message": data.decode(errors="replace")[:500]}
