"""Bodies that are not what they should be, and what is said about them."""

# ruff: noqa: E501 - a message in a table is easier to read on one line

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest

from kubekit.server.objects.go import json_text, yaml_text
from kubekit.server.objects.schema.decoding import Malformed
from tests.http_api import Api
from tests.server.wire import APPLY, JSON_PATCH, MAPS, MERGE_PATCH, STRATEGIC_PATCH, YAML, Row, check, config_map
from tests.server.wire import warnings as warnings_of

UNREADABLE = "the object provided is unrecognized (must be of type ConfigMap): "
NO_TYPE = f"{UNREADABLE}couldn't get version/kind; json parse error: "
AS_CONFIG_MAP = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
TYPE = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
NAMELESS = 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required'
REGISTERED = 'is registered for version "{}" in scheme "pkg/runtime/scheme.go:111"'


async def test_bodies_that_cannot_be_read_are_refused_in_the_words_of_go(api: Api) -> None:
    end = "unexpected end of JSON input"
    await check(
        api,
        *(
            Row(f"POST {MAPS}", 400, f"{NO_TYPE}{problem} ({shown})", body, reason="BadRequest")
            for body, problem, shown in (
                ("", end, "<empty>"),
                (" ", end, "20"),
                ("{", end, "{"),
                ("[]", f"json: cannot unmarshal array into Go value of type {TYPE}", "5b5d"),
                ('"x"', f"json: cannot unmarshal string into Go value of type {TYPE}", "227822"),
                ('{"a":}', "invalid character '}' looking for beginning of value", '{"a":}'),
                ('{"kind":7}', "json: cannot unmarshal number into Go struct field .kind of type string", '{"kind":7}'),
                (b"\xff\xfe", "invalid character 'ÿ' looking for beginning of value", "fffe"),
                (
                    '{"metadata":{"name":"b1"}}{"x":1}',
                    "invalid character '{' after top-level value",
                    '{"metadata":{"name":"b1"}}{"x" ...',
                ),
            )
        ),
        Row(f"PUT {MAPS}/a", 400, f"{NO_TYPE}{end} (<empty>)"),
        Row(f"POST {MAPS}", 422, NAMELESS, "null"),
        Row(f"POST {MAPS}", 422, NAMELESS, "", YAML),
        Row(
            f"POST {MAPS}",
            400,
            f"{UNREADABLE}yaml: mapping values are not allowed in this context (613a20623a2063)",
            "a: b: c",
            YAML,
        ),
        Row(f"POST {MAPS}", 400, f"{UNREADABLE}yaml: found character that cannot start any token (0978)", "\tx", YAML),
    )


BROKEN = {
    b"tru": "unexpected end of JSON input",
    b"nul!": "invalid character '!' in literal null (expecting 'l')",
    b"1.x": "invalid character 'x' after decimal point in numeric literal",
    b"1ex": "invalid character 'x' in exponent of numeric literal",
    b"-x": "invalid character 'x' in numeric literal",
    b'"\\x"': "invalid character 'x' in string escape code",
    b'"\\u12g"': "invalid character 'g' in \\u hexadecimal character escape",
    b'"\n"': "invalid character '\\n' in string literal",
    b"{'a'": "invalid character '\\'' looking for beginning of object key string",
    b'{"a" 1': "invalid character '1' after object key",
    b'{"a":1 2': "invalid character '2' after object key:value pair",
    b"[1 2": "invalid character '2' after array element",
    b"01": "invalid character '1' after top-level value",
    b"[" * 10_001: "invalid character '[' exceeded max depth",
    b"1e999": "json: cannot unmarshal number 1e999 into Go value of type float64",
}


@pytest.mark.parametrize("content", BROKEN)
def test_broken_json_is_refused_where_go_refuses_it(content: bytes) -> None:
    with pytest.raises(Malformed) as refused:
        json_text.decode(content)
    assert str(refused.value) == BROKEN[content]


def test_texts_that_are_not_unicode_are_mended() -> None:
    assert json_text.decode(b'{"a":"\xff","b":"\\ud800"}') == {"a": "\ufffd", "b": "\ufffd"}


