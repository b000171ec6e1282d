"""kubectl against both servers: the same commands, and what they print."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

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
    shown: str = ""
    """A pattern of the lines that are compared; all of them without it."""


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
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}"), "<time>"),
    (re.compile(r'(?i)(resource ?version\\?"?: *\\?"?)\d+'), r"\1<version>"),
    (re.compile(r"\b(?:\d+[dhms]){1,2}\b"), "<age>"),
    (re.compile(r"/tmp/\S+"), "<file>"),
    (re.compile(r"\b3[0-2]\d{3}\b"), "<port>"),
    (re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "-<random>"),
    (re.compile(r"(?<=Expected resource version to be 1, was )\d+"), "<version>"),
    (re.compile(r"  +"), "  "),
    (re.compile(r" +$"), ""),
)


def alike(text: str) -> list[str]:
    """The lines of an output, without what no two servers have in common."""
    lines = []
    # kubectl itself logs when its own patience ends.
    for line in (one for one in text.splitlines() if "reflector.go" not in one):
        for pattern, word in _WORDS:
            line = pattern.sub(word, line)
        lines.append(line)
    return lines


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
