"""Where built programs and manifests are kept: each under a key of what it was made from.

```
programs/NAME-KEY     one file each, made once
manifests/NAME-KEY/   one folder each
all-KEY/              links to the ones that belong to this checkout: what `testbed/build --where` prints
```
So a change of one module builds its programs anew and no others, and two checkouts can share a cache.
"""

from __future__ import annotations

import os
from functools import cache
from hashlib import sha256
from pathlib import Path

from testbed.parts import MANIFESTS, PROGRAMS, Manifests, Program

HERE = Path(__file__).parent


def root() -> Path:
    """The cache: $BUTLER_TESTBED, or the user's own."""
    if chosen := os.environ.get("BUTLER_TESTBED"):
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "butler" / "testbed"


def where() -> Path:
    """The folder with everything of this checkout; empty or missing before it was built."""
    keys = [kept(part).name for part in (*PROGRAMS, *MANIFESTS)]
    return root() / f"all-{_digest(*keys)}"


def kept(part: Program | Manifests) -> Path:
    """The place of one program or of one folder of manifests."""
    if isinstance(part, Program):
        return root() / "programs" / f"{part.name}-{_digest(_pins(part.folder), *arguments(part))}"
    return root() / "manifests" / f"{part.name}-{_digest(_pins(part.folder), repr(part), _recipe(), *_written(part))}"


def linked(part: Program | Manifests) -> Path:
    """Where one of this checkout is found by its name."""
    return where() / part.name if isinstance(part, Program) else where() / "manifests" / part.name


def arguments(program: Program) -> tuple[str, ...]:
    """How Go is called to build it, but for where it puts it."""
    verb = ("test", "-c") if program.is_test else ("build",)
    stamp = ["-s", "-w"]
    if program.version_package:
        version = version_of(program.folder, program.module)
        major, minor, _ = version.removeprefix("v").split(".", 2)
        for name, value in (("gitVersion", version), ("gitMajor", major), ("gitMinor", minor)):
            stamp += ["-X", f"{program.version_package}.{name}={value}"]
    return (*verb, "-ldflags", " ".join(stamp), program.package)


def version_of(folder: str, module: str) -> str:
    """The version of a module that a folder requires."""
    for line in (HERE / folder / "go.mod").read_text().splitlines():
        words = line.removeprefix("require").split()
        if words[:1] == [module]:
            return words[1]
    raise LookupError(f"testbed/{folder}/go.mod does not require {module}")


@cache
def _pins(folder: str) -> str:
    return (HERE / folder / "go.mod").read_text() + (HERE / folder / "go.sum").read_text()


def _written(manifests: Manifests) -> list[str]:
    if manifests.module:
        return []
    folders = [HERE / manifests.folder / path for path in manifests.paths.values()]
    return [file.read_text() for folder in folders for file in sorted(folder.glob("*.yaml"))]


@cache
def _recipe() -> str:
    return (HERE / "manifests.py").read_text()


def _digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()[:12]
