"""What a simulated data centre has besides machines: load balancers and images, which take time to come and to go."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from kubekit.clock import Clock

TABLE = """
CREATE TABLE IF NOT EXISTS shelf (
    number INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    token TEXT NOT NULL, content TEXT NOT NULL, ready_at REAL NOT NULL, gone_at REAL NOT NULL,
    UNIQUE (account, kind, name, token)
) STRICT
"""
_NEVER = 0.0


class Item(NamedTuple):
    """A row. Times are seconds since 1970."""

    number: int
    account: str
    kind: str
    name: str
    token: str
    content: str
    ready_at: float
    gone_at: float
    """When it is gone; 0 while nobody asked for that."""

    @property
    def id(self) -> str:
        return f"{self.kind}/{self.number}"


class Assets:
    """Things by account, kind, name and token; an image has no token, because one serves all."""

    def __init__(self, database: sqlite3.Connection, clock: Clock) -> None:
        self._database, self._clock = database, clock

    def put(self, account: str, kind: str, name: str, token: str, content: str, delay: float) -> Item:
        """The thing there is, with this content from now on; or a new one that is ready in `delay` seconds."""
        found = self.find(account, kind, name, token)
        if found is None:
            self._database.execute(
                "INSERT INTO shelf (account, kind, name, token, content, ready_at, gone_at)"
                " VALUES (?, ?, ?, ?, ?, ?, 0)",
                (account, kind, name, token, content, self._now() + delay),
            )
        elif found.content != content:
            self._database.execute("UPDATE shelf SET content = ? WHERE number = ?", (content, found.number))
        made = self.find(account, kind, name, token)
        assert made is not None
        return made

    def find(self, account: str, kind: str, name: str, token: str) -> Item | None:
        found = [one for one in self.of_account(account) if (one.kind, one.name, one.token) == (kind, name, token)]
        return found[0] if found else None

    def remove(self, account: str, kind: str, name: str, token: str, delay: float) -> bool:
        """Let it go, `delay` seconds from now unless that is under way. Answers whether it is gone."""
        found = self.find(account, kind, name, token)
        if found is not None and found.gone_at == _NEVER:
            self._database.execute("UPDATE shelf SET gone_at = ? WHERE number = ?", (self._now() + delay, found.number))
        return self.find(account, kind, name, token) is None

    def of_account(self, account: str) -> list[Item]:
        self._database.execute("DELETE FROM shelf WHERE gone_at > 0 AND gone_at <= ?", (self._now(),))
        rows = self._database.execute("SELECT * FROM shelf WHERE account = ? ORDER BY number", (account,))
        return [Item(*row) for row in rows]

    def is_ready(self, item: Item) -> bool:
        return self._now() >= item.ready_at

    def _now(self) -> float:
        return self._clock.now().timestamp()
