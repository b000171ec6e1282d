"""Which version of the API a Prism Central speaks, by asking it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kubekit.clock import Chance

from ..rest import Question, Rest
from .api import Api
from .v3 import V3
from .v4 import NEWEST, V4

ROUTES = "/api/actuator/versionroutes"
_RELEASED = re.compile(r"v4\.(\d+)")
_NOT_OFFERED = (403, 404, 405, 501)
"""How one answers that has no version 4, or none for this user."""


async def choose(rest: Rest, chance: Chance, about: str) -> Api:
    """Version 4 where all parts of it are released, else version 3. Raises ProviderError."""
    reply = await rest.ask(Question("GET", ROUTES, about, expected=_NOT_OFFERED))
    product = reply.headers.get("X-Ntnx-Product", "")
    versions = offered(reply.body) if reply.status < 400 else {}
    if versions.keys() == NEWEST.keys():
        return V4(rest, versions, chance, product)
    return V3(rest, product)


def offered(routes: Any) -> Mapping[str, str]:
    """The version of each part to use: the newest released one that this knows. Parts without one are left out."""
    if not isinstance(routes, list):
        return {}
    found = {one.get("namespace"): one.get("versionRoutes") or () for one in routes if isinstance(one, dict)}
    newest = {part: _newest(found.get(part, ()), most) for part, most in NEWEST.items()}
    return {part: f"v4.{minor}" for part, minor in newest.items() if minor is not None}


def _newest(routes: Any, most: int) -> int | None:
    released = [_RELEASED.fullmatch(str(one.get("version"))) for one in routes]
    return max((int(one.group(1)) for one in released if one and int(one.group(1)) <= most), default=None)
