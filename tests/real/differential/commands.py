"""kubectl against both servers: the same commands, and what they print."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from tests.real.differential.differences import Difference
from tests.real.servers import Cluster

KUBECTL = Path(sys.executable).parent / "kubectl"
_PATIENCE = 60.0


@dataclass(frozen=True)
class Command:
    """One call. In what is said and given `$ns` stands for the namespace of the script."""

    said: str
    """The arguments as in a shell."""
    given: str = ""
    """Standard input."""
    is_shown: bool = True
    """Whether more than the exit code is compared."""
    differs: Mapping[str, Difference] = field(default_factory=dict)
    """Lines that differ on purpose, by a pattern that they match on either side."""


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
    return [await _run(cluster, command, namespace) for command in script.commands]


async def _run(cluster: Cluster, command: Command, namespace: str) -> Printed:
    said = shlex.split(command.said.replace("$ns", namespace))
    process = await asyncio.create_subprocess_exec(
        str(KUBECTL),
        f"--namespace={namespace}",
        *said,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=_surroundings(cluster),
        cwd=cluster.folder,
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
    }


# -- comparing ----------------------------------------------------------------------------------------------------

_WORDS = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} [\d:]+ [+-]\d{4}"), "<date>"),
    (re.compile(r"https://127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"\b10\.\d+\.\d+\.\d+\b"), "<address>"),
    (re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+"), "<signed>"),
    (re.compile(r'(?<=resourceVersion: ")\d+(?=")|(?<="resourceVersion": ")\d+(?=")'), "<version>"),
    (re.compile(r"\b(?:\d+[dhms]){1,2}\b"), "<age>"),
    (re.compile(r"/tmp/\S+"), "<file>"),
    (re.compile(r"\b3[0-2]\d{3}\b"), "<port>"),
    (re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "-<random>"),
    (re.compile(r"  +"), "  "),
    (re.compile(r" +$"), ""),
)


def alike(text: str) -> list[str]:
    """The lines of an output, without what no two servers have in common."""
    lines = []
    for line in text.splitlines():
        for pattern, word in _WORDS:
            line = pattern.sub(word, line)
        lines.append(line)
    return lines


@dataclass
class Verdict:
    """Of one script."""

    open: list[str] = field(default_factory=list)
    deliberate: set[Difference] = field(default_factory=set)


def judge(script: Script, real: list[Printed], embedded: list[Printed]) -> Verdict:
    verdict = Verdict()
    for command, theirs, ours in zip(script.commands, real, embedded, strict=True):
        found = list(_mismatches(command, theirs, ours, verdict))
        if found:
            verdict.open.append("\n".join([f"kubectl {command.said}", *found]))
    return verdict


def _mismatches(command: Command, real: Printed, embedded: Printed, verdict: Verdict) -> list[str]:
    found = [] if real.code == embedded.code else [f"  exit code {real.code} and {embedded.code}"]
    if not (command.is_shown or found):
        return []
    for theirs, ours in ((real.out, embedded.out), (real.err, embedded.err)):
        for one, other in zip_longest(alike(theirs), alike(ours), fillvalue="(nothing)"):
            if one == other:
                continue
            marks = [mark for pattern, mark in command.differs.items() if re.search(pattern, f"{one}\n{other}")]
            verdict.deliberate.update(marks)
            if not marks:
                found.append(f"  real:     {one}\n  embedded: {other}")
    return found
