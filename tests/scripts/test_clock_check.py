"""The check that time and chance are injected everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.check_clock import SOURCES, offences


def test_nothing_reads_the_clock_by_itself() -> None:
    assert [offence for source in SOURCES for path in source.rglob("*.py") for offence in offences(path)] == []


@pytest.mark.parametrize(
    "code",
    [
        "import time",
        "import random",
        "from secrets import token_hex",
        "from time import monotonic as later",
        "from asyncio import sleep",
        "import asyncio\nasyncio.sleep(1)",
        "import datetime\ndatetime.datetime.now()",
        "from datetime import datetime\nwhen = datetime.now",
        "import uuid\nuuid.uuid4()",
        "from uuid import uuid4",
        "import os\nos.urandom(3)",
    ],
)
def test_every_way_to_do_so_is_noticed(tmp_path: Path, code: str) -> None:
    path = tmp_path / "module.py"
    path.write_text(code)
    assert list(offences(path))


def test_what_is_injected_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "async def f(self):\n    await self.clock.sleep(1)\n    self.clock.now()\n    uuid.UUID(bytes=b'')\n"
    )
    assert list(offences(path)) == []
