"""Both servers at once, every case on both, and how many there are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from testbed.running import servers
from testbed.running.servers import Cluster
from tests.real.differential import kinds, sides, webhook
from tests.real.differential.commands import Runs, Script
from tests.real.differential.comparisons import Comparisons, Pair
from tests.real.differential.steps import Case
from tests.real.differential.verdicts import Tally
from tests.server.webhook import Webhook

_CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation-controller",
    "resourcequota-controller",
)
"""What the embedded server does by itself as well."""
_TALLY = pytest.StashKey[Tally]()


@pytest.fixture(scope="session")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as made:
        yield made


@pytest.fixture(scope="session")
def hook(runner: asyncio.Runner) -> Iterator[Webhook]:
    """A webhook that both servers ask. It outlives them: connections that they keep would outlive it."""
    stack = AsyncExitStack()
    yield runner.run(stack.enter_async_context(webhook.listening()))
    runner.run(stack.aclose())


@pytest.fixture(scope="session")
def clusters(tmp_path_factory: pytest.TempPathFactory, hook: Webhook) -> Iterator[tuple[Cluster, Cluster]]:
    """Kubernetes' own server, and the embedded one."""
    real, embedded = tmp_path_factory.mktemp("real"), tmp_path_factory.mktemp("embedded")
    with servers.real(real, controllers=",".join(_CONTROLLERS)) as theirs, servers.embedded(embedded) as ours:
        yield theirs, ours


@pytest.fixture(scope="session")
def pair(runner: asyncio.Runner, hook: Webhook, clusters: tuple[Cluster, Cluster]) -> Iterator[Pair]:
    stack, known = AsyncExitStack(), webhook.known(hook)
    real, embedded = (runner.run(stack.enter_async_context(sides.side(one, known))) for one in clusters)
    for one in (real, embedded):
        runner.run(kinds.define(one))
    yield Pair(runner, real, embedded)
    runner.run(stack.aclose())


@pytest.fixture(scope="session")
def runs(pair: Pair, clusters: tuple[Cluster, Cluster], request: pytest.FixtureRequest) -> Runs:
    """Of all scripts that were selected."""
    chosen = (_parameter(item, "script") for item in request.session.items)
    made = Runs(pair.runner, *clusters)
    made.start(script for script in chosen if isinstance(script, Script))
    return made


@pytest.fixture(scope="session")
def tally(request: pytest.FixtureRequest) -> Tally:
    return request.config.stash.setdefault(_TALLY, Tally())


@pytest.fixture(scope="session")
def comparisons(pair: Pair, request: pytest.FixtureRequest) -> Comparisons:
    """Of all cases that were selected."""
    chosen = (_parameter(item, "case") for item in request.session.items)
    made = Comparisons(pair)
    made.start({case.title: case for case in chosen if isinstance(case, Case)})
    return made


def _parameter(item: pytest.Item, name: str) -> Any:
    parameters = getattr(item, "callspec", None)
    return parameters.params.get(name) if parameters is not None else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    tally = config.stash.get(_TALLY, None)
    if tally is not None:
        terminalreporter.section("differential suite")
        terminalreporter.write_line(tally.text())
