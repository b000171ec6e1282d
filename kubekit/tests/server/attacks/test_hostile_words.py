"""Words that a pattern could stumble over: formats, quantities and names are judged in time linear in their length."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from kubekit.model import quantity
from kubekit.server.kinds.storage.disks import _INITIATORS
from kubekit.server.objects import name_rules
from kubekit.server.objects.cel.language import times
from kubekit.server.objects.schema.formats import _FORMATS
from kubekit.testing.watchdog import slowness

pytestmark = pytest.mark.usefixtures("as_served")

LENGTH = 100_000
LIMIT = 0.1
UNITS = (
    *(
        "a",
        "0",
        "1",
        "-",
        ".",
        "a-",
        "a.",
        "1.",
        "1s",
        "0:",
        "a@",
        "@",
        '"',
        '\\"',
        " ",
        "(",
        "[",
        "%",
        "%41",
        ":",
        "t",
    ),
    *("T", "é", "/", "a/", "=", "+", "A", "=a", "1e", "rgb(", "iqn.2020-01.a", "2024-01-01t", "--", "a b"),
)
BEGINNINGS = ("", "http://", "a@", '"', "rgb(", "2024-01-01T00:00:00.", "1", "iqn.2020-01.")


def judge(check: Callable[[str], object], text: str) -> float:
    """Seconds of the processor that a check takes; the least of a few, since others may be at work."""
    least = float("inf")
    for _ in range(4):
        began = time.thread_time()
        with suppress(ValueError):
            check(text)
        least = min(least, time.thread_time() - began)
        if least < LIMIT:
            break
    return least if least < LIMIT else least / slowness()


CHECKS: dict[str, Callable[[str], object]] = {
    **_FORMATS,
    "a quantity": quantity.parse,
    "a duration of a rule": times.duration,
    "a loose duration": times.loose_duration,
    "a point in time": times.loose_timestamp,
    "an initiator": _INITIATORS["iqn"],
    "a subdomain": name_rules.subdomain,
    "a qualified name": name_rules.qualified_name,
    "a label value": name_rules.label_value,
}


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.timeout(120)
def test_a_hostile_word_is_judged_soon(name: str) -> None:
    slow = {
        (beginning, unit): took
        for beginning in BEGINNINGS
        for unit in UNITS
        if (took := judge(CHECKS[name], f"{beginning}{(unit * LENGTH)[:LENGTH]}\x01")) >= LIMIT
    }
    assert slow == {}
