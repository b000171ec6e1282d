"""Habits of Go operators that were seen on the wire, each with what it needs from a server."""

from __future__ import annotations

import base64
from typing import Any

import aiohttp
import pytest

from kubekit.server.kinds import protobuf
from kubekit.server.kinds.protobuf import wire
from kubekit.server.serve.server import Server
from tests.http_api import Api
from tests.server.webhook import Json, Webhook, allowed, serving
from tests.server.wire import MERGE_PATCH

PROTOBUF = "application/vnd.kubernetes.protobuf"
STREAMED_LIST = "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=300"
METADATA = (
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
)
MAPS = "/api/v1/namespaces/default/configmaps"
HOOKS = "/apis/admissionregistration.k8s.io/v1"

EVENT = (
    "azhzAAoLCgJ2MRIFRXZlbnQSlQIKMQofd2ViLTc4NjZjY2ZmNjQuMThlODMzNzlkZGE1OGNjOBIAGgJrYyIAKgAyADgAQgASVQoKUmVwbGljYVNl"
    "dBICa2MaDndlYi03ODY2Y2NmZjY0IiRhYTRkM2RjYy00NDk0LTQ0YTQtYjE1NC05OGVhNzYyMjFmZjkqB2FwcHMvdjEyAjQ1OgAaEFN1Y2Nlc3Nm"
    "dWxDcmVhdGUiIUNyZWF0ZWQgcG9kOiB3ZWItNzg2NmNjZmY2NC04Y2t6bioZChVyZXBsaWNhc2V0LWNvbnRyb2xsZXISADIICLqm5tcGEAA6CAi6"
    "pubXBhAAQAFKBk5vcm1hbFIAYgByFXJlcGxpY2FzZXQtY29udHJvbGxlcnoAGgAiAA=="
)
"""What kube-controller-manager 1.36 sends when a ReplicaSet has made a pod."""
SLICE = (
    "azhzAAokChNkaXNjb3ZlcnkuazhzLmlvL3YxEg1FbmRwb2ludFNsaWNlEpUCCowCCgASBHdlYi0aAmtjIgAqADIAOABCAFpJCiZlbmRwb2ludHNs"
    "aWNlLmt1YmVybmV0ZXMuaW8vbWFuYWdlZC1ieRIfZW5kcG9pbnRzbGljZS1jb250cm9sbGVyLms4cy5pb1ohChprdWJlcm5ldGVzLmlvL3NlcnZp"
    "Y2UtbmFtZRIDd2ViYkgKMGVuZHBvaW50cy5rdWJlcm5ldGVzLmlvL2xhc3QtY2hhbmdlLXRyaWdnZXItdGltZRIUMjAyNi0xMS0xNVQxMToxMDo0"
    "OVpqPAoHU2VydmljZRoDd2ViIiRjNmRjYTUxMi03NWQ2LTQ1NTctOGI4NS0wNGVlMmNiOWVhODIqAnYxMAE4ASIESVB2NBoAIgA="
)
"""And what it sends for a Service whose pods have no address yet."""


