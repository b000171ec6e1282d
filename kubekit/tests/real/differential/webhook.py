"""A webhook that both servers ask, and that answers what the object itself tells it to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from tests.real.differential.answers import Answer
from tests.server import webhook
from tests.server.webhook import Webhook

TOLD = "answer"
"""The key in the data of a ConfigMap under which the response stands, as JSON."""


def listening() -> AbstractAsyncContextManager[Webhook]:
    return webhook.serving(_told)


def known(hook: Webhook) -> Mapping[str, Answer]:
    """What cases refer to: `${webhook.client}` is its `clientConfig`."""
    return {"webhook": Answer(200, {"client": hook.client})}


def _told(review: dict[str, Any]) -> dict[str, Any] | bytes:
    request = review["request"]
    told = ((request.get("object") or request.get("oldObject") or {}).get("data") or {}).get(TOLD)
    if told is None:
        return webhook.allowed(review)
    response = json.loads(told)
    if isinstance(response, str):
        return response.encode()
    whole = {"apiVersion": review["apiVersion"], "kind": "AdmissionReview"}
    return {**whole, "response": {"uid": request["uid"], **response}}
