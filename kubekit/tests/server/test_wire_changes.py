"""Creating, changing and deleting: who may do what to whom, and what the loser is told."""

# ruff: noqa: E501 - a message in a table is easier to read on one line

from __future__ import annotations

from typing import Any

import pytest

from tests.http_api import Api
from tests.server.wire import APPLY, JSON_PATCH, MAPS, MERGE_PATCH, STRATEGIC_PATCH, Row, check, config_map
from tests.server.wire import warnings as warnings_of

MODIFIED = 'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again'
NAMELESS = "the name of the object (a based on URL) was undeterminable: name must be provided"
PODS = "/api/v1/namespaces/default/pods"
POD: dict[str, Any] = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    },
}


async def test_an_object_is_created_once_and_as_the_server_wants(api: Api) -> None:
    chosen = {"uid": "x", "creationTimestamp": "2020-01-01T00:00:00Z", "deletionTimestamp": "2020-01-01T00:00:00Z"}
    first, *_ = await check(
        api,
        Row(f"POST {MAPS}", 201, body=config_map("a", meta=chosen)),
        Row(f"POST {MAPS}", 409, 'configmaps "a" already exists', config_map("a"), reason="AlreadyExists"),
        Row(
            f"POST {MAPS}",
            400,
            "resourceVersion should not be set on objects to be created",
            config_map("b", meta={"resourceVersion": "5"}),
        ),
        Row(f"POST {MAPS}", 201, body=config_map("b", meta={"resourceVersion": "0"})),
        Row(
            f"POST {MAPS}",
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
            config_map("c", meta={"namespace": "other"}),
        ),
        Row("POST /api/v1/namespaces", 201, body={"metadata": {"name": "n", "namespace": "ignored"}}),
    )
    meta = first.body["metadata"]
    assert (len(meta["uid"]), meta["creationTimestamp"][:2] > "20", "deletionTimestamp" in meta) == (36, False, False)
    assert meta["creationTimestamp"] != chosen["creationTimestamp"]


async def test_a_name_can_be_left_to_the_server(api: Api) -> None:
    made = await api("POST", MAPS, {"metadata": {"generateName": "some-"}})
    assert (made.status, made.body["metadata"]["name"][:5], len(made.body["metadata"]["name"])) == (201, "some-", 10)
    named = await api("POST", MAPS, {"metadata": {"generateName": "some-", "name": "mine"}})
    assert named.body["metadata"]["name"] == "mine"


async def test_an_update_must_know_what_it_replaces(api: Api) -> None:
    (made,) = await check(api, Row(f"POST {MAPS}", 201, body=config_map("a")))
    version, uid = made.body["metadata"]["resourceVersion"], made.body["metadata"]["uid"]

    def named(**meta: str) -> dict[str, Any]:
        return config_map("a", meta=meta, data={"k": "".join(meta)})

    await check(
        api,
        Row(f"PUT {MAPS}/a", 200, body=named(resourceVersion=version)),
        Row(f"PUT {MAPS}/a", 409, MODIFIED, named(resourceVersion=version), reason="Conflict"),
        Row(f"PUT {MAPS}/a", 400, 'strconv.ParseUint: parsing "x": invalid syntax', named(resourceVersion="x")),
        Row(f"PUT {MAPS}/a", 200, body=named(resourceVersion="0")),
        Row(f"PUT {MAPS}/a", 200, body=named(uid=uid)),
        Row(
            f"PUT {MAPS}/a",
            409,
            'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, '
            f"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: {uid}",
            named(uid="other"),
        ),
        Row(f"PUT {MAPS}/a", 400, NAMELESS, {"data": {}}),
        Row(f"PUT {MAPS}/a", 400, "the name of the object (b) does not match the name on the URL (a)", config_map("b")),
        Row(f"PUT {MAPS}/b", 404, 'configmaps "b" not found', config_map("b")),
    )


async def test_patches_may_not_touch_what_an_object_is(api: Api) -> None:
    await check(api, Row(f"POST {MAPS}", 201, body=config_map("a")))
    immutable = 'ConfigMap "a" is invalid: metadata.{}: field is immutable'
    await check(
        api,
        *(
            Row(f"PATCH {MAPS}/a", status, message, change, MERGE_PATCH)
            for change, status, message in (
                ({"metadata": {"name": "b"}}, 400, "the name of the object (b) does not match the name on the URL (a)"),
                ({"metadata": None}, 400, NAMELESS),
                (
                    {"metadata": {"namespace": "b"}},
                    400,
                    "the namespace of the provided object does not match the namespace sent on the request",
                ),
                ({"metadata": {"uid": "b"}}, 422, immutable.format('uid: Invalid value: "b"')),
                (
                    {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}},
                    422,
                    immutable.format('deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z"'),
                ),
                ({"metadata": {"resourceVersion": "1"}, "data": {"a": "b"}}, 409, MODIFIED),
                ({"metadata": {"uid": None, "creationTimestamp": None, "resourceVersion": None}}, 200, ""),
            )
        ),
    )


