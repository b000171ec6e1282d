"""A request that is understood and allowed, and what follows from its headers and its query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from aiohttp.web import BaseRequest, RequestKey

from kubekit.server.kinds.documents import negotiation
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.user import UserInfo
from kubekit.server.spaces.addresses import Address
from kubekit.server.spaces.served_space import ServedSpace

from . import answers, queries, tables
from .queries import Query

WARNINGS = RequestKey("warnings", list[str])
"""Where a request keeps what its answer warns of."""


@lru_cache(maxsize=256)
def _media_type(header: str) -> str:
    """The type without its parameters; all of the header if they cannot be read, which is no type that anyone takes."""
    found = _MEDIA_TYPE.fullmatch(header)
    return found[1].lower() if found else header.lower()


_TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - a word of a header
_MEDIA_TYPE = re.compile(rf'\s*([^;\s]+)\s*(?:;\s*(?:{_TOKEN}=(?:{_TOKEN}|"[^"]*")\s*)?)*')


@dataclass(slots=True)
class Call:
    """A request that is understood and allowed."""

    request: BaseRequest
    space: ServedSpace
    address: Address
    query: Query
    user: UserInfo
    verb: str
    target: Target

    @property
    def media_type(self) -> str:
        return _media_type(self.request.headers.get("Content-Type", ""))

    def view(self) -> answers.View:
        headers = self.request.headers
        return answers.View(
            negotiation.negotiate(
                headers.get("Accept"),
                self.target.resource.is_custom,
                self.verb in ("list", "watch"),
                # What is never stored is never listed, and has no columns.
                has_table=self.target.resource.verbs != ("create",),
            ),
            tables.included(self.query.get("includeObject")),
            self.space.now(),
            negotiation.wants_pretty(self.query.get("pretty"), headers.get("User-Agent")),
            self.warnings,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to say about the resource, whatever is done with it."""
        return (self.target.resource.deprecation,) if self.target.resource.deprecation else ()

    def write_options(self, kind: str) -> WriteOptions:
        settings = queries.write_settings(self.query, kind, self.request.headers.get("User-Agent", ""))
        return self._warned(WriteOptions(self.user, *settings))

    def delete_options(self) -> WriteOptions:
        return self._warned(WriteOptions(self.user))

    def _warned(self, options: WriteOptions) -> WriteOptions:
        options.warnings += self.warnings
        # A refusal, too, tells what there was to warn of.
        self.request[WARNINGS] = options.warnings
        return options
