"""Shell completion, with the names of what there is at this moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from .usage import Command

if TYPE_CHECKING:
    from .session import Session, Wishes

_PATIENCE = 2.0
"""Seconds after which someone who pressed Tab is not interested any more."""
_HOW = {
    "bash": "eval \"$(butlerctl completion bash)\"        # in ~/.bashrc",
    "zsh": "eval \"$(butlerctl completion zsh)\"         # in ~/.zshrc",
    "fish": "butlerctl completion fish | source         # in ~/.config/fish/config.fish",
}  # fmt: skip

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(list(_HOW)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL.

    Names of clusters, providers and versions are completed as they are at that moment.

    \b
    Example:
      eval "$(butlerctl completion bash)"
    """
    from click.shell_completion import get_completion_class

    root = context.find_root()
    name = root.info_name or "butlerctl"
    kind = get_completion_class(shell)
    assert kind is not None, "the choices are those click knows"
    click.echo(kind(root.command, {}, name, f"_{name.upper()}_COMPLETE").source())


def _quietly(complete: Callable[[Session], Iterable[str]]) -> Completer:
    """A list of names that is empty when anything at all goes wrong: this runs while someone types."""

    def completed(context: click.Context, parameter: click.Parameter, beginning: str) -> list[str]:
        try:
            from .session import Session

            session = Session(_wishes(context), patience=_PATIENCE)
            return sorted(name for name in set(complete(session)) if name.startswith(beginning))
        except (Exception, SystemExit):
            return []

    return completed


def _wishes(context: click.Context | None) -> Wishes:
    from .session import Wishes

    found = Wishes()
    while context is not None:
        said = context.params
        found = found.over(Wishes(said.get("kubeconfig"), said.get("context_name") or "", said.get("namespace") or ""))
        context = context.parent
    return found


@_quietly
def clusters(session: Session) -> Iterable[str]:
    from kubekit.client.protocol import Selection

    from .rows import ClusterRow

    found = session.reader.list(ClusterRow, Selection(session.namespace))
    return (row.metadata.name for row in found.items)


@_quietly
def providers(session: Session) -> Iterable[str]:
    from butler.api.shared import SYSTEM_NAMESPACE
    from kubekit.client.protocol import Selection

    from .rows import ProviderRow

    found = session.reader.list(ProviderRow, Selection(SYSTEM_NAMESPACE))
    return (row.metadata.name for row in found.items)


@_quietly
def versions(session: Session) -> Iterable[str]:
    """Those that clusters have already, and the default."""
    from butler.controllers.cluster.versions import DEFAULT
    from kubekit.client.protocol import Selection

    from .rows import ClusterRow

    found = session.reader.list(ClusterRow, Selection(session.namespace))
    return {DEFAULT, *filter(None, (row.version for row in found.items))}


@_quietly
def contexts(session: Session) -> Iterable[str]:
    from kubekit.client import kubeconfig

    return kubeconfig.read(session.wishes.kubeconfig).contexts


@_quietly
def namespaces(session: Session) -> Iterable[str]:
    from kubekit.model.resource import Address

    found = session.reader.list(Address("", "v1", "Namespace", "namespaces", False))
    return (one["metadata"]["name"] for one in found.items)
