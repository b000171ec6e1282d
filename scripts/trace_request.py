"""Print the modules of ours that one real request goes through, in the order in which it comes to them.

`post`       a POST of a ConfigMap over HTTPS: from the socket to the disk, and to a watcher that is told
`reconcile`  the first visit of the TenantCluster controller to a cluster, on the simulated platform
`machine`    a MachineRequest that becomes a VM, on a Proxmox VE that is a fake
`create`     `butlerctl cluster create`, up to the moment it sends its POST

Each line is a module, the first function of it that was called, and how many calls there were in all. What an import
does is not counted. Run it from the repository's root as `python -m scripts.trace_request`; with `--write` the traces
in docs/explanation/architecture.md become what they are now.
"""

from __future__ import annotations

import argparse
import asyncio
import dis
import re
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from types import CodeType, FrameType, SimpleNamespace
from typing import Any, cast

import msgspec

from butler.api import KINDS
from butler.api.cluster import ClusterPhase, TenantCluster
from butler.api.machine import MachinePhase, MachineRequest
from butler.api.provider import ProviderConfig
from butler.cli.ctl import butlerctl
from butler.local import system
from butler.local.home import Home
from butler.local.installation import install_definitions
from butler.local.platform import Options, running
from butler.product import PRODUCT
from butler.providers.testing import Harness
from butler.simulation.delays import NONE
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client, Selection
from kubekit.clock import SystemChance
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from tests.controllers.requests_world import World
from tests.providers.fakes import FAKES
from tests.providers.hurry import HurriedClock, hurried

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "explanation" / "architecture.md"
HOUSES = ("butler.", "kubekit.")
_RESUME = dis.opmap["RESUME"]
_OPTIMIZED = 1
"""The flag of a code object that functions have, and the bodies of classes have not."""
_BEHIND_THE_CLIENT = ("kubekit.server.", "kubekit.client.")
"""A controller's trace ends at the client; what is behind it is that of a POST."""
_CONFIG_MAPS = Address("", "v1", "ConfigMap", "configmaps", True)
_VISIT, _LEAVE = "kubekit.runtime.controller:Controller._visit", "kubekit.runtime.controller:Controller._leave"


@dataclass
class Entered:
    """A module that something was called in."""

    function: str
    calls: int = 0


