"""Controllers as processes, and code that stands in the documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Program:
    """A controller as a process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.lines = process, list[str]()

    def until(self, text: str) -> str:
        """The first line from here on that contains a text."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if text in line:
                return line
        raise AssertionError(f"never said {text!r}: {''.join(self.lines)}")

    def ended(self) -> tuple[int, str]:
        """The exit code, and everything that was said."""
        assert self.process.stderr is not None
        self.lines += self.process.stderr
        return self.process.wait(20), "".join(self.lines)


@contextmanager
def running(script: Path, config: Path) -> Iterator[Program]:
    """Runs a file; whatever is left of it at the end is killed."""
    environment = {**os.environ, "KUBECONFIG": str(config), "HOME": str(script.parent)}
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Program(process)
        finally:
            process.kill()


def code_on(page: Path) -> list[str]:
    """The Python on a page of the documentation, block by block."""
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def on_any_port(code: str) -> str:
    """The same program where nobody else listens."""
    assert code.count("run(Greetings, define=[Greeting])") == 1
    return code.replace("define=[Greeting])", 'define=[Greeting], host="127.0.0.1", port=0)')
