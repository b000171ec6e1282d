"""What makes a function a command: a session, an event loop where it needs one, and exit codes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from . import completion
from .lazy import INTERRUPTED
from .session import Session, Wishes
from .usage import Command
from .verbosity import verbose_option

F = TypeVar("F", bound=Callable[..., Any])

NAMED_NAMESPACE = "butler.cli.namespace"
"""Where an argument keeps the namespace it names, among what click remembers of a command line."""


@dataclass(frozen=True, slots=True)
class NamespaceChoice:
    """What `-n` says, and what it is when it says nothing."""

    about: str
    default: str


CLUSTERS = NamespaceChoice("Namespace of clusters.", "$BUTLER_NAMESPACE or butler-tenants")
PROVIDERS = NamespaceChoice("Namespace of the provider.", "butler-system")


def connection_options(function: F, place: NamespaceChoice | None = CLUSTERS) -> F:
    """Where the API is and, of what is in one, which namespace is meant; before the command's name or after it."""
    options: list[Callable[[F], F]] = [
        *([] if place is None else [_namespace_option(place)]),
        click.option("--kubeconfig", type=click.Path(dir_okay=False, path_type=Path), help="Where the platform is."),
        click.option(
            "--context",
            "context_name",
            metavar="NAME",
            shell_complete=completion.contexts,
            help="Context of the kubeconfig.",
        ),
        verbose_option,
    ]
    for option in reversed(options):
        function = option(function)
    return function


def _namespace_option(place: NamespaceChoice) -> Callable[[F], F]:
    return click.option(
        "-n",
        "--namespace",
        metavar="NAME",
        shell_complete=completion.namespaces,
        show_default=place.default,
        help=place.about,
    )


def command(
    function: Callable[..., Any], place: NamespaceChoice | None = CLUSTERS, cls: type[click.Command] = Command
) -> click.Command:
    """A command out of a function whose first parameter is the Session; it may be a coroutine function."""

    @partial(connection_options, place=place)
    def run(**given: Any) -> None:
        context = click.get_current_context()
        session = Session(remember(context, given))
        try:
            _call(function, session, given)
        except KeyboardInterrupt:
            click.echo(f"\n{session.when_interrupted or 'stopped'}", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None

    parameters: list[click.Parameter] = run.__click_params__  # type: ignore[attr-defined]
    parameters += getattr(function, "__click_params__", [])
    run.__doc__ = function.__doc__
    return click.command(function.__name__.rstrip("_"), cls)(run)


def remember(context: click.Context, given: dict[str, Any]) -> Wishes:
    """Take the connection options out of what was given; they win over those before the command's name."""
    flag, named = given.pop("namespace", None) or "", context.meta.get(NAMED_NAMESPACE, "")
    if flag and named and flag != named:
        raise click.UsageError(f"the name says namespace {named}, and -n says {flag}")
    wishes = Wishes(given.pop("kubeconfig"), given.pop("context_name") or "", flag or named)
    above = context.parent.obj if context.parent is not None else None
    context.obj = wishes.over(above) if isinstance(above, Wishes) else wishes
    found: Wishes = context.obj
    return found


def _call(function: Callable[..., Any], session: Session, given: dict[str, Any]) -> None:
    if not inspect.iscoroutinefunction(function):
        function(session, **given)
        return
    import asyncio

    async def main() -> None:
        try:
            await function(session, **given)
        finally:
            await session.close()

    asyncio.run(main())
