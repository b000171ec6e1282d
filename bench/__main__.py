"""`make bench`: start, memory, requests per second, lists and watches, as a table."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager

from . import inprocess, measures, runtime, servers
from .table import Table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, for a look")
    parser.add_argument("--without-peer", action="store_true", help="do not measure kube-apiserver beside it")
    options = parser.parse_args()
    scale = 0.1 if options.quick else 1.0
    table = Table("over HTTPS, 4 kB custom resources")
    started: list[Callable[[], AbstractContextManager[servers.Running]]] = [servers.butler]
    if not options.without_peer:
        started.append(servers.kubernetes)
    for start in started:
        try:
            with start() as server:
                print(f"measuring {server.name} ...", flush=True)
                asyncio.run(measures.all_of(server, table, scale))
        except FileNotFoundError as error:
            print(f"left out: {error}", flush=True)
    table.show()
    own = Table("in process")
    asyncio.run(inprocess.all_of(own, scale))
    own.show()
    controllers = Table("controllers over HTTPS, 4 kB custom resources")
    asyncio.run(runtime.all_of(controllers, scale, peer=not options.without_peer))
    controllers.show()


if __name__ == "__main__":
    main()
