"""Naming a cluster, and what to say when it, or the whole platform, is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from butler import advice
from kubekit.errors import KubeError, NotFound, ServiceUnavailable

from .. import completion
from ..command import NAMED_NAMESPACE
from ..lazy import MISSING, UNREACHABLE, Failure
from ..session import Session

F = TypeVar("F", bound=Callable[..., Any])


def cluster_name(function: F) -> F:
    """The argument NAME, which may say the namespace too, as other programs print it: NAMESPACE/NAME."""
    return click.argument("name", metavar="NAME", shell_complete=completion.clusters, callback=taken_apart)(function)


def taken_apart(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """The name of what may be given as NAMESPACE/NAME; the namespace is remembered."""
    namespace, slash, name = value.rpartition("/")
    if slash:
        if not namespace or not name or "/" in namespace:
            raise click.BadParameter(f"{value!r} is neither NAME nor NAMESPACE/NAME")
        context.meta[NAMED_NAMESPACE] = namespace
    return name


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
        where = f"in namespace {session.namespace}{_fate(session, name)}"
        raise Failure(
            f'there is no cluster "{name}" {where}; `{advice.list_all_clusters(session.api)}` shows all', MISSING
        ) from error
    except ServiceUnavailable as error:
        raise Failure(f"{error}{session.remedy()}", UNREACHABLE) from error


def _fate(session: Session, name: str) -> str:
    """What became of a cluster that is not there, as long as there are events that tell."""
    from butler.api.cluster import CLUSTER_DELETED
    from kubekit.client import blocking_client
    from kubekit.client.protocol import Selection
    from kubekit.model.ages import age

    from ..rows import EventRow

    # A command may be in its event loop, and then only this one can be asked.
    if not blocking_client.can_reach(session.config, session.environ):
        return ""
    about = f"involvedObject.kind=TenantCluster,involvedObject.name={name},reason={CLUSTER_DELETED}"
    try:
        events = session.reader.list(EventRow, Selection(session.namespace, fields=about)).items
    except KubeError:
        return ""
    seen = max((event.last_seen for event in events), default="")
    return f" any more: it was destroyed {age(seen, session.clock.now())} ago" if seen else ""
