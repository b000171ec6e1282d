"""Entries of the catalogue as they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from ..lazy import MISSING, Failure
from ..output import ABSENT, as_yaml, document, plain, table
from ..session import Session
from .lookup import speaking_of

if TYPE_CHECKING:
    from butler.api.addon import AddonDefinition


def read(session: Session) -> list[AddonDefinition]:
    """All of them, by category. Raises Failure."""
    from butler.api.addon import AddonDefinition

    with speaking_of(session, "AddonDefinitions"):
        found: Sequence[AddonDefinition] = session.reader.list(AddonDefinition).items
    return sorted(found, key=lambda one: (not one.spec.platform, one.spec.category, one.metadata.name))


def read_one(session: Session, name: str) -> dict[str, Any]:
    """One as the API has it. Raises Failure, with names that are close."""
    from butler.api.addon import AddonDefinition
    from kubekit.errors import NotFound

    from .checks import definition_named

    with speaking_of(session, "AddonDefinitions"):
        try:
            found: dict[str, Any] = session.reader.get(AddonDefinition.address, name)
        except NotFound as error:
            if error.details is None or not error.details.name:
                raise
            definition_named(name, {one.metadata.name: one for one in read(session)}, session.api)
            raise Failure(f'there is no addon "{name}"', MISSING) from error
    found["metadata"].pop("managedFields", None)
    return found


async def definitions(session: Session) -> dict[str, AddonDefinition]:
    """All of them by name, inside an event loop. Raises Failure."""
    from butler.api.addon import AddonDefinition

    with speaking_of(session, "AddonDefinitions"):
        found = (await session.client.list(AddonDefinition)).items
    return {one.metadata.name: one for one in found}


def show(entries: Sequence[AddonDefinition], output: str, no_headers: bool) -> None:
    if output in ("json", "yaml"):
        click.echo(document([_item(one) for one in entries], output))
    elif output == "name":
        click.echo("".join(f"{one.metadata.name}\n" for one in entries), nl=False)
    else:
        headings = ["NAME", "DISPLAY NAME", "CATEGORY", "VERSION", "PLATFORM"]
        click.echo(table(headings, map(_row, entries), painted="", no_headers=no_headers))


def _row(entry: AddonDefinition) -> list[str]:
    spec = entry.spec
    platform = "yes" if spec.platform else ""
    return [entry.metadata.name, spec.display_name, spec.category, spec.chart.default_version, platform]


def _item(entry: AddonDefinition) -> dict[str, Any]:
    spec, chart = entry.spec, entry.spec.chart
    return {
        "name": entry.metadata.name,
        "displayName": spec.display_name,
        "description": spec.description,
        "category": spec.category,
        "version": chart.default_version,
        "availableVersions": list(chart.available_versions),
        "platform": spec.platform,
        "providers": list(spec.providers),
        "dependsOn": list(spec.depends_on),
        "conflicts": list(spec.conflicts),
    }


def show_one(found: dict[str, Any], output: str) -> None:
    if output in ("json", "yaml"):
        click.echo(document(found, output))
    elif output == "name":
        click.echo(found["metadata"]["name"])
    else:
        from butler.api.addon import AddonDefinition

        click.echo("\n".join(_text(msgspec.convert(found, AddonDefinition))))


def _text(entry: AddonDefinition) -> Iterator[str]:
    spec, chart, defaults = entry.spec, entry.spec.chart, entry.spec.defaults
    versions = dict.fromkeys((chart.default_version, *chart.available_versions))
    name = entry.metadata.name
    facts = {
        "Name": name,
        "Display name": spec.display_name,
        "Description": spec.description,
        "Category": spec.category,
        "Platform": "yes, clusters get it by themselves" if spec.platform else "no",
        "Chart": chart.name,
        "Repository": chart.repository,
        "Versions": ", ".join(one for one in versions if one),
        "Namespace": defaults.namespace or name,
        "Depends on": ", ".join(spec.depends_on),
        "Conflicts with": ", ".join(spec.conflicts),
        "Kubernetes": spec.kubernetes_versions or "any",
        "Providers": ", ".join(spec.providers) or "all",
    }
    links = spec.links
    if links is not None:
        facts |= {
            "Documentation": links.documentation or "",
            "Homepage": links.homepage or "",
            "Source": links.source or "",
        }
    width = max(map(len, facts)) + 1
    for title, value in facts.items():
        yield f"{(title + ':').ljust(width)}  {plain(value) or ABSENT}"
    if defaults.values:
        yield "\nDefault values:"
        yield "\n".join(f"  {line}" for line in as_yaml(defaults.values).rstrip("\n").splitlines())
