"""A ProviderConfig somebody describes, before any API has seen it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import click

from butler.api.provider import ProviderConfig
from butler.api.shared import ProviderType
from kubekit.errors import OMITTED, FieldError, FieldProblem, InvalidConfiguration

from .. import object_draft
from ..lazy import USAGE
from ..merge_patch import Change, merged, put
from ..object_draft import Draft
from ..session import Session
from . import section_flags
from .account import namespace_of

F = TypeVar("F", bound=Callable[..., Any])

WITHOUT_CREDENTIALS = (ProviderType.SIMULATED, ProviderType.EXTERNAL, ProviderType.LOCAL)
"""Kinds of infrastructure that can do without."""
_FIELDS = {
    "network_mode": "spec.network.mode",
    "team": "spec.scope.teamRef.name",
    "max_clusters_per_team": "spec.limits.maxClustersPerTeam",
    "max_nodes_per_team": "spec.limits.maxNodesPerTeam",
}
_OPTIONS = (
    click.option(
        "--network-mode",
        type=click.Choice(["ipam", "cloud"]),
        show_default="cloud",
        help="Where addresses come from: NetworkPools, or the provider itself.",
    ),
    click.option(
        "--network-pool",
        "pools",
        metavar="NAME[:PRIORITY]",
        multiple=True,
        help="A NetworkPool to take addresses from; may be repeated.",
    ),
    click.option("--team", metavar="NAME", help="Only this team may use it."),
    click.option("--max-clusters-per-team", type=click.IntRange(1), help="Most clusters of one team on it."),
    click.option("--max-nodes-per-team", type=click.IntRange(1), help="Most workers of one team on it."),
    click.option(
        "--set",
        "settings",
        metavar="FIELD=VALUE",
        multiple=True,
        help="Any other field of the spec, such as network.gateway=10.0.0.1; may be repeated.",
    ),
)


def config_options(function: F) -> F:
    """What every ProviderConfig may say, whatever its infrastructure."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def drafted(session: Session, name: str | None, kind: str | None, given: Mapping[str, Any]) -> Draft:
    """What the file says, with the flags on top of it. Raises Failure, UsageError."""
    filename = given.get("filename")
    draft = (
        object_draft.read(filename, ProviderConfig.address) if filename else object_draft.empty(ProviderConfig.address)
    )
    for change in _changes(kind, given):
        draft = merged(draft, change)
    meta, spec = draft["metadata"], draft["spec"]
    name = name or meta.get("name")
    missing = [] if name else ["a provider needs a NAME, as an argument or in the file"]
    if not (spec.get("provider") or spec.get("type")):
        missing.append(f"--type is missing; it is one of {', '.join(section_flags.TYPES)}")
    if missing:
        raise click.UsageError("\n".join(missing))
    namespace = session.wishes.namespace or meta.get("namespace") or namespace_of(session)
    draft["metadata"] = {**meta, "name": name, "namespace": namespace}
    draft.pop("status", None)
    return draft


def changed(stored: Draft, given: Mapping[str, Any]) -> Draft:
    """A provider that is there, with the flags on top of it. Raises UsageError."""
    kind = stored["spec"].get("provider") or stored["spec"].get("type")
    draft = {name: value for name, value in stored.items() if name != "status"}
    for change in _changes(None, given):
        draft = merged(draft, change)
    return {**draft, "spec": merged(draft["spec"], section_flags.change_of(kind, given).get("spec", {}))}


def _changes(kind: str | None, given: Mapping[str, Any]) -> Iterator[Change]:
    change: Change = {}
    if kind:
        put(change, "spec.provider", kind)
        put(change, f"spec.{kind}", {})
    for name, path in _FIELDS.items():
        if given.get(name) is not None:
            put(change, path, given[name])
    if given.get("team"):
        put(change, "spec.scope.type", "team")
    if given.get("pools"):
        put(change, "spec.network.poolRefs", [*_pools(given["pools"])])
    yield change
    if kind:
        yield section_flags.change_of(kind, given)
    yield _settings(given.get("settings", ()))


def _pools(texts: Iterable[str]) -> Iterator[dict[str, Any]]:
    for text in texts:
        name, sign, priority = text.partition(":")
        if not name or (sign and not priority.isdecimal()):
            raise click.BadParameter(f"{text!r} is not NAME or NAME:PRIORITY", param_hint="'--network-pool'")
        yield {"name": name, "priority": int(priority)} if sign else {"name": name}


def _settings(texts: Iterable[str]) -> Change:
    change: Change = {}
    for text in texts:
        path, value = section_flags.setting(text, "--set")
        put(change, f"spec.{path.removeprefix('spec.')}", value)
    return change


def typed(draft: Draft, what: str) -> ProviderConfig:
    """The ProviderConfig a draft stands for, normalised. Raises Failure, with a line for each field."""
    from butler.api.normalise import normalise

    found = [*object_draft.unknown_fields(draft, ProviderConfig)]
    config = object_draft.converted(draft, ProviderConfig, found)
    if not found:
        try:
            return normalise(config)
        except InvalidConfiguration as error:
            found.append(problem_of(error))
    raise object_draft.refused(what, found, flag_for, USAGE)


def problem_of(error: InvalidConfiguration) -> FieldError:
    return FieldError(FieldProblem.INVALID, error.path, str(error).rpartition(f"{error.path}: ")[2], OMITTED)


def flag_for(path: str) -> str:
    """The flag that writes a field; empty when there is none."""
    if path in ("spec.provider", "spec.type"):
        return "--type"
    if path.startswith("spec.credentialsRef"):
        return "--secret"
    if path.startswith("spec.network.poolRefs"):
        return "--network-pool"
    own = next((name for name, field in _FIELDS.items() if path == field), "")
    return f"--{own.replace('_', '-')}" if own else section_flags.flag_for(path)