async def test_every_kind_can_be_listed_as_a_stream(api: Api) -> None:
    """client-go opens its informers so; one kind that does not answer keeps a controller from starting."""
    discovered = await api(
        "GET", "/apis", Accept="application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    )
    core = await api("GET", "/api/v1")
    paths = [f"/api/v1/{one['name']}" for one in core.body["resources"] if "watch" in one["verbs"]]
    for group in discovered.body["items"]:
        for version in group["versions"]:
            base = f"/apis/{group['metadata']['name']}/{version['version']}"
            paths += [f"{base}/{one['resource']}" for one in version["resources"] if "watch" in one["verbs"]]
    assert len(paths) > 50
    for path in paths:
        async with api.session.get(
            f"{api.url}{path}?{STREAMED_LIST}&watch=true", headers={"Accept": f"{PROTOBUF}, */*"}
        ) as answer:
            assert answer.status == 200, path
            async for line in answer.content:
                if b'"k8s.io/initial-events-end":"true"' in line:
                    break


@pytest.mark.parametrize(
    "path",
    [
        "networking.k8s.io/v1/ipaddresses",
        "networking.k8s.io/v1/servicecidrs",
        "resource.k8s.io/v1/deviceclasses",
        "resource.k8s.io/v1/resourceclaims",
        "resource.k8s.io/v1/resourceclaimtemplates",
        "resource.k8s.io/v1/resourceslices",
        "storage.k8s.io/v1/volumeattributesclasses",
    ],
)
async def test_kinds_that_controllers_wait_for_are_there(api: Api, path: str) -> None:
    assert (await api("GET", f"/apis/{path}")).status == 200


async def test_a_metadata_informer_sees_no_more_than_metadata(api: Api) -> None:
    await api("POST", MAPS, {"metadata": {"name": "c"}, "data": {"k": "v"}})
    query = f"{STREAMED_LIST}&watch=true&fieldSelector=metadata.name%3Dc"
    async with api.session.get(f"{api.url}{MAPS}?{query}", headers={"Accept": METADATA}) as answer:
        event = await framed(answer)
    assert event["type"] == "ADDED"
    assert (event["object"]["kind"], event["object"]["metadata"]["name"]) == ("PartialObjectMetadata", "c")
    assert "data" not in event["object"]


async def framed(answer: aiohttp.ClientResponse) -> Json:
    """The next event of a watch in protobuf."""
    assert answer.headers["Content-Type"] == f"{PROTOBUF};stream=watch"
    length = int.from_bytes(await answer.content.readexactly(4), "big")
    members = fields_of(await answer.content.readexactly(length))
    return {"type": members[1].decode(), "object": protobuf.decode(fields_of(members[2])[1])}


def fields_of(content: bytes) -> dict[int, bytes]:
    """The byte strings of a message by their numbers."""
    found, position = {}, 0
    while position < len(content):
        tag, position = wire.read_varint(content, position)
        value, position = wire.read_value(content, position, tag & 7)
        assert isinstance(value, bytes)
        found[tag >> 3] = value
    return found


async def test_a_client_that_takes_only_protobuf_gets_it(api: Api) -> None:
    await api("POST", MAPS, {"metadata": {"name": "c"}, "data": {"k": "v"}})
    read = await api("GET", f"{MAPS}/c", Accept=PROTOBUF)
    assert (read.headers["Content-Type"], protobuf.decode(read.body)["data"]) == (PROTOBUF, {"k": "v"})
    listed = protobuf.decode((await api("GET", MAPS, Accept=PROTOBUF)).body)
    assert (listed["kind"], [one["metadata"]["name"] for one in listed["items"]]) == (
        "ConfigMapList",
        ["c", "kube-root-ca.crt"],
    )
    async with api.session.get(f"{api.url}{MAPS}?watch=true", headers={"Accept": PROTOBUF}) as answer:
        event = await framed(answer)
    assert (event["object"]["kind"], event["object"]["data"]) == ("ConfigMap", {"k": "v"})


async def test_metadata_is_alike_in_a_list_and_in_a_watch(api: Api) -> None:
    """client-go compares them, and keeps the type of an object only when it comes in JSON."""
    await api("POST", MAPS, {"metadata": {"name": "c"}})
    accept = METADATA.replace("Metadata;", "MetadataList;")
    listed = await api("GET", f"{MAPS}?fieldSelector=metadata.name%3Dc", Accept=accept)
    assert listed.headers["Content-Type"] == PROTOBUF
    found = protobuf.decode(listed.body)
    assert (found["kind"], found["items"][0]["metadata"]["name"]) == ("PartialObjectMetadataList", "c")


@pytest.mark.parametrize(
    ("path", "body", "fact"),
    [
        ("/api/v1/namespaces/kc/events", EVENT, ("reason", "SuccessfulCreate")),
        ("/apis/discovery.k8s.io/v1/namespaces/kc/endpointslices", SLICE, ("addressType", "IPv4")),
    ],
    ids=["event", "slice"],
)
async def test_a_controller_manager_writes_protobuf(api: Api, path: str, body: str, fact: tuple[str, str]) -> None:
    await api("POST", "/api/v1/namespaces", {"metadata": {"name": "kc"}})
    made = await api("POST", path, base64.b64decode(body), PROTOBUF, Accept=f"{PROTOBUF}, */*")
    assert (made.status, made.body[fact[0]]) == (201, fact[1])
    assert made.body["metadata"]["name"].startswith("web-")


async def test_an_annotation_that_comes_with_a_status_is_no_new_generation(api: Api) -> None:
    """The deployment controller notes the revision so; a new generation would say that the spec had changed."""
    at = "/apis/apps/v1/namespaces/default/deployments"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    made = (await api("POST", at, {"metadata": {"name": "web"}, "spec": spec})).body
    made["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "1"}
    noted = await api("PUT", f"{at}/web/status", {**made, "status": {"observedGeneration": 1}})
    assert noted.body["metadata"]["annotations"] == {"deployment.kubernetes.io/revision": "1"}
    assert noted.body["metadata"]["generation"] == 1


async def test_a_job_keeps_the_labels_it_was_given_even_when_its_pods_have_the_same(api: Api) -> None:
    """Argo Rollouts makes such jobs; only a job without labels of its own shows those of its pods."""
    labels = {"run": "1"}
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    spec = {"template": {"metadata": {"labels": labels}, "spec": pod}}
    at = "/apis/batch/v1/namespaces/default/jobs"
    given = await api("POST", at, {"metadata": {"name": "given", "labels": labels}, "spec": spec})
    assert given.body["metadata"]["labels"] == labels
    plain = await api("POST", at, {"metadata": {"name": "plain"}, "spec": spec})
    assert plain.body["metadata"]["labels"] == plain.body["spec"]["template"]["metadata"]["labels"]
    assert plain.body["metadata"]["labels"]["batch.kubernetes.io/job-name"] == "plain"


def configuration(kind: str, hook: Webhook | Json, **changed: Any) -> Json:
    client = hook.client if isinstance(hook, Webhook) else hook
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
    webhook = {
        "name": "tests.example.com",
        "clientConfig": client,
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "matchPolicy": "Equivalent",
        **changed,
    }
    return {"kind": f"{kind}WebhookConfiguration", "metadata": {"name": "tests"}, "webhooks": [webhook]}


async def install(api: Api, kind: str, hook: Webhook | Json, **changed: Any) -> None:
    made = await api("POST", f"{HOOKS}/{kind.lower()}webhookconfigurations", configuration(kind, hook, **changed))
    assert made.status == 201, made.body


async def test_a_mutating_webhook_fills_in(api: Api) -> None:
    patch = [{"op": "add", "path": "/data", "value": {"by": "webhook"}}]
    async with serving(lambda review: allowed(review, patch)) as hook:
        await install(api, "Mutating", hook)
        made = await api("POST", MAPS, {"metadata": {"name": "c"}})
        assert made.body["data"] == {"by": "webhook"}
        request = hook.reviews[0]["request"]
        assert (request["operation"], request["kind"]["kind"], request["dryRun"]) == ("CREATE", "ConfigMap", False)
        assert request["userInfo"]["username"] == "kubernetes-admin"
        assert (request["object"]["apiVersion"], request["object"]["kind"]) == ("v1", "ConfigMap")


async def test_a_validating_webhook_refuses_in_its_own_words(api: Api) -> None:
    def refuse(review: Json) -> Json:
        response = {"uid": review["request"]["uid"], "allowed": False, "status": {"message": "no", "code": 422}}
        return {**allowed(review), "response": response}

    async with serving(refuse) as hook:
        await install(api, "Validating", hook)
        refused = await api("POST", MAPS, {"metadata": {"name": "c"}})
        assert refused.body["message"] == 'admission webhook "tests.example.com" denied the request: no'
        assert refused.status == 422
        assert (await api("GET", f"{MAPS}/c")).status == 404


async def test_an_update_shows_the_webhook_both_versions(api: Api) -> None:
    async with serving(allowed) as hook:
        await api("POST", MAPS, {"metadata": {"name": "c"}, "data": {"k": "1"}})
        await install(api, "Validating", hook)
        await api("PATCH", f"{MAPS}/c", {"data": {"k": "2"}}, MERGE_PATCH)
        request = hook.reviews[0]["request"]
        assert (request["oldObject"]["data"], request["object"]["data"]) == ({"k": "1"}, {"k": "2"})


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({}, "received invalid webhook response: webhook response was absent"),
        ({"response": {"uid": "other"}}, 'received invalid webhook response: expected response.uid="'),
    ],
    ids=["absent", "other"],
)
async def test_an_answer_that_is_none_fails_closed(api: Api, answer: Json, problem: str) -> None:
    async with serving(lambda review: answer) as hook:
        await install(api, "Validating", hook)
        refused = await api("POST", MAPS, {"metadata": {"name": "c"}})
        start = 'Internal error occurred: failed calling webhook "tests.example.com": '
        assert (refused.status, refused.body["message"].startswith(start + problem)) == (500, True)


