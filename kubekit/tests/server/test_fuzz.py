"""Whatever a client sends, the server answers with a Status, logs no failure, and goes on serving."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kubekit.server.kinds import protobuf
from kubekit.server.serve.server import Server
from tests.http_api import Answered, Api, admin_context

GROUP = "fuzz.example.com"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
CONTENT_TYPES = (
    "application/json",
    "application/yaml",
    protobuf.CONTENT_TYPE,
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "text/plain",
)
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"things.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                },
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "x-kubernetes-validations": [{"rule": "!has(self.size) || self.size < 100"}],
                                "properties": {
                                    "size": {"type": "integer", "minimum": 1},
                                    "replicas": {"type": "integer", "default": 1},
                                    "names": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "set",
                                        "items": {"type": "string"},
                                    },
                                    "ports": {
                                        "type": "array",
                                        "x-kubernetes-list-type": "map",
                                        "x-kubernetes-list-map-keys": ["port"],
                                        "items": {
                                            "type": "object",
                                            "required": ["port"],
                                            "properties": {"port": {"type": "integer"}, "name": {"type": "string"}},
                                        },
                                    },
                                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                                },
                            },
                            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                        },
                    }
                },
            }
        ],
    },
}
OBJECTS: list[tuple[str, dict[str, Any]]] = [
    (
        f"/apis/{GROUP}/v1/namespaces/default/things",
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "Thing",
            "metadata": {"name": "a", "labels": {"x": "y"}},
            "spec": {"size": 3, "names": ["a"], "ports": [{"port": 1, "name": "p"}], "free": {"any": [1]}},
        },
    ),
    (
        "/api/v1/namespaces/default/configmaps",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}, "immutable": False},
    ),
    (
        "/api/v1/namespaces/default/secrets",
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"k": "dg=="}, "type": "Opaque"},
    ),
    (
        "/api/v1/namespaces/default/pods",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a", "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "n", "uid": "u"}]},
            "spec": {
                "containers": [
                    {
                        "name": "c",
                        "image": "i",
                        "ports": [{"containerPort": 80}],
                        "env": [{"name": "A", "value": "b"}],
                        "resources": {"limits": {"cpu": "1"}},
                    }
                ],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
        },
    ),
    (
        "/apis/apps/v1/namespaces/default/deployments",
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "a"},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": {"a": "b"}},
                "template": {
                    "metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "c", "image": "i"}]},
                },
            },
        },
    ),
    (
        "/api/v1/namespaces/default/services",
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "a"},
            "spec": {"ports": [{"port": 80, "targetPort": "x", "protocol": "TCP"}], "selector": {"a": "b"}},
        },
    ),
    (
        "/apis/events.k8s.io/v1/namespaces/default/events",
        {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": "a"},
            "eventTime": "2020-01-01T00:00:00.000000Z",
            "regarding": {"namespace": "default"},
            "type": "Normal",
            "reason": "r",
            "action": "a",
            "reportingController": "x/y",
            "reportingInstance": "i",
        },
    ),
    (
        "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
        {
            "apiVersion": "autoscaling/v1",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "a", "annotations": {"autoscaling.alpha.kubernetes.io/metrics": "[]"}},
            "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d"}, "maxReplicas": 3},
        },
    ),
    ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION),
    (
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "a"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]},
        },
    ),
    (
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "a"},
            "webhooks": [
                {
                    "name": "a.b.c",
                    "clientConfig": {"url": "https://127.0.0.1:1/x"},
                    "rules": [
                        {"apiGroups": ["none"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["none"]}
                    ],
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "failurePolicy": "Ignore",
                }
            ],
        },
    ),
    (
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {"verb": "get", "resource": "pods", "labelSelector": {"requirements": []}}},
        },
    ),
    (
        "/api/v1/namespaces/default/serviceaccounts/default/token",
        {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"audiences": ["a"], "expirationSeconds": 600, "boundObjectRef": {"kind": "Pod", "name": "a"}},
        },
    ),
]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["", "a", "0", "v1", "*", "kubernetes", "1Gi", "50%", "2020-01-01T00:00:00Z", "a/b", "x" * 300]),
)
names = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["name", "metadata", "spec", "kind", "$patch", "labels", "finalizers", "managedFields", "rule"]),
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*path, key)
        yield from _places(member, (*path, key))


@st.composite
def mutated(draw: st.DrawFn, original: dict[str, Any]) -> dict[str, Any]:
    """The object with a few of its members replaced, added or taken away."""
    obj: dict[str, Any] = json.loads(json.dumps(original))
    for _ in range(draw(st.integers(1, 3))):
        *parents, last = draw(st.sampled_from(list(_places(obj)) or [("metadata",)]))
        holder: Any = obj
        for key in parents:
            holder = holder[key]
        action = draw(st.sampled_from(["replace", "remove", "add"]))
        if action == "remove" and last in (holder if isinstance(holder, dict) else range(len(holder))):
            del holder[last]
        elif action == "add" and isinstance(holder, dict):
            holder[draw(names)] = draw(values)
        else:
            holder[last] = draw(values)
    return obj


operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test", "x"])},
    optional={
        "path": st.sampled_from(["", "/", "/spec", "/metadata/name", "/spec/ports/0", "/metadata/labels/x", "/a~1b/-"])
        | st.text(max_size=8),
        "from": st.sampled_from(["/spec", "/metadata", ""]),
        "value": values,
    },
)
queries = st.dictionaries(
    st.sampled_from(
        [
            "fieldManager",
            "dryRun",
            "fieldValidation",
            "force",
            "pretty",
            "limit",
            "continue",
            "resourceVersion",
            "resourceVersionMatch",
            "watch",
            "timeoutSeconds",
            "timeout",
            "labelSelector",
            "fieldSelector",
            "sendInitialEvents",
            "allowWatchBookmarks",
            "propagationPolicy",
            "gracePeriodSeconds",
            "orphanDependents",
        ]
    ),
    st.one_of(
        st.text(max_size=10),
        st.sampled_from(
            ["All", "Strict", "Warn", "true", "1", "0", "a=b", "metadata.name=a", "Exact", "m", "-1", "9" * 25]
        ),
    ),
    max_size=3,
)


def _with(path: str, query: dict[str, str]) -> str:
    # A watch that is asked for must end.
    given = {**query, "timeoutSeconds": "1"} if "watch" in query else query
    return f"{path}?{'&'.join(f'{name}={quote(value)}' for name, value in given.items())}"


class World:
    """A server of its own, the event loop it runs in, and what it logged."""

    def __init__(self, data: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self.server = Server(data)
        self.records: list[logging.LogRecord] = []

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    async def start(self) -> None:
        await self.server.start()
        config = yaml.safe_load(self.server.admin_kubeconfig())
        connector = aiohttp.TCPConnector(ssl=admin_context(config))
        self.session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(20))
        self.api = Api(self.session, self.server.url)
        await self.api("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)
        await self.server.root.settled()

    async def stop(self) -> None:
        await self.session.close()
        await self.server.stop()

    def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Answered:
        answer: Answered = self.run(self.api(method, path, body, content_type))
        assert answer.status < 500 or answer.status in (503, 504), (method, path, body, answer)
        self.said_nothing()
        if answer.status >= 400 and isinstance(answer.body, dict):
            assert answer.body["kind"] == "Status", answer.body
            assert answer.body["code"] == answer.status, answer.body
            assert isinstance(answer.body["message"], str)
        return answer

    def said_nothing(self) -> None:
        """Nothing was logged since the last time."""
        said, self.records[:] = [record.getMessage() for record in self.records], []
        assert not said

    def is_well(self) -> None:
        assert self.send("GET", "/readyz").body == b"ok"
        assert self.send("GET", "/api/v1/namespaces/default").status == 200


@contextmanager
def _collected(records: list[logging.LogRecord]) -> Iterator[None]:
    class Collector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    collector = Collector(logging.WARNING)
    logging.getLogger().addHandler(collector)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(collector)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("fuzz"))
    with _collected(world.records):
        world.run(world.start())
        yield world
        world.is_well()
        world.run(world.stop())
    world.loop.close()


fuzz = settings(
    max_examples=300,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)


@fuzz
@given(st.data())
def test_objects_with_anything_in_them_are_taken_or_refused(world: World, data: st.DataObject) -> None:
    path, original = data.draw(st.sampled_from(OBJECTS))
    obj = data.draw(mutated(original))
    method = data.draw(st.sampled_from(["POST", "PUT", "APPLY"]))
    query = data.draw(queries)
    if method == "POST":
        world.send("POST", _with(path, query), obj)
    elif method == "PUT":
        world.send("PUT", _with(f"{path}/a", query), obj)
    else:
        query = {"fieldManager": "fuzz", "force": "true", **query}
        world.send("PATCH", _with(f"{path}/a", query), obj, "application/apply-patch+yaml")


@fuzz
@given(st.data())
def test_patches_of_any_kind_are_taken_or_refused(world: World, data: st.DataObject) -> None:
    path, original = data.draw(st.sampled_from(OBJECTS[:8]))
    world.send("POST", path, original)
    part = data.draw(st.sampled_from(["", "/status", "/scale"]))
    content_type = data.draw(st.sampled_from(CONTENT_TYPES[3:7]))
    if content_type == "application/json-patch+json":
        change: Any = data.draw(st.lists(operations, max_size=3) | values)
    else:
        change = data.draw(st.one_of(mutated(original), values, st.dictionaries(names, values, max_size=3)))
    world.send("PATCH", _with(f"{path}/a{part}", data.draw(queries)), change, content_type)


@fuzz
@given(
    method=st.sampled_from(METHODS),
    path=st.one_of(
        st.sampled_from([path for path, _ in OBJECTS]),
        st.lists(
            st.sampled_from(
                [
                    "api",
                    "apis",
                    "v1",
                    "namespaces",
                    "default",
                    "pods",
                    "a",
                    "status",
                    "scale",
                    "apps",
                    "watch",
                    "exec",
                    "log",
                    "proxy",
                ]
            )
            | st.text(max_size=6),
            max_size=7,
        ).map(lambda parts: "/" + "/".join(map(quote, parts))),
    ),
    query=queries,
    body=st.one_of(st.none(), st.binary(max_size=60), values.map(lambda value: json.dumps(value).encode())),
    content_type=st.sampled_from(CONTENT_TYPES),
)
def test_requests_of_any_kind_are_answered(
    world: World, method: str, path: str, query: dict[str, str], body: bytes | None, content_type: str
) -> None:
    if method == "DELETE" and (path == "/api/v1/namespaces/default" or path.endswith("customresourcedefinitions")):
        return
    world.send(method, _with(path, query), body, content_type)


@fuzz
@given(st.data())
def test_protobuf_of_any_kind_is_taken_or_refused(world: World, data: st.DataObject) -> None:
    path, original = data.draw(st.sampled_from([one for one in OBJECTS if GROUP not in one[0]]))
    body = bytearray(protobuf.encode(original))
    for _ in range(data.draw(st.integers(0, 4))):
        body[data.draw(st.integers(4, len(body) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(body)))
    content = data.draw(st.sampled_from([bytes(body), bytes(body[:cut]), protobuf.MAGIC + data.draw(st.binary())]))
    world.send("POST", f"{path}?dryRun=All", content, protobuf.CONTENT_TYPE)


@fuzz
@given(
    headers=st.dictionaries(
        st.sampled_from(
            ["Accept", "Authorization", "Impersonate-User", "Impersonate-Group", "If-None-Match", "Accept-Encoding"]
        ),
        st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
        | st.sampled_from(["application/json;as=Table;v=v1;g=meta.k8s.io", "Bearer a.b.c", "*/*;q=x", "gzip;q=0"]),
        max_size=3,
    ),
    path=st.sampled_from(["/api/v1/namespaces/default/configmaps", "/apis", "/openapi/v3", "/version", "/nope"]),
)
def test_headers_of_any_kind_are_understood_or_refused(world: World, headers: dict[str, str], path: str) -> None:
    answer = world.run(world.api("GET", path, **{name.replace("-", "_"): value for name, value in headers.items()}))
    assert answer.status < 500, (headers, answer)
    world.said_nothing()


@pytest.mark.parametrize(("levels", "status"), [(400, 201), (600, 400), (900, 400), (9_999, 400), (20_000, 400)])
def test_deep_nesting_is_refused_and_harms_nobody(world: World, levels: int, status: int) -> None:
    path, thing = OBJECTS[0]
    deep = "[" * levels + "]" * levels
    obj = {**thing, "metadata": {"name": "deep"}, "spec": {"free": {"a": "@"}}}
    body = json.dumps(obj).replace('"@"', deep).encode()
    assert world.send("POST", f"{path}?dryRun=All", body).status == status
    assert world.send("POST", f"{path}?dryRun=All", body, "application/yaml").status == status
    world.send("POST", path, thing)
    change = b'{"spec":{"free":{"a":%b}}}' % deep.encode()
    assert world.send("PATCH", f"{path}/a?dryRun=All", change, "application/merge-patch+json").status in (200, 400)
    world.is_well()


def test_a_few_aliases_cannot_stand_for_more_than_fits_in_memory(world: World) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    answer = world.send("POST", OBJECTS[1][0], "\n".join(lines).encode(), "application/yaml")
    assert (answer.status, "excessive aliasing" in answer.body["message"]) == (400, True)
