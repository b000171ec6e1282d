"""Names, labels, annotations, owners: what is wrong with them is said in the same words."""

from __future__ import annotations

from tests.real.differential.differences import SHOWN
from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import case, get, patch, post, put, quietly
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    DEPLOYMENTS,
    LEASES,
    MAPS,
    NAMESPACES,
    ROLES,
    SECRETS,
    SERVICES,
    config_map,
    deployment,
    lease,
    made,
    role,
    secret,
    service,
)

_LONG = "a" * 260
_OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "00000000-0000-0000-0000-00000000000a"}

CASES = (
    case(
        "names that are no DNS subdomain",
        *[
            post(MAPS, config_map(name))
            for name in ("Upper", "under_score", "-dash", "dot.", _LONG, "a/b", "..", "a%b")
        ],
    ),
    case("names of custom objects", *[post(WIDGETS, widget(name)) for name in ("Upper", "under_score", _LONG, "..")]),
    case(
        "names of Services are DNS labels",
        *[post(SERVICES, service(name)) for name in ("1abc", "a.b", "a" * 64, "Upper")],
    ),
    case(
        "names of Namespaces are DNS labels",
        *[post(NAMESPACES, made("v1", "Namespace", name)) for name in ("a.b", "A", "a" * 64, "-a")],
    ),
    case(
        "names of Roles stand in a path",
        *[post(ROLES, role(name)) for name in ("a/b", "a%b", ".", "..")],
        post(ROLES, role("Any:thing")),
    ),
    case(
        "names of other kinds",
        post(DEPLOYMENTS, deployment("A_b")),
        post(LEASES, lease("A_b")),
        post(SECRETS, secret("A_b")),
        post(ACCOUNTS, made("v1", "ServiceAccount", "A_b")),
    ),
    case(
        "names in the URL", get(f"{MAPS}/Upper"), get(f"{MAPS}/%2E%2E"), get(f"{MAPS}/a%25b"), get(f"{WIDGETS}/Upper_x")
    ),
    case(
        "label keys",
        *[
            post(MAPS, config_map("a", {"labels": {key: "v"}}))
            for key in ("", "-a", "a b", "x/y/z", f"{'a' * 64}", f"{'d' * 254}/a", "/a", "UPPER.com/a")
        ],
    ),
    case(
        "label values",
        *[post(MAPS, config_map("a", {"labels": {"k": value}})) for value in ("a b", "-a", "a" * 64, "ä", "a/b")],
        post(MAPS, config_map("a", {"labels": {"k": ""}})),
    ),
    case(
        "labels of custom objects",
        post(WIDGETS, widget("a", {"labels": {"a b": "c d"}})),
        post(WIDGETS, widget("a", {"annotations": {"a b": "c d"}})),
    ),
    case(
        "labels that are no texts",
        post(MAPS, config_map("a", {"labels": {"k": 1}})),
        post(WIDGETS, widget("a", {"labels": {"k": 1}})),
        post(MAPS, config_map("a", {"labels": "x"})),
        post(WIDGETS, widget("a", {"labels": ["x"]})),
    ),
    case(
        "annotations",
        post(MAPS, config_map("a", {"annotations": {"A/b c": "x"}})),
        post(MAPS, config_map("b", {"annotations": {"Key": "any thing\n at all"}})),
    ),
    case("annotations that are too long", post(MAPS, config_map("a", {"annotations": {"k": "x" * 262145}}))),
    case(
        "generateName that is too long is cut",
        post(MAPS, config_map("", {"generateName": f"{'g' * 250}-"}), ignore=("body.metadata.name",)),
    ),
    case(
        "generateName that is no prefix of a name",
        post(
            MAPS,
            config_map("", {"generateName": "Upper-"}),
            ignore=("body.message", "body.details.name", "body.details.causes.*.message"),
        ),
        post(
            WIDGETS,
            widget("", {"name": "", "generateName": "_"}),
            ignore=("body.message", "body.details.name", "body.details.causes.*.message"),
        ),
    ),
    case(
        "generateName makes a name",
        post(
            MAPS,
            config_map("", {"generateName": "gen-"}),
        ),
        post(WIDGETS, {**widget("x"), "metadata": {"generateName": "gen-"}}),
    ),
    case("generateName beside a name", post(MAPS, config_map("a", {"generateName": "gen-"}))),
    case(
        "owners",
        *[
            post(MAPS, config_map("a", {"ownerReferences": [{**_OWNER, **change}]}))
            for change in (
                {"apiVersion": ""},
                {"kind": ""},
                {"name": ""},
                {"uid": ""},
                {"apiVersion": "a/b/c"},
                {"apiVersion": "v1", "kind": "Event"},
            )
        ],
    ),
    case(
        "two controllers",
        post(
            MAPS,
            config_map(
                "a",
                {
                    "ownerReferences": [
                        {**_OWNER, "controller": True},
                        {**_OWNER, "uid": "00000000-0000-0000-0000-00000000000b", "name": "p", "controller": True},
                    ]
                },
            ),
        ),
    ),
    case(
        "an owner twice",
        post(MAPS, config_map("a", {"ownerReferences": [_OWNER, _OWNER]})),
        post(WIDGETS, widget("a", {"ownerReferences": [_OWNER, {**_OWNER, "blockOwnerDeletion": True}]})),
    ),
    case(
        "owners of custom objects",
        post(WIDGETS, widget("a", {"ownerReferences": [{"apiVersion": "v1"}]})),
        post(WIDGETS, widget("a", {"ownerReferences": [{**_OWNER, "controller": "yes"}]})),
    ),
    case(
        "finalizers",
        *[
            post(MAPS, config_map("a", {"finalizers": [name]}))
            for name in ("", "plain", "a/b/c", "UPPER.com/x", "example.org/ok")
        ],
    ),
    case(
        "finalizers of custom objects",
        post(WIDGETS, widget("a", {"finalizers": ["plain"]})),
        post(WIDGETS, widget("b", {"finalizers": ["example.org/ok"]})),
        post(WIDGETS, widget("c", {"finalizers": [""]})),
    ),
    case(
        "what an update may not change",
        *quietly(post(MAPS, config_map("a", {"annotations": {"x": "y"}}), save="made")),
        put(
            f"{MAPS}/a",
            config_map("a", {"creationTimestamp": "2001-01-01T00:00:00Z", "selfLink": "/x", "generation": 9}),
        ),
        put(f"{MAPS}/a", config_map("a", {"deletionTimestamp": "2001-01-01T00:00:00Z"})),
        put(f"{MAPS}/a", config_map("a", {"namespace": "other"})),
    ),
    case(
        "what a patch may not change",
        *quietly(post(WIDGETS, widget("a"))),
        patch(f"{WIDGETS}/a", {"metadata": {"name": "b"}}),
        patch(f"{WIDGETS}/a", {"metadata": {"namespace": "b"}}),
        patch(f"{WIDGETS}/a", {"metadata": {"uid": "b"}}),
        patch(f"{WIDGETS}/a", {"metadata": {"creationTimestamp": None}}),
        patch(f"{WIDGETS}/a", {"metadata": {"resourceVersion": "1"}}),
        patch(f"{WIDGETS}/a", {"metadata": {"generation": 12}}),
        patch(f"{WIDGETS}/a", {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}}),
        patch(f"{WIDGETS}/a", {"kind": "Other"}),
        patch(f"{WIDGETS}/a", {"apiVersion": "differential.example.org/v9"}),
    ),
    case(
        "the same of a built-in kind",
        *quietly(post(MAPS, config_map("a"))),
        patch(f"{MAPS}/a", {"metadata": {"name": "b"}}),
        patch(f"{MAPS}/a", {"metadata": {"namespace": "b"}}),
        patch(f"{MAPS}/a", {"metadata": {"uid": "b"}}),
        patch(f"{MAPS}/a", {"metadata": {"resourceVersion": "1"}}),
        patch(f"{MAPS}/a", {"kind": "Other"}, differs=SHOWN),
        patch(f"{MAPS}/a", {"apiVersion": "v9"}, differs=SHOWN),
    ),
    case(
        "several problems at once",
        post(MAPS, config_map("A", {"labels": {"a b": "c d"}, "annotations": {"c d": ""}, "finalizers": ["x"]})),
    ),
    case(
        "managed fields that a client sends",
        post(
            MAPS,
            config_map(
                "a",
                {
                    "managedFields": [
                        {
                            "manager": "m",
                            "operation": "Update",
                            "apiVersion": "v1",
                            "time": "2020-01-01T00:00:00Z",
                            "fieldsType": "FieldsV1",
                            "fieldsV1": {"f:data": {}},
                        }
                    ]
                },
            ),
        ),
        post(
            MAPS,
            config_map(
                "b",
                {
                    "managedFields": [
                        {"manager": "m", "operation": "Nonsense", "apiVersion": "v1", "fieldsType": "FieldsV1"}
                    ]
                },
            ),
        ),
        post(
            MAPS,
            config_map(
                "c",
                {"managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1", "fieldsType": "Other"}]},
            ),
        ),
    ),
)
