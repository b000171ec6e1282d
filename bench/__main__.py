"""`make bench`: the API server, the controller runtime and the local platform, each as a table."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager

from bench import addons, fleet, inprocess, machines, measures, runtime, servers
from bench.table import Table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, for a look")
    parser.add_argument("--without-peer", action="store_true", help="do not measure other programs beside it")
    parser.add_argument("--only", choices=PARTS, help="one part")
    options = parser.parse_args()
    scale = 0.1 if options.quick else 1.0
    for name, (title, measure) in PARTS.items():
        if options.only in (None, name):
            table = Table(title, compares=name != "calls")
            asyncio.run(measure(table, scale, not options.without_peer))
            table.show()


async def _servers(table: Table, scale: float, peer: bool) -> None:
    started: list[Callable[[], AbstractContextManager[servers.Running]]] = [servers.butler]
    if peer:
        started.append(servers.kubernetes)
    for start in started:
        try:
            with start() as server:
                print(f"measuring {server.name} ...", flush=True)
                await measures.all_of(server, table, scale)
        except FileNotFoundError as error:
            print(f"left out: {error}", flush=True)


async def _calls(table: Table, scale: float, peer: bool) -> None:
    from bench import calls  # which imports the fakes of the tests, and what they are made of

    await calls.all_of(table, scale, peer)


PARTS: dict[str, tuple[str, Callable[[Table, float, bool], Coroutine[None, None, None]]]] = {
    "server": ("over HTTPS, 4 kB custom resources", _servers),
    "inprocess": ("in process", inprocess.all_of),
    "controllers": ("controllers over HTTPS, 4 kB custom resources", runtime.all_of),
    "machines": (f"{machines.COUNT} MachineRequests on one account, 20 ms per call", machines.all_of),
    "calls": ("calls per machine on the fakes of all infrastructures, 20 machines at a time", _calls),
    "platform": (f"local platform, clusters of {fleet.WORKERS} workers, no simulated delays", fleet.all_of),
    "addons": (f"local platform, clusters of 1 worker with {addons.ADDONS} addons by real Helm", addons.all_of),
}


if __name__ == "__main__":
    main()
