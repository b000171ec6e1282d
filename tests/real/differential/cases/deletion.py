"""How things end: finalizers, preconditions, grace, dependents, namespaces."""

from __future__ import annotations

from typing import Any

from tests.real.differential.kinds import GADGETS, WIDGETS, gadget, widget
from tests.real.differential.steps import (
    STRATEGIC_PATCH,
    Step,
    case,
    delete,
    get,
    gone,
    has,
    patch,
    post,
    put,
    quietly,
    status,
)
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    CORE,
    DEPLOYMENTS,
    LEASES,
    MAPS,
    NAMESPACES,
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
_NAMESPACE = f"{NAMESPACES}/$ns-x"
_GONE_CONDITIONS = ("body.status.conditions",)


def _owned(name: str, owner: str = "o", **more: Any) -> Step:
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": f"${{{owner}.metadata.uid}}", **more}
    return post(MAPS, config_map(name, {"ownerReferences": [reference]}))


_OWNER = post(MAPS, config_map("o"), save="o")


def _owners(path: str = f"{MAPS}/d") -> Step:
    """Until it has none."""
    return get(path, until=has("metadata.ownerReferences", None))


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
        "dependents go in the background",
        *quietly(_OWNER, _owned("d")),
        delete(f"{MAPS}/o", {"propagationPolicy": "Background"}),
        get(f"{MAPS}/d", until=gone),
    ),
    case(
        "dependents go in the background by default",
        *quietly(
            _OWNER,
            _owned("d"),
            post(
                WIDGETS,
                widget(
                    "w",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "${o.metadata.uid}"}
                        ]
                    },
                ),
            ),
        ),
        delete(f"{MAPS}/o"),
        get(f"{MAPS}/d", until=gone),
        get(f"{WIDGETS}/w", until=gone),
    ),
    case(
        "dependents go first in the foreground",
        *quietly(_OWNER, _owned("d", blockOwnerDeletion=True)),
        patch(f"{MAPS}/d", {"metadata": _HELD}),
        delete(f"{MAPS}/o", {"propagationPolicy": "Foreground"}),
        get(f"{MAPS}/d", until=lambda answer: answer.at("metadata.deletionTimestamp") is not None),
        get(f"{MAPS}/o"),
        patch(f"{MAPS}/d", {"metadata": {"finalizers": None}}),
        get(f"{MAPS}/o", until=gone),
        get(f"{MAPS}/d", until=gone),
    ),
    case(
        "dependents that do not block are not waited for",
        *quietly(_OWNER, _owned("d")),
        patch(f"{MAPS}/d", {"metadata": _HELD}, is_shown=False),
        delete(f"{MAPS}/o", {"propagationPolicy": "Foreground"}),
        get(f"{MAPS}/o", until=gone),
        get(f"{MAPS}/d", until=lambda answer: answer.at("metadata.deletionTimestamp") is not None),
        patch(f"{MAPS}/d", {"metadata": {"finalizers": None}}, is_shown=False),
    ),
    case(
        "dependents stay as orphans",
        *quietly(_OWNER, _owned("d")),
        delete(f"{MAPS}/o", {"propagationPolicy": "Orphan"}),
        get(f"{MAPS}/o", until=gone),
        _owners(),
    ),
    case(
        "a dependent with another owner stays",
        *quietly(
            _OWNER,
            post(MAPS, config_map("p"), save="p"),
            post(
                MAPS,
                config_map(
                    "d",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "${o.metadata.uid}"},
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "p", "uid": "${p.metadata.uid}"},
                        ]
                    },
                ),
            ),
        ),
        delete(f"{MAPS}/o"),
        get(f"{MAPS}/d", until=lambda answer: len(answer.at("metadata.ownerReferences") or []) == 1),
    ),
    case(
        "a dependent of nobody goes",
        *quietly(
            post(
                MAPS,
                config_map(
                    "d",
                    {
                        "ownerReferences": [
                            {
                                "apiVersion": "v1",
                                "kind": "ConfigMap",
                                "name": "o",
                                "uid": "00000000-0000-0000-0000-00000000000f",
                            }
                        ]
                    },
                ),
            )
        ),
        get(f"{MAPS}/d", until=gone),
    ),
    case(
        "a dependent of an owner under a wrong uid goes",
        *quietly(
            _OWNER,
            post(
                MAPS,
                config_map(
                    "d",
                    {
                        "ownerReferences": [
                            {
                                "apiVersion": "v1",
                                "kind": "ConfigMap",
                                "name": "o",
                                "uid": "00000000-0000-0000-0000-00000000000f",
                            }
                        ]
                    },
                ),
            ),
        ),
        get(f"{MAPS}/d", until=gone),
        get(f"{MAPS}/o"),
    ),
    case(
        "chains of dependents go",
        *quietly(
            _OWNER,
            post(
                MAPS,
                config_map(
                    "d",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "${o.metadata.uid}"}
                        ]
                    },
                ),
                save="d",
            ),
            post(
                SECRETS,
                secret(
                    "e",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "d", "uid": "${d.metadata.uid}"}
                        ]
                    },
                ),
            ),
        ),
        delete(f"{MAPS}/o"),
        get(f"{SECRETS}/e", until=gone),
    ),
    case(
        "chains go in order in the foreground",
        *quietly(
            _OWNER,
            post(
                MAPS,
                config_map(
                    "d",
                    {
                        "ownerReferences": [
                            {
                                "apiVersion": "v1",
                                "kind": "ConfigMap",
                                "name": "o",
                                "uid": "${o.metadata.uid}",
                                "blockOwnerDeletion": True,
                            }
                        ]
                    },
                ),
                save="d",
            ),
            post(
                SECRETS,
                secret(
                    "e",
                    {
                        "ownerReferences": [
                            {
                                "apiVersion": "v1",
                                "kind": "ConfigMap",
                                "name": "d",
                                "uid": "${d.metadata.uid}",
                                "blockOwnerDeletion": True,
                            }
                        ]
                    },
                ),
            ),
        ),
        delete(f"{MAPS}/o", {"propagationPolicy": "Foreground"}),
        get(f"{SECRETS}/e", until=gone),
        get(f"{MAPS}/d", until=gone),
        get(f"{MAPS}/o", until=gone),
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
    case(
        "a namespace ends",
        *quietly(post(NAMESPACES, made("v1", "Namespace", "$ns-x")), post(f"{_NAMESPACE}/configmaps", config_map("a"))),
        delete(_NAMESPACE),
        get(_NAMESPACE, until=gone),
        get(f"{_NAMESPACE}/configmaps"),
        get(f"{_NAMESPACE}/configmaps/a"),
    ),
    case(
        "a namespace waits for what is held",
        *quietly(
            post(NAMESPACES, made("v1", "Namespace", "$ns-x")), post(f"{_NAMESPACE}/configmaps", config_map("a", _HELD))
        ),
        delete(_NAMESPACE),
        get(
            _NAMESPACE,
            until=lambda answer: any(
                one["type"] == "NamespaceFinalizersRemaining" and one["status"] == "True"
                for one in answer.at("status.conditions") or []
            ),
        ),
        get(f"{_NAMESPACE}/configmaps/a"),
        patch(f"{_NAMESPACE}/configmaps/a", {"metadata": {"finalizers": None}}),
        get(_NAMESPACE, until=gone),
    ),
    case(
        "nothing begins in a namespace that ends",
        *quietly(
            post(NAMESPACES, made("v1", "Namespace", "$ns-x")),
            post(f"{_NAMESPACE}/configmaps", config_map("a", _HELD)),
            delete(_NAMESPACE),
        ),
        post(f"{_NAMESPACE}/configmaps", config_map("b")),
        post(f"{_NAMESPACE}/secrets?dryRun=All", secret("b")),
        post("/apis/differential.example.org/v1/namespaces/$ns-x/widgets", widget("b")),
        patch(f"{_NAMESPACE}/configmaps/a", {"data": {"k": "v"}}, is_shown=False),
        post(NAMESPACES, made("v1", "Namespace", "$ns-x")),
        delete(_NAMESPACE, is_shown=False),
        patch(f"{_NAMESPACE}/configmaps/a", {"metadata": {"finalizers": None}}, is_shown=False),
        get(_NAMESPACE, until=gone),
    ),
    case(
        "namespaces that stay",
        delete(f"{NAMESPACES}/default"),
        delete(f"{NAMESPACES}/kube-system"),
        delete(f"{NAMESPACES}/kube-public"),
    ),
    case(
        "a namespace with finalizers of its own",
        *quietly(post(NAMESPACES, made("v1", "Namespace", "$ns-x", _HELD))),
        delete(_NAMESPACE),
        get(
            _NAMESPACE,
            until=lambda answer: answer.at("spec.finalizers") is None,
            ignore=(*_GONE_CONDITIONS, "body.metadata.managedFields"),
        ),
        patch(_NAMESPACE, {"metadata": {"finalizers": None}}, is_shown=False),
        get(_NAMESPACE, until=gone),
    ),
    case(
        "what every namespace has",
        get(f"{ACCOUNTS}/default", until=status(200)),
        get(f"{MAPS}/kube-root-ca.crt", until=status(200)),
        delete(f"{ACCOUNTS}/default", is_shown=False),
        get(f"{ACCOUNTS}/default", until=status(200)),
        get(f"{CORE}"),
    ),
)
