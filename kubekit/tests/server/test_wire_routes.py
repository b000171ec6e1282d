"""Where there is something, what may be done there, and in which form it is shown."""

# ruff: noqa: E501 - a message in a table is easier to read on one line

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
import yarl

from tests.http_api import Api
from tests.server.wire import MAPS, MERGE_PATCH, YAML, Row, check, config_map

NO_METHOD = "the server does not allow this method on the requested resource"
NOTHING = "the server could not find the requested resource"
NO_PAGE = "404 page not found\n"
OFFERED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
NOT_ACCEPTABLE = f"406: Not Acceptable\n\nAvailable representations: {OFFERED}"
STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
META = "g=meta.k8s.io;v=v1"


async def test_what_is_not_offered_is_not_allowed(api: Api) -> None:
    await check(
        api,
        *(
            Row(request, 405, NO_METHOD, b"{}" if request[:2] in ("PO", "PU", "PA") else None, content_type)
            for request, content_type in (
                (f"PUT {MAPS}", "application/json"),
                (f"PATCH {MAPS}", MERGE_PATCH),
                (f"POST {MAPS}/a", "application/json"),
                ("POST /api/v1/configmaps", "application/json"),
                ("DELETE /api/v1/configmaps", "application/json"),
                ("DELETE /api/v1/namespaces", "application/json"),
                ("POST /apis/apps/v1/namespaces/default/deployments/d/status", "application/json"),
                ("DELETE /apis/apps/v1/namespaces/default/deployments/d/scale", "application/json"),
                ("GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "application/json"),
                ("GET /api/v1/namespaces/default/finalize", "application/json"),
                ("POST /version", "application/json"),
                ("DELETE /api/v1", "application/json"),
                ("OPTIONS /apis/apps/v1", "application/json"),
                (f"OPTIONS {MAPS}", "application/json"),
            )
        ),
    )
    assert [(await api("HEAD", path)).status for path in (MAPS, f"{MAPS}/a", "/version", "/apis")] == [
        405,
        405,
        405,
        200,
    ]


async def test_what_is_not_there_is_not_found(api: Api) -> None:
    await check(
        api,
        *(
            Row(f"GET {path}", 404, NOTHING, reason="NotFound")
            for path in (
                "/api/v1/namespaces/default/nope",
                f"{MAPS}/a/nope",
                f"{MAPS}/a/status",
                "/api/v1/namespaces/default/nodes",
                "/apis/apps/v9/namespaces/default/deployments",
                "/apis/apps/v2",
                "/api/v3",
                "/api/v1/namespaces/default/configmaps/a%2Fb",
            )
        ),
        *(
            Row(f"GET {path}", 404, NO_PAGE)
            for path in ("/nope", "/apis/nope.io", "/apis/nope.io/v1/x", "/healthz/nope")
        ),
        Row(f"GET {MAPS}/nope", 404, 'configmaps "nope" not found'),
        Row("GET /api/v1/namespaces/default/pods/x/log", 404, 'pods "x" not found'),
        Row("POST /api/v1/namespaces/nope/configmaps", 404, 'namespaces "nope" not found', config_map("a")),
        Row("GET /api/v1/namespaces/nope/configmaps", 200),
        Row(f"GET {MAPS}/%00", 404, 'configmaps "\\x00" not found'),
    )


async def test_names_that_cannot_stand_in_a_url_are_refused(api: Api) -> None:
    async def get(path: str) -> tuple[int, Any]:
        # No client would leave such a path as it is, unless told so.
        async with api.session.get(yarl.URL(f"{api.url}{path}", encoded=True)) as answer:
            is_json = answer.content_type == "application/json"
            return answer.status, (await answer.json())["message"] if is_json else await answer.text()

    assert await get(f"{MAPS}/.") == (400, "Name parameter invalid: \".\": may not be '.'")
    assert await get(f"{MAPS}/..") == (400, "Name parameter invalid: \"..\": may not be '..'")
    assert await get(f"{MAPS}/%zz") == (400, "400 Bad Request")


async def test_options_that_make_no_sense_are_refused_together(api: Api) -> None:
    start = '.meta.k8s.io "" is invalid: '
    dry_run = 'dryRun: Unsupported value: ["x"]: supported values: "All"'
    validation = 'fieldValidation: Unsupported value: "x": supported values: "", "Ignore", "Strict", "Warn"'
    manager = 'fieldManager: Invalid value: "\\x01": invalid character U+0001 (at position 0)'
    apply = "application/apply-patch+yaml"
    await check(
        api,
        Row(f"POST {MAPS}?dryRun=x&fieldValidation=x", 422, f"CreateOptions{start}[{dry_run}, {validation}]", b"{}"),
        Row(f"PUT {MAPS}/a?fieldManager=%01", 422, f"UpdateOptions{start}{manager}", b"{}"),
        Row(
            f"PATCH {MAPS}/a?dryRun=x",
            422,
            f"PatchOptions{start}[fieldManager: Required value: is required for apply patch, {dry_run}]",
            b"{}",
            apply,
        ),
        Row(
            f"PATCH {MAPS}/a?force=0",
            422,
            f"PatchOptions{start}force: Forbidden: may not be specified for non-apply patch",
            b"{}",
            MERGE_PATCH,
        ),
        Row(f"DELETE {MAPS}/a?dryRun=x&fieldManager=%01", 422, f"DeleteOptions{start}{dry_run}"),
        Row(
            f"POST {MAPS}?fieldManager={'m' * 129}",
            422,
            f"CreateOptions{start}fieldManager: Too long: may not be more than 128 bytes",
            b"{}",
        ),
        Row(f"GET {MAPS}?timeout=x", 400, 'invalid timeout specified in the request URL - time: invalid duration "x"'),
        Row(f"GET {MAPS}?limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
    )


async def test_what_a_client_does_not_accept_it_does_not_get(api: Api) -> None:
    async def refused(path: str, accept: str) -> str:
        answer = await api("GET", path, Accept=accept)
        assert (answer.status, answer.body["reason"]) == (406, "NotAcceptable")
        return str(answer.body["message"])

    only = f"only the following media types are accepted: {OFFERED}"
    assert await refused(f"{MAPS}/nope", "text/html") == NOT_ACCEPTABLE
    assert await refused(MAPS, "application/*") == f"{NOT_ACCEPTABLE}, {STREAMS}"
    assert await refused("/apis", "text/html") == only
    assert await refused("/api/v1", f"application/json;as=Table;{META}") == only
    assert await refused(MAPS, f"application/json;as=Nope;{META}") == only
    assert (
        await refused("/version", "text/html") == "406: Not Acceptable\n\nAvailable representations: application/json"
    )
    streams = await api("GET", f"{MAPS}?watch=1", Accept=YAML)
    assert (
        streams.status,
        f"only the following media types are accepted: {STREAMS}" in " ".join(streams.body.decode().split()),
    ) == (406, True)


async def test_answers_and_refusals_look_as_the_client_wants(api: Api) -> None:
    await api("POST", MAPS, config_map("a", data={"text": "two\nlines\n", "number": "1"}))
    shown = (await api("GET", f"{MAPS}/a", Accept=YAML)).body.decode()
    assert shown.startswith('apiVersion: v1\ndata:\n  number: "1"\n  text: |\n    two\n    lines\nkind: ConfigMap\n')
    refused = await api("GET", f"{MAPS}/nope", Accept=YAML)
    assert (refused.status, refused.headers["Content-Type"]) == (404, YAML)
    assert 'message: configmaps "nope" not found\n' in refused.body.decode()


@pytest.mark.parametrize(
    ("query", "agent", "is_pretty"),
    [("", "x", False), ("?pretty=1", "x", True), ("?pretty=0", "curl/8", False), ("", "curl/8", True)],
)
async def test_json_is_indented_for_people(api: Api, query: str, agent: str, is_pretty: bool) -> None:
    for path in ("/api/v1/namespaces/default", "/api/v1/namespaces/nope"):
        async with api.session.get(f"{api.url}{path}{query}", headers={"User-Agent": agent}) as answer:
            body = await answer.text()
        assert (body.count("\n") > 1, body.endswith("}\n")) == (is_pretty, not is_pretty)


async def test_every_answer_says_that_it_may_not_be_kept(api: Api) -> None:
    objects = (MAPS, f"{MAPS}/nope", "/api/v1/namespaces/default")
    others = ("/version", "/healthz", "/readyz?verbose", "/metrics", "/openapi/v3/none", "/nothing", "/apis/x.y/v1/z")
    for path in (*objects, *others):
        assert (await api("GET", path)).headers["Cache-Control"] == "no-cache, private", path


async def test_the_keys_of_tokens_may_be_kept_for_an_hour(api: Api) -> None:
    for path in ("/openid/v1/jwks", "/.well-known/openid-configuration"):
        assert (await api("GET", path)).headers["Cache-Control"] == "public, max-age=3600", path


async def test_strangers_learn_nothing_but_that_they_are_strangers(api: Api) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as session:
        stranger = Api(session, api.url)
        await check(
            stranger,
            Row(
                f"GET {MAPS}",
                403,
                'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
            ),
            Row("GET /nope", 403, 'forbidden: User "system:anonymous" cannot get path "/nope"'),
            Row("GET /healthz", 200),
            Row("GET /version", 200),
        )
        for forged in ("x", "a.b.c", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0."):
            answer = await stranger("GET", MAPS, Authorization=f"Bearer {forged}")
            assert (answer.status, answer.body["message"]) == (401, "Unauthorized")


async def test_who_may_see_one_object_may_list_just_that(api: Api) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"], "resourceNames": ["mine"]}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one"}
    user = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}
    await check(
        api,
        Row(f"POST {rbac}/roles", 201, body={"metadata": {"name": "one"}, "rules": rules}),
        Row(f"POST {rbac}/rolebindings", 201, body={"metadata": {"name": "one"}, "roleRef": role, "subjects": [user]}),
    )
    jane = Api(api.session, api.url, {"Impersonate-User": "jane"})
    assert (await jane("GET", f"{MAPS}?fieldSelector=metadata.name%3Dmine")).status == 200
    assert (await jane("GET", f"{MAPS}?fieldSelector=metadata.name%3Dother")).status == 403
    assert (await jane("GET", MAPS)).status == 403
