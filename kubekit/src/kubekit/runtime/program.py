"""Reconcilers as a program: `run(Greetings)` is all of its main."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from kubekit import definitions
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import address_of
from kubekit.clock import SystemClock
from kubekit.errors import KubeError
from kubekit.model.resource import Address, Resource

from .endpoints import serving
from .leader import Election
from .logs import say, set_up
from .manager import Manager, ManagerSettings
from .objects import Kind
from .reconciler import Reconciler

Maker = Reconciler[Any] | Callable[[Manager], Reconciler[Any]] | Callable[[], Reconciler[Any]]
"""A reconciler, or a class or function that makes one, with the manager if it takes an argument."""

FAILED = 1
"""Exit code: it could not start, or could not go on. What stands on stderr says why."""
KIND_MISSING = 2
"""Exit code: the API does not offer a kind that the program needs."""

_DISCOVERY_PATIENCE = 30.0
_DISCOVERY_PAUSE = 0.2


class KindMissing(KubeError):
    """Nothing can be done before someone installs what is missing."""

    retryable, reason = False, "KindMissing"


@dataclass(frozen=True, slots=True)
class Program:
    """What is to run, and how."""

    makers: tuple[Maker, ...]
    settings: ManagerSettings
    define: tuple[type[Resource], ...]
    kubeconfig: Path | None
    context: str
    host: str
    port: int | None


def run(
    *reconcilers: Maker,
    settings: ManagerSettings | None = None,
    namespace: str = "",
    election: Election | None = None,
    define: Iterable[type[Resource]] = (),
    kubeconfig: str | Path | None = None,
    context: str = "",
    host: str = "",
    port: int | None = 8080,
) -> NoReturn:
    """Run reconcilers until SIGTERM or Ctrl-C, then finish what is under way and exit.

    The API is found as kubectl finds it, or is that of the cluster the program runs in. `namespace` restricts it to
    one; with an `election` only one of several replicas works; the definitions of `define` are installed first.
    `/healthz`, `/readyz` and `/metrics` are on `port`, of all interfaces unless `host` names one; None: nowhere. Log
    lines go to stderr unless logging is set up. The exit code is 0, FAILED or KIND_MISSING.
    """
    set_up()
    settings = settings or ManagerSettings()
    settings = replace(settings, namespace=namespace or settings.namespace, election=election or settings.election)
    path = Path(kubeconfig) if kubeconfig is not None else None
    program = Program(reconcilers, settings, tuple(define), path, context, host, port)
    try:
        asyncio.run(_run(program))
    except KindMissing as error:
        _fail(error, KIND_MISSING)
    except (KubeError, OSError) as error:
        _fail(error, FAILED)
    sys.exit(0)


def add(manager: Manager, makers: Iterable[Maker]) -> None:
    """Make what is not made yet, and let the manager run it."""
    for maker in makers:
        manager.add(_made(maker, manager))


def _made(maker: Any, manager: Manager) -> Reconciler[Any]:
    if hasattr(maker, "reconcile") and not isinstance(maker, type):
        reconciler: Reconciler[Any] = maker
        return reconciler
    made: Reconciler[Any] = maker(manager) if _takes_an_argument(maker) else maker()
    return made


def _takes_an_argument(maker: Callable[..., Any]) -> bool:
    """A class without an `__init__` of its own has that of Protocol, which seems to take anything."""
    named = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(one.kind in named for one in inspect.signature(maker).parameters.values())


async def _run(program: Program) -> None:
    config = kubeconfig.load(program.kubeconfig, program.context)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(HttpClient(config, agent=program.settings.name))
        manager = Manager(client, program.settings)
        add(manager, program.makers)
        if program.define:
            await definitions.install(client, *program.define, manager=program.settings.name)
        await _check_kinds(client, manager, defined={kind.address for kind in program.define})
        if program.port is not None:
            port = await stack.enter_async_context(serving(manager, program.host, program.port))
            say(logging.INFO, "serving", port=port, paths="/healthz,/readyz,/metrics")
        _stop_on_signals(manager)
        names = ",".join(controller.name for controller in manager.controllers)
        say(logging.INFO, "started", controllers=names, server=config.cluster.server, namespace=manager.namespace)
        await manager.run()


async def _check_kinds(client: HttpClient, manager: Manager, defined: set[Address]) -> None:
    """Raises KindMissing. Discovery may lag behind a definition that was accepted just now, and nothing tells when it
    has caught up."""
    clock = SystemClock()
    until = clock.monotonic() + _DISCOVERY_PATIENCE
    while True:
        offered = {one.address for one in await client.discover()}
        missing = [kind for kind in _followed(manager) if address_of(kind) not in offered]
        if not missing:
            return
        lags = all(address_of(kind) in defined for kind in missing)
        if not lags or clock.monotonic() > until:
            raise KindMissing(_explained(client.config.cluster.server, missing, offered))
        await clock.sleep(_DISCOVERY_PAUSE)


def _followed(manager: Manager) -> Iterator[Kind]:
    """Every kind that is reconciled, watched or read from a cache; a typed one is preferred, because it can be
    defined."""
    kinds: dict[Any, Kind] = {}
    for informer in manager.informers:
        if informer.address not in kinds or not isinstance(informer.kind, Address):
            kinds[informer.address] = informer.kind
    return iter(kinds.values())


def _explained(server: str, missing: Iterable[Kind], offered: set[Address]) -> str:
    lines = [f"{server} does not offer:"]
    for kind in missing:
        address = address_of(kind)
        lines.append(f"  {address.name} in version {address.version} (kind {address.kind}): {_remedy(kind, offered)}")
    return "\n".join(lines)


def _remedy(kind: Kind, offered: set[Address]) -> str:
    address = address_of(kind)
    others = [one for one in offered if (one.group, one.plural) == (address.group, address.plural)]
    if any(one.version == address.version for one in others):
        return "it offers one of that name with another kind or scope; compare the two definitions"
    if others:
        return f"it offers {', '.join(sorted(one.version for one in others))}"
    if isinstance(kind, type) and issubclass(kind, Resource):
        return (
            f"apply its CustomResourceDefinition, which is kubekit.definition({kind.__name__}), "
            f"or let run(…, define=[{kind.__name__}]) do it"
        )
    return "install what brings its CustomResourceDefinition"


def _stop_on_signals(manager: Manager) -> None:
    """The first SIGTERM or Ctrl-C ends the work in order, the second at once."""
    loop, asked = asyncio.get_running_loop(), list[int]()

    def stop(number: signal.Signals) -> None:
        if asked:
            os._exit(128 + number)
        asked.append(number)
        say(logging.INFO, "stopping", signal=number.name)
        manager.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)


def _fail(error: Exception, code: int) -> NoReturn:
    sys.stderr.write(f"error: {error}\n")
    sys.exit(code)
