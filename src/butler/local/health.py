"""How the controllers of a running platform are, asked from outside."""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp

from .home import Running

SILENT = "platform"
"""What has a problem when nothing answers."""
_PATIENCE = aiohttp.ClientTimeout(total=5)


async def problems_of(running: Running) -> Mapping[str, str]:
    """Each thing the platform needs, with what is wrong or nothing; the platform itself when it does not answer."""
    try:
        async with (
            aiohttp.ClientSession(timeout=_PATIENCE) as session,
            session.get(f"{running.health}/readyz?verbose") as answer,
        ):
            text = await answer.text()
    except (aiohttp.ClientError, TimeoutError) as error:
        return {SILENT: f"does not answer: {str(error) or 'it took too long'}"}
    return dict(_check(line) for line in text.splitlines() if line.startswith(("[+]", "[-]")))


def _check(line: str) -> tuple[str, str]:
    """`[-]name failed: problem` or `[+]name ok`."""
    name, _, rest = line[3:].partition(" ")
    return name, rest.removeprefix("failed: ") if line.startswith("[-]") else ""
