"""`python -m kubekit.server`: an API server by itself, until Ctrl-C."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from kubekit.errors import StorageError
from kubekit.server.serve.server import Server, tune_process


def main() -> None:
    parser = argparse.ArgumentParser(
        "python -m kubekit.server",
        description="A Kubernetes API server that keeps everything in one directory.",
        epilog="Example: python -m kubekit.server --data ./data --port 6443",
    )
    parser.add_argument("--data", type=Path, required=True, help="where everything is kept, the kubeconfig too")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (%(default)s)")
    parser.add_argument("--port", type=int, default=0, help="the port to listen on (any that is free)")
    parser.add_argument("--name", action="append", default=[], help="a further name for its certificate")
    given = parser.parse_args()
    try:
        asyncio.run(_serve(Server(given.data.resolve(), host=given.host, port=given.port, names=given.name)))
    except (StorageError, OSError) as error:
        sys.exit(f"error: {error}")


async def _serve(server: Server) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with server:
        tune_process()
        _say(f"serving on {server.url}")
        _say(f"export KUBECONFIG={server.kubeconfig}")
        await stop.wait()
        _say("stopping")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main()
