"""Answers as the services of AWS write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

from aiohttp import web

from tests.providers.aws.moto_account import Told

_EC2 = "http://ec2.amazonaws.com/doc/2016-11-15/"


class Denied(Exception):
    """The service says no."""

    def __init__(self, code: str, message: str, status: int = 400, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.status, self.headers = code, message, status, headers or {}


def refusal(service: str, denied: Denied) -> web.Response:
    """An error in the format of the service."""
    if service == "ssm":
        body = {"__type": denied.code, "message": denied.message}
        return web.json_response(body, status=denied.status, content_type="application/x-amz-json-1.1")
    error = f"<Code>{denied.code}</Code><Message>{escape(denied.message)}</Message>"
    if service == "ec2":
        text = f"<Response><Errors><Error>{error}</Error></Errors><RequestID>{_REQUEST}</RequestID></Response>"
    else:
        side = "Sender" if denied.status < 500 else "Receiver"
        text = (
            f"<ErrorResponse><Error><Type>{side}</Type>{error}</Error><RequestId>{_REQUEST}</RequestId></ErrorResponse>"
        )
    return web.Response(text=_HEAD + text, status=denied.status, content_type="text/xml", headers=denied.headers)


def ec2(action: str, content: Mapping[str, Any]) -> web.Response:
    """An answer of EC2: mappings become elements, lists become items."""
    name = f"{action}Response"
    text = f'<{name} xmlns="{_EC2}"><requestId>{_REQUEST}</requestId>{_xml(content)}</{name}>'
    return web.Response(text=_HEAD + text, content_type="text/xml")


def told(answer: Told) -> web.Response:
    """What moto said."""
    return web.Response(text=answer.text, status=answer.status, content_type="text/xml")


def _xml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "".join(f"<{key}>{_xml(one)}</{key}>" for key, one in value.items())
    if isinstance(value, list):
        return "".join(f"<item>{_xml(one)}</item>" for one in value)
    return escape(str(value))


_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_REQUEST = "59dbff89-35bd-4eac-99ed-be587EXAMPLE"
