"""butleradm provider images, and networks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ..output import document, no_headers_option, output_option, say, table
from ..session import Session
from .account import connected, provider_command, provider_name

if TYPE_CHECKING:
    from butler.api.provider import ProviderConfig
    from butler.providers.contract import Choice, Provider

_IMAGES = ("image", "template", "ami")
_NETWORKS = ("network", "subnet", "subnetwork", "vnet", "vpc", "bridge")
"""Words in the names of fields that say which image or network to use."""


@provider_command()
@provider_name
@output_option("table", "json", "yaml", "name")
@no_headers_option
async def images(session: Session, name: str, output: str, no_headers: bool) -> None:
    """List what machines of a provider can boot from.

    The one that the ProviderConfig names is marked.

    \b
    Example:
      butleradm provider images lab
      butleradm provider images lab -o json
    """
    printed = Printed(output, no_headers, "images")
    await _show(session, name, printed, lambda provider: provider.images(), _IMAGES)


@provider_command()
@provider_name
@output_option("table", "json", "yaml", "name")
@no_headers_option
async def networks(session: Session, name: str, output: str, no_headers: bool) -> None:
    """List what machines of a provider can be connected to.

    Those that the ProviderConfig names are marked.

    \b
    Example:
      butleradm provider networks lab
      butleradm provider networks lab -o json
    """
    printed = Printed(output, no_headers, "networks")
    await _show(session, name, printed, lambda provider: provider.networks(), _NETWORKS)


@dataclass(frozen=True, slots=True)
class Printed:
    """How something is printed."""

    output: str
    no_headers: bool
    what: str


async def _show(
    session: Session,
    name: str,
    printed: Printed,
    look: Callable[[Provider], Awaitable[tuple[Choice, ...]]],
    words: tuple[str, ...],
) -> None:
    async with connected(session, name) as (config, provider):
        found = await look(provider)
    chosen = _named(config, words)
    output = printed.output
    if output == "name":
        click.echo("".join(f"{one.id}\n" for one in found), nl=False)
    elif output != "table":
        click.echo(document([_item(one, chosen) for one in found], output))
    elif not found:
        say(f"no {printed.what} to choose from on {name}")
    else:
        rows = [[one.name, one.id, "yes" if _is_chosen(one, chosen) else "", one.detail] for one in found]
        click.echo(table(["NAME", "ID", "USED", "DETAIL"], rows, painted="", no_headers=printed.no_headers))


def _item(choice: Choice, chosen: set[str]) -> dict[str, Any]:
    return {
        "id": choice.id,
        "name": choice.name,
        "detail": choice.detail,
        "used": _is_chosen(choice, chosen),
    }


def _is_chosen(choice: Choice, chosen: set[str]) -> bool:
    """By its id, its name, or the parts of its name in fields of their own, such as virtual network and subnet."""
    parts = choice.name.split("/")
    return choice.id in chosen or choice.name in chosen or (len(parts) > 1 and set(parts) <= chosen)


def _named(config: ProviderConfig, words: tuple[str, ...]) -> set[str]:
    """Every text in the fields of the section that are about this."""
    import msgspec

    kind = config.spec.provider
    section = getattr(config.spec, kind.value, None) if kind is not None else None
    return set(_texts(msgspec.to_builtins(section) or {}, words, False))


def _texts(value: Any, words: tuple[str, ...], is_meant: bool) -> Iterator[str]:
    match value:
        case dict():
            for name, below in value.items():
                yield from _texts(below, words, is_meant or any(word in str(name).lower() for word in words))
        case list() | tuple():
            for below in value:
                yield from _texts(below, words, is_meant)
        case str() | int() if is_meant and not isinstance(value, bool):
            yield str(value)
