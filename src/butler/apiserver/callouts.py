"""Calls to programs people configured: how a webhook is found, trusted and asked."""

from __future__ import annotations

import base64
import binascii
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp
import msgspec

from .resources import Object

if TYPE_CHECKING:
    from .space import Space

_ANSWER_LIMIT = 3 * 1024 * 1024


class CallFailed(Exception):
    """The webhook gave no usable answer."""


class Callouts:
    """Asks webhooks of one space over HTTPS."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._session: aiohttp.ClientSession | None = None
        self._contexts: dict[str, ssl.SSLContext] = {}

    async def post(self, client: Object, review: Object, patience: float) -> Any:
        """What the program behind a `clientConfig` answers to a review. Raises CallFailed."""
        url, server_name = self._address(client, patience)
        try:
            async with self._client().post(
                url,
                data=msgspec.json.encode(review),
                headers={"Content-Type": "application/json", "Accept": "application/json"},
                ssl=self._context(client.get("caBundle", "")),
                server_hostname=server_name or None,
                timeout=aiohttp.ClientTimeout(total=patience),
                allow_redirects=False,
            ) as response:
                if response.status != 200:
                    raise CallFailed(f'Post "{url}": the server answered {response.status}')
                return msgspec.json.decode(await _whole(response))
        except TimeoutError as error:
            raise CallFailed(f'Post "{url}": context deadline exceeded') from error
        except (aiohttp.ClientError, OSError, msgspec.DecodeError, ssl.SSLError) as error:
            raise CallFailed(f'Post "{url}": {error}') from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _address(self, client: Object, patience: float) -> tuple[str, str]:
        """The URL to call, and the name its certificate must carry when that is not the host of the URL."""
        if client.get("url"):
            return f"{client['url']}?timeout={int(patience)}s", ""
        service = client["service"]
        name, namespace = service["name"], service["namespace"]
        host, port = self._backend(name, namespace, int(service.get("port", 443)))
        return f"https://{host}:{port}{service.get('path', '')}?timeout={int(patience)}s", f"{name}.{namespace}.svc"

    def _backend(self, name: str, namespace: str, port: int) -> tuple[str, int]:
        services = self._space.kinds.at("", "v1", "services")
        service = self._space.find(services, namespace, name) if services else None
        if service is None:
            raise CallFailed(f'service "{name}" not found')
        spec = service.get("spec") or {}
        if spec.get("type") == "ExternalName":
            return spec["externalName"], port
        wanted: Object = next((one for one in spec.get("ports") or () if one["port"] == port), {})
        endpoints = self._space.kinds.at("", "v1", "endpoints")
        found = self._space.find(endpoints, namespace, name) if endpoints else None
        for subset in (found or {}).get("subsets") or ():
            for backend in subset.get("ports") or ():
                if subset.get("addresses") and backend.get("name", "") == wanted.get("name", ""):
                    return subset["addresses"][0]["ip"], int(backend["port"])
        raise CallFailed(f'no endpoints available for service "{name}"')

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
            self._contexts[bundle] = context
        return context


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_any():
        content += chunk
        if len(content) > _ANSWER_LIMIT:
            raise CallFailed(f"the answer is longer than {_ANSWER_LIMIT} bytes")
    return bytes(content)
