"""Every kind of patch, and what may be wrong with one."""

from __future__ import annotations

from typing import Any

from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import (
    APPLY,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Step,
    blamed,
    case,
    get,
    patch,
    post,
    quietly,
)
from tests.real.differential.vocabulary import (
    DEPLOYMENTS,
    MAPS,
    PODS,
    SERVICES,
    config_map,
    container,
    deployment,
    pod,
    service,
)

_A = quietly(post(MAPS, config_map("a", {"labels": {"l": "1"}}, data={"k": "v", "a/b": "x", "t~u": "y"})))
_W = quietly(post(WIDGETS, widget("a", spec={"colour": "red", "steps": [{"do": "one"}, {"do": "two"}]})))
_D = quietly(
    post(
        DEPLOYMENTS,
        deployment(
            "a",
            template={
                "metadata": {"labels": {"app": "a"}},
                "spec": {
                    "containers": [
                        container(
                            "x",
                            env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                            ports=[{"containerPort": 80}],
                            args=["1"],
                        ),
                        container("y"),
                    ]
                },
            },
        ),
    )
)


def _json(*operations: dict[str, Any]) -> Step:
    return patch(f"{MAPS}/a", list(operations), JSON_PATCH)


def _strategic(**spec: Any) -> Step:
    return patch(f"{DEPLOYMENTS}/a", {"spec": {"template": {"spec": spec}}}, STRATEGIC_PATCH)


def _op(op: str, path: str, **more: Any) -> dict[str, Any]:
    return {"op": op, "path": path, **more}


