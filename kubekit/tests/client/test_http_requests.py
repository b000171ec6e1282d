"""What goes over the wire and back: pods, discovery, warnings, and what importing costs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from kubekit.client import kubeconfig
from kubekit.client.codec import codec_for
from kubekit.client.discovery import Kinds
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client
from kubekit.client.remote_command import Channel, Execution
from kubekit.errors import BadRequest, Forbidden, NotFound, ServiceUnavailable, TooManyRequests
from kubekit.model.resource import Address
from kubekit.server.client import DirectClient
from kubekit.server.serve.server import Server
from tests.client.servers import POD, Handler, answering, serving
from tests.client.worlds import CONFIG_MAP, WIDGET, Widget, config_map, widget

PODS = Address("", "v1", "Pod", "pods", True)


@pytest.fixture
async def client(server: Server) -> AsyncIterator[HttpClient]:
    async with HttpClient(kubeconfig.load(server.kubeconfig)) as made:
        yield made


def both_are_clients(over_http: HttpClient, direct: DirectClient) -> tuple[Client, Client]:
    """Checked by mypy: both have every verb of the protocol."""
    return over_http, direct


async def test_a_server_below_a_path_is_reached(server: Server) -> None:
    await server.add_space("demo")
    path = server.data / "demo.kubeconfig"
    path.write_bytes(server.admin_kubeconfig("demo"))
    async with HttpClient(kubeconfig.load(path)) as client:
        await client.create(config_map("a", "default"), CONFIG_MAP)
    with pytest.raises(NotFound):
        await DirectClient(server.root).get(CONFIG_MAP, "a", "default")
    assert await DirectClient(server.spaces["demo"]).get(CONFIG_MAP, "a", "default")


async def test_compression_can_be_declined() -> None:
    async with serving(answering(POD)) as place:
        for declined in (False, True):
            async with HttpClient(place.config(disable_compression=declined)) as client:
                await client.get(PODS, "a", "team")
        assert [request.headers["Accept-Encoding"] for request in place.requests][1] == "identity"
        assert "gzip" in place.requests[0].headers["Accept-Encoding"]


async def test_warnings_are_passed_on(server: Server) -> None:
    told: list[str] = []
    strange = {**config_map("a", "default"), "nonsense": 1}
    async with HttpClient(kubeconfig.load(server.kubeconfig), warn=told.append) as client:
        await client.create(strange, CONFIG_MAP)
    await DirectClient(server.root, warn=told.append).create(
        {**strange, "metadata": {"name": "b", "namespace": "default"}}, CONFIG_MAP
    )
    assert told == ['unknown field "nonsense"'] * 2


async def test_a_warning_nobody_asked_for_is_logged_once(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    async with HttpClient(kubeconfig.load(server.kubeconfig)) as client:
        for name in ("a", "b"):
            await client.create({**config_map(name, "default"), "nonsense": 1}, CONFIG_MAP)
    assert [record.message for record in caplog.records if record.name == "kubekit.client"] == [
        'the API server warns: unknown field "nonsense"'
    ]


async def test_names_with_colons_are_found(client: HttpClient) -> None:
    roles = Address("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)
    assert (await client.get(roles, "system:basic-user"))["metadata"]["name"] == "system:basic-user"


def test_an_object_says_what_it_is_even_if_its_class_does_not() -> None:
    body = json.loads(codec_for(Widget).body(widget("a", "team")))
    assert (body["apiVersion"], body["kind"]) == (WIDGET.api_version, "Widget")
    assert json.loads(codec_for(CONFIG_MAP).body({"data": {}}))["kind"] == "ConfigMap"


async def test_the_version_of_a_server_is_told(client: HttpClient) -> None:
    assert (await client.version()).major == "1"


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("pods", "pods"),
        ("pod", "pods"),
        ("po", "pods"),
        ("Pod", "pods"),
        ("deploy", "deployments.apps"),
        ("Deployments.apps", "deployments.apps"),
        ("deployments.v1.apps", "deployments.apps"),
        ("events", "events"),
        ("events.events.k8s.io", "events.events.k8s.io"),
        ("crd", "customresourcedefinitions.apiextensions.k8s.io"),
        ("cm.v1", "configmaps"),
    ],
)
async def test_a_word_means_a_kind(client: HttpClient, word: str, name: str) -> None:
    assert (await client.discover()).find(word).address.name == name


async def test_a_word_that_means_nothing_is_not_found(client: HttpClient) -> None:
    kinds = await client.discover()
    with pytest.raises(NotFound, match=r"the server doesn't have a resource type \"foo\"$"):
        kinds.find("foo")
    with pytest.raises(NotFound, match='resource type "pods" in group "apps"'):
        kinds.find("pods.apps")


async def test_what_a_kind_offers_is_known(client: HttpClient) -> None:
    kinds = await client.discover()
    pods = kinds.find("pods")
    assert pods.address == PODS
    assert {"get", "list", "watch"} <= set(pods.verbs)
    assert {"status", "eviction", "log"} <= set(pods.subresources)
    assert "deployments.apps" in [one.address.name for one in kinds.in_category("all")]


async def test_an_older_server_tells_the_same_in_more_words(server: Server, client: HttpClient) -> None:
    modern = await client.discover()
    config = kubeconfig.load(server.kubeconfig)

    async def old(request: web.BaseRequest) -> web.StreamResponse:
        """Answers as a server did that did not know the new form; one group is out of order."""
        if request.path.startswith("/apis/policy/"):
            return web.Response(status=503, text="service unavailable")
        reply = await upstream.call("GET", request.path)
        return web.Response(body=reply.body, content_type="application/json")

    async with HttpClient(config) as behind, serving(old) as place, HttpClient(place.config()) as asking:
        upstream = behind._transport
        found = await asking.discover()
    assert found.broken == ("policy/v1",)

    def flat(kinds: Kinds) -> set[Any]:
        return {
            (one.address, one.singular, one.short_names, one.verbs, frozenset(one.subresources))
            for one in kinds
            if one.address.group != "policy"
        }

    assert flat(found) == flat(modern)


async def test_a_pod_is_evicted_as_its_budget_allows(client: HttpClient) -> None:
    pod = {
        "metadata": {"name": "a", "namespace": "default", "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    await client.create(pod, PODS)
    await client.patch(PODS, "a", {"status": {"phase": "Running"}}, "default", subresource="status")
    budgets = Address("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", True)
    budget = {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
    }
    await client.create(budget, budgets)
    with pytest.raises(TooManyRequests) as refused:
        await client.evict("a", "default")
    assert refused.value.details is not None
    assert refused.value.details.causes[0].reason == "DisruptionBudget"
    await client.delete(budgets, "b", "default")
    await client.evict("a", "default")
    with pytest.raises(NotFound):
        await client.get(PODS, "a", "default")


async def test_logs_come_by_lines() -> None:
    async def log(request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in (b"one\ntw", b"o\n", b"\n\xff three"):
            await response.write(piece)
        return response

    async with serving(log) as place, HttpClient(place.config()) as client:
        options: Any = {"container": "c", "follow": True, "tail": 5, "since": 60, "timestamps": True}
        lines = [line async for line in client.logs("a", "team", **options)]
        request = place.requests[0]
    assert lines == ["one", "two", "", "\ufffd three"]
    assert request.path == "/api/v1/namespaces/team/pods/a/log"
    assert dict(request.rel_url.query) == {
        "container": "c",
        "follow": "true",
        "tailLines": "5",
        "sinceSeconds": "60",
        "timestamps": "true",
    }


async def test_logs_that_a_server_does_not_offer_are_refused_in_its_words(client: HttpClient) -> None:
    with pytest.raises(NotFound, match='pods "a" not found'):
        await anext(client.logs("a", "default"))


def container(end: dict[str, Any] | None, protocol: str = "v5.channel.k8s.io") -> Any:
    """Something that echoes what it is told, in capital letters, and then ends so."""

    async def run(request: web.BaseRequest) -> web.StreamResponse:
        channel = web.WebSocketResponse(protocols=[protocol])
        await channel.prepare(request)
        async for message in channel:
            assert message.type is aiohttp.WSMsgType.BINARY
            number, data = message.data[0], message.data[1:]
            if number == Channel.STDIN.value and data != b"end":
                await channel.send_bytes(bytes([Channel.STDOUT.value]) + data.upper())
                continue
            if number == Channel.RESIZE.value:
                await channel.send_bytes(bytes([Channel.STDERR.value]) + data)
                continue
            break
        if end is not None:
            await channel.send_bytes(bytes([Channel.ERROR.value]) + json.dumps(end).encode())
        await channel.close()
        return channel

    return run


@asynccontextmanager
async def running(handler: Handler) -> AsyncIterator[Execution]:
    async with (
        serving(handler) as place,
        HttpClient(place.config()) as client,
        client.exec("a", "team", ["x"]) as command,
    ):
        yield command


FAILED = {
    "status": "Failure",
    "reason": "NonZeroExitCode",
    "details": {"causes": [{"reason": "ExitCode", "message": "3"}]},
}


@pytest.mark.parametrize(("end", "code"), [({"status": "Success"}, 0), (FAILED, 3)])
@pytest.mark.parametrize("protocol", ["v5.channel.k8s.io", "v4.channel.k8s.io"])
async def test_a_command_is_run_and_its_exit_code_known(end: dict[str, Any], code: int, protocol: str) -> None:
    async with serving(container(end, protocol)) as place, HttpClient(place.config()) as client:
        async with client.exec("a", "team", ["sh", "-c", "cat"], container="c", stdin=True) as command:
            await command.resize(80, 24)
            await command.write(b"hello")
            if protocol.startswith("v5"):
                await command.end_input()
            else:
                await command.write(b"end")
            output = [(one.channel, one.data) async for one in command.output()]
            assert command.code == code
        request = place.requests[0]
    assert output == [(Channel.STDERR, b'{"Width":80,"Height":24}'), (Channel.STDOUT, b"HELLO")]
    assert request.path == "/api/v1/namespaces/team/pods/a/exec"
    assert request.rel_url.query.getall("command") == ["sh", "-c", "cat"]
    assert {"stdin", "stdout", "stderr"} <= set(request.rel_url.query)
    assert "tty" not in request.rel_url.query


async def test_a_command_that_cannot_be_run_is_an_error() -> None:
    end = {"status": "Failure", "reason": "Forbidden", "message": "no such container"}
    async with running(container(end)) as command:
        await command.end_input()
        assert [one async for one in command.output()] == []
        with pytest.raises(Forbidden, match="no such container"):
            _ = command.code


async def test_a_command_whose_connection_is_cut_has_no_exit_code() -> None:
    async with running(container(None)) as command:
        await command.end_input()
        with pytest.raises(ServiceUnavailable, match="cut before the command ended"):
            _ = [one async for one in command.output()]


async def test_a_server_without_nodes_says_why_it_cannot_run_commands(client: HttpClient) -> None:
    pod = {"metadata": {"name": "a", "namespace": "default"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await client.create(pod, PODS)
    with pytest.raises(BadRequest, match="pod a does not have a host assigned"):
        async with client.exec("a", "default", ["ls"]):
            pass


def test_only_the_client_over_http_needs_an_http_library() -> None:
    modules = (
        "protocol",
        "kubeconfig",
        "endless_watch",
        "codec",
        "discovery",
        "scale",
        "credentials",
        "remote_command",
    )
    imports = ", ".join(f"kubekit.client.{module}" for module in modules)
    check = f"import sys, {imports}; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
