"""`python -m tests.runtime.histories --count 10000`: many histories, on every core; says which seeds fail."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.runtime.history import play
from tests.runtime.witnesses import Violation


def problem(seed: int) -> str:
    """What is wrong with the history of a seed; empty when nothing is."""
    logging.disable(logging.CRITICAL)
    try:
        play(seed)
    except Violation as violation:
        return str(violation)
    except Exception as error:
        return repr(error)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.runtime.histories", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.count)
    started, failed = time.monotonic(), 0
    with ProcessPoolExecutor(options.processes) as pool:
        for seed, found in zip(seeds, pool.map(problem, seeds, chunksize=20), strict=True):
            if found:
                failed += 1
                print(f"seed {seed}: {found}", flush=True)  # noqa: T201 - a command
    taken = time.monotonic() - started
    print(f"{options.count} histories in {taken:.0f}s, {failed} failed")  # noqa: T201 - a command
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
