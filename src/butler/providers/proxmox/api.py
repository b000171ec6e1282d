"""The API of Proxmox VE: who asks, forms, and tasks that are followed by their name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from butler.errors import CapacityExhausted, CredentialsInvalid, MachineRejected, ProviderError
from kubekit.clock import Clock

from ..rest import Question, Reply, Rest
from . import errors
from .section import NAME, Settings

_BASE = "/api2/json"
_FORM = "application/x-www-form-urlencoded"
_FRESH = timedelta(minutes=90)
"""A ticket lives for two hours; it is not used to the last minute."""
_UPID = re.compile(r"UPID:(?P<node>[^:\s/]+)(:[0-9A-Fa-f]+){3}:(?P<kind>[^:\s]+):[^:\s]*:\S+:")

Form = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a login gives."""

    headers: Mapping[str, str]
    since: datetime


class Api:
    """The API of one account. Raises ProviderError."""

    def __init__(self, settings: Settings, clock: Clock, patience: float) -> None:
        self._login, self._clock = settings.login, clock
        self._entering = asyncio.Lock()
        self._ticket: Ticket | None = None
        self._rest = Rest(
            NAME,
            settings.endpoint,
            trust=settings.trust,
            patience=patience,
            secrets=(settings.login.secret, quote(settings.login.secret)),
            explain=errors.explained,
            judge=errors.judged,
        )

    async def get(self, path: str, about: str = "", **query: str) -> Any:
        return _data(await self._ask(Question("GET", _BASE + path, about, query=query)))

    async def listed(self, path: str, about: str = "", **query: str) -> tuple[list[Any], datetime]:
        """A list, and what time it is over there."""
        reply = await self._ask(Question("GET", _BASE + path, about, query=query))
        return _data(reply) or [], self._time_of(reply)

    async def post(self, path: str, about: str, form: Form) -> Any:
        return _data(await self._ask(Question("POST", _BASE + path, about, _encoded(form))))

    async def put(self, path: str, about: str, form: Form) -> Any:
        return _data(await self._ask(Question("PUT", _BASE + path, about, _encoded(form))))

    async def delete(self, path: str, about: str, **query: str) -> Any:
        return _data(await self._ask(Question("DELETE", _BASE + path, about, query=query)))

    async def upload(self, path: str, about: str, filename: str, content: bytes) -> Any:
        """Put an ISO image on a storage. One of the same name is replaced."""
        boundary = sha256(content).hexdigest()
        headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        body = _parts(boundary, filename, content)
        return _data(await self._ask(Question("POST", _BASE + path, about, body, headers=headers)))

    async def is_busy(self, task: str, about: str) -> bool:
        """Whether a task is at work. Raises what it ended with if it failed; that someone was quicker is no failure."""
        ended = await self.outcome(task, about)
        if ended and (kind := errors.meaning(ended)) is not errors.Taken:
            # A task that failed is over, whatever the reason: trying again is for a new one.
            lasting = kind if kind in (CapacityExhausted, MachineRejected) else ProviderError
            raise lasting(NAME, about, f"a task failed: {ended}")
        return ended is None

    async def outcome(self, task: str, about: str) -> str | None:
        """What a task failed with; empty when it did not, or when there is no such task; None while it is at work."""
        if (parts := _UPID.fullmatch(task)) is None:
            return ""
        try:
            found = await self.get(f"/nodes/{parts['node']}/tasks/{quote(task, safe=':@!')}/status", about)
        except errors.Absent:
            return ""
        if found["status"] == "running":
            return None
        ended = " ".join(str(found.get("exitstatus", "")).split())
        is_well = ended == "OK" or ended.startswith("WARNINGS")
        return "" if is_well else f"{parts['kind']}: {ended or 'it ended without a word'}"

    async def close(self) -> None:
        await self._rest.close()

    async def _ask(self, question: Question) -> Reply:
        headers = await self._authorised(question.about)
        if self._login.is_token:
            return await self._rest.ask(_with(question, headers))
        reply = await self._rest.ask(replace(_with(question, headers), expected=(401,)))
        if reply.status != 401:
            return reply
        # The ticket has ended before its time. The call was turned away at the door, so nothing is done twice.
        if self._ticket is not None and self._ticket.headers is headers:
            self._ticket = None
        return await self._rest.ask(_with(question, await self._authorised(question.about)))

    async def _authorised(self, about: str) -> Mapping[str, str]:
        login = self._login
        if login.is_token:
            return {"Authorization": f"PVEAPIToken={login.user}={login.secret}"}
        async with self._entering:
            if self._ticket is None or self._clock.now() - self._ticket.since > _FRESH:
                self._ticket = await self._enter(about)
            return self._ticket.headers

    async def _enter(self, about: str) -> Ticket:
        form = _encoded({"username": self._login.user, "password": self._login.secret})
        question = Question("POST", f"{_BASE}/access/ticket", about, form, headers={"Content-Type": _FORM})
        found = _data(await self._rest.ask(question))
        if found.get("NeedTFA"):
            raise CredentialsInvalid(NAME, about, f"{self._login.user} needs a second factor: use an API token instead")
        for secret in (found["ticket"], quote(found["ticket"]), found["CSRFPreventionToken"]):
            self._rest.hide(secret)
        headers = {
            "Cookie": f"PVEAuthCookie={quote(found['ticket'], safe='')}",
            "CSRFPreventionToken": found["CSRFPreventionToken"],
        }
        return Ticket(headers, self._clock.now())

    def _time_of(self, reply: Reply) -> datetime:
        try:
            return parsedate_to_datetime(reply.headers.get("Date", ""))
        except ValueError:
            return self._clock.now()


def _with(question: Question, headers: Mapping[str, str]) -> Question:
    form = {} if question.body is None else {"Content-Type": _FORM}
    return replace(question, headers={**form, **question.headers, **headers})


def _encoded(form: Form) -> bytes:
    """As a form, which is what Proxmox reads; as bytes it can be sent again."""
    return "&".join(f"{quote(name, safe='')}={quote(str(value), safe='')}" for name, value in form.items()).encode()


def _parts(boundary: str, filename: str, content: bytes) -> bytes:
    """What is uploaded; as bytes it can be sent again."""
    kind = 'Content-Disposition: form-data; name="content"\r\n\r\niso'
    name = f'Content-Disposition: form-data; name="filename"; filename="{filename}"'
    head = f"--{boundary}\r\n{kind}\r\n--{boundary}\r\n{name}\r\nContent-Type: application/octet-stream\r\n\r\n"
    return head.encode() + content + f"\r\n--{boundary}--\r\n".encode()


def _data(reply: Reply) -> Any:
    return reply.body.get("data") if isinstance(reply.body, dict) else None
