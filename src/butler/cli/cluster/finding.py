"""Naming a cluster, and what to say when it, or the whole platform, is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from butler.errors import NotFound, ServiceUnavailable

from .. import completion
from ..lazy import MISSING, Failure
from ..session import Session, running_platform

F = TypeVar("F", bound=Callable[..., Any])


def cluster_name(function: F) -> F:
    """The argument NAME."""
    return click.argument("name", metavar="NAME", shell_complete=completion.clusters)(function)


@contextmanager
def speaking_of(session: Session, name: str = "") -> Iterator[None]:
    """Requests about clusters, or about the one of this name: what is missing is named, and how to find it."""
    try:
        yield
    except NotFound as error:
        about = error.details
        if about is None or not about.name:
            raise Failure(_no_platform(session)) from error
        if not name or about.name != name:
            raise
        where = f"in namespace {session.namespace}"
        raise Failure(
            f'there is no cluster "{name}" {where}; `butlerctl cluster list -A` shows all', MISSING
        ) from error
    except ServiceUnavailable as error:
        raise Failure(f"{error}{_remedy(session)}") from error


def _no_platform(session: Session) -> str:
    return (
        f"the API at {session.place} is not a Butler platform: it does not know TenantClusters. Choose another with "
        "--kubeconfig or --context, or install Butler there with `butleradm up --kubeconfig FILE`"
    )


def _remedy(session: Session) -> str:
    """What may help when nobody answers."""
    platform = running_platform(session.environ)
    if platform is not None and session.config.source == str(platform.kubeconfig):
        return "; `butleradm status` says how the local platform is"
    return f"; this is {session.place}; `butleradm up` starts a platform on this computer"
