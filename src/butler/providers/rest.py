"""HTTP to the API of an infrastructure: one call, one answer or one error of ours."""

from __future__ import annotations

import asyncio
import base64
import os
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any

import aiohttp
import msgspec

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from kubekit.errors import InvalidConfiguration

_SHOWN = 300
"""So much of what the other side says goes into an error."""
_HIDDEN = "***"
_TELLING = 6
"""A line of a secret text that is shorter tells nobody anything."""


@dataclass(frozen=True, slots=True)
class Trust:
    """How the other side is reached and believed."""

    ca: str = ""
    """Certificates in PEM that are trusted besides the system's."""
    insecure: bool = False
    proxy: str = ""

    def context(self, subject: str) -> ssl.SSLContext | bool:
        """Raises InvalidConfiguration for certificates that are none."""
        if self.insecure:
            return False
        if not self.ca:
            return True
        try:
            return _trusting(self.ca)
        except ssl.SSLError as error:
            raise InvalidConfiguration(subject, "ca", "is not a certificate in PEM form") from error


@lru_cache(maxsize=32)
def _trusting(ca: str) -> ssl.SSLContext:
    """Kept, because to read all certificates of the system takes longer than a call."""
    context = ssl.create_default_context()
    context.load_verify_locations(cadata=ca)
    return context


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer."""

    status: int
    body: Any
    """Decoded when it is JSON, else text."""
    headers: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    """What stands beside the status code; some APIs say there what is wrong."""

    @property
    def retry_after(self) -> float:
        """Seconds the other side asks to wait; 0 when it does not say. A date is reckoned by the other side's clock."""
        text = self.headers.get("Retry-After", "").strip()
        if text.isascii() and text.isdigit():
            return float(text)
        try:
            until, now = parsedate_to_datetime(text), parsedate_to_datetime(self.headers.get("Date", ""))
            return max((until - now).total_seconds(), 0.0)
        except (ValueError, TypeError):
            return 0.0


@dataclass(frozen=True, slots=True)
class Question:
    """A call to make."""

    method: str
    path: str
    about: str = ""
    """The machine it is about, for errors."""
    body: Any = None
    """JSON; bytes, or a form of aiohttp's, go as they are."""
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    expected: tuple[int, ...] = ()
    """Answers that are no errors although they look like one, such as 404."""
    hidden: tuple[str, ...] = ()
    """Texts in the body that must not come back in an error, such as userData."""


Explain = Callable[[Reply], str]
"""What an answer that is an error says, in one line."""
Judge = Callable[[Reply], type[ProviderError] | None]
"""Which error an answer is, where the status code alone does not say."""


