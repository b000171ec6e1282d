"""The documents below `/openapi`: made when first asked for, kept compressed until their resources change."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterable
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import msgspec

from kubekit.errors import NotAcceptable
from kubekit.server.objects.resource import Resource

from ..builtin import data
from ..crds.schemas import CustomSchema
from ..documents.discovery import KUBERNETES_MAJOR, KUBERNETES_MINOR, Offer
from ..documents.document import Document
from .components import schemas_for
from .paths import paths_of
from .protobuf import swagger_message
from .v2 import swagger

_JSON = "application/json"
_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
_V2_PROTOBUF_ANSWER = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_V2_OFFERS = {_JSON: _JSON, _V2_PROTOBUF: _V2_PROTOBUF_ANSWER}
_SECURITY = {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}}


class _Plan(NamedTuple):
    """How a document is made, and what it is known by once it was."""

    name: str
    hash: str
    make: Callable[[], bytes]


class OpenApi:
    """OpenAPI of everything on offer."""

    def __init__(self, offer: Offer) -> None:
        self._offer = offer
        self._seen = -1
        self._resources: dict[str, list[Resource]] = {}
        self._hashes: dict[str, str] = {}
        self._kept: dict[str, tuple[str, bytes]] = {}
        """path → (the hash it was made for, gzip)"""

    def index(self) -> Document:
        """`/openapi/v3`: where the document of each group version is, and its hash."""
        self._refresh()
        addresses = {path: f"/openapi/v3/{path}?hash={self._hashes[path]}" for path in sorted(self._hashes)}
        found = {path: {"serverRelativeURL": address} for path, address in addresses.items()}
        return Document(msgspec.json.encode({"paths": found}))

    def document(self, path: str, wanted_hash: str = "", accept: str | None = None) -> Document | None:
        """`/openapi/v3/<path>` for `api/v1` or `apis/<group>/<version>`, gzipped; None when there is none.

        A client that names an old hash is sent to the new one. Raises NotAcceptable."""
        self._refresh()
        current = self._hashes.get(path)
        if current is None:
            return None
        _choose(accept, {_JSON: _JSON})
        if wanted_hash and wanted_hash != current:
            # Relative, because this API may be served below a prefix.
            return Document(b"", etag=f'"{current}"', status=301, more_headers={"Location": f"?hash={current}"})
        body = self._keep(*self._plan(path))
        caching = "public, immutable, max-age=31536000" if wanted_hash else "no-cache, private"
        return Document(body, etag=f'"{current}"', cache_control=caching, is_gzipped=True)

    def v2(self, accept: str | None = None) -> Document:
        """`/openapi/v2` of all groups at once, as JSON or as the protobuf older clients ask for.

        Raises NotAcceptable."""
        self._refresh()
        chosen = _choose(accept, _V2_OFFERS)
        plan = self._v2_plan(chosen)
        return Document(self._keep(*plan), chosen, f'"{plan.hash}"', is_gzipped=True)

    def unmade(self, path: str, accept: str | None = None) -> Callable[[], object] | None:
        """What takes long about the document `v2`, or that of v3 at a path: it may be done beside the event loop before
        the document is asked for. None where it was made. Raises NotAcceptable."""
        self._refresh()
        if path == "v2":
            plan = self._v2_plan(_choose(accept, _V2_OFFERS))
        elif path in self._hashes:
            plan = self._plan(path)
        else:
            return None
        kept = self._kept.get(plan.name)
        return None if kept is not None and kept[0] == plan.hash else partial(self._keep, *plan)

    def _plan(self, path: str) -> _Plan:
        resources = self._resources[path]
        return _Plan(path, self._hashes[path], lambda: msgspec.json.encode(_v3(resources)))

    def _v2_plan(self, chosen: str) -> _Plan:
        everything = [resource for resources in self._resources.values() for resource in resources]
        encode = msgspec.json.encode if chosen == _JSON else swagger_message
        current = _digest(*sorted(self._hashes.values()))
        return _Plan(f"v2 {chosen}", current, lambda: encode(swagger(everything)))

    def _refresh(self) -> None:
        if self._seen == self._offer.version:
            return
        self._seen = self._offer.version
        self._resources = {}
        for resource in self._offer:
            place = f"apis/{resource.api_version}" if resource.group else f"api/{resource.version}"
            self._resources.setdefault(place, []).append(resource)
        self._hashes = {path: _hash(resources) for path, resources in self._resources.items()}
        self._kept = {path: kept for path, kept in self._kept.items() if kept[0] == self._hashes.get(path)}

    def _keep(self, path: str, current: str, make: Callable[[], bytes]) -> bytes:
        kept = self._kept.get(path)
        if kept is None or kept[0] != current:
            kept = self._kept[path] = (current, gzip.compress(make(), compresslevel=6, mtime=0))
        return kept[1]


def _v3(resources: list[Resource]) -> dict[str, Any]:
    paths = paths_of(resources)
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": f"{KUBERNETES_MAJOR}.{KUBERNETES_MINOR}"},
        "paths": paths,
        "components": {"schemas": schemas_for([paths], resources), "securitySchemes": _SECURITY},
    }


def _hash(resources: Iterable[Resource]) -> str:
    """Changes whenever the document of these resources would."""
    return _digest(*(fact for resource in resources for fact in _facts(resource)))


def _facts(resource: Resource) -> Iterable[str]:
    """All that shapes the OpenAPI of a resource."""
    names = (resource.group, resource.version, resource.kind, resource.plural, resource.list_kind)
    yield from (*names, *resource.verbs, *resource.subresources, *resource.selectable_fields)
    yield f"{resource.namespaced} {resource.status} {resource.scale is not None}"
    yield resource.schema.fingerprint if isinstance(resource.schema, CustomSchema) else _built_in_fingerprint()


@cache
def _built_in_fingerprint() -> str:
    return str(data.contents()["kubernetes"])


def _digest(*facts: str) -> str:
    return hashlib.sha512("\n".join(facts).encode()).hexdigest().upper()


@lru_cache(maxsize=64)
def _accepted(accept: str) -> tuple[str, ...]:
    return tuple(clause.partition(";")[0].strip() for clause in accept.split(","))


def _choose(accept: str | None, offers: dict[str, str]) -> str:
    """The first offer the client accepts."""
    for wanted in _accepted(accept or "*/*"):
        if wanted in offers:
            return offers[wanted]
        if wanted in ("*/*", "application/*"):
            return next(iter(offers.values()))
    raise NotAcceptable(f"only the following media types are accepted: {', '.join(offers)}")
