"""Calls to programs people configured: how a webhook is found, trusted and asked."""

from __future__ import annotations

import base64
import binascii
import os
import ssl
from typing import Any

import aiohttp
import msgspec

from kubekit.model.resource import Object
from kubekit.server.objects.go import json_text
from kubekit.server.objects.schema.decoding import TYPE_STRUCT, Malformed, go_kind

from . import service_backends
from .host import Host

_ANSWER_LIMIT = 3 * 1024 * 1024
_MOST_CONTEXTS = 32
"""A context weighs more than what makes one: a configuration may be written with ever another caBundle."""


class CallFailed(Exception):
    """The webhook could not be asked."""


class WebhookClient:
    """Asks webhooks of one space over HTTPS."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._session: aiohttp.ClientSession | None = None
        self._contexts: dict[str, ssl.SSLContext] = {}

    async def post(self, client: Object, review: Object, patience: float) -> Any:
        """What the program behind a `clientConfig` answers to a review. Raises CallFailed."""
        known_as, url, server_name = self._addresses(client, patience)
        try:
            async with self._client().post(
                url or service_backends.url_behind(self._host, client["service"]),
                data=msgspec.json.encode(review),
                headers={"Content-Type": "application/json", "Accept": "application/json"},
                ssl=self._context(client.get("caBundle", "")),
                server_hostname=server_name or None,
                timeout=aiohttp.ClientTimeout(total=patience),
                allow_redirects=False,
            ) as response:
                content = await _whole(response)
        except TimeoutError as error:
            raise CallFailed(f'Post "{known_as}": context deadline exceeded') from error
        except (aiohttp.ClientError, OSError, service_backends.NoBackend) as error:
            raise CallFailed(f'Post "{known_as}": {_reason(error)}') from error
        if response.status != 200:
            raise CallFailed(_refusal(response.status, content.decode(errors="replace")))
        return _read(content)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _addresses(self, client: Object, patience: float) -> tuple[str, str, str]:
        """What the webhook is called in messages, its URL, and the name on its certificate; a service has no URL."""
        limit = f"?timeout={int(patience)}s"
        if client.get("url"):
            return f"{client['url']}{limit}", f"{client['url']}{limit}", ""
        service = client.get("service") or {}
        if not (service.get("name") and service.get("namespace")):
            raise CallFailed("the configuration names neither a URL nor a service")
        name = f"{service['name']}.{service['namespace']}.svc"
        return f"https://{name}:{service.get('port', 443)}{service.get('path', '')}{limit}", "", name

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        return self._session

    def _context(self, bundle: str) -> ssl.SSLContext:
        context = self._contexts.get(bundle)
        if context is None:
            try:
                authority = base64.b64decode(bundle).decode() if bundle else None
                context = ssl.create_default_context(cadata=authority)
            except (ValueError, binascii.Error, ssl.SSLError) as error:
                raise CallFailed(f"caBundle: {error}") from error
            if len(self._contexts) >= _MOST_CONTEXTS:
                del self._contexts[next(iter(self._contexts))]
            self._contexts[bundle] = context
        return context


def _read(content: bytes) -> Any:
    """The JSON object in an answer. Raises CallFailed."""
    try:
        value = json_text.decode(content)
        if not isinstance(value, dict) and value is not None:
            raise Malformed(f"json: cannot unmarshal {go_kind(value)} into Go value of type {TYPE_STRUCT}")
    except Malformed as error:
        raise CallFailed(f"couldn't get version/kind; json parse error: {error}") from error
    return value


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > _ANSWER_LIMIT:
            raise CallFailed(f"the answer is longer than {_ANSWER_LIMIT} bytes")
    return bytes(content)


def _reason(error: Exception) -> str:
    """Why a call failed, in Go's words where they are known: people search for them."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"tls: failed to verify certificate: x509: {_distrust(error.certificate_error)}"
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {error.host}: no such host"
        case aiohttp.ClientConnectorError():
            cause = os.strerror(error.os_error.errno).lower() if error.os_error.errno else str(error.os_error)
            return f"dial tcp {error.host}:{error.port}: connect: {cause}"
    return str(error) or type(error).__name__


def _distrust(error: Exception) -> str:
    code = getattr(error, "verify_code", 0)
    return _DISTRUST.get(code) or str(getattr(error, "verify_message", error))


_DISTRUST = {
    **dict.fromkeys((18, 19, 20, 21), "certificate signed by unknown authority"),
    **dict.fromkeys((9, 10), "certificate has expired or is not yet valid"),
}
"""By the numbers OpenSSL gives them."""


def _refusal(status: int, text: str) -> str:
    """What client-go makes of an answer that is no success."""
    if status >= 500 and status not in _REFUSALS:
        return f'an error on the server ("{text.strip()}") has prevented the request from succeeding'
    return _REFUSALS.get(
        status, f"the server responded with the status code {status} but did not return more information"
    )


_REFUSALS = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    503: "the server is currently unable to handle the request",
}