class Rest:
    """The API of one account. Nothing is retried, nothing waits longer than `patience`, and whatever goes wrong is
    raised as ProviderError, without any of `secrets`."""

    def __init__(
        self,
        provider: str,
        url: str,
        *,
        trust: Trust | None = None,
        patience: float = 30.0,
        headers: Mapping[str, str] | None = None,
        secrets: Iterable[str] = (),
        explain: Explain | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.provider, self._url, self._patience = provider, url.rstrip("/"), patience
        self._trust, self.headers = trust or Trust(), dict(headers or {})
        self._context = self._trust.context(f"provider {provider}")
        self._secrets = tuple(secret for secret in secrets if secret)
        self._explain, self._judge = explain or said, judge or _undecided
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, question: Question) -> Reply:
        """Raises ProviderError."""
        try:
            async with asyncio.timeout(self._patience):
                reply = await self._exchange(question)
        except TimeoutError as error:
            raise self._unavailable(question, f"no answer within {self._patience:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            # Some of these name the request, headers included, when they are shown in full.
            raise self._unavailable(question, failure(error)) from None
        if reply.status < 400 or reply.status in question.expected:
            return reply
        raise self._error(question, reply)

    async def call(self, method: str, path: str, about: str = "", body: Any = None, **more: Any) -> Any:
        """The body of the answer; None for one that is expected and an error, such as 404. Raises ProviderError."""
        reply = await self.ask(Question(method, path, about, body, **more))
        return reply.body if reply.status < 400 else None

    def hide(self, secret: str) -> None:
        """Keep one more text out of every error, such as a ticket that the other side has just handed out."""
        if secret and secret not in self._secrets:
            self._secrets = (*self._secrets, secret)

    async def close(self) -> None:
        """May be called twice; a later call opens it again."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _exchange(self, question: Question) -> Reply:
        is_json = question.body is not None and not isinstance(question.body, bytes | aiohttp.FormData)
        data = msgspec.json.encode(question.body) if is_json else question.body
        headers = {**self.headers, **({"Content-Type": "application/json"} if is_json else {}), **question.headers}
        async with self._opened().request(
            question.method, self._url + question.path, data=data, params=dict(question.query), headers=headers,
            ssl=self._context, proxy=self._trust.proxy or None, allow_redirects=False,
        ) as answer:  # fmt: skip
            return Reply(answer.status, _decoded(await answer.read()), answer.headers, answer.reason or "")

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession()
            # By itself it sends a request a second time when the connection ends; whoever asks decides that here.
            self._session._retry_connection = False
        return self._session

    def _error(self, question: Question, reply: Reply) -> ProviderError:
        told = self._clean(self._explain(reply), question)
        message = f"{reply.status} for {question.method} {question.path}" + (f": {told}" if told else "")
        kind = self._judge(reply) or _kind(reply)
        if kind is RateLimited:
            return RateLimited(self.provider, question.about, message, reply.retry_after)
        return kind(self.provider, question.about, message)

    def _unavailable(self, question: Question, what: str) -> ProviderUnavailable:
        message = f"{what} for {question.method} {question.path}"
        return ProviderUnavailable(self.provider, question.about, message)

    def _clean(self, text: str, question: Question) -> str:
        return cleaned(text, (*self._secrets, *question.hidden))


def failure(error: Exception) -> str:
    """Why there was no answer, in words that have nothing of the request in them."""
    if not isinstance(error, aiohttp.ClientConnectorError):
        return type(error).__name__
    place = f"{error.host}:{error.port}"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or "it cannot be verified"
        return f"the certificate of {place} is not trusted ({why})"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"no address is known for {error.host}"
    code = error.os_error.errno
    why = os.strerror(code).lower() if code is not None and code > 0 else type(error.os_error).__name__
    return f"no connection to {place} ({why})"


def cleaned(text: str, secrets: Iterable[str]) -> str:
    """What another side says, on one line that is not too long and without any of the secrets."""
    for secret in secrets:
        for form in _forms(secret):
            text = text.replace(form, _HIDDEN)
    return " ".join(text.split())[:_SHOWN]


def _forms(secret: str) -> Iterator[str]:
    """How a text may come back: as it was, inside JSON, in base64, or line by line."""
    if not secret:
        return
    yield secret
    yield msgspec.json.encode(secret).decode()[1:-1]
    yield base64.b64encode(secret.encode()).decode()
    yield from (line.strip() for line in secret.splitlines() if len(line.strip()) >= _TELLING)


def said(reply: Reply) -> str:
    """What most APIs call their explanation."""
    body = reply.body
    if isinstance(body, dict):
        inner = body.get("error")
        body = inner if isinstance(inner, dict) else body
        found = next((body[name] for name in ("message", "error", "detail", "errors", "reason") if body.get(name)), "")
        return found if isinstance(found, str) else msgspec.json.encode(found).decode()
    return body if isinstance(body, str) and not body.lstrip().startswith("<") else ""


def _undecided(_: Reply) -> None:
    return None


def _kind(reply: Reply) -> type[ProviderError]:
    match reply.status:
        case 401 | 403 | 407:
            return CredentialsInvalid
        case 429:
            return RateLimited
        case 503 if reply.retry_after:
            return RateLimited
        case 507:
            return CapacityExhausted
        case 408 | 409 | 423 | 425:
            return ProviderUnavailable
        case status if 400 <= status < 500:
            return MachineRejected
    return ProviderUnavailable


def _decoded(content: bytes) -> Any:
    if not content:
        return None
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:
        return content.decode(errors="replace")