@dataclass
class Trace:
    """What is called while it is on: everywhere, or only in what begins with one function and ends with another."""

    hidden: tuple[str, ...] = ()
    """Modules that begin like this are another trace's business."""
    begins: str = ""
    """As `module:function`; empty for everything."""
    ends: str = ""
    is_meant: Callable[[FrameType], bool] = lambda _: True
    """Whether this call of the first function is one that counts."""
    modules: dict[str, Entered] = field(default_factory=dict)
    _inside: set[object] = field(default_factory=set)
    """The tasks that are on their way from the one function to the other."""
    _importing: dict[int, int] = field(default_factory=dict)
    """How many imports are under way, by thread."""

    @contextmanager
    def on(self) -> Iterator[None]:
        """Look at this thread, and at those that are started meanwhile."""
        threading.setprofile(self._look)
        sys.setprofile(self._look)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def clear(self) -> None:
        """Forget what was before, such as the start of a server."""
        self.modules.clear()

    def report(self) -> str:
        """One line for each module."""
        width = max(map(len, self.modules), default=0)
        named = max((len(one.function) for one in self.modules.values()), default=0)
        return "\n".join(
            f"{module:<{width}}  {one.function:<{named}}  {one.calls:>4}" for module, one in self.modules.items()
        )

    def _look(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            step = {"call": 1, "return": -1}.get(event, 0)
            thread = threading.get_ident()
            self._importing[thread] = self._importing.get(thread, 0) + step
        elif event == "call" and _is_call(frame, code) and not self._importing.get(threading.get_ident()):
            self._called(frame, str(frame.f_globals.get("__name__")), code.co_qualname)

    def _called(self, frame: FrameType, module: str, function: str) -> None:
        if not module.startswith(HOUSES):
            return
        if self.begins and not self._counts(frame, f"{module}:{function}"):
            return
        if module.startswith(self.hidden):
            return
        short = function.replace("<locals>.", "")
        self.modules.setdefault(module, Entered(short)).calls += 1

    def _counts(self, frame: FrameType, called: str) -> bool:
        task = _task()
        if called == self.begins and self.is_meant(frame):
            self._inside.add(task)
        elif called == self.ends:
            self._inside.discard(task)
        return task in self._inside


def _is_call(frame: FrameType, code: CodeType) -> bool:
    """Whether a function begins: not a class body, not what somebody generated, and
    not a coroutine or generator that goes on."""
    if not code.co_flags & _OPTIMIZED or code.co_filename.startswith("<"):
        return False
    here = frame.f_lasti
    return here < 0 or (code.co_code[here] == _RESUME and code.co_code[here + 1] == 0)


def _task() -> object:
    try:
        return asyncio.current_task() or threading.get_ident()
    except RuntimeError:
        return threading.get_ident()


@dataclass(frozen=True)
class Traced:
    """A request that has come to its end."""

    trace: Trace
    summary: str
    requests: int = 0
    """How often the API was asked; 0 where that is not counted."""


def trace_post() -> Traced:
    return _in_a_folder(_post)


async def _post(folder: Path) -> Traced:
    trace = Trace()
    with trace.on():
        async with Server(folder) as server:
            client = HttpClient(kubeconfig.read(server.kubeconfig, environ={}).config(""), agent="trace")
            where = Selection("default")
            version = (await client.list(_CONFIG_MAPS, where)).version
            async with aclosing(client.watch(_CONFIG_MAPS, where, version=version)) as events:
                # What only the first request of a connection does is not what to look at.
                for name in ("first", "second"):
                    trace.clear()
                    told = asyncio.ensure_future(anext(events))
                    await client.create({"metadata": {"name": name, "namespace": "default"}}, _CONFIG_MAPS)
                    await told
                found = dict(trace.modules)
            await client.close()
    trace.modules = found
    return Traced(trace, "one ConfigMap, stored, and told to a watcher")


def trace_reconcile() -> Traced:
    return _in_a_folder(_reconcile)


async def _reconcile(folder: Path) -> Traced:
    trace = Trace(_BEHIND_THE_CLIENT, _VISIT, _LEAVE, _first_visit("tenantclusters"))
    async with running(Home(folder), Options(delays=NONE)) as platform:
        with trace.on():
            place = {"name": "shop", "namespace": "butler-tenants"}
            # A visit of a cluster that names no number of workers ends with giving it one.
            made = {"metadata": place, "spec": {"workers": {"replicas": 1}}}
            await platform.client.create(made, TenantCluster.address)
            await _seen(platform.client, TenantCluster, lambda one: one.status.phase is ClusterPhase.RUNNING)
    return Traced(trace, "the first of the visits that made a cluster run")


def _first_visit(controller: str) -> Callable[[FrameType], bool]:
    seen: list[FrameType] = []

    def is_first(frame: FrameType) -> bool:
        if frame.f_locals["self"].name != controller or seen:
            return False
        seen.append(frame)
        return True

    return is_first


def trace_machine() -> Traced:
    found: list[Traced] = []

    async def story() -> None:
        found.append(await _machine())

    hurried(story())
    return found[0]


async def _machine() -> Traced:
    trace = Trace(_BEHIND_THE_CLIENT, _VISIT, _LEAVE, lambda frame: frame.f_locals["self"].name == "machinerequests")
    async with _proxmox_world() as world:
        with trace.on():
            await world.machine()
            await _seen(world.client, MachineRequest, lambda one: one.status.phase is MachinePhase.RUNNING)
    return Traced(trace, "all visits until the machine runs")


@asynccontextmanager
async def _proxmox_world() -> AsyncIterator[World]:
    """The controllers with an account on a fake, for which time passes as for everybody else."""
    async with FAKES["proxmox"]() as fake, asyncio.TaskGroup() as group:
        world = World(cast(Any, SimpleNamespace(clock=HurriedClock(), chance=SystemChance())))
        world.start()
        ageing = group.create_task(_age(fake.harness))
        spec = msgspec.to_builtins(fake.config.spec)
        await world.secret(spec["credentialsRef"]["name"], **fake.credentials)
        await world.config(**spec)
        await _seen(world.client, ProviderConfig, lambda one: bool(one.status.ready))
        yield world
        ageing.cancel()
        await world.end()


async def _age(harness: Harness) -> None:
    while True:
        await asyncio.sleep(1)
        await harness.pass_time(1)


async def _seen(client: Client, kind: type[Any], is_done: Callable[[Any], bool]) -> None:
    """Wait until an object of a kind is as it should be."""
    listed = await client.list(kind)
    if any(map(is_done, listed.items)):
        return
    async with aclosing(client.watch(kind, Selection(), version=listed.version)) as events:
        async for event in events:
            if event.item is not None and is_done(event.item):
                return
    raise RuntimeError("the watch has ended")


def _in_a_folder(story: Callable[[Path], Coroutine[Any, Any, Traced]]) -> Traced:
    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        return asyncio.run(story(Path(folder)))


def trace_create(*flags: str) -> Traced:
    """`butlerctl cluster create shop`, with flags. Raises what the command raises."""
    trace = Trace(("kubekit.",), "butler.cli.cluster.create:create", "kubekit.client.http:HttpClient.create")
    with _platform_in_a_thread() as (place, asked), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        where = ["--kubeconfig", str(place)]
        with trace.on():
            butlerctl.main([*where, "cluster", "create", "shop", *flags], standalone_mode=False)
        requests = len(asked)
    return Traced(trace, f"{requests} requests, {len(trace.modules)} modules up to the POST", requests)


@contextmanager
def _platform_in_a_thread() -> Iterator[tuple[Path, list[str]]]:
    """The kubeconfig of a server with Butler's kinds and a provider, and a list that grows with every request."""
    asked: list[str] = []
    ready = threading.Event()
    ends: list[Callable[[], object]] = []

    async def serve(folder: Path) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        ends.append(lambda: loop.call_soon_threadsafe(stop.set))
        async with Server(folder, product=PRODUCT) as server:
            client = DirectClient(server.root)
            await install_definitions(client, KINDS)
            await system.install(client, simulated=True)
            server.looked_at = asked.append
            ready.set()
            await stop.wait()

    with tempfile.TemporaryDirectory(prefix="trace-") as folder:
        thread = threading.Thread(target=lambda: asyncio.run(serve(Path(folder))))
        thread.start()
        ready.wait()
        try:
            yield Path(folder) / "kubeconfig", asked
        finally:
            ends[0]()
            thread.join()


TRACES: dict[str, Callable[..., Traced]] = {
    "post": trace_post,
    "reconcile": trace_reconcile,
    "machine": trace_machine,
    "create": trace_create,
}


def documented(text: str, name: str, report: str) -> str:
    """A document in which a trace is what it is now."""
    block = re.compile(rf"(<!-- trace: {name} -->\n```\n).*?(\n```)", re.DOTALL)
    return block.sub(lambda found: f"{found[1]}{report}{found[2]}", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write it into the document as well")
    parser.add_argument("request", choices=TRACES)
    parser.add_argument("flags", nargs=argparse.REMAINDER, help="for `create`: further flags of the command")
    given = parser.parse_args()
    traced = TRACES[given.request](*given.flags)
    print(f"{traced.trace.report()}\n\n{traced.summary}")
    if given.write:
        DOCUMENT.write_text(documented(DOCUMENT.read_text(), given.request, traced.trace.report()))


if __name__ == "__main__":
    main()
