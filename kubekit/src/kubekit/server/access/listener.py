"""The TLS settings of a listener that takes client certificates of many authorities, which come and go.

Whoever listens holds on to one context for good, and out of a context no authority can be taken again. So that one
knows none but the server's own, and each connection is moved to another, which knows them all. When most of those are
of no use any more, yet another one takes its place.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping

_SPARE = 64
"""So many may always be left over."""


class ListenerTls:
    """Tells who comes. What is shown, and who is trusted, takes effect for new connections."""

    def __init__(self, show: Callable[[ssl.SSLContext], None], authority: bytes) -> None:
        """`show` gives a context the server's certificate, which `authority` issued."""
        self._show, self._authority = show, authority.decode()
        self._trusted: dict[str, str] = {}
        self._left_over = 0
        self._newest = self._made()
        self.context = self._made()
        """For the listener."""
        self.context.sni_callback = self._move

    def trust(self, authorities: Mapping[str, bytes]) -> None:
        """Let the certificates of further authorities through, each under a name."""
        added = {name: certificate.decode() for name, certificate in authorities.items()}
        if added:
            self._left_over += len(added.keys() & self._trusted.keys())
            self._trusted |= added
            self._newest.load_verify_locations(cadata="".join(added.values()))

    def forget(self, name: str) -> None:
        """Nobody needs this authority any more."""
        if self._trusted.pop(name, None) is None:
            return
        self._left_over += 1
        if self._left_over > len(self._trusted) + _SPARE:
            self._newest, self._left_over = self._made(), 0
            if self._trusted:
                self._newest.load_verify_locations(cadata="".join(self._trusted.values()))

    def show_again(self) -> None:
        """The server has another certificate."""
        for context in (self.context, self._newest):
            self._show(context)

    def _made(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.verify_mode = ssl.CERT_OPTIONAL
        context.set_alpn_protocols(["http/1.1"])
        self._show(context)
        context.load_verify_locations(cadata=self._authority)
        return context

    def _move(self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._newest
