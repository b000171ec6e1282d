"""What Kubernetes' own end-to-end tests found here, each in its smallest form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from kubekit.server.kinds.openapi import OpenApi
from kubekit.server.kinds.registry import Kinds
from kubekit.server.serve.server import Server
from kubekit.server.spaces.background.garbage import GarbageCollector, Item
from kubekit.server.spaces.served_space import built_in
from tests.http_api import Api
from tests.server.test_kubectl_auth import signing_request
from tests.server.wire import JSON_PATCH, MERGE_PATCH

CORE = "/api/v1/namespaces/default"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS: dict[str, Any] = {
    "metadata": {"name": "things.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "kind": "Thing"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
        ],
    },
}


async def make_circle(api: Api, *names: str) -> None:
    """Each is owned by the one before it, and lets it wait."""
    uids = {}
    for name in names:
        made = await api("POST", f"{CORE}/configmaps", {"metadata": {"name": name}})
        uids[name] = made.body["metadata"]["uid"]
    for name, owner in zip(names, (names[-1], *names[:-1]), strict=True):
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": uids[owner]}
        meta = {"ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": True}]}
        await api("PATCH", f"{CORE}/configmaps/{name}", {"metadata": meta}, MERGE_PATCH)


async def test_owners_in_a_circle_do_not_wait_for_each_other(server: Server, api: Api) -> None:
    names = ("a", "b", "c")
    await make_circle(api, *names)
    await api("DELETE", f"{CORE}/configmaps/a?propagationPolicy=Foreground")
    await server.root.settled()
    assert [(await api("GET", f"{CORE}/configmaps/{name}")).status for name in names] == [404, 404, 404]


async def test_a_circle_in_which_all_wait_keeps_nobody_busy(server: Server, api: Api) -> None:
    """As in Kubernetes they stay; but nothing else has to wait for them."""
    await make_circle(api, "a", "b", "c")
    # Nobody works in the background while they are deleted, else the first of them would take the others along.
    await server.root.stop()
    for name in ("a", "b", "c"):
        await api("DELETE", f"{CORE}/configmaps/{name}?propagationPolicy=Foreground")
    collector = Patience(server.root)
    maps = server.root.kinds.at("", "v1", "configmaps")
    assert maps is not None
    collector.worker.add((server.root.bucket(maps), "default/a"))
    await collector.worker.idle()
    assert collector.left > 0


class Patience(GarbageCollector):
    """Looks at no more than a few objects, however many there seem to be."""

    left = 10

    async def _examine(self, item: Item) -> None:
        self.left -= 1
        if self.left >= 0:
            await super()._examine(item)


async def test_a_condition_without_a_type_stops_nothing(server: Server, api: Api) -> None:
    await api("POST", DEFINITIONS, THINGS)
    await server.root.settled()
    change = [{"op": "add", "path": "/status/conditions", "value": [{"message": "patched"}]}]
    patched = await api("PATCH", f"{DEFINITIONS}/things.example.com/status", change, JSON_PATCH)
    assert patched.status == 200
    await server.root.settled()
    assert (await api("GET", "/apis/example.com/v1/things")).status == 200


@pytest.mark.parametrize("path", [CORE, f"{CORE}/resourcequotas/one"], ids=["namespace", "quota"])
async def test_the_status_of_a_built_in_kind_takes_its_metadata_along(api: Api, path: str) -> None:
    await api("POST", f"{CORE}/resourcequotas", {"metadata": {"name": "one"}, "spec": {"hard": {"pods": "1"}}})
    patched = await api("PATCH", f"{path}/status", {"metadata": {"annotations": {"a": "b"}}}, MERGE_PATCH)
    assert patched.body["metadata"]["annotations"]["a"] == "b"


async def test_the_status_of_some_kinds_leaves_their_metadata_alone(server: Server, api: Api) -> None:
    await api("POST", DEFINITIONS, {**THINGS, "spec": with_status(THINGS["spec"])})
    await server.root.settled()
    things = "/apis/example.com/v1/namespaces/default/things"
    await api("POST", things, {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}})
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    await api("POST", deployments, {"metadata": {"name": "d"}, "spec": spec})
    change = {"metadata": {"labels": {"l": "l"}, "annotations": {"a": "b"}}}
    thing = await api("PATCH", f"{things}/t/status", change, MERGE_PATCH)
    assert not {"labels", "annotations"} & thing.body["metadata"].keys()
    deployment = await api("PATCH", f"{deployments}/d/status", change, MERGE_PATCH)
    assert "labels" not in deployment.body["metadata"]
    assert deployment.body["metadata"]["annotations"] == {"a": "b"}


def with_status(spec: dict[str, Any]) -> dict[str, Any]:
    [version] = spec["versions"]
    return {**spec, "versions": [{**version, "subresources": {"status": {}}}]}


@pytest.mark.parametrize(
    ("path", "selector", "obj"),
    [
        ("/api/v1/nodes", "spec.unschedulable=false", {}),
        (f"{CORE}/pods", "spec.hostNetwork=false", {"spec": {"containers": [{"name": "c", "image": "i"}]}}),
        (
            f"{CORE}/events",
            "source=kubelet",
            {"involvedObject": {"namespace": "default"}, "source": {"component": "kubelet"}},
        ),
        (
            "/apis/batch/v1/namespaces/default/jobs",
            "status.successful=0",
            {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}},
        ),
    ],
    ids=["node", "pod", "event", "job"],
)
async def test_what_is_not_set_is_selected_by_its_zero(api: Api, path: str, selector: str, obj: dict[str, Any]) -> None:
    made = await api("POST", path, {"metadata": {"name": "one"}, **obj})
    assert made.status == 201, made.body
    found = await api("GET", f"{path}?fieldSelector={selector.replace('=', '%3D')}")
    assert [one["metadata"]["name"] for one in found.body["items"]] == ["one"]
    others = await api("GET", f"{path}?fieldSelector={selector.replace('=', '%21%3D')}")
    assert others.body["items"] == []


async def test_the_authority_of_a_namespace_comes_back_when_it_is_changed(server: Server, api: Api) -> None:
    at = f"{CORE}/configmaps/kube-root-ca.crt"
    before = (await api("GET", at)).body["data"]
    await api("PUT", at, {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": ""}})
    await server.root.settled()
    assert (await api("GET", at)).body["data"] == before


async def test_a_time_long_ago_keeps_its_four_digits(api: Api) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    spec = {"acquireTime": "0001-01-01T00:00:02.000000Z"}
    made = await api("POST", leases, {"metadata": {"name": "l"}, "spec": spec})
    assert made.body["spec"] == spec


async def test_what_is_never_stored_has_no_table(api: Api) -> None:
    review = {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    refused = await api("POST", path, review, Accept=table)
    assert (refused.status, refused.body["reason"]) == (406, "NotAcceptable")
    assert (await api("POST", path, review, Accept=f"{table},application/json")).status == 201


async def test_documents_too_refuse_a_timeout_that_is_none(api: Api) -> None:
    refused = await api("GET", "/version?timeout=invalid")
    text = 'invalid timeout specified in the request URL - time: invalid duration "invalid"'
    assert (refused.status, refused.body["message"]) == (400, text)


async def test_a_certificate_request_can_be_approved_by_a_patch(api: Api) -> None:
    requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
    await api("POST", requests, signing_request("r").encode())
    condition = {"type": "Approved", "status": "True", "reason": "Test"}
    change = {"metadata": {"annotations": {"a": "b"}}, "status": {"conditions": [condition]}}
    patched = await api("PATCH", f"{requests}/r/approval", change, MERGE_PATCH)
    assert patched.body["metadata"]["annotations"] == {"a": "b"}
    assert [one["type"] for one in patched.body["status"]["conditions"]] == ["Approved"]


async def test_an_address_is_called_by_itself(api: Api) -> None:
    addresses = "/apis/networking.k8s.io/v1/ipaddresses"
    spec = {"parentRef": {"resource": "services", "name": "s", "namespace": "default"}}
    made = await api("POST", addresses, {"metadata": {"name": "fe80::42:1dff:fe84:f9e2"}, "spec": spec})
    assert made.status == 201
    refused = await api("POST", addresses, {"metadata": {"name": "nobody"}, "spec": {}})
    assert refused.body["message"] == (
        'IPAddress.networking.k8s.io "nobody" is invalid: [metadata.name: Invalid value: "nobody": must be a valid IP '
        "address, (e.g. 10.9.8.7 or 2001:db8::ffff), spec.parentRef: Required value]"
    )


def test_published_documents_survive_a_round_trip_through_go() -> None:
    """Go drops empty lists when it writes a document, and then takes it for another one."""
    api = OpenApi(Kinds(built_in()))
    for place in ("api/v1", "apis/admissionregistration.k8s.io/v1"):
        document = api.document(place)
        assert document is not None
        published = msgspec.json.decode(document.plain())
        assert [at for at, value in walked(published["paths"]) if value in ([], {})] == []


def walked(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    yield at, value
    if isinstance(value, dict):
        for key, one in value.items():
            yield from walked(one, f"{at}/{key}")
    elif isinstance(value, list):
        for one in value:
            yield from walked(one, f"{at}[]")
