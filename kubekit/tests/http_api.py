"""Plain HTTP to a server, for tests that look at what goes over the wire."""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp


@dataclass
class Answered:
    """An HTTP answer."""

    status: int
    body: Any
    headers: Any


class Api:
    """Plain HTTP to a server, for tests that look at what goes over the wire."""

    def __init__(self, session: aiohttp.ClientSession, url: str, headers: dict[str, str] | None = None) -> None:
        self.session, self.url, self.headers = session, url, headers or {}

    async def __call__(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", **headers: str
    ) -> Answered:
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.session.request(
            method, f"{self.url}{path}", data=data, headers={"Content-Type": content_type, **self.headers, **named}
        ) as answer:
            content = await answer.read()
            is_json = answer.content_type == "application/json"
            return Answered(answer.status, json.loads(content) if is_json and content else content, answer.headers)

    async def watch(self, path: str, count: int) -> list[dict[str, Any]]:
        """The first `count` events of a watch."""
        events: list[dict[str, Any]] = []
        async with self.session.get(f"{self.url}{path}", headers=self.headers) as answer:
            assert answer.status == 200, await answer.read()
            while len(events) < count:
                events.append(json.loads(await answer.content.readline()))
        return events


def admin_context(config: dict[str, Any]) -> ssl.SSLContext:
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    with tempfile.TemporaryDirectory() as scratch:
        certificate, key = Path(scratch, "crt"), Path(scratch, "key")
        certificate.write_bytes(base64.b64decode(user["client-certificate-data"]))
        key.write_bytes(base64.b64decode(user["client-key-data"]))
        context.load_cert_chain(certificate, key)
    return context
