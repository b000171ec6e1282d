"""Rights that are named by a query, or asked for on the way."""

from __future__ import annotations

from tests.real.differential.cases.access import granted
from tests.real.differential.steps import APPLY, case, delete, get, patch, post, put, quietly
from tests.real.differential.vocabulary import MAPS, config_map, rule

_ONE_MAP = {
    **rule("list", "configmaps"),
    "verbs": ["list", "watch", "create", "deletecollection"],
    "resourceNames": ["a"],
}

CASES = (
    case(
        "a name in a query",
        *granted(_ONE_MAP),
        get(f"{MAPS}?fieldSelector=metadata.name=a", user="alice", ignore=("body.metadata.resourceVersion",)),
        get(f"{MAPS}?fieldSelector=metadata.name=b", user="alice"),
        get(MAPS, user="alice"),
        post(f"{MAPS}?fieldSelector=metadata.name=a", config_map("a"), user="alice"),
        post(f"{MAPS}?fieldSelector=metadata.name=a", config_map("b"), user="alice"),
        delete(f"{MAPS}?fieldSelector=metadata.name=a", user="alice", ignore=("body.metadata.resourceVersion",)),
        delete(f"{MAPS}?fieldSelector=metadata.name=b", user="alice"),
    ),
    case(
        "who may change but not create",
        *granted(rule("patch", "configmaps"), rule("update", "configmaps")),
        patch(f"{MAPS}/new?fieldManager=me", config_map("new"), APPLY, user="alice"),
        put(f"{MAPS}/new", config_map("new"), user="alice"),
        patch(f"{MAPS}/new?fieldManager=me", {**config_map("new"), "data": {"a/b": "c"}}, APPLY, user="alice"),
        *quietly(post(MAPS, config_map("old"))),
        patch(f"{MAPS}/old?fieldManager=me", config_map("old"), APPLY, user="alice"),
    ),
    case(
        "who may change leases but not create them",
        *granted({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["update", "patch"]}),
        put(
            "/apis/coordination.k8s.io/v1/namespaces/$ns/leases/l",
            {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}},
            user="alice",
        ),
    ),
)
