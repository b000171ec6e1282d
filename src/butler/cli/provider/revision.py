"""What stands between a provider as it is and as somebody wants it: the difference, and two writes."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from butler.api.credentials import spellings
from butler.api.provider import ProviderConfig
from butler.api.shared import ProviderType
from kubekit.errors import Invalid, NotFound

from .. import object_draft
from ..merge_patch import Change, difference
from ..object_draft import Draft
from ..session import Session
from . import credentials, provider_draft
from .creation import SECRETS

_LONGEST = 60
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A provider as it is to be, and what leads there."""

    draft: Draft
    config: ProviderConfig
    """The same, normalised."""
    before: Draft
    secret: Draft | None = None
    """With all entries it is to have; None if none of them changes."""
    entries: Change | None = None
    """What changes in it, by its keys; None for those that go."""

    @property
    def key(self) -> str:
        return f"{self.draft['metadata']['namespace']}/{self.draft['metadata']['name']}"

    @property
    def change(self) -> Change:
        return difference({"spec": self.before["spec"]}, {"spec": self.draft["spec"]})

    @property
    def is_empty(self) -> bool:
        return not self.change and not self.entries

    def told(self) -> Iterator[str]:
        """A line for each field that changes; of credentials only the names are shown."""
        for path, value in _leaves(self.change):
            yield f"  {path}: {_shown(object_draft.at(self.before, path))} → {_shown(value)}"
        if self.secret is not None:
            meta = self.secret["metadata"]
            for name, value in (self.entries or {}).items():
                said = "goes" if value is None else "changes"
                yield f"  Secret {meta['namespace']}/{meta['name']}: {name} {said}"


def _leaves(change: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in change.items():
        place = f"{path}.{name}" if path else name
        if isinstance(value, dict) and value:
            yield from _leaves(value, place)
        else:
            yield place, value


def _shown(value: Any) -> str:
    text = "nothing" if value in (None, {}, []) else str(value).lower() if isinstance(value, bool) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


async def planned(session: Session, stored: Draft, given: Mapping[str, Any], what: str) -> Revision:
    """What the flags make of a provider that is there. Raises Failure, UsageError."""
    draft = provider_draft.changed(stored, given)
    entries = credentials.said(kind_of(stored), given)
    if given["secret"]:
        if entries:
            raise click.UsageError("--secret names credentials that are there already; leave the other ones out")
        draft["spec"]["credentialsRef"] = {"name": given["secret"]}
    config = provider_draft.typed(draft, what)
    if not entries:
        return Revision(draft, config, stored)
    ref = config.spec.credentials_ref
    if ref is None:
        raise click.UsageError("the provider has no credentials yet; name a Secret that has them with --secret")
    namespace = ref.namespace or draft["metadata"]["namespace"]
    known = await _entries(session, ref.name, namespace)
    change = _changed_entries(kind_of(stored), known, entries)
    if not change:
        return Revision(draft, config, stored)
    kept = {name: value for name, value in known.items() if name not in change}
    secret = {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {"name": ref.name, "namespace": namespace},
        "type": "Opaque",
        "stringData": kept | {name: value for name, value in change.items() if value is not None},
    }
    return Revision(draft, config, stored, secret, change)


def kind_of(stored: Draft) -> ProviderType:
    return ProviderType(stored["spec"].get("provider") or stored["spec"].get("type"))


async def _entries(session: Session, name: str, namespace: str) -> dict[str, str]:
    """What stands in the Secret; nothing if there is none."""
    try:
        found = await session.client.get(SECRETS, name, namespace)
    except NotFound:
        return {}
    data: Mapping[str, str] = found.get("data") or {}
    return {key: base64.b64decode(value).decode(errors="replace") for key, value in data.items()}


def _changed_entries(kind: ProviderType, known: Mapping[str, str], wanted: Mapping[str, str]) -> Change:
    """A new entry takes the place of one that is the same but for its spelling."""
    same = [{name, *others} for name, others in spellings(kind).items()]
    change: Change = {}
    for name, value in wanted.items():
        group = next((one for one in same if name in one), {name})
        change |= {other: None for other in group - {name} if other in known}
        if known.get(name) != value:
            change[name] = value
    return change


async def ask_platform(session: Session, found: Revision, what: str) -> None:
    """Whether the platform would take it. Raises Failure."""
    meta = {"name": found.draft["metadata"]["name"], "namespace": found.draft["metadata"]["namespace"]}
    asked = {**found.draft, "metadata": meta}
    try:
        await session.client.apply(asked, ProviderConfig.address, manager="butleradm", dry_run=True)
    except Invalid as error:
        raise object_draft.invalid(what, error, provider_draft.flag_for) from error


async def write(session: Session, found: Revision, what: str) -> Draft:
    """The Secret, then the ProviderConfig; answers that as it is then. Raises Failure."""
    meta = found.draft["metadata"]
    if found.secret is not None:
        await _write_secret(session, found.secret, found.entries or {})
    if not found.change:
        return found.draft
    try:
        changed: Draft = await session.client.patch(
            ProviderConfig.address, meta["name"], found.change, meta["namespace"], manager="butleradm"
        )
    except Invalid as error:
        raise object_draft.invalid(what, error, provider_draft.flag_for) from error
    return changed


async def _write_secret(session: Session, secret: Draft, entries: Change) -> None:
    meta = secret["metadata"]
    gone = {name: None for name, value in entries.items() if value is None}
    new = {name: value for name, value in entries.items() if value is not None}
    patch = {"data": gone, "stringData": new}
    try:
        await session.client.patch(SECRETS, meta["name"], patch, meta["namespace"], manager="butleradm")
    except NotFound:
        await session.client.create(secret, SECRETS, manager="butleradm")
