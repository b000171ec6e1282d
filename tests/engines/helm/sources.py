"""A chart repository and an OCI registry on loopback."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from tests.engines.helm.charts import digest

_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = b'{"name":"web","version":"1.0.0","apiVersion":"v2"}'


class Source:
    """Serves files, to those who know the password if there is one."""

    def __init__(self, password: str = "") -> None:
        self.files: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self.password = password
        self.asked: list[str] = []
        self.port = 0

    def add_to_registry(self, name: str, version: str, archive: bytes) -> None:
        layer = {
            "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
            "digest": digest(archive),
            "size": len(archive),
        }
        config = {
            "mediaType": "application/vnd.cncf.helm.config.v1+json",
            "digest": digest(_CONFIG),
            "size": len(_CONFIG),
        }
        manifest = json.dumps(
            {"schemaVersion": 2, "mediaType": _MANIFEST, "config": config, "layers": [layer]}
        ).encode()
        for key in (version, digest(manifest)):
            self.files[f"/v2/{name}/manifests/{key}"] = manifest
            self.types[f"/v2/{name}/manifests/{key}"] = _MANIFEST
        for blob in (_CONFIG, archive):
            self.files[f"/v2/{name}/blobs/{digest(blob)}"] = blob
        self.files["/v2/"] = b"{}"

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        wanted = base64.b64encode(f"robot:{self.password}".encode()).decode()
        if self.password and request.headers.get("Authorization") != f"Basic {wanted}":
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="charts"'})
        content = self.files.get(request.path)
        if content is None:
            return web.Response(status=404)
        kind = self.types.get(request.path, "application/octet-stream")
        headers = {"Docker-Content-Digest": digest(content), "Content-Type": kind}
        return web.Response(body=content, headers=headers)


@asynccontextmanager
async def serving(source: Source, tls: ssl.SSLContext | None = None) -> AsyncIterator[Source]:
    application = web.Application()
    application.router.add_get("/{path:.*}", source.answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    source.port = runner.addresses[0][1]
    try:
        yield source
    finally:
        await runner.cleanup()
