"""What the server keeps of a space beside its objects, stored among them and served to nobody."""

from __future__ import annotations

import msgspec

from kubekit.server.access.authority import Authority
from kubekit.server.access.identities import KeyPair
from kubekit.server.access.pki import SpaceKeys
from kubekit.server.pipeline.service_addresses import SERVICE_NETWORK

RESOURCE = KEY = "space"
"""Where the record lies. Names of resources contain a slash, so no kind can ever be kept in the same place."""


class Begun(msgspec.Struct, frozen=True):
    """Which base lies under a space, and what fills its gaps there."""

    base: str
    revision: int
    seed: bytes
    time: str
    contents: str = ""
    """What the base holds beside what every API has."""


class Record(msgspec.Struct, frozen=True, rename="camel"):
    """Facts about one space. The root's keys are elsewhere."""

    furnished: str = ""
    """Which system objects it was given."""
    service_network: str = SERVICE_NETWORK
    authority: KeyPair | None = None
    signing_key: bytes = b""
    admin: KeyPair | None = None
    version: str = ""
    """The Kubernetes version the API says it is of; empty for the one whose kinds it serves."""
    begun: Begun | None = None
    """None for a space whose beginnings were all written."""

    @classmethod
    def of(cls, furnished: str, service_network: str, keys: SpaceKeys | None, begun: Begun | None = None) -> Record:
        if keys is None:
            return cls(furnished, service_network, begun=begun)
        return cls(furnished, service_network, keys.authority.pair, keys.signing_key, keys.admin, begun=begun)

    def keys(self, space: str) -> SpaceKeys | None:
        if self.authority is None or self.admin is None:
            return None
        return SpaceKeys(space, Authority(self.authority), self.signing_key, self.admin)

    def encode(self) -> bytes:
        return msgspec.json.encode(self)


def decode(value: bytes) -> Record:
    return msgspec.json.decode(value, type=Record)
