"""How things end: finalizers, preconditions, grace, dependents, namespaces."""

from __future__ import annotations

from tests.real.differential.kinds import GADGETS, WIDGETS, gadget, widget
from tests.real.differential.steps import (
    STRATEGIC_PATCH,
    case,
    delete,
    get,
    gone,
    patch,
    post,
    put,
    quietly,
    status,
)
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    DEPLOYMENTS,
    LEASES,
    MAPS,
    PODS,
    SECRETS,
    SERVICES,
    config_map,
    deployment,
    lease,
    made,
    pod,
    secret,
    service,
    template,
)

_HELD = {"finalizers": ["example.org/hold"]}

_READY = get(f"{ACCOUNTS}/default", until=status(200), is_shown=False)

_BATCH = "/apis/batch/v1/namespaces/$ns/jobs"

_ACCESS = ("body.spec.volumes.*.name", "body.spec.containers.*.volumeMounts.*.name", "body.metadata.managedFields")


CASES = (
    case(
        "finalizers hold an object",
        post(MAPS, config_map("a", _HELD)),
        delete(f"{MAPS}/a"),
        get(f"{MAPS}/a"),
        delete(f"{MAPS}/a"),
        patch(f"{MAPS}/a", {"data": {"k": "v"}}),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": None}}),
        get(f"{MAPS}/a"),
    ),
    case(
        "finalizers hold a custom object",
        post(WIDGETS, widget("a", _HELD)),
        delete(f"{WIDGETS}/a"),
        get(f"{WIDGETS}/a"),
        patch(f"{WIDGETS}/a", {"spec": {"colour": "red"}}),
        patch(f"{WIDGETS}/a/status", {"status": {"phase": "x"}}),
        patch(f"{WIDGETS}/a", {"metadata": {"finalizers": []}}),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "finalizers cannot be added to the dying",
        *quietly(post(MAPS, config_map("a", _HELD)), delete(f"{MAPS}/a")),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": ["example.org/hold", "example.org/more"]}}),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": ["example.org/other"]}}),
        post(MAPS, config_map("a")),
    ),
    case(
        "finalizers end by an update",
        *quietly(
            post(WIDGETS, widget("a", {"finalizers": ["example.org/a", "example.org/b"]})), delete(f"{WIDGETS}/a")
        ),
        get(f"{WIDGETS}/a", save="a"),
        put(
            f"{WIDGETS}/a",
            widget("a", {"resourceVersion": "${a.metadata.resourceVersion}", "finalizers": ["example.org/b"]}),
            save="b",
        ),
        put(f"{WIDGETS}/a", widget("a", {"resourceVersion": "${b.metadata.resourceVersion}"})),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "preconditions",
        post(MAPS, config_map("a"), save="a"),
        delete(f"{MAPS}/a", {"preconditions": {"uid": "00000000-0000-0000-0000-000000000001"}}),
        delete(f"{MAPS}/a", {"preconditions": {"resourceVersion": "1"}}),
        delete(
            f"{MAPS}/a",
            {"preconditions": {"uid": "${a.metadata.uid}", "resourceVersion": "${a.metadata.resourceVersion}"}},
        ),
    ),
    case(
        "preconditions of a custom object",
        post(WIDGETS, widget("a"), save="a"),
        delete(f"{WIDGETS}/a", {"preconditions": {"uid": "00000000-0000-0000-0000-000000000001"}}),
        delete(f"{WIDGETS}/a", {"preconditions": {"resourceVersion": "1"}}),
        delete(f"{WIDGETS}/a", {"preconditions": {"uid": "${a.metadata.uid}"}}),
    ),
    case(
        "what a deletion answers",
        *quietly(
            post(SECRETS, secret("a")),
            post(SERVICES, service("a")),
            post(LEASES, lease("a")),
            post(DEPLOYMENTS, deployment("a")),
            post(ACCOUNTS, made("v1", "ServiceAccount", "a")),
            post(GADGETS, gadget("a")),
        ),
        *[delete(f"{path}/a") for path in (SECRETS, SERVICES, LEASES, DEPLOYMENTS, ACCOUNTS, GADGETS)],
    ),
    case(
        "what a foreground deletion answers",
        *quietly(post(DEPLOYMENTS, deployment("a")), post(MAPS, config_map("a"))),
        delete(f"{DEPLOYMENTS}/a", {"propagationPolicy": "Foreground"}),
        delete(f"{MAPS}/a", {"propagationPolicy": "Foreground"}),
        get(f"{DEPLOYMENTS}/a", until=gone),
        get(f"{MAPS}/a", until=gone),
    ),
    case(
        "what an orphaning deletion answers",
        *quietly(post(MAPS, config_map("a")), post(MAPS, config_map("b"))),
        delete(f"{MAPS}/a", {"propagationPolicy": "Orphan"}),
        delete(f"{MAPS}/b?orphanDependents=true"),
        get(f"{MAPS}/a", until=gone),
        get(f"{MAPS}/b", until=gone),
    ),
    case(
        "a Job warns and orphans",
        *quietly(post(_BATCH, made("batch/v1", "Job", "a", spec={"template": template(restartPolicy="Never")}))),
        delete(f"{_BATCH}/a", is_shown=False),
        *quietly(post(_BATCH, made("batch/v1", "Job", "b", spec={"template": template(restartPolicy="Never")}))),
        delete(f"{_BATCH}/b?propagationPolicy=Background"),
    ),
    case(
        "pods end at once without a node",
        _READY,
        *quietly(post(PODS, pod("a"))),
        delete(f"{PODS}/a", ignore=_ACCESS),
        get(f"{PODS}/a"),
    ),
    case(
        "pods on a node end gracefully",
        _READY,
        *quietly(post(PODS, pod("a", nodeName="n"))),
        delete(f"{PODS}/a", ignore=_ACCESS),
        delete(f"{PODS}/a", {"gracePeriodSeconds": 5}, ignore=_ACCESS),
        get(f"{PODS}/a", ignore=_ACCESS),
        delete(f"{PODS}/a", {"gracePeriodSeconds": 60}, ignore=_ACCESS),
        delete(f"{PODS}/a?gracePeriodSeconds=0", ignore=_ACCESS),
        get(f"{PODS}/a"),
    ),
    case(
        "pods of which the time is over",
        _READY,
        *quietly(
            post(PODS, pod("a", nodeName="n")),
            patch(f"{PODS}/a/status", {"status": {"phase": "Succeeded"}}, STRATEGIC_PATCH),
        ),
        delete(f"{PODS}/a", ignore=_ACCESS),
        get(f"{PODS}/a"),
    ),
    case(
        "a negative grace",
        _READY,
        *quietly(post(PODS, pod("a", nodeName="n"))),
        delete(f"{PODS}/a", {"gracePeriodSeconds": -5}, ignore=_ACCESS),
        delete(f"{PODS}/a", {"gracePeriodSeconds": 0}, ignore=_ACCESS),
    ),
    case(
        "a whole collection",
        *quietly(*[post(LEASES, lease(name, {"labels": {"l": name}})) for name in "abc"]),
        delete(f"{LEASES}?labelSelector=l%3Da"),
        get(LEASES),
        delete(f"{LEASES}?dryRun=All"),
        delete(f"{LEASES}?fieldSelector=metadata.name%3Db"),
        delete(LEASES),
        get(LEASES),
    ),
    case(
        "a whole collection of custom objects",
        *quietly(*[post(WIDGETS, widget(name, _HELD if name == "b" else None)) for name in "abc"]),
        delete(WIDGETS),
        get(WIDGETS),
        patch(f"{WIDGETS}/b", {"metadata": {"finalizers": None}}, is_shown=False),
    ),
    case(
        "a deletion that is only tried",
        *quietly(post(MAPS, config_map("a")), post(WIDGETS, widget("a", _HELD))),
        delete(f"{MAPS}/a?dryRun=All"),
        delete(f"{WIDGETS}/a", {"dryRun": ["All"]}),
        get(f"{MAPS}/a"),
        get(f"{WIDGETS}/a"),
        patch(f"{WIDGETS}/a", {"metadata": {"finalizers": None}}, is_shown=False),
    ),
    case(
        "bodies of deletions",
        *quietly(*[post(MAPS, config_map(name)) for name in "abcd"]),
        delete(f"{MAPS}/a", {"apiVersion": "v1", "kind": "DeleteOptions"}),
        delete(f"{MAPS}/b", {"apiVersion": "meta.k8s.io/v1", "kind": "DeleteOptions"}),
        delete(f"{MAPS}/c", {}),
        delete(f"{MAPS}/d", "{}"),
        delete(f"{WIDGETS}/none", {"apiVersion": "apps/v1", "kind": "DeleteOptions"}),
    ),
)
