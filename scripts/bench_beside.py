"""Measure this checkout beside an earlier commit, in turns, and print both: `scripts/bench_beside.py COMMIT`.

The speed of a machine changes from minute to minute, so the two are measured alternately and their medians compared.
A row that got worse by more than five hundredths is marked; nothing fails on time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
TOLERATED = 0.05
PARTS = ("server", "inprocess", "controllers", "machines", "calls", "platform", "addons")

Figures = dict[str, tuple[float, str]]
"""Value and unit by row."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="what to compare with")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured (%(default)s)")
    parser.add_argument("--only", choices=PARTS, help="one part of the benchmark")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, for a look")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beside-") as folder:
        before = Path(folder) / "before"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", before, given.commit], cwd=ROOT, check=True)
        try:
            for part in PARTS if given.only is None else (given.only,):
                arguments = ["--only", part, "--without-peer", *(["--quick"] if given.quick else [])]
                show(part, *measured((before, ROOT), arguments, given.rounds))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", before], cwd=ROOT, check=True)


def measured(checkouts: tuple[Path, Path], arguments: list[str], rounds: int) -> tuple[list[Figures], list[Figures]]:
    """The figures of each round of both, one after the other and the next round the other way round."""
    found: dict[Path, list[Figures]] = {one: [] for one in checkouts}
    for number in range(rounds):
        for checkout in checkouts if number % 2 == 0 else reversed(checkouts):
            print(f"round {number + 1}: {checkout.name}", flush=True)
            found[checkout].append(figures(checkout, arguments))
    return found[checkouts[0]], found[checkouts[1]]


def figures(checkout: Path, arguments: list[str]) -> Figures:
    """What one run says of each row."""
    sources = [checkout, checkout / "src", checkout / "kubekit" / "src"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sources)), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-m", "bench", *arguments]
    ran = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{checkout}: {ran.stderr}")
    return dict(map(_figure, re.findall(r"^  [\w-]+: (.+): ([\d,.]+) ?(\S*)$", ran.stdout, re.MULTILINE)))


def _figure(found: tuple[str, str, str]) -> tuple[str, tuple[float, str]]:
    row, value, unit = found
    return row, (float(value.replace(",", "")), unit)


def show(part: str, before: list[Figures], after: list[Figures]) -> None:
    print(f"\n{part:56}{'before':>14}{'after':>14}{'change':>10}")
    for row, (_, unit) in after[0].items():
        old, new = ([one[row][0] for one in runs if row in one] for runs in (before, after))
        if not old or not new:
            continue
        change = median(new) / median(old) - 1 if median(old) else 0.0
        loss = -change if unit.startswith("/s") else change
        mark = "  worse" if loss > TOLERATED else ""
        print(f"  {row:54}{median(old):>14,.2f}{median(new):>14,.2f}{change:>+10.1%} {unit}{mark}", flush=True)


if __name__ == "__main__":
    main()
