"""A webhook on loopback: its answers are a function."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from testbed.running import loopback_tls as certificates

Json = dict[str, Any]
Answer = Callable[[Json], Json | bytes]
"""The whole review that came → the whole review that goes back."""


@dataclass
class Webhook:
    """Where it listens, and what it was asked."""

    url: str
    reviews: list[Json] = field(default_factory=list)

    @property
    def client(self) -> Json:
        """The `clientConfig` that reaches it."""
        return {"url": self.url, "caBundle": base64.b64encode(certificates.authority().encode()).decode()}


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[Webhook]:
    """Serve until the block ends."""
    hook = Webhook("")

    async def reply(request: web.BaseRequest) -> web.StreamResponse:
        review = json.loads(await request.read())
        hook.reviews.append(review)
        answered = answer(review)
        content = answered if isinstance(answered, bytes) else json.dumps(answered).encode()
        # In small pieces, as larger answers arrive.
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for start in range(0, len(content), 4096):
            await response.write(content[start : start + 4096])
        return response

    runner = web.ServerRunner(web.Server(reply))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=certificates.context())
    await site.start()
    try:
        hook.url = f"https://127.0.0.1:{runner.addresses[0][1]}/hook"
        yield hook
    finally:
        await runner.cleanup()


def allowed(review: Json, patch: list[Json] | None = None) -> Json:
    """The answer to an AdmissionReview that lets the request pass, perhaps changed."""
    response: Json = {"uid": review["request"]["uid"], "allowed": True}
    if patch is not None:
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def converted(review: Json, convert: Callable[[Json, str], Json]) -> Json:
    """The answer to a ConversionReview, each object converted to the version that is asked for."""
    request = review["request"]
    wanted = request["desiredAPIVersion"]
    objects = [{**convert(obj, wanted.rpartition("/")[2]), "apiVersion": wanted} for obj in request["objects"]]
    response = {"uid": request["uid"], "convertedObjects": objects, "result": {"status": "Success"}}
    return {"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}
