"""Both servers at once, every case on both, and how many there are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from tests.real import servers
from tests.real.differential import kinds, sides, webhook
from tests.real.differential.comparisons import Comparisons, Pair
from tests.real.differential.steps import Case
from tests.real.differential.verdicts import Tally

_CONTROLLERS = (
    "garbage-collector-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation-controller",
)
"""What the embedded server does by itself as well."""
_TALLY = pytest.StashKey[Tally]()


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    real, embedded = tmp_path_factory.mktemp("real"), tmp_path_factory.mktemp("embedded")
    with (
        servers.real(real, controllers=",".join(_CONTROLLERS)) as theirs,
        servers.embedded(embedded) as ours,
        asyncio.Runner() as runner,
    ):
        stack = AsyncExitStack()
        known = webhook.known(runner.run(stack.enter_async_context(webhook.listening())))
        made = Pair(
            runner,
            runner.run(stack.enter_async_context(sides.side(theirs, known))),
            runner.run(stack.enter_async_context(sides.side(ours, known))),
        )
        for one in (made.real, made.embedded):
            runner.run(kinds.define(one))
        yield made
        runner.run(stack.aclose())


@pytest.fixture(scope="session")
def tally(request: pytest.FixtureRequest) -> Tally:
    return request.config.stash.setdefault(_TALLY, Tally())


@pytest.fixture(scope="session")
def comparisons(pair: Pair, request: pytest.FixtureRequest) -> Comparisons:
    """Of all cases that were selected."""
    chosen = (_case_of(item) for item in request.session.items)
    made = Comparisons(pair)
    made.start({case.title: case for case in chosen if case is not None})
    return made


def _case_of(item: pytest.Item) -> Case | None:
    parameters = getattr(item, "callspec", None)
    found = parameters.params.get("case") if parameters is not None else None
    return found if isinstance(found, Case) else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    tally = config.stash.get(_TALLY, None)
    if tally is not None:
        terminalreporter.section("differential suite")
        terminalreporter.write_line(tally.text())
