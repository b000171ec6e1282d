"""Two manifests, object by object, as people compare them; nothing secret is in it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from butler.engines.helm.objects import manifest, masking
from butler.engines.helm.redaction import Redaction

_HOOK = "helm.sh/hook"


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """What becomes of one object."""

    ref: manifest.Ref
    verb: str
    """added, changed or removed."""
    lines: tuple[str, ...]
    """A unified diff."""


def without_hooks(text: str, subject: str) -> str:
    """A manifest as releases keep it, where Helm rendered hooks among the rest. Raises RecordDamaged."""
    kept = [one for one in manifest.objects(text, subject) if _HOOK not in (one["metadata"].get("annotations") or {})]
    dumped: str = yaml.safe_dump_all(kept, allow_unicode=True)
    return dumped


def changes(before: str, after: str, subject: str, secrets: Sequence[Any]) -> list[ObjectChange]:
    """Every object that differs. Takes its time: call it in a thread. Raises RecordDamaged."""
    old, new = masking.masked(before, after, subject)
    hide = Redaction(*secrets)
    refs = sorted({*old, *new}, key=lambda ref: (ref.kind, ref.namespace, ref.name, ref.api_version))
    return [change for ref in refs if (change := _change(ref, old, new, hide)) is not None]


def _change(
    ref: manifest.Ref, old: Mapping[manifest.Ref, str], new: Mapping[manifest.Ref, str], hide: Redaction
) -> ObjectChange | None:
    if old.get(ref) == new.get(ref):
        return None
    verb = "added" if ref not in old else "removed" if ref not in new else "changed"
    return ObjectChange(ref, verb, tuple(_lines(str(ref), hide(old.get(ref, "")), hide(new.get(ref, "")))))


def _lines(title: str, before: str, after: str) -> Iterator[str]:
    if before == after:
        yield from (f"--- {title}", f"+++ {title}", "  only what is hidden here changes")
        return
    yield from difflib.unified_diff(before.splitlines(), after.splitlines(), title, title, lineterm="")