async def test_patches_that_cannot_be_applied_are_refused(api: Api) -> None:
    await check(api, Row(f"POST {MAPS}", 201, body=config_map("a", data={"k": "1"})))
    rejected = "the server rejected our request due to an error in our request"
    array = "error decoding patch: json: cannot unmarshal {} into Go value of type "
    end = "unexpected end of JSON input"
    await check(
        api,
        *(
            Row(f"PATCH {MAPS}/a", status, message, change, content_type)
            for content_type, change, status, message in (
                (JSON_PATCH, [{"op": "test", "path": "/data/k", "value": "2"}], 422, rejected),
                (JSON_PATCH, [{"op": "remove", "path": "/data/zz"}], 422, rejected),
                (JSON_PATCH, [{"op": "nope", "path": "/data/k"}], 422, rejected),
                (JSON_PATCH, {}, 400, f"{array.format('object')}[]handlers.jsonPatchOp"),
                (JSON_PATCH, b"", 400, f"error decoding patch: {end}"),
                (MERGE_PATCH, [], 400, f"{array.format('array')}map[string]interface {{}}"),
                (MERGE_PATCH, b"{", 400, f"error decoding patch: {end}"),
                (STRATEGIC_PATCH, b"{", 400, end),
                (JSON_PATCH, [{"op": "test", "path": "/data/k", "value": "1"}], 200, ""),
            )
        ),
        Row(f"PATCH {MAPS}/nope", 404, 'configmaps "nope" not found', b"{", MERGE_PATCH),
        Row(
            f"PATCH {MAPS}/a?fieldManager=m",
            400,
            "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected node content",
            b"{",
            APPLY,
        ),
        Row(f"PATCH {MAPS}/a?fieldManager=m", 400, "invalid object type: /, Kind=", b"", APPLY),
        Row(
            f"PATCH {MAPS}/a?fieldManager=m",
            400,
            "invalid object type: /v2, Kind=ConfigMap",
            {"apiVersion": "v2", "kind": "ConfigMap"},
            APPLY,
        ),
        Row(
            f"PATCH {MAPS}/new?fieldManager=m",
            400,
            NAMELESS.replace("(a ", "(new "),
            {"apiVersion": "v1", "kind": "ConfigMap"},
            APPLY,
        ),
    )


async def test_a_change_through_scale_is_checked_as_a_scale(api: Api) -> None:
    scale = f"{DEPLOYMENTS}/d/scale"
    negative = 'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    *_, shown = await check(
        api,
        Row(f"POST {DEPLOYMENTS}", 201, body=DEPLOYMENT),
        Row(f"PUT {scale}", 200, body={"metadata": {"name": "d"}, "spec": {"replicas": 3}}),
        Row(f"PUT {scale}", 422, negative, {"metadata": {"name": "d"}, "spec": {"replicas": -1}}),
        Row(f"PUT {scale}", 400, NAMELESS.replace("(a ", "(d "), {"spec": {"replicas": 1}}),
        Row(
            f"PUT {scale}",
            400,
            'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32',
            {"metadata": {"name": "d"}, "spec": {"replicas": "x"}},
        ),
        Row(f"PATCH {scale}", 422, negative, {"spec": {"replicas": -1}}, MERGE_PATCH),
        Row(f"PATCH {scale}", 200, body={"spec": {"replicas": 2}}, content_type=MERGE_PATCH),
        Row(f"GET {scale}", 200),
    )
    assert (shown.body["kind"], shown.body["spec"], shown.body["status"]["selector"]) == (
        "Scale",
        {"replicas": 2},
        "a=b",
    )


async def test_a_deletion_names_what_it_means(api: Api) -> None:
    (made,) = await check(api, Row(f"POST {MAPS}", 201, body=config_map("a")))
    meta = made.body["metadata"]
    start = 'Operation cannot be fulfilled on ConfigMap "a": the '
    recreated = f"{start}UID in the precondition (x) does not match the UID in record ({meta['uid']}). The object might have been deleted and then recreated"
    modified = f"{start}ResourceVersion in the precondition (1) does not match the ResourceVersion in record ({meta['resourceVersion']}). The object might have been modified"
    *_, gone = await check(
        api,
        Row(f"DELETE {MAPS}/a", 409, recreated, {"preconditions": {"uid": "x"}}),
        Row(f"DELETE {MAPS}/a", 409, modified, {"preconditions": {"resourceVersion": "1"}}),
        Row(
            f"DELETE {MAPS}/a",
            400,
            'no kind "Foo" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
            {"kind": "Foo"},
        ),
        Row(
            f"DELETE {MAPS}/a",
            400,
            "json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string",
            {"dryRun": "All"},
        ),
        Row(
            f"DELETE {MAPS}/a",
            422,
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil"',
            {"propagationPolicy": "Foo"},
        ),
        Row(f"DELETE {MAPS}/a", 200, body={"dryRun": ["All"]}),
        Row(
            f"DELETE {MAPS}/a",
            200,
            body={"preconditions": {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}},
        ),
    )
    assert gone.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": "a", "kind": "configmaps", "uid": meta["uid"]},
    }
    await check(api, Row(f"GET {MAPS}/a", 404, 'configmaps "a" not found'))


