"""What a URL speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

SPACES = "clusters"
"""`/clusters/NAME/...` is the API of the tenant NAME; everything else is the root API."""


@dataclass(frozen=True, slots=True)
class Address:
    """A path taken apart. `plural` is empty when it does not lead to a resource."""

    space: str
    path: str
    group: str = ""
    version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    subresource: str = ""
    verb: str = ""
    """What the path itself says is to be done: how old clients watch, whatever their method."""

    @property
    def part(self) -> str:
        """The subresource whose rights count; what stands behind it is its own affair."""
        return self.subresource.partition("/")[0]


_VERBS = ("watch", "proxy")


@lru_cache(maxsize=4096)
def parse(raw_path: str, root: str) -> Address:
    """The address a raw request path (without its query) leads to."""
    segments = unquote(raw_path).split("/")[1:]
    space = root
    if len(segments) > 1 and segments[0] == SPACES and segments[1]:
        space, segments = segments[1], segments[2:]
    path = "/" + "/".join(segments)
    while segments and not segments[-1]:
        segments.pop()
    if segments[:1] == ["api"] and len(segments) > 2:
        return _resource(space, path, "", segments[1], segments[2:])
    if segments[:1] == ["apis"] and len(segments) > 3:
        return _resource(space, path, segments[1], segments[2], segments[3:])
    return Address(space, path)


def _resource(space: str, path: str, group: str, version: str, rest: list[str]) -> Address:
    verb = rest[0] if rest[0] in _VERBS and len(rest) > 1 else ""
    if verb:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in ("status", "finalize"):
            rest = rest[2:]
        else:
            # A namespace is itself a resource, kept outside of namespaces.
            return Address(space, path, group, version, "", "namespaces", rest[1], "/".join(rest[2:]), verb)
    plural, name, subresource = rest[0], rest[1] if len(rest) > 1 else "", "/".join(rest[2:])
    return Address(space, path, group, version, namespace, plural, name, subresource, verb)
