"""Bodies below three megabytes that are as wide, or as often the same, as their form allows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.server.wire import APPLY, JSON, JSON_PATCH, MAPS, MERGE_PATCH, STRATEGIC_PATCH, YAML

PROTOBUF = "application/vnd.kubernetes.protobuf"
PODS = "/api/v1/namespaces/default/pods"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
KETTLES = "/apis/example.com/v1/namespaces/default/kettles"
SIZE = 2_500_000
_TEXTS = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}
_PAIRS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["n"],
    "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "string"}}},
}
SETS = {
    "type": "object",
    "properties": {"set": _TEXTS, "map": _PAIRS, "free": {"x-kubernetes-preserve-unknown-fields": True}},
}
"""The spec of a kettle that holds a set, a map and anything."""


@dataclass(frozen=True)
class Attack:
    """One request; those of `before` come first, and are no attacks."""

    name: str
    method: str
    path: str
    body: bytes
    content_type: str = JSON
    before: tuple[tuple[str, bytes], ...] = field(default=(), repr=False)


def same(item: str, size: int = SIZE, separator: str = ",") -> str:
    """So many bytes of one item."""
    return separator.join([item] * (size // (len(item) + len(separator))))


def numbered(item: str, size: int = SIZE, separator: str = ",") -> str:
    """So many bytes of items that differ in a number."""
    count = size // (len(item) + 4 + len(separator))
    return separator.join(item % number for number in range(count))


def config_map(members: str, metadata: str = "") -> bytes:
    return ('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"' + metadata + "}," + members + "}").encode()


def pod(spec: str) -> bytes:
    return ('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{' + spec + "}}").encode()


def in_yaml(data: str, before: str = "") -> bytes:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n{before}data: {data}\n".encode()


def message(*fields: tuple[int, bytes]) -> bytes:
    """A protobuf message of byte strings."""
    return b"".join(_varint(number << 3 | 2) + _varint(len(content)) + content for number, content in fields)


def _varint(number: int) -> bytes:
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def enveloped(kind: str, content: bytes) -> bytes:
    return b"k8s\x00" + message((1, message((1, b"v1"), (2, kind.encode()))), (2, content))


def yaml_attacks() -> Iterator[Attack]:
    texts = {
        "one long time": in_yaml("{a: 1" + ":59" * 800_000 + "}"),
        "one long fraction of a time": in_yaml("{a: 1" + ":59" * 800_000 + ".5}"),
        "many times": in_yaml("[" + same("1:59:59", 600_000) + "]"),
        "one long number": in_yaml("{a: " + "9" * SIZE + "}"),
        "one long binary number": in_yaml("{a: 0b" + "1" * SIZE + "}"),
        "many merges of a wide map": in_yaml(
            "\n" + "- {<<: *x}\n" * 20_000, "x: &x {" + numbered("k%d: 1", 300_000, ", ") + "}\n"
        ),
        "one merge of many": in_yaml("{<<: [" + same(" *x ", 600_000) + "]}", "x: &x {a: 1}\n"),
        "merges of merges": in_yaml(
            "{}",
            "x0: &x0 {a: 1}\n" + "".join(f"x{i}: &x{i} {{<<: [*x{i - 1}, *x{i - 1}]}}\n" for i in range(1, 2000)),
        ),
        "laughs": in_yaml(
            "{}",
            "x0: &x0 [a]\n" + "".join(f"x{i}: &x{i} [{', '.join([f'*x{i - 1}'] * 10)}]\n" for i in range(1, 30)),
        ),
        "aliases of a long text": in_yaml("\n" + "- *x\n" * 100_000, f"x: &x {'x' * 1_000_000}\n"),
        "a key again and again": in_yaml("{" + same("a: b", 600_000, ", ") + "}"),
        "many keys": in_yaml("{" + numbered("k%d: v", 600_000, ", ") + "}"),
        "many empty lists": in_yaml("[" + same("[]") + "]"),
        "many anchors": in_yaml("[" + numbered("&a%d x", 600_000, ", ") + "]"),
    }
    for name, text in texts.items():
        yield Attack(f"yaml: {name}", "POST", MAPS, text, YAML)
    again = texts["a key again and again"]
    yield Attack("yaml: applied", "PATCH", f"{MAPS}/a?fieldManager=me", again, APPLY)
    yield Attack("yaml: strict", "POST", f"{MAPS}?fieldValidation=Strict", again, YAML)
    yield Attack(
        "yaml: options", "DELETE", f"{MAPS}/kube-root-ca.crt", in_yaml("[" + same("1:59", 300_000) + "]"), YAML
    )


def json_attacks() -> Iterator[Attack]:
    for validation in ("Strict", "Warn", "Ignore"):
        path = f"{MAPS}?fieldValidation={validation}"
        again = config_map('"data":{' + same('"a":"b"') + "}")
        yield Attack(f"json: unknown fields, {validation}", "POST", path, config_map(numbered('"k%d":1')))
        yield Attack(f"json: a field again, {validation}", "POST", path, again)
    members = {
        "empty lists": '"x":[' + same("[]") + "]",
        "empty maps": '"x":[' + same("{}") + "]",
        "large floats": '"x":[' + same("1e300") + "]",
        "small floats": '"x":[' + same("1.2345678901234567e-300") + "]",
        "one long number": '"x":' + "9" * SIZE,
        "one text": '"data":{"a":"' + "x" * SIZE + '"}',
        "many keys": '"data":{' + numbered('"k%d":""', 1_000_000) + "}",
        "wrong keys": '"data":{' + numbered('"k/%d":""') + "}",
    }
    for name, text in members.items():
        yield Attack(f"json: {name}", "POST", MAPS, config_map(text))
    yield Attack("json: no end", "POST", MAPS, config_map(members["empty lists"])[:-1])
    not_unicode = config_map('"data":{"a":"?"}').replace(b"?", b"\xff" * SIZE)
    yield Attack("json: not unicode", "POST", MAPS, not_unicode)


def metadata_attacks() -> Iterator[Attack]:
    owner = '{"apiVersion":"v1","kind":"Node","name":"a","uid":"%d"}'
    controller = owner.replace("}", ',"controller":true}')
    entry = '{"manager":"m%d","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}'
    parts = {
        "labels": '"labels":{' + numbered('"k%d":"v"') + "}",
        "wrong labels": '"labels":{' + numbered('"k@%d":"v@"') + "}",
        "a long label": '"labels":{"a":"' + "x" * SIZE + '"}',
        "a key of slashes": '"labels":{"' + "/" * SIZE + '":"a"}',
        "annotations": '"annotations":{' + numbered('"k%d":"v"') + "}",
        "finalizers": '"finalizers":[' + numbered('"a/k%d"', 1_000_000) + "]",
        "owners": '"ownerReferences":[' + numbered(owner) + "]",
        "one owner again": '"ownerReferences":[' + same(owner % 1) + "]",
        "controllers": '"ownerReferences":[' + numbered(controller, 1_000_000) + "]",
        "managers": '"managedFields":[' + numbered(entry) + "]",
        "a long prefix of a name": '"generateName":"' + "a." * (SIZE // 2) + '"',
    }
    for name, text in parts.items():
        yield Attack(f"metadata: {name}", "POST", MAPS, config_map('"data":{}', f",{text}"))


def pod_attacks() -> Iterator[Attack]:
    container = '"containers":[{"name":"a","image":"b"'
    specs = {
        "variables": container + ',"env":[' + numbered('{"name":"a%d"}', 700_000) + "]}]",
        "containers": '"containers":[' + numbered('{"name":"a%d"}') + "]",
        "no containers": '"containers":[' + same("{}") + "]",
        "one port again": container + ',"ports":[' + same('{"containerPort":1,"hostPort":1}', 300_000) + "]}]",
        "one alias again": container + '}],"hostAliases":[' + same('{"ip":"1.1.1.1"}', 600_000) + "]",
        "one secret again": container + '}],"imagePullSecrets":[' + same('{"name":"a"}', 600_000) + "]",
        "claims": container + '}],"resourceClaims":[' + numbered('{"name":"a%d"}', 600_000) + "]",
        "constraints": container
        + '}],"topologySpreadConstraints":['
        + numbered('{"topologyKey":"a%d"}', 600_000)
        + "]",
        "a long quantity": container + ',"resources":{"limits":{"cpu":"' + "9" * SIZE + '"}}}]',
    }
    for name, text in specs.items():
        yield Attack(f"pod: {name}", "POST", PODS, pod(text))


def patch_attacks() -> Iterator[Attack]:
    count = 20_000
    marks = [f"a/k{number}" for number in range(count)]
    before = ((MAPS, json.dumps({"metadata": {"name": "a", "finalizers": marks}}).encode()),)
    others = [f"b/k{number}" for number in range(count)]
    meta: dict[str, Any] = {
        "items": {"finalizers": others},
        "items in order": {"finalizers": others, "$setElementOrder/finalizers": others},
        "an order": {"$setElementOrder/finalizers": marks[::-1]},
        "items that go": {"$deleteFromPrimitiveList/finalizers": marks},
        "one item again": {"finalizers": ["b/k"] * count * 10},
        "owners": {
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "a", "uid": str(i)} for i in range(count)]
        },
        "owners that go": {"ownerReferences": [{"uid": str(i), "$patch": "delete"} for i in range(count)]},
    }
    for name, change in meta.items():
        body = json.dumps({"metadata": change}).encode()
        yield Attack(f"strategic patch: {name}", "PATCH", f"{MAPS}/a", body, STRATEGIC_PATCH, before)
    most = 10_000
    data = {f"k{number}": "v" for number in range(5000)}
    written = {"metadata": {"name": "a", "finalizers": marks[:100]}, "data": data}
    before = ((MAPS, json.dumps(written).encode()),)
    there, back = {"op": "move", "from": "/data", "path": "/x"}, {"op": "move", "from": "/x", "path": "/data"}
    operations: dict[str, list[dict[str, Any]]] = {
        "moves": [there, back] * (most // 2),
        "copies": [{"op": "copy", "from": "/data", "path": "/data"}] * most,
        "copies of copies": [{"op": "copy", "from": "/data", "path": f"/data/x{i}"} for i in range(most)],
        "inserts": [{"op": "add", "path": "/metadata/finalizers/0", "value": "a/b"}] * most,
        "removes": [{"op": "remove", "path": "/metadata/finalizers/0"}] * most,
        "tests": [{"op": "test", "path": "/data/k1", "value": "v"}] * most,
        "a long path": [{"op": "add", "path": "/data" + "/a" * 1_000_000, "value": 1}],
        "too many": [{}] * (most + 1),
    }
    for name, patch in operations.items():
        body = json.dumps(patch, separators=(",", ":")).encode()
        yield Attack(f"json patch: {name}", "PATCH", f"{MAPS}/a", body, JSON_PATCH, before)
    wide = config_map('"data":{' + numbered('"k%d":"w"', 500_000) + "}")
    yield Attack("apply: a wide map", "PATCH", f"{MAPS}/a?fieldManager=me&force=true", wide, APPLY, before)
    yield Attack("apply: conflicts", "PATCH", f"{MAPS}/a?fieldManager=me", wide, APPLY, before)
    yield Attack("merge patch: of little", "PATCH", f"{MAPS}/a", b'{"data":{"k1":"w"}}', STRATEGIC_PATCH, before)


def custom_attacks() -> Iterator[Attack]:
    """On kettles, of which `SETS` says how they look."""
    names, pairs = numbered('"k%d"', 1_400_000), numbered('{"n":"k%d"}', 1_300_000)
    specs = {
        "a wide set": '"set":[' + names + "]",
        "a wide map": '"map":[' + pairs + "]",
        "free keys": '"free":{' + numbered('"k%d":1', 1_300_000) + "}",
        "free numbers": '"free":[' + same("1", 1_400_000) + "]",
        "free objects": '"free":[' + same('{"a":1}', 700_000) + "]",
        "free texts": '"free":[' + numbered('"%d"', 1_400_000) + "]",
    }
    for name, spec in specs.items():
        body = kettle(spec)
        yield Attack(f"custom: {name}", "POST", KETTLES, body)
        before = ((KETTLES, kettle('"set":["a"]')),)
        yield Attack(f"custom: {name}, put", "PATCH", f"{KETTLES}/a", body, MERGE_PATCH, before)
        yield Attack(f"custom: {name}, applied", "PATCH", f"{KETTLES}/a?fieldManager=me", body, APPLY)
        yield Attack(f"custom: {name}, applied again", "PATCH", f"{KETTLES}/a?fieldManager=me", body, APPLY, before)


def kettle(spec: str) -> bytes:
    opening = '{"apiVersion":"example.com/v1","kind":"Kettle","metadata":{"name":"a"},"spec":{'
    return f"{opening}{spec}}}}}".encode()


def made_attacks() -> Iterator[Attack]:
    """Patches that are large, and those that make something large."""
    before = ((MAPS, config_map('"data":{}')),)
    whole = config_map(numbered('"k%d":1')).decode()
    operation = ('[{"op":"replace","path":"","value":' + whole + "}]").encode()
    added = ('[{"op":"add","path":"/x","value":{' + numbered('"k%d":1') + "}}]").encode()
    retained = ('{"data":{"$retainKeys":[' + numbered('"k%d"') + "]}}").encode()
    again = config_map(numbered('"k%d":1', 1_500_000) + ',"k1":1')
    for validation in ("Strict", "Warn", "Ignore"):
        path = f"{MAPS}/a?fieldValidation={validation}"
        yield Attack(f"json patch: unknown members, {validation}", "PATCH", path, operation, JSON_PATCH, before)
        yield Attack(f"json patch: one unknown member, {validation}", "PATCH", path, added, JSON_PATCH, before)
        yield Attack(f"merge patch: unknown members, {validation}", "PATCH", path, again, MERGE_PATCH, before)
        yield Attack(f"strategic patch: unknown members, {validation}", "PATCH", path, again, STRATEGIC_PATCH, before)
        yield Attack(f"strategic patch: kept keys, {validation}", "PATCH", path, retained, STRATEGIC_PATCH, before)
    variables = pod('"containers":[{"name":"a","image":"b","env":[' + numbered('{"name":"a%d"}', 1_300_000) + "]}]")
    yield Attack("apply: variables", "PATCH", f"{PODS}/a?fieldManager=me", variables, APPLY)
    one = ((PODS, pod('"containers":[{"name":"a","image":"b"}]')),)
    yield Attack("apply: variables of one that is there", "PATCH", f"{PODS}/a?fieldManager=me", variables, APPLY, one)


def protobuf_attacks() -> Iterator[Attack]:
    many, name = SIZE // 2, (1, message((1, b"a")))
    bodies = {
        "empty entries": (MAPS, enveloped("ConfigMap", message(name, *[(2, b"")] * 100_000))),
        "empty owners": (MAPS, enveloped("ConfigMap", message((1, message((1, b"a"), *[(13, b"")] * many))))),
        "empty containers": (PODS, enveloped("Pod", message(name, (2, message(*[(2, b"")] * many))))),
        "unknown fields": (MAPS, enveloped("ConfigMap", message(name, *[(15, b"")] * 300_000))),
        "one field again": (PODS, enveloped("Pod", message(name, *[(2, b"")] * many))),
    }
    for kind, (path, body) in bodies.items():
        yield Attack(f"protobuf: {kind}", "POST", path, body, PROTOBUF)


def role_attacks() -> Iterator[Attack]:
    words = [f"a{number}" for number in range(1000)]
    cube = {"apiGroups": words, "resources": words, "verbs": words}
    for name, rules in (("cube", [cube]), ("cube of names", [{**cube, "resourceNames": words}])):
        yield Attack(f"role: {name}", "POST", ROLES, json.dumps({"metadata": {"name": "a"}, "rules": rules}).encode())
    rule = '{"apiGroups":[""],"resources":["a%d"],"verbs":["get"]}'
    listed = '{"metadata":{"name":"a"},"rules":[' + numbered(rule) + "]}"
    yield Attack("role: rules", "POST", ROLES, listed.encode())
