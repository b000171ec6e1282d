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
_SHELLS = ("bash", "zsh", "fish")

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def _completion_of(program: str, names: str) -> click.Command:
    """The command that prints the scripts of a program."""

    @click.command("completion", cls=Command)
    @click.argument("shell", type=click.Choice(_SHELLS))
    def completion(shell: str) -> None:
        from click.shell_completion import get_completion_class

        kind = get_completion_class(shell)
        assert kind is not None, "the choices are those click knows"
        root = click.get_current_context().find_root().command
        click.echo(kind(root, {}, program, f"_{program.upper()}_COMPLETE").source())

    completion.help = f"""Print the completion script for SHELL.

    {names} are completed as they are at that moment.

    \b
    Example:
      eval "$({program} completion bash)"          # in ~/.bashrc
      eval "$({program} completion zsh)"           # in ~/.zshrc
      {program} completion fish | source           # in ~/.config/fish/config.fish
    """
    return completion


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
def definitions(session: Session) -> Iterable[str]:
    """The addons of the catalogue."""
    from butler.api.addon import AddonDefinition

    return (one.metadata.name for one in session.reader.list(AddonDefinition).items)


@_quietly
def management_addons(session: Session) -> Iterable[str]:
    from butler.api.addon import ManagementAddon

    return (one.metadata.name for one in session.reader.list(ManagementAddon).items)


def addons(context: click.Context, parameter: click.Parameter, beginning: str) -> list[str]:
    """Those that were installed into the cluster which stands before."""
    cluster = str(context.params.get("cluster") or "")

    @_quietly
    def installed(session: Session) -> Iterable[str]:
        from butler.api.addon import TenantAddon
        from kubekit.client.protocol import Selection

        found = session.reader.list(TenantAddon, Selection(session.namespace)).items
        names = (one.metadata.name for one in found if one.spec.cluster_ref.name == cluster)
        return (name.removeprefix(f"{cluster}-") for name in names)

    return installed(context, parameter, beginning)


@_quietly
def versions(session: Session) -> Iterable[str]:
    """Those that clusters have already, and the default."""
    from butler.controllers.cluster.versions import DEFAULT
    from kubekit.client.protocol import Selection

    from .rows import ClusterRow

    found = session.reader.list(ClusterRow, Selection(session.namespace))
    return {DEFAULT, *filter(None, (one for row in found.items for one in (row.version, row.spec.kubernetes_version)))}


@_quietly
def contexts(session: Session) -> Iterable[str]:
    from kubekit.client import kubeconfig

    return kubeconfig.read(session.wishes.kubeconfig).contexts


@_quietly
def namespaces(session: Session) -> Iterable[str]:
    from kubekit.model.resource import Address

    found = session.reader.list(Address("", "v1", "Namespace", "namespaces", False))
    return (one["metadata"]["name"] for one in found.items)


completion = _completion_of("butlerctl", "Names of clusters, addons, providers and versions")
adm_completion = _completion_of("butleradm", "Names of providers and addons")