async def test_a_body_must_be_of_the_type_the_url_names(api: Api) -> None:
    await check(
        api,
        *(
            Row(f"POST {MAPS}", 400, message, {**kind, "metadata": {"name": "k"}})
            for kind, message in (
                (
                    {"apiVersion": "v1", "kind": "Secret"},
                    (
                        'Secret in version "v1" cannot be handled as a ConfigMap: '
                        "converting (v1.Secret) to (core.ConfigMap): unknown conversion"
                    ),
                ),
                (
                    {"apiVersion": "apps/v1", "kind": "Deployment"},
                    (
                        'Deployment in version "v1" cannot be handled as a ConfigMap: '
                        "converting (v1.Deployment) to (core.ConfigMap): unknown conversion"
                    ),
                ),
                (
                    {"apiVersion": "v1", "kind": "Nonsense"},
                    (
                        'Nonsense in version "v1" cannot be handled as a ConfigMap: '
                        f'no kind "Nonsense" {REGISTERED.format("v1")}'
                    ),
                ),
                (
                    {"apiVersion": "v2", "kind": "ConfigMap"},
                    (
                        'ConfigMap in version "v2" cannot be handled as a ConfigMap: '
                        f'no kind "ConfigMap" {REGISTERED.format("v2")}'
                    ),
                ),
            )
        ),
        Row(f"POST {MAPS}", 201, body={"metadata": {"name": "untyped"}}),
        Row(
            "POST /apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
            400,
            "the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)",
            {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}},
        ),
    )


