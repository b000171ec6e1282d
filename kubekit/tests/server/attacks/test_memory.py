"""Memory of one request: in proportion to what was sent or stored, whatever it is.

Measured in a server that is a process of its own, by what the kernel has given it at most."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import aiohttp
import pytest
import yaml

from tests.http_api import Api, admin_context
from tests.server.attacks import payloads
from tests.server.attacks.payloads import ROLES, Attack
from tests.server.attacks.test_wide_bodies import FAMILIES, sent
from tests.server.attacks.test_wide_settings import grant_many
from tests.server.attacks.test_wide_starts import let_many_write_roles
from tests.server.wire import JSON, MAPS, YAML

MB = 1_000_000
TIMES = 40
"""So many times its own size a body may take: of a million short words, each becomes an object of Python."""
LIMIT = 150 * MB
LEAST = 80 * MB
"""What any request may take: the variables of a pod, each with what is known of its fields, become many objects."""
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"


class Measured:
    """A server, and how much memory it has."""

    def __init__(self, api: Api, process: int) -> None:
        self.api, self._process = api, Path(f"/proc/{process}")

    def begin(self) -> int:
        """Forget what it had at most; answers what it has."""
        (self._process / "clear_refs").write_text("5")
        return self._field("VmRSS")

    def most(self) -> int:
        return self._field("VmHWM")

    def _field(self, name: str) -> int:
        lines = (self._process / "status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def trusting(kubeconfig: Path) -> ssl.SSLContext:
    return admin_context(yaml.safe_load(kubeconfig.read_text()))


@pytest.fixture
async def measured(tmp_path: Path) -> AsyncIterator[Measured]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "kubekit.server", "--data", str(tmp_path), stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        url = (await process.stderr.readline()).decode().split()[-1]
        kubeconfig = (await process.stderr.readline()).decode().strip().partition("=")[2]
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trusting(Path(kubeconfig)), limit=0)
        ) as session:
            yield Measured(Api(session, url), process.pid)
    finally:
        process.terminate()
        await process.wait()


async def removed(api: Api) -> None:
    for path in (MAPS, payloads.PODS, payloads.ROLES):
        finalized = b'{"metadata":{"finalizers":null}}'
        await sent(api, Attack("", "PATCH", f"{path}/a", finalized, "application/merge-patch+json"))
        async with api.session.delete(f"{api.url}{path}/a?gracePeriodSeconds=0") as gone:
            await gone.read()


@pytest.mark.timeout(240)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
async def test_a_body_takes_memory_in_proportion(measured: Measured, family: Callable[[], Iterator[Attack]]) -> None:
    problems = []
    for attack in family():
        for path, body in attack.before:
            assert (await sent(measured.api, Attack("", "POST", path, body)))[0] == 201
        before = measured.begin()
        await sent(measured.api, attack)
        size = len(attack.body) + sum(len(body) for _, body in attack.before)
        taken = measured.most() - before
        if taken > min(LIMIT, max(LEAST, TIMES * size)):
            problems.append(f"{attack.name}: {taken // MB} MB for {size / MB:.1f} MB")
        await removed(measured.api)
    assert problems == []


@pytest.mark.timeout(240)
@pytest.mark.parametrize("accept", [JSON, YAML, payloads.PROTOBUF, TABLE], ids=["json", "yaml", "protobuf", "table"])
async def test_lists_and_watches_take_memory_in_proportion_to_a_part_of_them(measured: Measured, accept: str) -> None:
    """Thirty megabytes of objects, of which a client reads whatever there is."""
    api, data = measured.api, {f"k{number}": "text" * 20 for number in range(5000)}
    for number in range(60):
        assert (await api("POST", MAPS, {"metadata": {"name": f"m{number}"}, "data": data})).status == 201
    for query in ("", "?labelSelector=a!=b", "?watch=true&timeoutSeconds=1"):
        if accept == YAML and "watch" in query:
            continue
        before = measured.begin()
        patience = aiohttp.ClientTimeout(120)
        async with api.session.get(f"{api.url}{MAPS}{query}", headers={"Accept": accept}, timeout=patience) as answer:
            assert answer.status == 200
            async for _ in answer.content.iter_any():
                pass
        taken = measured.most() - before
        assert taken < 40 * MB, f"{query}: {taken // MB} MB"


@pytest.mark.timeout(180)
async def test_what_is_granted_by_who_has_very_many_rights_takes_little(measured: Measured) -> None:
    api = measured.api
    await grant_many(api)
    await let_many_write_roles(api)
    rules = [{"apiGroups": ["a"], "resources": [f"b7-{i}" for i in range(2000)], "verbs": ["c"]}]
    rules += [{"apiGroups": ["a"], "resources": [f"b{i}-{i}"], "verbs": ["c"]} for i in range(60)]
    # All these rights are kept at hand from the first question on.
    assert (await api("GET", MAPS, Impersonate_User="many")).status == 403
    before = measured.begin()
    granted = {"metadata": {"name": "granted"}, "rules": rules}
    assert (await api("POST", ROLES, granted, Impersonate_User="many")).status == 201
    assert measured.most() - before < LIMIT
