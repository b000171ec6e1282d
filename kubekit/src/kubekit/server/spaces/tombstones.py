"""What is kept of APIs that were removed: enough to recognise their users, and to tell them so.

Nobody else learns that there ever was one: who shows no certificate of its authority is answered as if there were none.
"""

from __future__ import annotations

import asyncio

import msgspec

from kubekit.errors import Gone
from kubekit.server.access.authentication import SpaceAccess
from kubekit.server.access.authority import Authority
from kubekit.server.access.identities import KeyPair
from kubekit.server.access.pki import ROOT, Pki
from kubekit.server.access.tokens import TokenVerifier
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store

_RESOURCE = "removed"
"""Where the root keeps them; no kind can ever be kept in the same place."""
_MOST = 256
"""So many are kept, the last ones: each costs the listener an authority to trust."""


class Tombstone(msgspec.Struct, frozen=True):
    """One API that was removed."""

    words: str
    """What its users are told."""
    authority: bytes
    """PEM of the certificate of what issued theirs; its key is gone."""


class Tombstones:
    """By the names of the APIs, the oldest first."""

    def __init__(self, store: Store, pki: Pki) -> None:
        self._store, self._pki = store, pki
        self._all: dict[str, Tombstone] = {}
        self._doors: dict[str, SpaceAccess] = {}

    def load(self) -> None:
        """Take in what is stored."""
        rows = sorted(self._store.rows(ROOT, _RESOURCE), key=lambda row: row.revision)
        self._all = {row.key: msgspec.json.decode(row.value, type=Tombstone) for row in rows}
        self._pki.trust({_trusted_as(name): one.authority for name, one in self._all.items()})

    def put(self, name: str, one: Tombstone) -> None:
        """Remember an API that goes; durable by and by."""
        self.drop(name)
        self._all[name] = one
        self._pki.trust({_trusted_as(name): one.authority})
        self._write(name, Change.ADDED, one)
        if len(self._all) > _MOST:
            self.drop(next(iter(self._all)))

    def drop(self, name: str) -> None:
        """Forget one for good; nothing happens when there is none."""
        if (one := self._all.pop(name, None)) is None:
            return
        self._doors.pop(name, None)
        self._pki.forget(_trusted_as(name))
        self._write(name, Change.DELETED, one)

    def access(self, name: str, tokens: TokenVerifier) -> SpaceAccess | None:
        """What its users are recognised by; none of their tokens counts any more."""
        one = self._all.get(name)
        if one is None:
            return None
        if name not in self._doors:
            self._doors[name] = SpaceAccess(Authority(KeyPair(one.authority, b"")), tokens)
        return self._doors[name]

    def check(self, name: str) -> None:
        """Raises Gone for whom was recognised as a user of an API that was removed."""
        if one := self._all.get(name):
            raise Gone(one.words)

    def _write(self, name: str, change: Change, one: Tombstone) -> None:
        bucket = self._store.bucket(ROOT, _RESOURCE)
        value, previous = msgspec.json.encode(one), self._store.latest(bucket, name)
        written = self._store.write(bucket, name, change, value, previous=previous)
        written.add_done_callback(asyncio.Future.exception)


def _trusted_as(name: str) -> str:
    """Not the name of any API that there is, or could be."""
    return f"{_RESOURCE}/{name}"