async def test_values_of_the_wrong_type_are_named_with_their_place(api: Api) -> None:
    cannot = f"{AS_CONFIG_MAP}json: cannot unmarshal"
    await check(
        api,
        *(
            Row(f"POST {MAPS}", 400, message, body)
            for body, message in (
                ({"metadata": "x"}, f"{cannot} string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
                (
                    {"metadata": {"name": 1}},
                    f"{cannot} number into Go struct field ObjectMeta.metadata.name of type string",
                ),
                (
                    {"metadata": {"name": "a", "ownerReferences": [{"controller": "x"}]}},
                    f"{cannot} string into Go struct field OwnerReference.metadata.ownerReferences.controller of type bool",
                ),
                (
                    {"metadata": {"name": "a"}, "data": {"a": 1}},
                    f"{cannot} number into Go struct field ConfigMap.data of type string",
                ),
                (
                    {"metadata": {"name": "a", "generation": 1.5}},
                    f"{cannot} number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64",
                ),
                (
                    {"metadata": {"name": "a"}, "binaryData": {"a": "!"}},
                    f"{AS_CONFIG_MAP}illegal base64 data at input byte 0",
                ),
            )
        ),
    )


TWICE = '{"metadata":{"name":"n1","name":"n2"},"data":{"x":"1","x":"2"},"unknown":{"a":1},"immutable":false}'
REMARKS = ['duplicate field "metadata.name"', 'duplicate field "data.x"', 'unknown field "unknown"']


@pytest.mark.parametrize("how", ["", "?fieldValidation=Warn"])
async def test_fields_that_are_unknown_or_stand_twice_are_warned_of(api: Api, how: str) -> None:
    (answer,) = await check(api, Row(f"POST {MAPS}{how}", 201, body=TWICE))
    assert warnings_of(answer) == REMARKS
    assert (answer.body["metadata"]["name"], answer.body["data"]) == ("n2", {"x": "2"})


async def test_strictness_refuses_them_and_indulgence_says_nothing(api: Api) -> None:
    refused, taken = await check(
        api,
        Row(
            f"POST {MAPS}?fieldValidation=Strict",
            400,
            f"{AS_CONFIG_MAP}strict decoding error: {', '.join(REMARKS)}",
            TWICE,
        ),
        Row(f"POST {MAPS}?fieldValidation=Ignore", 201, body=TWICE),
    )
    assert (warnings_of(refused), warnings_of(taken)) == ([], [])


async def test_unknown_fields_of_other_formats_are_found_too(api: Api) -> None:
    twice = "metadata:\n  name: d1\n  name: d2\nunknown: 1\n"
    warned, refused, *_ = await check(
        api,
        Row(f"POST {MAPS}", 201, body=twice, content_type=YAML),
        Row(
            f"POST {MAPS}?fieldValidation=Strict",
            400,
            f"{AS_CONFIG_MAP}strict decoding error: yaml: unmarshal errors:\n"
            '  line 3: key "name" already set in map, unknown field "unknown"',
            twice,
            YAML,
        ),
    )
    assert warnings_of(warned) == ['line 3: key "name" already set in map', 'unknown field "unknown"']
    assert refused.status == 400


async def test_a_refusal_too_tells_what_there_was_to_warn_of(api: Api) -> None:
    (answer,) = await check(api, Row(f"POST {MAPS}", 422, NAMELESS, {"unknown": 1}))
    assert warnings_of(answer) == ['unknown field "unknown"']


async def test_patches_are_read_as_strictly_as_objects(api: Api) -> None:
    await check(api, Row(f"POST {MAPS}", 201, body=config_map("p")))
    twice, path = '{"data":{"a":"b","a":"c"}}', f"{MAPS}/p?dryRun=All"
    answers = await check(
        api,
        Row(f"PATCH {path}", 200, body=twice, content_type=MERGE_PATCH),
        Row(f"PATCH {path}", 200, body=twice, content_type=STRATEGIC_PATCH),
        Row(
            f"PATCH {path}",
            200,
            body='[{"op":"add","op":"add","path":"/data","value":{"a":"b"},"foo":1}]',
            content_type=JSON_PATCH,
        ),
        Row(
            f"PATCH {path}&fieldManager=m",
            200,
            body='{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b","a":"c"}}',
            content_type=APPLY,
        ),
        Row(
            f"PATCH {path}&fieldValidation=Strict",
            422,
            ' "" is invalid: patch: Invalid value: "map[data:map[a:c]]": strict decoding error: duplicate field "data.a"',
            twice,
            STRATEGIC_PATCH,
        ),
        Row(
            f"PATCH {path}&fieldValidation=Strict&fieldManager=m",
            400,
            "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
            '  line 1: key "a" already set in map',
            '{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"b","a":"c"}}',
            APPLY,
        ),
    )
    assert [warnings_of(answer) for answer in answers[:4]] == [
        ['duplicate field "data.a"'],
        ['duplicate field "data.a"'],
        ['json patch duplicate field "[0].op"', 'json patch unknown field "[0].foo"'],
        ['line 1: key "a" already set in map'],
    ]


async def test_bodies_of_another_type_are_refused(api: Api) -> None:
    known = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    unknown = f"the body of the request was in an unknown format - accepted media types include: {known}"
    await check(
        api,
        Row(f"POST {MAPS}", 415, unknown, "{}", "text/plain"),
        Row(f"PUT {MAPS}/a", 415, unknown, "{}", "application/xml"),
        Row(f"DELETE {MAPS}/a", 415, unknown, "{}", "application/cbor"),
        Row(f"PATCH {MAPS}/a", 415, "415: Unsupported Media Type", "{}", "application/json"),
        Row(f"POST {MAPS}", 422, NAMELESS, "{}", "application/json; charset=utf-8"),
    )


async def test_a_body_can_be_too_large(api: Api) -> None:
    huge = json.dumps(config_map("big", data={"a": "x" * (3 * 1024 * 1024)})).encode()
    async with api.session.post(f"{api.url}{MAPS}", data=io.BytesIO(huge)) as answer:
        status = await answer.json()
    assert (answer.status, status["reason"]) == (413, "RequestEntityTooLarge")
    assert status["message"] == "Request entity too large: limit is 3145728"


async def test_compressed_bodies_are_not_unpacked(api: Api) -> None:
    answer = await api("POST", MAPS, gzip.compress(b'{"metadata":{"name":"gz"}}'), Content_Encoding="gzip")
    assert (answer.status, "invalid character '\\x1f'" in answer.body["message"]) == (400, True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True),
        ("'y'", "y"),
        ("0o17", 15),
        ("2020-01-01", "2020-01-01"),
        ("!!nobody/knows x", "x"),
        ("a\n---\nb", "a"),
        ("", None),
        ("{1: a}", {"1": "a"}),
    ],
)
def test_yaml_is_read_as_go_reads_it(text: str, value: Any) -> None:
    assert yaml_text.decode(text.encode()) == value


def test_yaml_is_written_as_go_writes_it() -> None:
    value = {"a": "b: c\n", "n": "1", "t": "2020-01-01T00:00:00Z", "e": "", "l": [{"x": None}], "y": "é"}
    written = 'a: |\n  b: c\ne: ""\nl:\n- x: null\n"n": "1"\nt: "2020-01-01T00:00:00Z"\n"y": é\n'
    assert yaml_text.encode(value).decode() == written
