"""A pytest plug-in: `async def test_…(api)` runs in virtual time, with an API in memory.

A test is run here if it asks for `kubekit_loop`, itself or through its fixtures, as `api` does. All its asynchronous
fixtures then run on that loop too. Every other test is left to whoever runs it otherwise: who has an `api` of their own
has their own. With `kubekit_seed` as a parameter, a test runs in as many orders of events:

    @pytest.mark.parametrize("kubekit_seed", range(10))
    async def test_…(api): ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from .deterministic_loop import Loop, opened

if TYPE_CHECKING:
    from .memory import MemoryApi

LOOP = "kubekit_loop"


@pytest.fixture
def kubekit_seed() -> int:
    """Which history: the same seed gives the same order of events."""
    return 1


@pytest.fixture
def kubekit_loop(kubekit_seed: int) -> Iterator[Loop]:
    """The loop on which the test and its fixtures run. Its time is virtual: an hour passes in no time."""
    with opened(kubekit_seed) as loop:
        yield loop


@pytest.fixture
async def api(kubekit_loop: Loop) -> AsyncIterator[MemoryApi]:
    """An API in memory, and the means to run controllers on it."""
    from .memory import MemoryApi  # noqa: PLC0415 - a server takes a moment to import, and most tests need none

    made = MemoryApi(kubekit_loop)
    await made.open()
    yield made
    await made.close()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_pycollect_makeitem() -> Generator[None, Any, Any]:
    """Make our tests ordinary functions. Last, that is next to pytest itself, so that no other plug-in ever sees that
    they were asynchronous."""
    made = yield
    for item in made if isinstance(made, list) else [made]:
        if isinstance(item, pytest.Function) and LOOP in item.fixturenames and inspect.iscoroutinefunction(item.obj):
            item.obj = _test(item, item.obj)
    return made


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Make asynchronous fixtures of our tests ordinary ones. First, because others would take them for theirs."""
    function: Any = fixturedef.func
    is_async = inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
    if not is_async or fixturedef.scope != "function" or LOOP not in request.fixturenames:
        return (yield)
    loop: Loop = request.getfixturevalue(LOOP)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fixturedef, "func", _fixture(function, loop))
        return (yield)


def _test(item: pytest.Function, test: Callable[..., Any]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(**given: Any) -> None:
        loop: Any = item.funcargs[LOOP]
        loop.run_until_complete(test(**given))

    return run


def _fixture(function: Callable[..., Any], loop: Loop) -> Callable[..., Any]:
    @functools.wraps(function)
    def awaited(*given: Any, **named: Any) -> Any:
        return loop.run_until_complete(function(*given, **named))

    @functools.wraps(function)
    def iterated(*given: Any, **named: Any) -> Iterator[Any]:
        values = function(*given, **named)
        yield loop.run_until_complete(_next(values))
        with suppress(StopAsyncIteration):
            loop.run_until_complete(_next(values))

    return iterated if inspect.isasyncgenfunction(function) else awaited


async def _next(values: AsyncIterator[Any]) -> Any:
    return await anext(values)
