"""Tokens for the Resource Manager, from Microsoft Entra ID."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
from azure.core.exceptions import AzureError, HttpResponseError
from azure.core.pipeline.transport import AioHttpTransport
from azure.identity.aio import ClientSecretCredential

from butler.errors import CredentialsInvalid, ProviderError, ProviderUnavailable, RateLimited

from ..rest import Reply, cleaned
from .section import NAME, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

_WHAT = "a token from Microsoft Entra ID"


class Tokens:
    """The tokens of one service principal, kept until shortly before they expire."""

    def __init__(self, settings: Settings, patience: float) -> None:
        self._settings, self._patience = settings, patience
        self._context = settings.trust.context(f"provider {NAME}")
        self._credential: ClientSecretCredential | None = None
        self._session: aiohttp.ClientSession | None = None
        # When many begin at once, one of them fetches the token for all.
        self._turn = asyncio.Lock()

    async def bearer(self, about: str) -> str:
        """Raises ProviderError."""
        try:
            async with asyncio.timeout(self._patience), self._turn:
                return (await self._opened().get_token(self._settings.scope)).token
        except TimeoutError as error:
            message = f"no answer within {self._patience:g} s for {_WHAT}"
            raise ProviderUnavailable(NAME, about, message) from error
        except AzureError as error:
            # What it came from holds the request, and with it the secret.
            raise self._translated(error, about) from None

    def forget(self) -> None:
        """Let the next call fetch a new token: this one was refused."""
        self._credential = None

    async def close(self) -> None:
        """May be called twice; a later call opens it again."""
        session, self._session, self._credential = self._session, None, None
        if session is not None:
            await session.close()

    def _opened(self) -> ClientSecretCredential:
        if self._credential is None:
            settings = self._settings
            if self._session is None:
                self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=self._context))
            self._credential = ClientSecretCredential(
                settings.tenant, settings.client, settings.secret,
                authority=settings.authority,
                transport=AioHttpTransport(session=self._session, session_owner=False),
                proxies={"https": settings.trust.proxy} if settings.trust.proxy else {},
                retry_total=0,
            )  # fmt: skip
        return self._credential

    def _translated(self, error: AzureError, about: str) -> ProviderError:
        answer = error.response if isinstance(error, HttpResponseError) else None
        if answer is None:
            return ProviderUnavailable(NAME, about, f"{type(error).__name__} for {_WHAT}")
        status, headers = int(answer.status_code or 0), getattr(answer, "headers", {})
        message = f"{status} for {_WHAT}: {cleaned(str(error.message), (self._settings.secret,))}"
        if status == 429:
            return RateLimited(NAME, about, message, _wait(headers))
        if status >= 500 or status < 400:
            return ProviderUnavailable(NAME, about, message)
        return CredentialsInvalid(NAME, about, message)


def _wait(headers: Mapping[str, str]) -> float:
    return Reply(429, None, headers).retry_after
