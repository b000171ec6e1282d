"""Whatever the umask is and however open the data directory was: what is in it is for its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.local.shells import Shell


def opened(directory: Path) -> list[str]:
    """What others have a right to."""
    return [
        f"{path.relative_to(directory)} {path.stat().st_mode & 0o7777:o}"
        for path in (directory, *directory.rglob("*"))
        if path.stat().st_mode & 0o7777 != (0o700 if path.is_dir() else 0o600)
    ]


@pytest.mark.parametrize("mask", [0, 0o022])
def test_everything_a_platform_writes_is_its_owners_alone(shell: Shell, mask: int) -> None:
    before = os.umask(mask)
    try:
        shell.data.mkdir(parents=True)
        shell.data.chmod(0o777)
        shell.up("--detach")
        assert opened(shell.data) == []
        shell.stop()
        (shell.data / "log").write_text("what the last one said\n")
        for path in (shell.data, *shell.data.rglob("*")):
            path.chmod(0o777)
        shell.up("--detach")
        names = {path.name for path in shell.data.iterdir()}
    finally:
        os.umask(before)
    assert {"log", "log.1", "datacentre.db", "datacentre.db-wal", "demo.kubeconfig", "running.json"} <= names
    assert opened(shell.data) == []
