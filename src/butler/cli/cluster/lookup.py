"""Naming a cluster, and what to say when it, or the whole platform, is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from kubekit.errors import NotFound, ServiceUnavailable

from .. import completion
from ..lazy import MISSING, UNREACHABLE, Failure
from ..session import Session

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
            raise Failure(session.not_a_platform("TenantClusters"), UNREACHABLE) from error
        if not name or about.name != name:
            raise
        where = f"in namespace {session.namespace}"
        raise Failure(
            f'there is no cluster "{name}" {where}; `butlerctl cluster list -A` shows all', MISSING
        ) from error
    except ServiceUnavailable as error:
        raise Failure(f"{error}{session.remedy()}", UNREACHABLE) from error
