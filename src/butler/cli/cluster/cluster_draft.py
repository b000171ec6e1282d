"""A TenantCluster somebody wrote, before any API has seen it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from butler import advice
from butler.api.cluster import TenantCluster
from kubekit.errors import FieldError, FieldProblem, Forbidden, Invalid, InvalidConfiguration

from .. import object_draft
from ..lazy import REFUSED, USAGE, Failure
from ..object_draft import Draft
from ..output import say
from ..rows import CLUSTERS
from .flags import flag_for

if TYPE_CHECKING:
    from butler.controllers.cluster.acceptance import Judged
    from butler.controllers.cluster.lookup import Snapshot

    from ..session import Session

_VERSION = "spec.kubernetesVersion"
_UNCHECKED = "not everything can be checked beforehand"


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
        raise object_draft.refused(what, map(_telling_versions, found), flag_for, USAGE)
    return cluster


def _telling_versions(problem: FieldError) -> FieldError:
    """Which versions there are, where one cannot be read."""
    if problem.path != _VERSION or not isinstance(problem.value, str):
        return problem
    from butler.controllers.cluster import versions

    detail = versions.unsupported(problem.value) or problem.detail
    return FieldError(problem.problem, problem.path, detail, problem.value)


async def judged(session: Session, draft: Draft, what: str, *, is_new: bool = False) -> Judged | None:
    """Check a draft against what there is on the platform; None when we may not look. Raises Failure.

    A new one in which nothing says which provider it means is changed to name the only one there is."""
    from butler.controllers.cluster import acceptance
    from butler.controllers.cluster.lookup import Snapshot

    cluster, sight = typed(draft, what), Snapshot()
    try:
        await acceptance.fetch_references(session.client, sight, cluster)
    except Forbidden as error:
        say(f"{_UNCHECKED}: {error}")
        if is_new and cluster.spec.team_ref is None:
            _name_provider(draft, cluster, sight)
        return None
    try:
        found = acceptance.judge(_name_provider(draft, cluster, sight) if is_new else cluster, sight)
        if _is_limited(found):
            await _confirm_quota(session, found.cluster, sight, what)
    except acceptance.Refused as refused:
        raise object_draft.refused(what, refused.problems, flag_for) from refused
    return found


def _is_limited(found: Judged) -> bool:
    """Whether it matters what other clusters have: most platforms set no limits, and then nobody asks."""
    team = found.team.spec if found.team is not None else None
    limits = team is not None and (team.resource_limits or any(one.limits for one in team.environments))
    return found.provider.spec.limits is not None or bool(limits)


async def _confirm_quota(session: Session, cluster: TenantCluster, sight: Snapshot, what: str) -> None:
    """Raises Failure with what the cluster would be told, and Refused."""
    from butler.controllers.cluster.acceptance import accept
    from butler.controllers.cluster.scope import Scope
    from butler.controllers.cluster.steps.quota import Quota

    try:
        await sight.fetch(session.client, TenantCluster, cluster.metadata.namespace)
    except Forbidden as error:
        say(f"{_UNCHECKED}: {error}")
        return
    if not cluster.metadata.uid and sight.get(TenantCluster, cluster.key) is not None:
        # That its name is taken is what the API says.
        return
    verdict = Quota().verdict(Scope(accept(cluster, sight), "", sight))
    if not verdict.done:
        others = advice.list_clusters(session.where)
        raise Failure(f"{what}: {verdict.message}; `{others}` shows what there is", REFUSED)


def _name_provider(draft: Draft, cluster: TenantCluster, sight: Snapshot) -> TenantCluster:
    """The cluster with the only provider there is, if it has no other, which the draft names then too. Raises Failure
    where there is a choice."""
    from butler.controllers.cluster import acceptance

    choices = acceptance.provider_choices(cluster, sight)
    if len(choices) > 1:
        raise Failure(f"name a provider with --provider; there are: {', '.join(choices)}", USAGE)
    if choices:
        draft["spec"]["providerConfigRef"] = {"name": choices[0]}
    return acceptance.with_only_provider(cluster, sight)


def invalid(what: str, error: Invalid, code: int = USAGE) -> Failure:
    """A refusal of the API, field by field."""
    return object_draft.invalid(what, error, flag_for, code)
