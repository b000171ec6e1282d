"""Proving who we are: certificates, tokens, token files that change, and programs that are asked."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from kubekit.errors import Unauthorized

from .config import Config, User
from .exec_plugins import Clock, Printed, run


@dataclass(frozen=True, slots=True)
class Credential:
    """What requests carry now. A new one is a new object, so that whoever keeps one notices."""

    authorization: str = field(default="", repr=False)
    certificate: bytes = field(default=b"", repr=False)
    key: bytes = field(default=b"", repr=False)


NONE = Credential()


class Credentials(Protocol):
    """Where credentials come from."""

    async def current(self) -> Credential:
        """What to send now; quick while nothing has changed. Raises Unauthorized, InvalidConfiguration."""

    async def renewed(self, refused: Credential) -> Credential:
        """What to send after the server did not accept `refused`; that same object when there is nothing else."""


def credentials_for(config: Config, clock: Clock | None = None) -> Credentials:
    """Whatever the user of a config has."""
    user = config.user
    if not config.cluster.server.startswith("https:"):
        # Nothing secret goes over a connection that anyone can read; kubectl does the same.
        return Fixed(User())
    if user.token_file is not None:
        return TokenFile(user.token_file, user)
    if user.plugin is not None and not (user.token or user.username or user.certificate):
        return Asked(config, clock)
    return Fixed(user)


class Fixed:
    """A certificate, a token or a password; files are read again when the server refuses what they held."""

    def __init__(self, user: User) -> None:
        self._user = user
        self._credential: Credential | None = None

    async def current(self) -> Credential:
        if self._credential is None:
            self._credential = self._read()
        return self._credential

    async def renewed(self, refused: Credential) -> Credential:
        found = self._read()
        if found != refused:
            self._credential = found
            return found
        return refused

    def _read(self) -> Credential:
        return Credential(self._user.authorization(), self._user.certificate.read(), self._user.key.read())


class TokenFile:
    """A token in a file that someone else keeps fresh."""

    def __init__(self, path: Path, user: User) -> None:
        self._path, self._user = path, user
        self._seen: tuple[int, int, int] | None = None
        self._credential = NONE

    async def current(self) -> Credential:
        try:
            found = os.stat(self._path)
            seen = found.st_ino, found.st_mtime_ns, found.st_size
            if seen != self._seen:
                self._credential = self._holding(self._path.read_text(errors="replace").strip())
                self._seen = seen
        except OSError as error:
            # A rotation may be under way: what was read last, or what the config says, may still be good.
            if self._credential is NONE and not self._user.token:
                raise Unauthorized(f"token file {self._path}: {error.strerror or error}") from error
            if self._credential is NONE:
                self._credential = self._holding(self._user.token)
        return self._credential

    async def renewed(self, refused: Credential) -> Credential:
        self._seen = None
        found = await self.current()
        return refused if found == refused else found

    def _holding(self, token: str) -> Credential:
        user = self._user
        return Credential(f"Bearer {token}", user.certificate.read(), user.key.read())


class Asked:
    """A program that prints credentials: asked once, again when they have expired or are refused.

    Without a clock, credentials are kept until they are refused."""

    _EARLY = 10.0
    """Seconds before their end at which credentials are no longer used."""

    def __init__(self, config: Config, clock: Clock | None) -> None:
        self._config, self._clock = config, clock
        self._lock = asyncio.Lock()
        self._credential: Credential | None = None
        self._until: datetime | None = None

    async def current(self) -> Credential:
        if self._credential is not None and not self._expired():
            return self._credential
        async with self._lock:
            if self._credential is None or self._expired():
                await self._ask()
            assert self._credential is not None
            return self._credential

    async def renewed(self, refused: Credential) -> Credential:
        async with self._lock:
            if self._credential is refused or self._credential is None:
                await self._ask()
            assert self._credential is not None
            return self._credential

    def _expired(self) -> bool:
        if self._until is None or self._clock is None:
            return False
        return (self._until - self._clock.now()).total_seconds() < self._EARLY

    async def _ask(self) -> None:
        printed: Printed = await run(self._config)
        authorization = f"Bearer {printed.token}" if printed.token else ""
        certificate, key = printed.client_certificate_data.encode(), printed.client_key_data.encode()
        self._credential = Credential(authorization, certificate, key)
        self._until = printed.expiration_timestamp
