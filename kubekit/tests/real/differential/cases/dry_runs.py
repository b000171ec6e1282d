"""What is only tried leaves nothing behind, and says the same."""

from __future__ import annotations

from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import (
    JSON_PATCH,
    STRATEGIC_PATCH,
    apply,
    case,
    delete,
    get,
    patch,
    post,
    put,
    quietly,
)
from tests.real.differential.vocabulary import (
    BINDINGS,
    CORE,
    DEPLOYMENTS,
    MAPS,
    NAMESPACES,
    SERVICES,
    binding,
    config_map,
    deployment,
    made,
    service,
)

_TRY = "dryRun=All"
_SCALE = {
    "apiVersion": "autoscaling/v1",
    "kind": "Scale",
    "metadata": {"name": "a", "namespace": "$ns"},
    "spec": {"replicas": 7},
}

CASES = (
    case(
        "a creation",
        post(f"{MAPS}?{_TRY}", config_map("a", data={"k": "v"})),
        get(f"{MAPS}/a"),
        post(f"{WIDGETS}?{_TRY}", widget("a")),
        get(f"{WIDGETS}/a"),
    ),
    case("a creation of what is there", *quietly(post(MAPS, config_map("a"))), post(f"{MAPS}?{_TRY}", config_map("a"))),
    case(
        "a creation that fails",
        post(f"{MAPS}?{_TRY}", config_map("A")),
        post(f"{WIDGETS}?{_TRY}", widget("a", spec={"size": 0})),
        post(f"{NAMESPACES}/nowhere/configmaps?{_TRY}", config_map("a")),
    ),
    case(
        "a creation with a generated name",
        post(f"{MAPS}?{_TRY}", config_map("", {"generateName": "gen-"})),
        post(f"{WIDGETS}?{_TRY}", {**widget("x"), "metadata": {"generateName": "gen-"}}),
    ),
    case(
        "an update",
        *quietly(post(MAPS, config_map("a", data={"k": "v"}))),
        put(f"{MAPS}/a?{_TRY}", config_map("a", data={"k": "w"})),
        put(f"{MAPS}/none?{_TRY}", config_map("none")),
        get(f"{MAPS}/a"),
    ),
    case(
        "an update of a custom object",
        post(WIDGETS, widget("a"), save="a"),
        put(
            f"{WIDGETS}/a?{_TRY}",
            widget("a", {"resourceVersion": "${a.metadata.resourceVersion}"}, spec={"colour": "red"}),
        ),
        put(f"{WIDGETS}/a?{_TRY}", widget("a", {"resourceVersion": "1"})),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "patches",
        *quietly(post(DEPLOYMENTS, deployment("a"))),
        patch(f"{DEPLOYMENTS}/a?{_TRY}", {"spec": {"replicas": 5}}),
        patch(f"{DEPLOYMENTS}/a?{_TRY}", [{"op": "replace", "path": "/spec/replicas", "value": 6}], JSON_PATCH),
        patch(
            f"{DEPLOYMENTS}/a?{_TRY}",
            {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "x"}]}}}},
            STRATEGIC_PATCH,
        ),
        get(f"{DEPLOYMENTS}/a"),
    ),
    case(
        "status and scale",
        *quietly(post(WIDGETS, widget("a", spec={"replicas": 1})), post(DEPLOYMENTS, deployment("a"))),
        patch(f"{WIDGETS}/a/status?{_TRY}", {"status": {"phase": "x"}}),
        put(f"{WIDGETS}/a/scale?{_TRY}", _SCALE),
        put(f"{DEPLOYMENTS}/a/scale?{_TRY}", _SCALE),
        get(f"{WIDGETS}/a"),
        get(f"{DEPLOYMENTS}/a"),
    ),
    case(
        "the last finalizer",
        *quietly(post(MAPS, config_map("a", {"finalizers": ["example.org/x"]})), delete(f"{MAPS}/a")),
        patch(f"{MAPS}/a?{_TRY}", {"metadata": {"finalizers": None}}),
        get(f"{MAPS}/a"),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": None}}, is_shown=False),
    ),
    case(
        "a Service gets no address",
        post(f"{SERVICES}?{_TRY}", service("a", type="NodePort")),
        get(f"{SERVICES}/a"),
        post(SERVICES, service("b")),
        delete(f"{SERVICES}/b?{_TRY}"),
        get(f"{SERVICES}/b"),
    ),
    case(
        "a namespace and what is in it",
        post(f"{NAMESPACES}?{_TRY}", made("v1", "Namespace", "$ns-x"), ignore=("body.metadata.managedFields",)),
        get(f"{NAMESPACES}/$ns-x"),
        delete(f"{NAMESPACES}/$ns?{_TRY}", ignore=("body.metadata.managedFields",)),
        get(f"{CORE}/configmaps/none"),
    ),
    case(
        "rights",
        post(f"{BINDINGS}?{_TRY}", binding("a", "view", "alice", "ClusterRole")),
        get(f"{MAPS}/none", user="alice"),
    ),
    case("apply", apply(f"{WIDGETS}/a", widget("a", spec={"colour": "red"}), options=_TRY), get(f"{WIDGETS}/a")),
    case(
        "words for it",
        post(f"{MAPS}?dryRun=", config_map("a")),
        post(f"{MAPS}?dryRun=all", config_map("b")),
        post(f"{MAPS}?dryRun=All&dryRun=All", config_map("c")),
        post(f"{MAPS}?dryRun=All&dryRun=x", config_map("c")),
        post(f"{WIDGETS}?dryRun=true", widget("c")),
    ),
)
