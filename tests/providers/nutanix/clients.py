"""Nutanix's own clients, in an interpreter of their own: they need libraries that are older than ours."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

PYTHON = Path(sys.prefix) / "nutanix-client" / "bin" / "python"
HERE = Path(__file__).parent

needs_clients = pytest.mark.skipif(not PYTHON.exists(), reason="make setup installs them")


async def answer_of(script: str, *arguments: str, given: bytes = b"") -> Any:
    """What a script of this folder prints, as JSON."""
    process = await asyncio.create_subprocess_exec(
        str(PYTHON), str(HERE / script), *arguments,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    told, complaint = await process.communicate(given)
    assert process.returncode == 0, complaint.decode()[-2000:]
    return msgspec.json.decode(told)
