"""Answers without what no two servers have in common, and where two of them still differ.

What is a server's own choice becomes a word with a number, in the order in which it is first seen. So it still shows
whether a version has changed, or whether two places name the same object."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.real.differential.answers import Answer
from tests.real.differential.steps import Step

_UID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_MICROTIME = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d{4,}(Z| \+0000 UTC( m=\S+)?)")
_TIME = re.compile(r"\b20[23]\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d| \+0000 UTC)")
_AUTHORITY = re.compile(r"-----BEGIN CERTIFICATE-----.*-----END CERTIFICATE-----\n?", re.DOTALL)
_SIGNED = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+")
_GENERATED = re.compile(r"\bgen-[bcdfghjklmnpqrstvwxz2456789]{5}\b")
_ACCESS = re.compile(r"\bkube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}\b")
_SERVICE_ADDRESS = re.compile(r"\b10\.(0|9[6-9]|1[01]\d)\.\d+\.\d+(/\d+)?")
_PORT = re.compile(r"https://127\.0\.0\.1:\d+|127\.0\.0\.1:\d+")
_VERSION_IN_TEXT = re.compile(r"\b\d{2,}\b")
_VERSION_IN_YAML = re.compile(r'(?<=resourceVersion: ")\d+(?=")')
_AGE = re.compile(r"\d+[smhd](\d+[smhd])?")
_INT64_MAX = 2**63 - 1
_UNNUMBERED = frozenset({"nodePort", "healthCheckNodePort"})

Place = str
Mismatch = tuple[Place, Any, Any]
MISSING = "(nothing)"


class Likeness:
    """One side's answers in one conversation, made comparable."""

    def __init__(self) -> None:
        self._uids: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    def of(self, step: Step, answer: Answer) -> dict[str, Any]:
        if not step.is_shown:
            if step.method != "GET":
                # What was made is spoken of later.
                self._value(answer.body)
            return {"status": answer.status}
        shown = {name: answer.headers.get(name.lower(), []) for name in step.compared_headers}
        body = self._value(answer.body if step.look is None or answer.status != 200 else step.look(answer.body))
        if isinstance(body, dict) and body.get("kind") == "Status":
            body = _in_order(body, is_custom="example.org" in step.path)
        return {"status": answer.status, "headers": self._value(shown), "body": body}

    def _value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list):
            return [self._value(one, key) for one in value]
        if isinstance(value, str):
            return self._text(value)
        if key in _UNNUMBERED and value:
            return "<port>"
        # Beyond 64 bits there are several ways to write the same number, all of which Go reads as a float64.
        return float(value) if isinstance(value, int) and abs(value) > _INT64_MAX else value

    def _mapping(self, value: dict[str, Any]) -> dict[str, Any]:
        # A list and a bookmark tell where the whole server is, an object where it is itself.
        is_object = "uid" in value or "name" in value
        made: dict[str, Any] = {}
        # In one order on both sides, for the numbers that are given out.
        for name, one in sorted(value.items()):
            # Some keys of managed fields hold a uid.
            key = self._text(name) if "uid" in name else name
            if key == "resourceVersion" and isinstance(one, str) and one:
                made[key] = self._versions.setdefault(one, f"<version-{len(self._versions)}>") if is_object else "<any>"
            elif key == "continue" and one:
                made[key] = "<continue>"
            elif key == "managedFields" and isinstance(one, list):
                # Their order goes by times, which no two servers have in common.
                made[key] = sorted(self._value(one), key=_of_manager)
            elif isinstance(one, str) and _SIGNED.fullmatch(one):
                made[key] = self._value(_claims(one))
            elif key == "cells":
                made[key] = ["<age>" if _AGE.fullmatch(str(cell)) else self._value(cell) for cell in one]
            else:
                made[key] = self._value(one, key)
        return made

    def _text(self, text: str) -> str:
        text = _UID.sub(lambda found: self._uids.setdefault(found[0], f"<uid-{len(self._uids)}>"), text)
        for pattern, word in _WORDS:
            text = pattern.sub(word, text)
        return _VERSION_IN_TEXT.sub(lambda found: self._versions.get(found[0], found[0]), text)


def _in_order(status: dict[str, Any], *, is_custom: bool) -> dict[str, Any]:
    """Conflicts, and problems of a custom object, come in the order of a Go map, that is in none."""
    causes = (status.get("details") or {}).get("causes", [])
    if len(causes) < 2 or not (is_custom or status.get("reason") == "Conflict"):
        return status
    details = {**status["details"], "causes": sorted(causes, key=lambda one: (one.get("field", ""), one["message"]))}
    is_list = status.get("reason") == "Invalid"
    message = "".join(sorted(status["message"])) if is_list else status["message"]
    return {**status, "details": details, "message": message}


def _of_manager(entry: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(entry.get(name, "")) for name in ("manager", "operation", "apiVersion", "subresource"))


_WORDS = (
    (_MICROTIME, "<microtime>"),
    (_TIME, "<time>"),
    (_AUTHORITY, "<certificates>"),
    (_SIGNED, "<signed>"),
    (_GENERATED, "gen-<random>"),
    (_ACCESS, "kube-api-access-<random>"),
    (_SERVICE_ADDRESS, "<service address>"),
    (_PORT, "<server>"),
    (_VERSION_IN_YAML, "<any>"),
)


def _claims(token: str) -> Any:
    """What a signed token says, without its times and its signature."""
    header, payload, _ = token.split(".")
    said = {**_decoded(header), **_decoded(payload)}
    for name in ("iat", "exp", "nbf", "kid"):
        if name in said:
            said[name] = f"<{name}>"
    if "kubernetes.io" in said and "warnafter" in said["kubernetes.io"]:
        said["kubernetes.io"]["warnafter"] = "<time>"
    return said


def _decoded(part: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def mismatches(real: Any, embedded: Any, place: Place = "") -> Iterator[Mismatch]:
    """Every place where the two are not the same, as small as possible."""
    if isinstance(real, Mapping) and isinstance(embedded, Mapping):
        for key in sorted(real.keys() | embedded.keys()):
            inner = f"{place}.{key}" if place else key
            yield from mismatches(real.get(key, MISSING), embedded.get(key, MISSING), inner)
    elif isinstance(real, list) and isinstance(embedded, list) and len(real) == len(embedded):
        for index, (one, other) in enumerate(zip(real, embedded, strict=True)):
            yield from mismatches(one, other, f"{place}.{index}")
    elif real != embedded or isinstance(real, bool) != isinstance(embedded, bool):
        yield place, real, embedded


def fits(place: Place, pattern: Place) -> bool:
    """Whether a place is at or below one with `*` for any key or index."""
    parts, wanted = place.split("."), pattern.split(".")
    return len(parts) >= len(wanted) and all(one in ("*", part) for part, one in zip(parts, wanted, strict=False))
