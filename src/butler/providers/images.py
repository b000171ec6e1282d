"""What an image store of an infrastructure is: where machines find the disks they boot from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from .contract import NOTHING_KNOWN, Known


@dataclass(frozen=True, slots=True)
class ImageOrder:
    """An image that is wanted. Two orders with the same name are one image, whoever asks."""

    name: str
    token: str
    """The UID of who asks first, as a mark."""
    url: str
    """Where the infrastructure fetches it."""
    format: str
    """qcow2, raw or iso."""
    arch: str = "amd64"
    sha256: str = ""


class Progress(StrEnum):
    """How far an image is."""

    WAITING = "Waiting"
    FETCHING = "Fetching"
    READY = "Ready"


@dataclass(frozen=True, slots=True)
class Image:
    """An image as the infrastructure shows it."""

    reference: str
    """What a MachineOrder calls it; empty while the infrastructure has not said it."""
    name: str
    progress: Progress
    task: str = ""
    """The infrastructure's task that is at work for it; it comes back as `Known` with the next call."""


class Images(Protocol):
    """The images of an account. As with machines, the verbs are idempotent and never wait."""

    async def ensure(self, order: ImageOrder, known: Known = NOTHING_KNOWN) -> Image:
        """Let the infrastructure fetch an image; answers the one there is under this name. Raises what the task in
        `known` ended with, if it failed."""
        ...

    async def delete(self, name: str, known: Known = NOTHING_KNOWN) -> bool:
        """Remove an image that we made. Answers whether nothing of it is left."""
        ...
