"""Data directories, and every way to damage one."""

from __future__ import annotations

import random
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubekit.client.protocol import Client
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server

CONFIG_MAPS = Address("", "v1", "ConfigMap", "configmaps", True)
TENANT = "tenant"
PAGE = 16384

Texts = dict[tuple[str, str], str]
"""What a ConfigMap says, by space and name."""


@dataclass(frozen=True)
class World:
    """Two copies of one data directory: as a server left it that was killed, and as one did that was stopped."""

    killed: Path
    stopped: Path
    texts: Texts

    def copy(self, form: str, to: Path) -> Path:
        return Path(shutil.copytree(getattr(self, form), to / "data"))


def config_map(name: str, text: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "default"}, "data": {"text": text}}


async def fill(client: Client, space: str, texts: Texts, chance: random.Random) -> None:
    """Objects of one page and of many, some changed, some deleted."""
    for number in range(60):
        name, text = f"map-{number:03}", f"{space} {number} " * chance.choice((1, 20, 200, 4000))
        await client.create(config_map(name, "before"), CONFIG_MAPS)
        if number % 7 == 3:
            await client.delete(CONFIG_MAPS, name, "default")
        else:
            await client.patch(CONFIG_MAPS, name, {"data": {"text": text}}, "default")
            texts[space, name] = text


async def make(directory: Path) -> World:
    texts: Texts = {}
    chance, data = random.Random(7), directory / "stopped"
    async with Server(data) as server:
        await fill(DirectClient(server.root), "root", texts, chance)
        await fill(DirectClient(await server.add_space(TENANT)), TENANT, texts, chance)
    # Everything until here is in the database, what follows is in its log.
    async with Server(data) as server:
        await server.root.settled()
        client = DirectClient(server.root)
        for number in range(60, 80):
            name, text = f"map-{number:03}", f"late {number} " * 300
            await client.create(config_map(name, text), CONFIG_MAPS)
            texts["root", name] = text
        shutil.copytree(data, directory / "killed")
    return World(directory / "killed", data, texts)


async def texts_of(server: Server) -> Texts:
    found: Texts = {}
    for space in server.spaces:
        listed = await DirectClient(server.spaces[space]).list(CONFIG_MAPS)
        for item in listed.items:
            if item["metadata"]["name"].startswith("map-"):
                found[space, item["metadata"]["name"]] = item["data"]["text"]
    return found


def snapshot(data: Path) -> dict[str, tuple[bytes, int]]:
    """Every byte of every file, and when it was last written to."""
    files = [path for path in data.rglob("*") if path.is_file()]
    return {str(path.relative_to(data)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process may grow beyond a size, which writers are told much as that a disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 8, 64))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def cut(path: Path, chance: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content))])


def zero(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 3))):
        begin = chance.randrange(max(1, len(content) // PAGE)) * PAGE
        length = min(PAGE, len(content) - begin)
        content[begin : begin + length] = bytes(length)
    path.write_bytes(content)


def begin_anew(path: Path, chance: random.Random) -> None:
    """Only the first bytes are lost."""
    content = path.read_bytes()
    count = chance.randrange(1, min(len(content), 200))
    path.write_bytes(bytes(count) + content[count:])


def remove(path: Path, chance: random.Random) -> None:
    path.unlink()


def row(path: Path, chance: random.Random) -> None:
    """A record that is well-formed and wrong."""
    connection = sqlite3.connect(path)
    connection.execute(
        chance.choice(
            (
                "UPDATE revisions SET value = value || ' ' WHERE revision IN (SELECT revision FROM objects LIMIT 1)",
                "DELETE FROM revisions WHERE revision IN (SELECT revision FROM objects LIMIT 3)",
                "DELETE FROM buckets WHERE id IN (SELECT bucket FROM objects LIMIT 1)",
                "DELETE FROM facts",
                "UPDATE objects SET revision = revision + 1 WHERE key LIKE '%map%'",
                "DROP TABLE objects",
            )
        )
    )
    connection.commit()
    connection.close()


def journal(path: Path, chance: random.Random) -> None:
    """A transaction of a database without a log was under way, and what would undo it is damaged."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("PRAGMA cache_size=1")
    connection.execute("BEGIN")
    connection.execute("UPDATE revisions SET value = zeroblob(length(value))")
    kept = path.read_bytes(), path.with_name(f"{path.name}-journal").read_bytes()
    connection.execute("ROLLBACK")
    connection.close()
    path.write_bytes(kept[0])
    path.with_name(f"{path.name}-journal").write_bytes(kept[1])
    if chance.random() < 0.7:
        chance.choice((flip, cut, zero))(path.with_name(f"{path.name}-journal"), chance)


Damage = Callable[[Path, random.Random], None]
DATABASE: tuple[tuple[str, str, Damage], ...] = tuple(
    (form, file, damage)
    for form, file in (("killed", "state.db"), ("killed", "state.db-wal"), ("stopped", "state.db"))
    for damage in (flip, cut, zero, begin_anew, remove)
)
"""In which copy, which file, and how."""
RECORDS: tuple[tuple[str, str, Damage], ...] = (
    ("stopped", "state.db", row),
    ("stopped", "state.db", journal),
    ("killed", "state.revision", flip),
    ("killed", "state.revision", cut),
)
KEYS: tuple[tuple[str, str, Damage], ...] = tuple(
    ("killed", f"pki/{name}", damage)
    for name in ("ca.crt", "ca.key", "sa.key", "apiserver.crt", "apiserver.key", "admin.crt", "admin.key")
    for damage in (cut, remove)
)
