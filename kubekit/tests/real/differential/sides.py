"""The two servers as somebody to talk to."""

from __future__ import annotations

import json
import ssl
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from io import BytesIO

import aiohttp
import yaml
from yarl import URL

from testbed.running.servers import Cluster
from tests.http_api import admin_context
from tests.real.differential.answers import Answer
from tests.real.differential.steps import Step

_LIMIT = aiohttp.ClientTimeout(total=60)
_AGENT = {"User-Agent": "differential/1.0"}


@dataclass(frozen=True)
class Side:
    """One server, and the ways to reach it."""

    name: str
    url: str
    admin: aiohttp.ClientSession
    anyone: aiohttp.ClientSession
    known: Mapping[str, Answer]
    """What every case may refer to, like to its own answers."""

    async def send(self, step: Step) -> Answer:
        try:
            async with self.request(step) as answer:
                return await read(answer)
        except aiohttp.ServerDisconnectedError:
            return Answer(0, "the server hung up")

    def request(self, step: Step) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        session = self.anyone if step.is_anonymous else self.admin
        content = step.body
        if content is not None and not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        if isinstance(content, str):
            # aiohttp warns of long ones unless they are a file.
            content = BytesIO(content.encode())
        # What is escaped, or not, is so on purpose.
        url = URL(self.url + step.path, encoded=True)
        return session.request(step.method, url, data=content, headers=dict(step.headers))


async def read(answer: aiohttp.ClientResponse) -> Answer:
    content = await answer.read()
    if answer.content_type == "application/json" and content:
        # What is nested too deeply for Python is left as it is.
        with suppress(RecursionError):
            return Answer(answer.status, json.loads(content), headers(answer))
    return Answer(answer.status, content.decode(errors="backslashreplace"), headers(answer))


def headers(answer: aiohttp.ClientResponse) -> Mapping[str, list[str]]:
    return {name.lower(): answer.headers.getall(name) for name in answer.headers}


@asynccontextmanager
async def side(cluster: Cluster, known: Mapping[str, Answer]) -> AsyncIterator[Side]:
    """A way to talk to a server as its administrator and as anyone; `known` is what cases may refer to."""
    config = yaml.safe_load(cluster.kubeconfig.read_text())
    there, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    trusting, sent = _trusting(there), dict(_AGENT)
    knowing = trusting
    if "token" in user:
        sent["Authorization"] = f"Bearer {user['token']}"
    else:
        knowing = admin_context(config)
    async with _session(knowing, sent) as admin, _session(trusting, _AGENT) as anyone:
        yield Side(cluster.on, there["server"], admin, anyone, known)


def _trusting(there: Mapping[str, str]) -> ssl.SSLContext:
    if "certificate-authority" in there:
        return ssl.create_default_context(cafile=there["certificate-authority"])
    return ssl.create_default_context(cadata=b64decode(there["certificate-authority-data"]).decode())


def _session(context: ssl.SSLContext, sent: Mapping[str, str]) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(ssl=context, limit=0)
    return aiohttp.ClientSession(connector=connector, headers=sent, timeout=_LIMIT, read_bufsize=2**22)
