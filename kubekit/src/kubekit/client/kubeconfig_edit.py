"""Adding a context to a kubeconfig, and taking it out, without disturbing what else is there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kubekit.errors import InvalidConfiguration

from . import kubeconfig


@dataclass(frozen=True, slots=True)
class Entry:
    """A context with a cluster and a user of the same name; the two as they stand in the file."""

    name: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any] = field(repr=False)
    namespace: str = ""
    user_name: str = ""
    """The user's name where it is another one."""


def entry_from(content: bytes | str, name: str, subject: str = "kubeconfig", *, user_name: str = "") -> Entry:
    """The current context of another kubeconfig, under a name of our choice. Raises InvalidConfiguration."""
    parsed = kubeconfig.parse(content, Path(subject))
    parsed.config()
    loaded = kubeconfig.loaded_yaml(content, subject)
    context = _named(loaded, "contexts", parsed.current)["context"]
    cluster = _named(loaded, "clusters", context["cluster"])["cluster"]
    user = _named(loaded, "users", context.get("user", "")).get("user") or {}
    return Entry(name, cluster, user, context.get("namespace") or "", user_name)


def put(path: Path, entry: Entry, *, current: bool = True) -> None:
    """Add or replace a context, its cluster and its user. Raises InvalidConfiguration when that cannot be done."""
    user_name = entry.user_name or entry.name
    context = {"cluster": entry.name, "user": user_name}
    if entry.namespace:
        context["namespace"] = entry.namespace
    with _changing(path) as content:
        _set(content, "clusters", {"name": entry.name, "cluster": dict(entry.cluster)})
        _set(content, "users", {"name": user_name, "user": dict(entry.user)})
        _set(content, "contexts", {"name": entry.name, "context": context})
        if current or not content.get("current-context"):
            content["current-context"] = entry.name


def remove(path: Path, name: str) -> None:
    """Take out what `put` has put there; nothing happens when it is not there."""
    if not path.exists():
        return
    with _changing(path) as content:
        for plural in ("clusters", "users", "contexts"):
            content[plural] = [one for one in content.get(plural) or [] if one.get("name") != name]
        if content.get("current-context") == name:
            content["current-context"] = ""


def _named(loaded: Any, plural: str, name: str) -> dict[str, Any]:
    return next((one for one in loaded.get(plural) or () if one["name"] == name), {})


def _set(content: dict[str, Any], plural: str, entry: dict[str, Any]) -> None:
    entries: list[Any] = content.get(plural) or []
    at = next((index for index, one in enumerate(entries) if one.get("name") == entry["name"]), len(entries))
    content[plural] = [*entries[:at], entry, *entries[at + 1 :]]


@contextmanager
def _changing(path: Path) -> Iterator[dict[str, Any]]:
    """The content, to be changed in place; written back in one step, for its owner only."""
    real = path.resolve()
    real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(real):
        content = _content(real)
        yield content
        _replace(real, content)


def _content(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {"apiVersion": "v1", "kind": "Config"}
    text = path.read_bytes()
    kubeconfig.parse(text, path)
    return kubeconfig.loaded_yaml(text, str(path)) or {"apiVersion": "v1", "kind": "Config"}


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock that kubectl takes, too, when it changes the file."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        message = f"another program is changing the file; if there is none, remove {lock}"
        raise InvalidConfiguration("kubeconfig", str(path), message) from None
    except OSError as error:
        raise InvalidConfiguration("kubeconfig", str(path), error.strerror or str(error)) from error
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _replace(path: Path, content: dict[str, Any]) -> None:
    import yaml  # noqa: PLC0415 - as where it is read

    draft = path.with_name(f".{path.name}.new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        yaml.safe_dump(content, file, sort_keys=False, width=1_000_000, allow_unicode=True)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