async def test_a_body_speaks_for_the_whole_deletion(api: Api) -> None:
    await api("POST", MAPS, config_map("a"))
    await check(
        api, Row(f"DELETE {MAPS}/a?dryRun=All", 200, body={}), Row(f"GET {MAPS}/a", 404, 'configmaps "a" not found')
    )


async def test_finalizers_keep_an_object_and_cannot_grow_while_it_ends(api: Api) -> None:
    await api("POST", MAPS, config_map("a", meta={"finalizers": ["x.io/a"]}))
    marked, *_ = await check(
        api,
        Row(f"DELETE {MAPS}/a", 200),
        Row(
            f"PATCH {MAPS}/a",
            422,
            'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/b"}',
            {"metadata": {"finalizers": ["x.io/a", "x.io/b"]}},
            MERGE_PATCH,
        ),
        Row(f"POST {MAPS}", 409, 'object is being deleted: configmaps "a" already exists', config_map("a")),
        Row(f"PATCH {MAPS}/a", 200, body={"metadata": {"deletionTimestamp": None}}, content_type=MERGE_PATCH),
        Row(f"GET {MAPS}/a", 200),
        Row(f"PATCH {MAPS}/a", 200, body={"metadata": {"finalizers": None}}, content_type=MERGE_PATCH),
        Row(f"GET {MAPS}/a", 404, 'configmaps "a" not found'),
    )
    meta = marked.body["metadata"]
    assert (meta["deletionGracePeriodSeconds"], "deletionTimestamp" in meta) == (0, True)


@pytest.mark.parametrize(
    ("policy", "finalizers"),
    [("Foreground", ["x.io/a", "foregroundDeletion"]), ("Orphan", ["x.io/a", "orphan"]), ("Background", ["x.io/a"])],
)
async def test_how_dependents_are_treated_is_a_finalizer(api: Api, policy: str, finalizers: list[str]) -> None:
    await api("POST", MAPS, config_map("a", meta={"finalizers": ["x.io/a"]}))
    answer = await api("DELETE", f"{MAPS}/a?propagationPolicy={policy}")
    assert answer.body["metadata"]["finalizers"] == finalizers


async def test_dependents_of_jobs_stay_unless_someone_minds(api: Api) -> None:
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    for name in ("a", "b"):
        await api("POST", jobs, {"metadata": {"name": name}, "spec": {"template": template}})
    kept = await api("DELETE", f"{jobs}/a")
    assert kept.body["metadata"]["finalizers"] == ["orphan"]
    assert warnings_of(kept)[0].startswith("child pods are preserved by default when jobs are deleted")
    assert warnings_of(await api("DELETE", f"{jobs}/b?propagationPolicy=Background")) == []


async def test_pods_end_gracefully(api: Api) -> None:
    await api("POST", PODS, {**POD, "spec": {**POD["spec"], "nodeName": "n"}})

    async def seconds(query: str) -> int:
        answer = await api("DELETE", f"{PODS}/p{query}")
        return int(answer.body["metadata"]["deletionGracePeriodSeconds"])

    assert [await seconds(query) for query in ("", "?gracePeriodSeconds=5", "?gracePeriodSeconds=50")] == [30, 5, 5]
    assert [await seconds(query) for query in ("?gracePeriodSeconds=-5", "?gracePeriodSeconds=0")] == [1, 0]
    await check(api, Row(f"GET {PODS}/p", 404, 'pods "p" not found'))


async def test_owners_named_twice_are_named_once(api: Api) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u1"}
    answer = await api("POST", f"{MAPS}?dryRun=All", config_map("a", meta={"ownerReferences": [owner, owner]}))
    assert answer.body["metadata"]["ownerReferences"] == [owner]
    assert warnings_of(answer)[0].endswith("duplicate UID(s) observed: u1")


async def test_a_pod_is_bound_once(api: Api) -> None:
    binding = f"{PODS}/p/binding"
    await check(
        api,
        Row(f"POST {PODS}", 201, body=POD),
        Row(f"POST {binding}", 400, "name in URL does not match name in Binding object", {"target": {"name": "n"}}),
        Row(
            f"POST {binding}",
            400,
            'target.kind: Unsupported value: "Foo": supported values: "Node", "<empty>"',
            {"metadata": {"name": "p"}, "target": {"kind": "Foo", "name": "n"}},
        ),
        Row(f"POST {binding}", 201, body={"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}}),
        Row(
            f"POST {binding}",
            409,
            'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
            {"metadata": {"name": "p"}, "target": {"name": "m"}},
        ),
    )
