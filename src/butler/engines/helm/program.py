"""The `helm` program: found, asked for its version once, and run in a private folder."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .errors import HelmMissing
from .workspace import Workspace

_VERSION = re.compile(r"v?(\d+)\.(\d+)")
_LARGEST_OUTPUT = 64 * 1024 * 1024
_QUICK = 60.0
_MOST_MEMORY = 3 * 1024**3
"""Bytes of addresses, of which Helm reserves up to two thirds before it does anything."""
_MOST_CPU = 120
"""Seconds; usual runs take less than one."""


def find(environ: Mapping[str, str] = os.environ) -> Path:
    """The program of PATH, else the one that a package put beside this Python. Raises HelmMissing."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which("helm", path=environ.get("PATH", "")) or shutil.which("helm", path=beside)
    if found is None:
        message = f"there is no program of that name on PATH or in {beside}; install Helm 3.17 or newer"
        raise HelmMissing("helm", message)
    return Path(found)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended."""

    code: int
    output: str = field(repr=False)
    errors: str = field(repr=False)
    timed_out: bool = False

    @property
    def succeeded(self) -> bool:
        return self.code == 0 and not self.timed_out


class Program:
    """Runs Helm, at most `most` times at once: each takes a hundred megabytes for a moment."""

    def __init__(
        self, path: Path, *, most: int = 4, grace: float = 15.0, environ: Mapping[str, str] = os.environ
    ) -> None:
        self.path, self._grace, self._environ = path, grace, environ
        self._turns = asyncio.Semaphore(most)
        self._asking, self._version = asyncio.Lock(), (0, 0)
        self.runs = 0
        """How often Helm was started, for whoever measures."""

    async def version(self, workspace: Workspace) -> tuple[int, int]:
        """Asked for once. Raises HelmMissing when the program is not Helm."""
        async with self._asking:
            if self._version == (0, 0):
                ran = await self.run(workspace, "version", "--template", "{{.Version}}", patience=_QUICK)
                match = _VERSION.search(ran.output)
                if match is None:
                    raise HelmMissing(str(self.path), "does not say which version of Helm it is")
                self._version = int(match[1]), int(match[2])
        return self._version

    async def run(
        self, workspace: Workspace, *arguments: str, patience: float, descriptors: tuple[int, ...] = ()
    ) -> Ran:
        """Until it ends, or for `patience` seconds; then, or when cancelled, it is asked to end, and at last made to.

        What it writes goes to files, so that a run that outlives us is not ended by a reader that is gone."""
        async with self._turns:
            self.runs += 1
            output, errors = workspace.path / f"out-{self.runs}", workspace.path / f"err-{self.runs}"
            with output.open("xb") as to_output, errors.open("xb") as to_errors:
                process = await self._started(workspace, arguments, descriptors, to_output.fileno(), to_errors.fileno())
            timed_out = False
            try:
                async with asyncio.timeout(patience):
                    await process.wait()
            except TimeoutError:
                timed_out = True
            finally:
                if process.returncode is None:
                    await self._end(process)
            code = process.returncode if process.returncode is not None else -1
            return Ran(code, _read(output), _read(errors), timed_out)

    async def _started(
        self, workspace: Workspace, arguments: tuple[str, ...], descriptors: tuple[int, ...], output: int, errors: int
    ) -> asyncio.subprocess.Process:
        try:
            process = await asyncio.create_subprocess_exec(
                str(self.path),
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=workspace.environment(self._environ),
                cwd=workspace.path,
                start_new_session=True,
                pass_fds=descriptors,
            )
        except OSError as error:
            raise HelmMissing(str(self.path), f"cannot be run: {error.strerror or error}") from error
        _limit(process.pid)
        return process

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """Politely first: Helm then marks the release as failed, and not as pending for ever."""
        try:
            _signal(process.pid, signal.SIGTERM)
            async with asyncio.timeout(self._grace):
                await process.wait()
        except TimeoutError:
            pass
        finally:
            if process.returncode is None:
                _signal(process.pid, signal.SIGKILL)
                await process.wait()


def _limit(process: int) -> None:
    """A chart of a stranger may compute for ever, or want all the memory there is."""
    if sys.platform == "linux":
        with suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
            resource.prlimit(process, resource.RLIMIT_CPU, (_MOST_CPU, _MOST_CPU))


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LARGEST_OUTPUT).decode(errors="replace")
