"""Protobuf bodies: real ones of a kube-apiserver, generated ones, and bytes that are neither."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubekit.errors import BadRequest
from kubekit.server.kinds import protobuf
from kubekit.server.kinds.builtin import data
from kubekit.server.kinds.protobuf import wire

FIXTURES = sorted((Path(__file__).parent.parent / "fixtures" / "protobuf").glob("*.json"))


def captured(path: Path) -> tuple[bytes, dict[str, Any]]:
    """What a kube-apiserver 1.36 answered for one object, as protobuf and as JSON."""
    both = json.loads(path.read_text())
    return base64.b64decode(both["protobuf"]), both["json"]


def enclosed(number: int, content: bytes) -> bytes:
    """A field that holds these bytes."""
    return wire.varint(number << 3 | wire.BYTES) + wire.with_length(content)


def sent(api_version: str, kind: str, message: bytes) -> bytes:
    """A body with a message of any bytes."""
    types = enclosed(1, api_version.encode()) + enclosed(2, kind.encode())
    return protobuf.MAGIC + enclosed(1, types) + enclosed(2, message)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_real_body_decodes_to_the_json_of_the_same_object(path: Path) -> None:
    body, shown = captured(path)
    assert protobuf.decode(body) == shown


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_encoding_gives_the_bytes_kubernetes_sends(path: Path) -> None:
    body, shown = captured(path)
    # Go escapes < > & in the JSON it embeds, so only there equal values may have other bytes.
    again = body if b"\\u003c" in body else protobuf.encode(shown)
    assert again == body
    assert protobuf.decode(protobuf.encode(shown)) == shown


def test_a_pointer_keeps_its_zero_and_a_plain_field_loses_it() -> None:
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 0, "minReadySeconds": 0}}
    spec = protobuf.decode(protobuf.encode(deployment))["spec"]
    assert spec["replicas"] == 0
    assert "minReadySeconds" not in spec


def test_what_go_always_shows_is_shown_although_nobody_set_it() -> None:
    role = protobuf.decode(sent("rbac.authorization.k8s.io/v1", "Role", b""))
    event = protobuf.decode(sent("v1", "Event", b""))
    assert role == {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {}, "rules": None}
    assert event["eventTime"] is None
    assert event["reportingComponent"] == ""
    assert event["source"] == {}


def test_an_object_without_a_creation_time_has_no_null_there() -> None:
    assert protobuf.decode(sent("v1", "ConfigMap", b"\x0a\x00"))["metadata"] == {}


def test_an_empty_value_of_a_secret_survives() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": {"empty": "", "full": "AAEC"}}
    assert protobuf.decode(protobuf.encode(secret)) == secret


def test_times_keep_the_precision_of_their_kind() -> None:
    lease = {"acquireTime": "2026-01-02T03:04:05.120000Z", "renewTime": "1969-12-31T23:59:59.000001Z"}
    body = protobuf.encode({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {}, "spec": lease})
    assert protobuf.decode(body)["spec"] == lease


@pytest.mark.parametrize("api_version", ["v1", "apps/v1", "meta.k8s.io/v1", "example.com/v1alpha1"])
def test_delete_options_come_in_every_version(api_version: str) -> None:
    options = {"apiVersion": api_version, "kind": "DeleteOptions", "gracePeriodSeconds": 0, "dryRun": ["All"]}
    assert protobuf.decode(protobuf.encode(options)) == options


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("additionalProperties", True),
        ("additionalProperties", False),
        ("additionalProperties", {"type": "string"}),
        ("items", {"type": "string"}),
        ("items", [{"type": "string"}, {"type": "integer"}]),
        ("dependencies", {"a": ["b"], "c": {"type": "string"}}),
        ("default", {"deep": [1, 2.5, None]}),
        ("enum", ["a", 1, None]),
        ("maximum", 2.5),
        ("minimum", 3),
    ],
)
def test_the_forms_of_a_json_schema_survive(place: str, value: Any) -> None:
    validation = {"openAPIV3Schema": {"type": "object", place: value}}
    version = {"name": "v1", "served": True, "storage": True, "schema": validation}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [version]}}
    decoded = protobuf.decode(protobuf.encode(crd))["spec"]["versions"][0]
    assert decoded["schema"] == validation
    assert type(decoded["schema"]["openAPIV3Schema"][place]) is type(value)


def test_packed_numbers_are_understood() -> None:
    security = enclosed(4, b"\x01\x02\xac\x02")
    pod = protobuf.decode(sent("v1", "Pod", enclosed(2, enclosed(14, security))))
    assert pod["spec"]["securityContext"]["supplementalGroups"] == [1, 2, 300]


def test_unknown_fields_are_ignored() -> None:
    number, fixed64, text, fixed32 = b"\xf8\x07\x05", b"\xf9\x07" + bytes(8), b"\xfa\x07\x03abc", b"\xfd\x07" + bytes(4)
    namespace = protobuf.decode(sent("v1", "Namespace", number + fixed64 + text + fixed32))
    assert namespace["metadata"] == {}


def test_a_body_without_a_type_is_what_was_expected() -> None:
    assert protobuf.decode(sent("", "", b""), ("v1", "ConfigMap")) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {},
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "unrecognized (must be of type ConfigMap): empty data (<empty>)"),
        (b'{"a":1}', 'appear to be a protobuf message, expected prefix [107 56 115 0] ({"a":1})'),
        (b"k8s\x00", "unrecognized (must be of type ConfigMap): empty body (6b387300)"),
        (b"k8s\x00\x0a\x7f" + b"a" * 60, f"unexpected EOF (6b3873000a7f{'61' * 24} ...)"),
        (sent("v1", "ConfigMap", b"\x08\x01"), "proto: wrong wireType = 0 for field Metadata"),
        (sent("v1", "ConfigMap", b"\x0e"), "proto: illegal wireType 6"),
        (sent("v1", "ConfigMap", b"\x02\x00"), "proto: ConfigMap: illegal tag 0 (wire type 2)"),
        (sent("v1", "ConfigMap", b"\x0a\x40a"), "unexpected EOF"),
        (sent("v1", "ConfigMap", b"\x0a" + b"\xff" * 9 + b"\x01"), "unexpected EOF"),
        (sent("v1", "ConfigMap", b"\xff" * 12), "proto: integer overflow"),
        (sent("v1", "Foo", b""), 'no kind "Foo" is registered for version "v1" in scheme'),
        (sent("x.io/v1", "ConfigMap", b""), 'no kind "ConfigMap" is registered for version "x.io/v1" in scheme'),
    ],
)
def test_a_malformed_body_is_a_bad_request(body: bytes, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        protobuf.decode(body, ("v1", "ConfigMap"))
    assert message in refused.value.message


def test_a_body_refused_for_its_content_names_its_kind() -> None:
    with pytest.raises(BadRequest) as refused:
        protobuf.decode(sent("apps/v1", "Deployment", b"\x0a\x40a"), ("v1", "ConfigMap"))
    assert refused.value.message == ('Deployment in version "v1" cannot be handled as a ConfigMap: unexpected EOF')


def number_of(definition: str, name: str) -> int:
    [number] = [one.number for one in data.definition(f"apiextensions.v1.{definition}").fields if one.name == name]
    return number


def test_messages_nested_without_end_are_refused() -> None:
    schema, negation = b"", number_of("JSONSchemaProps", "not")
    for _ in range(2000):
        schema = enclosed(negation, schema)
    validation = enclosed(number_of("CustomResourceValidation", "openAPIV3Schema"), schema)
    version = enclosed(number_of("CustomResourceDefinitionVersion", "schema"), validation)
    spec = enclosed(number_of("CustomResourceDefinitionSpec", "versions"), version)
    body = sent("apiextensions.k8s.io/v1", "CustomResourceDefinition", enclosed(2, spec))
    with pytest.raises(BadRequest, match="nested more than"):
        protobuf.decode(body)


def test_a_time_beyond_all_calendars_is_refused() -> None:
    creation = enclosed(8, b"\x08" + wire.varint(2**63 - 1))
    with pytest.raises(BadRequest, match="out of range"):
        protobuf.decode(sent("v1", "ConfigMap", enclosed(1, creation)))


def test_embedded_json_must_be_json() -> None:
    with pytest.raises(BadRequest, match="invalid JSON"):
        protobuf.decode(sent("apps/v1", "ControllerRevision", enclosed(2, enclosed(1, b"{"))))


@given(st.binary(max_size=200), st.sampled_from(["Pod", "Event", "Secret", "Namespace"]))
@settings(max_examples=200, deadline=None)
def test_no_message_raises_anything_but_a_bad_request(message: bytes, kind: str) -> None:
    for body in (message, protobuf.MAGIC + message, sent("v1", kind, message[:120])):
        try:
            protobuf.decode(body)
        except BadRequest:
            continue


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_body_raises_nothing_but_a_bad_request(draw: st.DataObject) -> None:
    body = bytearray(captured(draw.draw(st.sampled_from(FIXTURES)))[0])
    for _ in range(draw.draw(st.integers(1, 4))):
        body[draw.draw(st.integers(0, len(body) - 1))] = draw.draw(st.integers(0, 255))
    damaged = bytes(body[: draw.draw(st.integers(0, len(body)))])
    try:
        protobuf.decode(damaged)
    except BadRequest:
        return


FORMS: dict[str, st.SearchStrategy[Any]] = {
    "meta.v1.Time": st.integers(0, 59).map(lambda second: f"2026-01-02T03:04:{second:02}Z"),
    "meta.v1.MicroTime": st.integers(0, 999_999).map(lambda micro: f"2026-01-02T03:04:05.{micro:06}Z"),
    "api.resource.Quantity": st.sampled_from(["1", "500m", "1Gi"]),
    "util.intstr.IntOrString": st.one_of(st.integers(-(2**31), 2**31 - 1), st.text(max_size=5)),
    "meta.v1.FieldsV1": st.just({"f:metadata": {"f:labels": {".": {}}}}),
    "pkg.runtime.RawExtension": st.dictionaries(st.text(max_size=3), st.integers(0, 9), min_size=1, max_size=2),
    "string": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8),
    "bytes": st.binary(min_size=1, max_size=8).map(lambda raw: base64.b64encode(raw).decode()),
    "bool": st.just(True),
    "int32": st.integers(-(2**31), 2**31 - 1).filter(bool),
    "int64": st.integers(-(2**63), 2**63 - 1).filter(bool),
}


def values(draw: st.DrawFn, type_: str, depth: int) -> Any:
    """Any value of a type; nothing that Go's JSON would leave out."""
    if type_.startswith(("[]", "()")):
        return [values(draw, type_[2:], depth) for _ in range(draw(st.integers(1, 2)))]
    if type_.startswith("{}"):
        return {draw(FORMS["string"]): values(draw, type_[2:], depth) for _ in range(draw(st.integers(1, 2)))}
    return draw(FORMS[type_]) if type_ in FORMS else members(draw, type_, depth + 1)


