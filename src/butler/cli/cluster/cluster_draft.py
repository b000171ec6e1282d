"""A TenantCluster somebody wrote, before any API has seen it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from butler.api.cluster import TenantCluster
from kubekit.errors import FieldError, FieldProblem, Forbidden, Invalid, InvalidConfiguration

from .. import object_draft
from ..lazy import Failure
from ..object_draft import Draft
from ..output import say
from ..rows import CLUSTERS
from .flags import flag_for

if TYPE_CHECKING:
    from butler.controllers.cluster.acceptance import Accepted
    from kubekit.client.protocol import Client

_VERSION = "spec.kubernetesVersion"


def empty() -> Draft:
    return object_draft.empty(CLUSTERS)


def read(filename: str) -> Draft:
    """The one TenantCluster in a file, or on stdin for `-`. Raises Failure."""
    return object_draft.read(filename, CLUSTERS)


def parsed(text: str, shown: str) -> Draft:
    """The one TenantCluster in a text. Raises Failure."""
    return object_draft.parsed(text, shown, CLUSTERS)


def typed(draft: Draft, what: str) -> TenantCluster:
    """The cluster a draft stands for, normalised, with nothing in it that can never work. Raises Failure."""
    from butler.api.normalise import normalise
    from butler.controllers.cluster import validation

    found = [*object_draft.unknown_fields(draft, TenantCluster)]
    cluster = None
    try:
        cluster = normalise(object_draft.converted(draft, TenantCluster, found))
        found += validation.problems(cluster)
    except InvalidConfiguration as error:
        found.append(FieldError(FieldProblem.FORBIDDEN, error.path, str(error).rpartition(f"{error.path}: ")[2]))
    if found or cluster is None:
        raise object_draft.refused(what, map(_telling_versions, found), flag_for)
    return cluster


def _telling_versions(problem: FieldError) -> FieldError:
    """Which versions there are, where one cannot be read."""
    if problem.path != _VERSION or not isinstance(problem.value, str):
        return problem
    from butler.controllers.cluster import versions

    detail = versions.unsupported(problem.value) or problem.detail
    return FieldError(problem.problem, problem.path, detail, problem.value)


async def resolved(client: Client, draft: Draft, what: str) -> Accepted | None:
    """Check a draft against what there is on the platform; None when we may not look. Raises Failure."""
    from butler.controllers.cluster.acceptance import resolve

    cluster = typed(draft, what)
    try:
        return await resolve(client, cluster)
    except Invalid as error:
        raise invalid(what, error) from error
    except Forbidden as error:
        say(f"not everything can be checked beforehand: {error}")
        return None


def invalid(what: str, error: Invalid) -> Failure:
    """A refusal of the API, field by field."""
    return object_draft.invalid(what, error, flag_for)
