"""Objects come, change and go."""

from __future__ import annotations

from tests.real.differential.differences import TAINT
from tests.real.differential.kinds import GADGETS, WIDGETS, gadget, widget
from tests.real.differential.steps import YAML, blamed, case, delete, get, post, put, quietly
from tests.real.differential.vocabulary import (
    DEPLOYMENTS,
    LEASES,
    MAPS,
    NAMESPACES,
    NODES,
    SECRETS,
    SERVICES,
    config_map,
    deployment,
    lease,
    made,
    secret,
    service,
)

_MAP = config_map("a", data={"k": "v"})

CASES = (
    case(
        "a ConfigMap through its life",
        post(MAPS, _MAP),
        get(f"{MAPS}/a"),
        put(f"{MAPS}/a", config_map("a", data={"k": "w"})),
        delete(f"{MAPS}/a"),
        get(f"{MAPS}/a"),
    ),
    case(
        "a Secret through its life",
        post(SECRETS, secret("a", stringData={"k": "v"})),
        put(f"{SECRETS}/a", secret("a", data={"k": "dzE="})),
        get(f"{SECRETS}/a"),
        delete(f"{SECRETS}/a"),
    ),
    case(
        "a Lease through its life",
        post(LEASES, lease("a", holderIdentity="me", leaseDurationSeconds=15), save="made"),
        put(
            f"{LEASES}/a",
            lease(
                "a", {"resourceVersion": "${made.metadata.resourceVersion}"}, holderIdentity="you", leaseTransitions=1
            ),
        ),
        put(f"{LEASES}/a", lease("a")),
        get(f"{LEASES}/a"),
        delete(f"{LEASES}/a"),
    ),
    case(
        "a Service through its life",
        post(SERVICES, service("a", selector={"app": "a"}), save="made"),
        get(f"{SERVICES}/a"),
        put(
            f"{SERVICES}/a",
            service("a", selector={"app": "b"}, clusterIP="${made.spec.clusterIP}", sessionAffinity="ClientIP"),
        ),
        delete(f"{SERVICES}/a"),
    ),
    case(
        "a Deployment through its life",
        post(DEPLOYMENTS, deployment("a", replicas=2)),
        put(f"{DEPLOYMENTS}/a", deployment("a", replicas=3)),
        get(f"{DEPLOYMENTS}/a"),
        delete(f"{DEPLOYMENTS}/a"),
    ),
    case(
        "a custom object through its life",
        post(WIDGETS, widget("a", spec={"colour": "red"}), save="made"),
        get(f"{WIDGETS}/a"),
        put(
            f"{WIDGETS}/a",
            widget("a", {"resourceVersion": "${made.metadata.resourceVersion}"}, spec={"colour": "blue"}),
        ),
        get(f"{WIDGETS}/a"),
        delete(f"{WIDGETS}/a"),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "a custom object without a schema",
        post(GADGETS, gadget("a", anything={"goes": [1, 2.5, None, True]}, spec=3)),
        get(f"{GADGETS}/a"),
    ),
    case(
        "a Node through its life",
        post(NODES, made("v1", "Node", "$ns"), differs={"body.spec.taints": TAINT}),
        get(f"{NODES}/$ns", differs={"body.spec.taints": TAINT}),
        delete(f"{NODES}/$ns"),
    ),
    case(
        "a body in YAML",
        post(MAPS, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata: {k: v}\n", content_type=YAML),
        get(f"{MAPS}/a"),
    ),
    case(
        "a name that is taken",
        post(MAPS, _MAP),
        post(MAPS, _MAP),
        *quietly(post(WIDGETS, widget("a"))),
        post(WIDGETS, widget("a")),
    ),
    case(
        "a name that is nowhere",
        get(f"{MAPS}/none"),
        put(f"{MAPS}/none", config_map("none")),
        delete(f"{MAPS}/none"),
        get(f"{WIDGETS}/none"),
        delete(f"{WIDGETS}/none"),
    ),
    case(
        "an update of another version than the newest",
        *quietly(post(MAPS, _MAP)),
        put(f"{MAPS}/a", config_map("a", {"resourceVersion": "1"})),
        *blamed(put(f"{MAPS}/a", config_map("a", {"resourceVersion": "x"}))),
    ),
    case(
        "an update of a custom object without a version",
        *quietly(post(WIDGETS, widget("a"))),
        put(f"{WIDGETS}/a", widget("a")),
        put(f"{WIDGETS}/a", widget("a", {"resourceVersion": "1"})),
    ),
    case(
        "an update that changes nothing",
        post(MAPS, _MAP, save="made"),
        put(f"{MAPS}/a", _MAP),
        put(f"{MAPS}/a", "${made.}"),
    ),
    case(
        "an update of another uid",
        *quietly(post(MAPS, _MAP)),
        put(f"{MAPS}/a", config_map("a", {"uid": "00000000-0000-0000-0000-000000000001"})),
    ),
    case(
        "an update under another name",
        *quietly(post(MAPS, _MAP)),
        put(f"{MAPS}/a", config_map("b")),
        put(f"{MAPS}/a", config_map("")),
    ),
    case(
        "a creation with a version",
        *blamed(post(MAPS, config_map("a", {"resourceVersion": "5"}))),
        post(MAPS, config_map("a", {"resourceVersion": "0"})),
        *blamed(post(WIDGETS, widget("a", {"resourceVersion": "5"}))),
    ),
    case(
        "a creation in another namespace than the URL's",
        post(MAPS, config_map("a", {"namespace": "other"})),
        post(WIDGETS, widget("a", {"namespace": "other"})),
    ),
    case("a creation in a namespace that is not there", post(f"{NAMESPACES}/nowhere/configmaps", _MAP)),
    case("a creation without a name", post(MAPS, config_map("")), post(WIDGETS, widget("", {"name": ""}))),
    case(
        "what the server chooses is not the client's",
        post(
            MAPS,
            config_map(
                "a",
                {
                    "uid": "mine",
                    "creationTimestamp": "2001-01-01T00:00:00Z",
                    "selfLink": "/x",
                    "generation": 7,
                    "deletionTimestamp": "2001-01-01T00:00:00Z",
                    "deletionGracePeriodSeconds": 5,
                },
            ),
        ),
        post(WIDGETS, widget("a", {"generation": 7, "uid": "mine"})),
    ),
    case(
        "a kind that does not fit the URL",
        post(MAPS, secret("a")),
        post(MAPS, made("v2", "ConfigMap", "a")),
        post(WIDGETS, gadget("a")),
        post(WIDGETS, {**widget("a"), "apiVersion": "other.example.org/v1"}),
    ),
    case("a Lease that an update creates", put(f"{LEASES}/a", lease("a", holderIdentity="me")), get(f"{LEASES}/a")),
)