CASES = (
    case(
        "JSON: add, replace, remove",
        *_A,
        _json(
            _op("add", "/data/n", value="1"), _op("replace", "/data/k", value="w"), _op("remove", "/metadata/labels/l")
        ),
    ),
    case(
        "JSON: copy, move, test",
        *_A,
        _json(
            _op("copy", "/data/c", **{"from": "/data/k"}),
            _op("move", "/data/m", **{"from": "/data/a~1b"}),
            _op("test", "/data/c", value="v"),
        ),
    ),
    case(
        "JSON: escaped keys",
        *_A,
        _json(_op("replace", "/data/a~1b", value="1"), _op("replace", "/data/t~0u", value="2")),
    ),
    case(
        "JSON: a test that fails",
        *_A,
        _json(_op("test", "/data/k", value="other")),
        _json(_op("test", "/data/none", value="x")),
        _json(_op("test", "/data/none", value=None)),
    ),
    case(
        "JSON: places that are not there",
        *_A,
        _json(_op("remove", "/data/none")),
        _json(_op("replace", "/data/none", value="x")),
        _json(_op("add", "/none/deep", value="x")),
        _json(_op("copy", "/data/c", **{"from": "/data/none"})),
        _json(_op("move", "/data/c", **{"from": "/none/x"})),
    ),
    case(
        "JSON: broken operations",
        *_A,
        _json(_op("nonsense", "/data/k")),
        _json({"path": "/data/k", "value": "x"}),
        _json({"op": "add", "value": "x"}),
        _json(_op("add", "data/k", value="x")),
        _json(_op("add", "/data/k")),
        _json(_op("copy", "/data/c")),
    ),
    case(
        "JSON: no list of operations",
        *_A,
        patch(f"{MAPS}/a", {"op": "add"}, JSON_PATCH),
        patch(f"{MAPS}/a", "[", JSON_PATCH),
        patch(f"{MAPS}/a", "null", JSON_PATCH),
        patch(f"{MAPS}/a", "[]", JSON_PATCH),
        patch(f"{MAPS}/a", "[1]", JSON_PATCH),
        patch(f"{MAPS}/a", "", JSON_PATCH),
    ),
    case(
        "JSON: lists",
        *_W,
        patch(
            f"{WIDGETS}/a",
            [
                _op("add", "/spec/steps/0", value={"do": "zero"}),
                _op("add", "/spec/steps/-", value={"do": "three"}),
                _op("remove", "/spec/steps/1"),
            ],
            JSON_PATCH,
        ),
        patch(f"{WIDGETS}/a", [_op("remove", "/spec/steps/9")], JSON_PATCH),
        patch(f"{WIDGETS}/a", [_op("add", "/spec/steps/9", value={})], JSON_PATCH),
        patch(f"{WIDGETS}/a", [_op("replace", "/spec/steps/x", value={})], JSON_PATCH),
        patch(f"{WIDGETS}/a", [_op("replace", "/spec/steps/-1", value={"do": "last"})], JSON_PATCH),
    ),
    case(
        "JSON: the result is no such object",
        *_A,
        _json(_op("replace", "/data", value="text")),
        _json(_op("replace", "/metadata", value=None)),
        _json(_op("replace", "", value=[])),
        _json(_op("remove", "/metadata/name")),
        _json(_op("add", "/data/k", value=3)),
    ),
    case("JSON: too many operations", *_A, _json(*[_op("test", "/data/k", value="v")] * 10001)),
    case(
        "JSON: of an object that is not there",
        patch(f"{MAPS}/none", [], JSON_PATCH),
        patch(f"{WIDGETS}/none", [], JSON_PATCH),
    ),
    case(
        "merge: change, add, remove",
        *_A,
        patch(f"{MAPS}/a", {"data": {"k": "w", "n": "1", "a/b": None}, "metadata": {"labels": None}}),
    ),
    case(
        "merge: lists are replaced",
        *_W,
        patch(f"{WIDGETS}/a", {"spec": {"steps": [{"do": "three"}]}}),
        patch(f"{WIDGETS}/a", {"spec": {"steps": None}}),
    ),
    case(
        "merge: what changes nothing",
        post(MAPS, config_map("a", data={"k": "v"})),
        patch(f"{MAPS}/a", {}),
        patch(f"{MAPS}/a", {"data": {"none": None}}),
        patch(f"{MAPS}/a", {"data": {"k": "v"}}),
    ),
    case(
        "merge: broken bodies",
        *_A,
        patch(f"{MAPS}/a", "{"),
        patch(f"{MAPS}/a", "[]"),
        patch(f"{MAPS}/a", "null"),
        patch(f"{MAPS}/a", "3"),
        patch(f"{MAPS}/a", '"x"'),
        patch(f"{MAPS}/a", ""),
    ),
    case(
        "merge: broken bodies for a custom kind",
        *_W,
        patch(f"{WIDGETS}/a", "{"),
        patch(f"{WIDGETS}/a", "[]"),
        patch(f"{WIDGETS}/a", "null"),
        patch(f"{WIDGETS}/a", "3"),
        patch(f"{WIDGETS}/a", ""),
    ),
    case(
        "merge: the result is no such object",
        *_A,
        patch(f"{MAPS}/a", {"data": 3}),
        patch(f"{MAPS}/a", {"data": {"k": 3}}),
        patch(f"{MAPS}/a", {"metadata": None}),
        patch(f"{MAPS}/a", {"metadata": {"labels": {"x": 5}}}),
    ),
    case(
        "merge: the result of a custom kind is invalid",
        *_W,
        patch(f"{WIDGETS}/a", {"spec": {"colour": "pink", "size": "x"}}),
        patch(f"{WIDGETS}/a", {"spec": 3}),
        patch(f"{WIDGETS}/a", {"spec": None}),
        patch(f"{WIDGETS}/a", {"metadata": None}),
    ),
    case(
        "merge: with a version",
        post(MAPS, config_map("a"), save="made"),
        patch(f"{MAPS}/a", {"metadata": {"resourceVersion": "${made.metadata.resourceVersion}"}, "data": {"a": "b"}}),
        patch(f"{MAPS}/a", {"metadata": {"resourceVersion": "${made.metadata.resourceVersion}"}, "data": {"a": "c"}}),
    ),
    case("merge: in YAML", *_A, patch(f"{MAPS}/a", "data:\n  k: yaml\n")),
    case(
        "strategic: containers by name",
        *_D,
        _strategic(containers=[{"name": "x", "image": "other"}]),
        _strategic(containers=[{"name": "z", "image": "new"}]),
        _strategic(containers=[{"name": "y", "$patch": "delete"}]),
    ),
    case(
        "strategic: environment by name",
        *_D,
        _strategic(containers=[{"name": "x", "env": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]}]),
        _strategic(containers=[{"name": "x", "env": [{"name": "A", "$patch": "delete"}]}]),
    ),
    case(
        "strategic: plain lists are replaced",
        *_D,
        _strategic(containers=[{"name": "x", "args": ["2", "3"]}]),
        _strategic(tolerations=[{"key": "a", "operator": "Exists"}]),
        _strategic(tolerations=[{"key": "b", "operator": "Exists"}]),
    ),
    case(
        "strategic: replace a whole map or list",
        *_D,
        _strategic(containers=[{"$patch": "replace"}, {"name": "only", "image": "one"}]),
        patch(f"{DEPLOYMENTS}/a", {"spec": {"strategy": {"$patch": "replace", "type": "Recreate"}}}, STRATEGIC_PATCH),
    ),
    case(
        "strategic: retain keys",
        *_D,
        patch(
            f"{DEPLOYMENTS}/a", {"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}, STRATEGIC_PATCH
        ),
    ),
    case(
        "strategic: order of elements",
        *_D,
        _strategic(
            **{
                "$setElementOrder/containers": [{"name": "y"}, {"name": "x"}],
                "containers": [{"name": "y", "image": "z"}],
            }
        ),
        *blamed(
            _strategic(**{"$setElementOrder/containers": [{"name": "y"}], "containers": [{"name": "x", "image": "z"}]})
        ),
    ),
    case(
        "strategic: delete from a list of values",
        *quietly(post(MAPS, config_map("a", {"finalizers": ["example.org/a", "example.org/b"]}))),
        patch(f"{MAPS}/a", {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.org/a"]}}, STRATEGIC_PATCH),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": ["example.org/c"]}}, STRATEGIC_PATCH),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": None}}, STRATEGIC_PATCH),
    ),
    case(
        "strategic: directives that make no sense",
        *_D,
        *blamed(_strategic(containers=[{"name": "x", "$patch": "nonsense"}]), _strategic(containers=[{"image": "x"}])),
        _strategic(containers={"name": "x"}),
        *blamed(patch(f"{DEPLOYMENTS}/a", {"$patch": "nonsense"}, STRATEGIC_PATCH)),
        patch(f"{DEPLOYMENTS}/a", {"spec": {"$retainKeys": "x"}}, STRATEGIC_PATCH),
    ),
    case(
        "strategic: broken bodies",
        *_D,
        patch(f"{DEPLOYMENTS}/a", "{", STRATEGIC_PATCH),
        patch(f"{DEPLOYMENTS}/a", "[]", STRATEGIC_PATCH),
        patch(f"{DEPLOYMENTS}/a", "null", STRATEGIC_PATCH),
        patch(f"{DEPLOYMENTS}/a", "", STRATEGIC_PATCH),
        patch(f"{DEPLOYMENTS}/a", {"spec": 3}, STRATEGIC_PATCH),
        patch(f"{DEPLOYMENTS}/a", {"spec": {"replicas": "x"}}, STRATEGIC_PATCH),
    ),
    case(
        "strategic: ports of a Service",
        post(SERVICES, service("a", ports=[{"name": "x", "port": 80}, {"name": "y", "port": 81}])),
        patch(f"{SERVICES}/a", {"spec": {"ports": [{"port": 80, "targetPort": 8080}]}}, STRATEGIC_PATCH),
        patch(f"{SERVICES}/a", {"spec": {"ports": [{"port": 81, "$patch": "delete"}]}}, STRATEGIC_PATCH),
    ),
    case(
        "strategic: owners by uid",
        *quietly(
            post(MAPS, config_map("o"), save="o"),
            post(
                MAPS,
                config_map(
                    "a",
                    {
                        "ownerReferences": [
                            {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "${o.metadata.uid}"}
                        ]
                    },
                ),
            ),
        ),
        patch(
            f"{MAPS}/a",
            {"metadata": {"ownerReferences": [{"uid": "${o.metadata.uid}", "controller": True}]}},
            STRATEGIC_PATCH,
        ),
        patch(
            f"{MAPS}/a",
            {"metadata": {"ownerReferences": [{"uid": "${o.metadata.uid}", "$patch": "delete"}]}},
            STRATEGIC_PATCH,
        ),
    ),
    case(
        "strategic: volumes and conditions",
        *quietly(
            post(
                PODS,
                pod(
                    "a",
                    volumes=[{"name": "v", "emptyDir": {}}],
                    containers=[container(volumeMounts=[{"name": "v", "mountPath": "/v"}])],
                ),
            )
        ),
        patch(
            f"{PODS}/a/status",
            {"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "x.y/z", "status": "False"}]}},
            STRATEGIC_PATCH,
        ),
        patch(f"{PODS}/a/status", {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, STRATEGIC_PATCH),
        get(f"{PODS}/a", ignore=("body.spec.volumes.1.name", "body.spec.containers.0.volumeMounts.1.name")),
    ),
    case(
        "options that only apply knows",
        *_A,
        patch(f"{MAPS}/a?force=true", {}, MERGE_PATCH),
        patch(f"{MAPS}/a?force=true", [], JSON_PATCH),
        patch(f"{MAPS}/a", config_map("a"), APPLY),
        patch(f"{MAPS}/a?fieldManager=", config_map("a"), APPLY),
    ),
    case(
        "CBOR apply is not offered",
        *_A,
        patch(f"{MAPS}/a?fieldManager=m", b"\xa0", "application/apply-patch+cbor"),
        patch(f"{WIDGETS}/a?fieldManager=m", b"\xa0", "application/apply-patch+cbor"),
    ),
)
