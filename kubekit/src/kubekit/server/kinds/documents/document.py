"""A generated document, ready to send."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes and the headers that go with them."""

    body: bytes
    content_type: str = "application/json"
    etag: str = ""
    """Quoted, empty when the document has none."""
    cache_control: str = "no-cache, private"
    is_gzipped: bool = False
    status: int = 200
    more_headers: dict[str, str] = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        """All headers but those of the length."""
        headers = {"Content-Type": self.content_type, "Cache-Control": self.cache_control, **self.more_headers}
        if self.etag:
            headers |= {"ETag": self.etag, "Vary": "Accept, Accept-Encoding" if self.is_gzipped else "Accept"}
        if self.is_gzipped:
            headers["Content-Encoding"] = "gzip"
        return headers

    def is_known(self, if_none_match: str | None) -> bool:
        """Whether the client has this very document already, so that 304 is the whole answer."""
        return bool(self.etag) and if_none_match == self.etag

    def plain(self) -> bytes:
        """The body without compression, for a client that does not take gzip."""
        return gzip.decompress(self.body) if self.is_gzipped else self.body
