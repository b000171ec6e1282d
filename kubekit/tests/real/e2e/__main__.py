"""`make e2e`: run Kubernetes' own end-to-end tests on its API server and on ours, and say how many pass."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.real.e2e import suite

_SERVERS = ("real", "embedded")


def main() -> int:
    options = _parser().parse_args()
    made = []
    for on in options.on:
        folder = Path(tempfile.mkdtemp(prefix=f"kubekit-e2e-{on}-"))
        print(f"e2e: running on the {on} server; the log is {folder}/e2e.test.log", file=sys.stderr, flush=True)
        made.append(suite.run(on, folder, options.focus))
    for report in made:
        print("\n".join(report.lines()))
    return 1 if any(report.failed for report in made) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.real.e2e", description=__doc__)
    parser.add_argument("on", nargs="*", metavar="SERVER", choices=_SERVERS, default=_SERVERS, help="real or embedded")
    parser.add_argument("--focus", default="", metavar="REGEX", help="only tests with such names")
    return parser


if __name__ == "__main__":
    sys.exit(main())
