"""The Resource Manager: things by their path, long operations, and lists in pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from butler.errors import CredentialsInvalid, MachineRejected, ProviderError, ProviderUnavailable

from ..rest import Question, Reply, Rest, cleaned
from .errors import GONE, code_of, explain, judge, kind_of
from .section import NAME, Settings
from .tokens import Tokens

COMPUTE = "2024-07-01"
DISKS = "2024-03-02"
GALLERIES = "2023-07-03"
SKUS = "2021-07-01"
NETWORK = "2024-05-01"
RESOURCES = "2021-04-01"
SUBSCRIPTIONS = "2022-12-01"
AUTHORIZATION = "2022-04-01"

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that takes Azure a while."""

    is_running: bool = False
    error: Mapping[str, Any] | None = None
    """What it ended with, if it failed."""


class Arm:
    """One account, with a token for every call. Raises ProviderError, and tries nothing again."""

    def __init__(self, settings: Settings, patience: float) -> None:
        self._tokens = Tokens(settings, patience)
        self._rest = Rest(
            NAME,
            settings.endpoint,
            trust=settings.trust,
            patience=patience,
            secrets=(settings.secret,),
            explain=explain,
            judge=judge,
        )

    async def close(self) -> None:
        await self._rest.close()
        await self._tokens.close()

    async def get(self, path: str, version: str, about: str = "", **query: str) -> Object | None:
        """None for what does not exist."""
        found: Object | None = (await self._look(path, about, _query(version, query))).body
        return found

    async def array(self, path: str, version: str, about: str = "", **query: str) -> list[Object]:
        """One of the few lists that have neither an envelope nor pages; empty where there is no place for it."""
        found: list[Object] | None = (await self._look(path, about, _query(version, query))).body
        return found or []

    async def put(self, path: str, version: str, about: str, body: Object, **more: Any) -> Reply:
        return await self._ask(Question("PUT", path, about, body, query={"api-version": version}, **more))

    async def delete(self, path: str, version: str, about: str) -> None:
        """Ask for the end of something; what does not exist is no error."""
        await self._ask(Question("DELETE", path, about, query={"api-version": version}, expected=(404,)))

    async def listed(self, path: str, version: str, **query: str) -> list[Object]:
        """All pages of a list; empty where there is not even the place for it."""
        asked = _query(version, query)
        found: list[Object] = []
        while path:
            page = (await self._look(path, "", asked)).body or {"value": []}
            found += page["value"]
            path, asked = _within(page.get("nextLink") or "")
        return found

    async def operation(self, task: str, about: str) -> Operation:
        """How far a long operation is; one that nobody knows is over."""
        path, query = _within(task)
        if not path.startswith("/subscriptions/"):
            return Operation()
        reply = await self._ask(Question("GET", path, about, query=query, expected=(400, 404)))
        body = reply.body if isinstance(reply.body, dict) and reply.status < 400 else {}
        status = str(body.get("status") or "")
        if status in ("Failed", "Canceled"):
            return Operation(error=body.get("error") or {"code": status})
        return Operation(is_running=reply.status == 202 or status not in ("", "Succeeded"))

    async def _look(self, path: str, about: str, query: Mapping[str, str]) -> Reply:
        """An answer, without a body for what does not exist."""
        reply = await self._ask(Question("GET", path, about, query=query, expected=(404,)))
        if reply.status != 404:
            return reply
        if code_of(reply.body) in GONE:
            return Reply(404, None)
        kind = kind_of(reply.body) or MachineRejected
        raise kind(NAME, about, f"404 for GET {path}: {cleaned(explain(reply), ())}")

    async def _ask(self, question: Question) -> Reply:
        token = await self._tokens.bearer(question.about)
        headers = {"Authorization": f"Bearer {token}", **question.headers}
        hidden, expected = (token, *question.hidden), (401, *question.expected)
        reply = await self._rest.ask(replace(question, headers=headers, hidden=hidden, expected=expected))
        if reply.status != 401:
            return reply
        self._tokens.forget()
        message = f"401 for {question.method} {question.path}: {cleaned(explain(reply), hidden)}"
        raise (kind_of(reply.body) or CredentialsInvalid)(NAME, question.about, message)


def ended(about: str, error: Mapping[str, Any]) -> ProviderError:
    """What a long operation ended with. It is over, so it is not asked again: what passes by itself is none of it."""
    told = cleaned(f"{error.get('code')}: {error.get('message', '')}", ())
    kind = kind_of(error)
    kind = ProviderError if kind in (None, ProviderUnavailable) else kind
    return kind(NAME, about, f"the operation ended with {told}")


def task_of(reply: Reply) -> str:
    """By what a long operation is followed: its address, without the host, which is always ours."""
    address = reply.headers.get("Azure-AsyncOperation") or reply.headers.get("Location") or ""
    parts = urlsplit(address)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def state_of(resource: Object) -> str:
    """Creating, Updating, Succeeded, Failed or Deleting."""
    return str(resource.get("properties", {}).get("provisioningState") or "")


def _query(version: str, query: Mapping[str, str]) -> Mapping[str, str]:
    """OData's own parameters begin with a dollar."""
    return {"api-version": version, **{f"${name}": value for name, value in query.items()}}


def _within(address: str) -> tuple[str, Mapping[str, str]]:
    """Path and query of an address; a token is for one host, whatever an answer says."""
    parts = urlsplit(address)
    return parts.path, dict(parse_qsl(parts.query, keep_blank_values=True))
