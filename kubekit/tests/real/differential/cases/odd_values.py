"""Parameters and headers that make no sense, or too much: only the codes are compared."""

from __future__ import annotations

from tests.real.differential.steps import Step, blamed, case, delete, get, patch, post, quietly
from tests.real.differential.vocabulary import MAPS, config_map
from tests.server.attacks import odd_values as odd

_ONE = f"{MAPS}/a"
_SETUP = quietly(post(MAPS, config_map("a")), post(MAPS, config_map("b")))
_NO_WATCH = "resourceVersionMatch=none"


def _is_sent(value: str) -> bool:
    """Whether it gets through a client, and means the same everywhere."""
    return value.isascii() and value.isprintable() and " " not in value and len(value) < 3000


def _listed(name: str) -> list[Step]:
    return [get(f"{MAPS}?{name}={value}", is_shown=False) for value in odd.QUERIES[name] if _is_sent(value)]


def _watched(name: str) -> list[Step]:
    return [
        get(f"{MAPS}?watch=1&{name}={value}&{_NO_WATCH}", is_shown=False)
        for value in odd.QUERIES[name]
        if _is_sent(value)
    ]


CASES = (
    *(
        case(f"lists with {name}", _SETUP, *_listed(name))
        for name in (
            "limit",
            "timeoutSeconds",
            "resourceVersion",
            "timeout",
            "continue",
            "labelSelector",
            "fieldSelector",
        )
    ),
    *(
        case(f"watches with {name}", _SETUP, *_watched(name))
        for name in ("limit", "timeoutSeconds", "timeout", "labelSelector", "fieldSelector", "allowWatchBookmarks")
    ),
    case(
        "one object",
        _SETUP,
        *(
            get(f"{_ONE}?{name}={value}", is_shown=False)
            for name in ("timeout", "pretty")
            for value in odd.QUERIES[name]
            if _is_sent(value)
        ),
    ),
    case(
        "versions of one object",
        _SETUP,
        *(get(f"{_ONE}?resourceVersion={value}", is_shown=False) for value in ("", "0", "1", "007")),
        *(get(f"{_ONE}?resourceVersion={2**power}", is_shown=False) for power in (31, 32, 62, 63)),
        *blamed(*(get(f"{_ONE}?resourceVersion={value}") for value in ("-1", "x", "1.5", str(2**64), "9" * 400))),
    ),
    case(
        "deletions",
        _SETUP,
        *(
            delete(f"{_ONE}?dryRun=All&{name}={value}", is_shown=False)
            for name in ("gracePeriodSeconds", "propagationPolicy", "orphanDependents", "dryRun")
            for value in odd.QUERIES[name]
            if _is_sent(value)
        ),
    ),
    case(
        "changes",
        _SETUP,
        *(
            patch(f"{_ONE}?dryRun=All&{name}={value}", {}, is_shown=False)
            for name in ("fieldManager", "fieldValidation", "force", "dryRun", "pretty")
            for value in odd.QUERIES[name]
            if _is_sent(value)
        ),
    ),
    case(
        "what is accepted",
        _SETUP,
        *(
            Step("GET", path, headers={"Accept": value}, is_shown=False)
            for path in (MAPS, _ONE, "/version")
            for value in odd.MEDIA_TYPES
            if _is_sent(value) and value != "*"
        ),
    ),
    case(
        "what is sent",
        _SETUP,
        *(
            Step(method, path, "{}", {"Content-Type": value}, is_shown=False)
            for method, path in (
                ("POST", f"{MAPS}?dryRun=All"),
                ("PATCH", f"{_ONE}?dryRun=All"),
                ("DELETE", f"{_ONE}?dryRun=All"),
            )
            for value in odd.MEDIA_TYPES
            if _is_sent(value)
        ),
    ),
)
