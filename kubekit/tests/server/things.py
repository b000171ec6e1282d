"""One bucket of a store, for tests of what the store does."""

from __future__ import annotations

from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store


class World:
    """One bucket of a store, with short words for what tests do."""

    def __init__(self, store: Store) -> None:
        self.store, self.bucket = store, store.bucket("root", "test/things")

    async def put(self, key: str, text: str = "", owners: tuple[str, ...] = ()) -> int:
        before = self.store.latest(self.bucket, key)
        change = Change.MODIFIED if before else Change.ADDED
        revision = self.store.next_revision()
        value = b'{"metadata":{"resourceVersion":"%d"},"text":"%b"}' % (revision, text.encode())
        await self.store.write(self.bucket, key, change, value, previous=before, owners=owners)
        return revision

    async def delete(self, key: str) -> int:
        before = self.store.latest(self.bucket, key)
        assert before is not None
        revision = self.store.next_revision()
        await self.store.write(self.bucket, key, Change.DELETED, before.value, previous=before)
        return revision

    def texts(self, prefix: str = "") -> list[str]:
        return [row.decode()["text"] for row in self.store.page(self.bucket, prefix).rows]