async def test_a_webhook_nobody_answers_for_is_named_unless_it_may_be_missing(api: Api) -> None:
    await install(api, "Validating", {"url": "https://127.0.0.1:1/x"})
    refused = await api("POST", MAPS, {"metadata": {"name": "c"}})
    assert refused.body["message"] == (
        'Internal error occurred: failed calling webhook "tests.example.com": failed to call webhook: '
        'Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused'
    )
    at = f"{HOOKS}/validatingwebhookconfigurations/tests"
    ignoring = configuration("Validating", {"url": "https://127.0.0.1:1/x"}, failurePolicy="Ignore")
    await api("PATCH", at, {"webhooks": ignoring["webhooks"]}, "application/merge-patch+json")
    assert (await api("POST", MAPS, {"metadata": {"name": "c"}})).status == 201


async def test_a_webhook_behind_a_service_is_found_by_its_endpoints(api: Api) -> None:
    reference = {"service": {"name": "hook", "namespace": "default", "path": "/x"}}
    await install(api, "Validating", reference)
    begin = 'failed to call webhook: Post "https://hook.default.svc:443/x?timeout=10s": '
    missing = await api("POST", MAPS, {"metadata": {"name": "c"}})
    assert f'{begin}service "hook" not found' in missing.body["message"]
    await api(
        "POST",
        "/api/v1/namespaces/default/services",
        {"metadata": {"name": "hook"}, "spec": {"ports": [{"port": 443}]}},
    )
    empty = await api("POST", MAPS, {"metadata": {"name": "c"}})
    assert f'{begin}no endpoints available for service "hook"' in empty.body["message"]


async def test_a_webhook_that_knows_another_version_is_asked_in_that_one(api: Api, server: Server) -> None:
    """Cluster API registers its webhooks for its newest version only, and serves older ones."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [{"name": name, "served": True, "storage": name == "v2", "schema": schema} for name in ("v1", "v2")]
    names = {"plural": "things", "kind": "Thing"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": versions}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    await api("POST", definitions, {"metadata": {"name": "things.example.com"}, "spec": spec})
    await server.root.settled()
    patch = [{"op": "add", "path": "/spec", "value": {"filled": True}}]
    async with serving(lambda review: allowed(review, patch)) as hook:
        rule = {"apiGroups": ["example.com"], "apiVersions": ["v2"], "operations": ["*"], "resources": ["things"]}
        await install(api, "Mutating", hook, rules=[rule])
        thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}
        made = await api("POST", "/apis/example.com/v1/namespaces/default/things", thing)
        assert (made.body["apiVersion"], made.body["spec"]) == ("example.com/v1", {"filled": True})
        request = hook.reviews[0]["request"]
        assert (request["kind"]["version"], request["requestKind"]["version"]) == ("v2", "v1")
        assert request["object"]["apiVersion"] == "example.com/v2"
