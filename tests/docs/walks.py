"""Someone at a terminal who types what a page says, in a home and a directory that are empty."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from testbed.running.embedded import BIN
from tests.docs.pages import ROOT, Block, is_shown

_ON_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
_MARK = re.compile(r"^<<(\d+)>>\n", re.MULTILINE)
_NOT_TAKEN_ALONG = ("KUBECONFIG", "BUTLER_HOME", "BUTLER_NAMESPACE", "BUTLER_DATA", "PYTHONDONTWRITEBYTECODE")


@dataclass
class Walk:
    """One reader of pages."""

    folder: Path
    bytecode: Path
    """Where commands keep what they compiled."""
    has_commands: bool = True
    """Whether the commands are on the PATH before the page says so."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """Words of a page, and what stands for them here."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Ends of questions, and what is typed then."""

    def __post_init__(self) -> None:
        self.home, self.clone = self.folder / "home", self.folder / "clone"
        self.home.mkdir(parents=True)
        self.clone.mkdir()
        (self.clone / ".venv").symlink_to(BIN.parent)
        (self.clone / "examples").symlink_to(ROOT / "examples")
        self.environ = {name: value for name, value in os.environ.items() if name not in _NOT_TAKEN_ALONG}
        path = [str(BIN)] if self.has_commands else []
        path += [part for part in os.environ["PATH"].split(os.pathsep) if part != str(BIN)]
        self.environ |= {"HOME": str(self.home), "PATH": os.pathsep.join(path), "TERM": "xterm", "NO_COLOR": "1"}
        self.environ["PYTHONPYCACHEPREFIX"] = str(self.bytecode)

    def write(self, name: str, text: str) -> None:
        """A file that the page takes for granted."""
        (self.clone / name).write_text(text)

    def type(self, command: str) -> None:
        """One command, which has to succeed."""
        code, output = self._run(command)
        assert code == 0, output

    def follow(self, commands: Iterable[Block]) -> None:
        """Type them one after the other in one shell; each has to succeed and to show what the page says."""
        blocks = list(commands)
        typed = "".join(f"echo '<<{number}>>'\n{self._here(block.text)}\n" for number, block in enumerate(blocks))
        code, output = self._run(f"stty cols 120 rows 50\nset -eu\n{typed}")
        parts = _MARK.split(output)[1:]
        outputs = {int(number): text for number, text in zip(parts[::2], parts[1::2], strict=True)}
        assert code == 0, f"{blocks[max(outputs, default=0)].text}\n{output[-3000:]}"
        for number, block in enumerate(blocks):
            if block.shown is not None:
                assert is_shown(self._here(block.shown), outputs[number]), f"{block.text}\n{outputs[number]}"

    def end(self) -> None:
        """Leave nothing running."""
        subprocess.run([BIN / "butleradm", "down"], env=self.environ, check=False, capture_output=True)

    def _here(self, text: str) -> str:
        """The longer words first: they may hold shorter ones."""
        for words in sorted(self.instead, key=len, reverse=True):
            text = text.replace(words, self.instead[words])
        return text

    def _run(self, script: str) -> tuple[int, str]:
        """What a shell on a terminal of its own leaves there, and with which code it ends."""
        with subprocess.Popen(
            [sys.executable, "-c", _ON_TERMINAL, "sh", "-c", script],
            env=self.environ, cwd=self.clone, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as shell:  # fmt: skip
            assert shell.stdout is not None
            assert shell.stdin is not None
            written, answered = b"", 0
            while part := os.read(shell.stdout.fileno(), 65536):
                written += part
                for question, answer in self.answers.items():
                    if written[answered:].decode(errors="replace").rstrip().endswith(question):
                        shell.stdin.write(f"{answer}\n".encode())
                        shell.stdin.flush()
                        answered = len(written)
        return shell.returncode, rendered(written.decode())


def rendered(written: str) -> str:
    """What stands on a terminal at the end: pictures are drawn over themselves, a line at a time."""
    lines, at = [""], 0
    for text in re.split(r"(\n|\x1b\[\d*A)", _kept(written)):
        if text == "\n":
            at += 1
            lines += [""] * (at + 1 - len(lines))
        elif up := re.fullmatch(r"\x1b\[(\d*)A", text):
            at -= int(up[1] or 1)
        elif text:
            lines[at] = text.rpartition("\x1b[2K")[2]
    return "\n".join(lines)


def _kept(written: str) -> str:
    return re.sub(r"\x1b\[\?25[lh]|\r", "", written)
