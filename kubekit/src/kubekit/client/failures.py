"""Failed requests as errors a person can act on."""

from __future__ import annotations

import os
import re
import ssl
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kubekit.errors import ApiError, Details, ServiceUnavailable, Timeout, error_from_status

from .codec import NotAnObject, decoded
from .reply import Reply

if TYPE_CHECKING:
    from yarl import URL

_LONGEST_TEXT = 200
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ServerName:
    """A server as errors name it."""

    host: str
    port: int

    @staticmethod
    def of(url: URL) -> ServerName:
        return ServerName(url.host or "", url.port or 0)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def refusal(place: ServerName, method: str, path: str, reply: Reply) -> ApiError:
    """The error an unsuccessful answer stands for, also when it comes from a proxy in between."""
    status = _status(reply)
    if status is None:
        path = path.partition("?")[0]
        shown = f"{place} answered {reply.status} {reply.reason} to {method} {path}".replace("  ", " ")
        text = readable(reply.body)
        status = {"message": f"{shown}: {text}" if text else shown}
    error = error_from_status(status, reply.status)
    waits = reply.headers.get("Retry-After", "")
    if not error.retry_after and waits.isdigit():
        error.details = replace(error.details or Details(), retry_after=int(waits))
    return error


def foreign(place: ServerName, reply: Reply, problem: str) -> ServiceUnavailable:
    """A success that no Kubernetes API would answer with: a login page, most often."""
    kind = reply.headers.get("Content-Type", "no content type")
    text = readable(reply.body) if not reply.is_json else problem
    return ServiceUnavailable(f"{place} does not answer like a Kubernetes API: {reply.status} {kind}: {text}")


def readable(body: bytes) -> str:
    """The gist of a page, on one line."""
    text = body[:20_000].decode(errors="replace")
    if "<" in text:
        title = _TITLE.search(text)
        text = title[1] if title else _TAG.sub(" ", text)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"


def unreachable(place: ServerName, error: Exception) -> ApiError:
    """The server did not answer at all, or not to the end."""
    import aiohttp  # noqa: PLC0415 - who gets here has it already; others read refusals without it

    match error:
        case aiohttp.ConnectionTimeoutError():
            return ServiceUnavailable(f"{place}: no connection: it takes too long")
        case TimeoutError():
            return Timeout(f"{place}: no answer: nothing came for too long")
        case aiohttp.ClientConnectorCertificateError():
            return ServiceUnavailable(f"{place}: TLS: {certificate_problem(error.certificate_error)}")
        case aiohttp.ClientConnectorSSLError():
            return ServiceUnavailable(f"{place}: TLS: {tls_problem(error.os_error)}")
        case aiohttp.ClientHttpProxyError():
            return ServiceUnavailable(f"{place}: the proxy answered {error.status} {error.message}")
        case aiohttp.ClientProxyConnectionError():
            proxy = ServerName(error.host, error.port or 0)
            return ServiceUnavailable(f"{place}: proxy {proxy}: {system_problem(error.os_error)}")
        case aiohttp.ClientConnectorDNSError():
            return ServiceUnavailable(f"{place}: the name cannot be resolved: {system_problem(error.os_error)}")
        case aiohttp.ClientConnectorError():
            return ServiceUnavailable(f"{place}: {system_problem(error.os_error)}")
        case aiohttp.ClientResponseError():
            return ServiceUnavailable(f"{place}: the answer is not HTTP: {error.message}")
        case ssl.SSLError():
            return ServiceUnavailable(f"{place}: TLS: {tls_problem(error)}")
    return ServiceUnavailable(f"{place}: the connection was cut: {error or type(error).__name__}")


def _status(reply: Reply) -> dict[str, object] | None:
    if not reply.is_json:
        return None
    try:
        found = decoded(reply.body)
    except NotAnObject:
        return None
    return found if isinstance(found, dict) and found.get("kind") == "Status" else None


def certificate_problem(error: Exception) -> str:
    """Why a server is not believed."""
    said = getattr(error, "verify_message", "") or str(error)
    return f"the server's certificate is refused: {said.rstrip('.')}"


def tls_problem(error: BaseException) -> str:
    """Why no safe connection was made."""
    reason = str(getattr(error, "reason", None) or error)
    if reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"):
        return "the server does not speak TLS there"
    return reason.replace("_", " ").lower()


def system_problem(error: OSError) -> str:
    """`Connection refused` rather than what asyncio makes of it."""
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error)
