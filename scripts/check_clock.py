"""Fails when anything of either house reads the clock, sleeps or draws a random number by itself."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = (ROOT / "src" / "butler", ROOT / "kubekit" / "src" / "kubekit")

MODULES = {"random", "secrets", "time"}
"""Nothing of these may be imported."""
CALLS = {
    "asyncio.sleep",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "date.today",
    "os.getrandom",
    "os.urandom",
    "uuid.uuid1",
    "uuid.uuid4",
    "uuid1",
    "uuid4",
    "urandom",
}
"""Nor may these be called, whatever stands before them."""
EXCEPTIONS = {
    "kubekit/clock.py": "it is where time and chance come from",
    "kubekit/testing/deterministic_loop.py": "its sleep and its dice belong to the virtual clock and the seed",
}


def main() -> None:
    found = [offence for source in SOURCES for path in sorted(source.rglob("*.py")) for offence in offences(path)]
    for offence in found:
        print(offence)
    sys.exit(bool(found))


def offences(path: Path) -> Iterator[str]:
    """One line for each use of time or chance that is not injected."""
    name = next((path.relative_to(one.parent).as_posix() for one in SOURCES if path.is_relative_to(one)), path.name)
    if name in EXCEPTIONS:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        for used in _uses(node):
            yield f"{name}:{getattr(node, 'lineno', 0)}: {used}: take it from kubekit.clock"


def _uses(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (f"import {one.name}" for one in names if one.name.split(".")[0] in MODULES)
        case ast.ImportFrom(module=str(module), names=names, level=0):
            if module.split(".")[0] in MODULES:
                yield f"from {module} import"
            yield from (f"from {module} import {one.name}" for one in names if f"{module}.{one.name}" in CALLS)
        case ast.Attribute() | ast.Name():
            text = ast.unparse(node)
            if text in CALLS or any(text.endswith(f".{call}") for call in CALLS if "." in call):
                yield text


if __name__ == "__main__":
    main()