def members(draw: st.DrawFn, name: str, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in data.definition(name).fields:
        if field.inline:
            found |= members(draw, field.type, depth)
        elif depth < 4 and draw(st.integers(0, 3)) == 0:
            found[field.name] = values(draw, field.type, depth)
    return found


@st.composite
def objects(draw: st.DrawFn) -> dict[str, Any]:
    kinds = (
        ("v1", "Pod"),
        ("v1", "Secret"),
        ("v1", "Event"),
        ("apps/v1", "StatefulSet"),
        ("networking.k8s.io/v1", "Ingress"),
    )
    api_version, kind = draw(st.sampled_from(kinds))
    return {"apiVersion": api_version, "kind": kind, **members(draw, data.kinds()[api_version][kind], 0)}


def holds(whole: Any, part: Any) -> bool:
    """All of `part` stands in `whole`."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and holds(whole[key], part[key]) for key in part)
    if isinstance(part, list):
        return len(whole) == len(part) and all(map(holds, whole, part))
    return bool(whole == part)


@given(objects())
@settings(max_examples=100, deadline=None)
def test_an_object_comes_back_as_it_went(obj: dict[str, Any]) -> None:
    body = protobuf.encode(obj)
    decoded = protobuf.decode(body)
    assert holds(decoded, obj)
    assert protobuf.encode(decoded) == body


def test_a_kind_without_a_protobuf_form_cannot_be_encoded() -> None:
    with pytest.raises(BadRequest, match="no protobuf form"):
        protobuf.encode({"apiVersion": "example.com/v1", "kind": "Thing"})
