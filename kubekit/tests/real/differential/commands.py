"""kubectl against both servers: the same commands, and what they print."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from testbed.running.servers import Cluster

KUBECTL = Path(sys.executable).parent / "kubectl"
_PATIENCE = 60.0
_TRIES = 20


@dataclass(frozen=True)
class Command:
    """One call. In what is said and given `$ns` stands for the namespace of the script."""

    said: str
    """The arguments as in a shell."""
    given: str = ""
    """Standard input."""
    shown: str = ""
    """A pattern of the lines that are compared; all of them without it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What is written before, beside whoever reads it."""
    settled: str = ""
    """What is said once the server has caught up with itself; asked for again until then, for a while."""


@dataclass(frozen=True)
class Script:
    """Commands one after the other, in a namespace of their own."""

    name: str
    commands: tuple[Command, ...]
    subject: str = ""

    @property
    def title(self) -> str:
        return f"{self.subject}: {self.name}"


def script(name: str, *commands: str | Command) -> Script:
    return Script(name, tuple(one if isinstance(one, Command) else Command(one) for one in commands))


@dataclass(frozen=True)
class Printed:
    """What one call said."""

    code: int
    out: str
    err: str


async def play(cluster: Cluster, script: Script, namespace: str) -> list[Printed]:
    """What the commands of a script print."""
    await _run(cluster, Command(f"create namespace {namespace}"), namespace)
    if any(command.said.startswith("run ") for command in script.commands):
        # No pod comes before the account of its namespace.
        await _run(cluster, Command("wait --for=create serviceaccount/default --timeout=20s"), namespace)
    return [await _settled(cluster, command, namespace) for command in script.commands]


async def _settled(cluster: Cluster, command: Command, namespace: str) -> Printed:
    for _ in range(_TRIES):
        printed = await _run(cluster, command, namespace)
        if re.search(command.settled, printed.out + printed.err):
            break
        await asyncio.sleep(1)
    return printed


async def _run(cluster: Cluster, command: Command, namespace: str) -> Printed:
    place = cluster.folder / "scripts" / namespace
    for name, text in {".keep": "", **command.files}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text.replace("$ns", namespace))
    process = await asyncio.create_subprocess_exec(
        str(KUBECTL),
        f"--namespace={namespace}",
        *shlex.split(command.said.replace("$ns", namespace)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_surroundings(cluster),
        cwd=place,
    )
    try:
        async with asyncio.timeout(_PATIENCE):
            out, err = await process.communicate(command.given.replace("$ns", namespace).encode())
    except TimeoutError:
        process.kill()
        await process.wait()
        return Printed(-1, "", "it does not come to an end")
    return Printed(process.returncode or 0, out.decode(), err.decode())


def _surroundings(cluster: Cluster) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(cluster.folder),
        "KUBECONFIG": str(cluster.kubeconfig),
        "KUBECACHEDIR": str(cluster.folder / "kubectl-cache"),
        "KUBE_EDITOR": "sed -i s/before/after/",
        "KUBECTL_APPLYSET": "true",
        # Short calls need no second thread and no collection of garbage.
        "GOMAXPROCS": "1",
        "GOGC": "off",
    }


_WORDS = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} [\d:]+ [+-]\d{4}"), "<date>"),
    (re.compile(r"https://127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"\b10\.\d+\.\d+\.\d+\b"), "<address>"),
    (re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+"), "<signed>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}"), "<time>"),
    (re.compile(r'(?i)(resource ?version\\?"?: *\\?"?)\d+'), r"\1<version>"),
    (re.compile(r"\b(?:\d+[dhms]){1,2}\b"), "<age>"),
    (re.compile(r"/tmp/\S+"), "<file>"),
    (re.compile(r"\b3[0-2]\d{3}\b"), "<port>"),
    (re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "-<random>"),
    (re.compile(r"(?<=Expected resource version to be 1, was )\d+"), "<version>"),
    (re.compile(r"\b(kubernetes-)?admin\b"), "<admin>"),
    (re.compile(r"  +"), "  "),
    (re.compile(r" +$", re.MULTILINE), ""),
)


def alike(text: str) -> list[str]:
    """The lines of an output, without what no two servers have in common."""
    # kubectl itself logs when its own patience ends.
    kept = "\n".join(line for line in text.splitlines() if "reflector.go" not in line)
    for pattern, word in _WORDS:
        kept = pattern.sub(word, kept)
    return kept.splitlines()


def differences(script: Script, real: list[Printed], embedded: list[Printed]) -> list[str]:
    """Where the two differ, each in a few lines."""
    found: list[str] = []
    for command, theirs, ours in zip(script.commands, real, embedded, strict=True):
        mismatches = [] if theirs.code == ours.code else [f"  exit code {theirs.code} and {ours.code}"]
        mismatches += _mismatches(theirs.out, ours.out, command.shown)
        mismatches += _mismatches(theirs.err, ours.err, command.shown)
        if mismatches:
            found.append("\n".join([f"kubectl {command.said}", *mismatches]))
    return found


def _mismatches(real: str, embedded: str, shown: str) -> list[str]:
    theirs, ours = ([line for line in alike(text) if re.search(shown, line)] for text in (real, embedded))
    return [
        f"  real:     {one}\n  embedded: {other}"
        for one, other in zip_longest(theirs, ours, fillvalue="(nothing)")
        if one != other
    ]


@dataclass
class Runs:
    """Scripts under way on both servers. Two run at once, so that one that waits does not keep the other waiting."""

    runner: asyncio.Runner
    real: Cluster
    embedded: Cluster
    under_way: dict[str, asyncio.Task[list[str]]] = field(default_factory=dict)

    def start(self, scripts: Iterable[Script]) -> None:
        limit = asyncio.Semaphore(2)

        async def compared(number: int, script: Script) -> list[str]:
            async with limit:
                namespace = f"kubectl-{number}"
                both = (play(one, script, namespace) for one in (self.real, self.embedded))
                return differences(script, *await asyncio.gather(*both))

        async def start() -> None:
            for number, script in enumerate(scripts):
                self.under_way[script.title] = asyncio.create_task(compared(number, script))

        self.runner.run(start())

    def differences(self, title: str) -> list[str]:
        async def wait() -> list[str]:
            return await self.under_way[title]

        return self.runner.run(wait())
