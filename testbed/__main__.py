"""`testbed/build`: build what tests and benchmarks need, or the parts that are named."""

from __future__ import annotations

import argparse
import sys

from testbed import builder, go, places
from testbed.parts import MANIFESTS, PROGRAMS, Manifests, Program

_BY_NAME: dict[str, Program | Manifests] = {
    **{f"manifests/{part.name}": part for part in MANIFESTS},
    **{part.name: part for part in PROGRAMS},
}


def main() -> int:
    options = _parser().parse_args()
    if options.where:
        print(places.where())
        return 0
    unknown = [name for name in options.names if name not in _BY_NAME]
    if unknown:
        print(f"testbed: no such part: {', '.join(unknown)}; there are {', '.join(_BY_NAME)}", file=sys.stderr)
        return 2
    return _build(options.names)


def _build(names: list[str]) -> int:
    parts = [_BY_NAME[name] for name in names] or [part for part in _BY_NAME.values() if _is_usual(part)]
    missing = [part for part in parts if builder.is_missing(part)]
    if missing and not go.is_installed():
        print("testbed: Go is needed to build the real programs; install Go 1.26 or newer", file=sys.stderr)
        return 1
    try:
        builder.build(missing)
    except go.BuildFailed as failed:
        print(f"testbed: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ntestbed: stopped; the next build goes on from here", file=sys.stderr)
        return 130
    print(places.where())
    return 0


def _is_usual(part: Program | Manifests) -> bool:
    return isinstance(part, Manifests) or part.is_usual


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="testbed/build",
        description="Build the real programs that tests and benchmarks run against, and print where they are.",
        epilog="Parts: " + ", ".join(_BY_NAME),
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only this part; the default is what tests need")
    parser.add_argument("--where", action="store_true", help="only print where built parts are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
