"""Who we are: plug-ins that are asked, tokens that change, and what is sent when."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from kubekit.client.config import Cluster, Config, ExecPlugin, Impersonation, Material, User
from kubekit.client.exec_plugins import run
from kubekit.client.http import HttpClient
from kubekit.errors import ApiError, Unauthorized
from kubekit.model.resource import Address
from tests.client.servers import POD, Place, answering, keys, serving

PODS = Address("", "v1", "Pod", "pods", True)
V1 = "client.authentication.k8s.io/v1"
SECRET = "s3cr3t"


class Wall:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = datetime(2030, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


def script(directory: Path, body: str) -> str:
    """A program in Python; it counts how often it was called."""
    path = directory / "login"
    count = directory / "count"
    path.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        f"open({str(count)!r}, 'a').write('x')\ncalls = os.path.getsize({str(count)!r})\n{body}\n"
    )
    path.chmod(0o755)
    return str(path)


def calls(directory: Path) -> int:
    return (directory / "count").stat().st_size


def printing(status: str, api_version: str = V1) -> str:
    return f"print(json.dumps({{'apiVersion': {api_version!r}, 'kind': 'ExecCredential', 'status': {status}}}))"


def asking(command: str, **options: Any) -> User:
    given = {"interactive_mode": "Never", "api_version": V1, **options}
    return User(plugin=ExecPlugin(command, **given))


def config_asking(command: str, **options: Any) -> Config:
    return Config(Cluster("https://127.0.0.1:1"), asking(command, **options))


async def get(client: HttpClient) -> Any:
    return await client.get(PODS, "a", "team")


def tokens(place: Place) -> list[str]:
    return [request.headers.get("Authorization", "").removeprefix("Bearer ") for request in place.requests]


@pytest.mark.parametrize("version", [V1, "client.authentication.k8s.io/v1beta1"])
async def test_a_plug_in_is_told_about_the_cluster_and_answers_with_a_token(tmp_path: Path, version: str) -> None:
    told = tmp_path / "told"
    body = f"open({str(told)!r}, 'w').write(os.environ['KUBERNETES_EXEC_INFO'])\n" + printing(
        "{'token': sys.argv[1] + os.environ['MINE']}", version
    )
    plugin = asking(
        script(tmp_path, body), api_version=version, args=("one",), env={"MINE": "two"}, provide_cluster_info=True
    )
    cluster = Cluster("https://host", Material(b"authority"), tls_server_name="inner", exec_config={"audience": "x"})
    assert (await run(Config(cluster, plugin))).token == "onetwo"
    info = json.loads(told.read_text())
    assert (info["apiVersion"], info["kind"], info["spec"]["interactive"]) == (version, "ExecCredential", False)
    assert info["spec"]["cluster"] == {
        "server": "https://host",
        "tls-server-name": "inner",
        "certificate-authority-data": base64.b64encode(b"authority").decode(),
        "config": {"audience": "x"},
    }


async def test_a_plug_in_is_told_of_the_cluster_only_if_it_wants_to_know(tmp_path: Path) -> None:
    body = "assert 'cluster' not in json.loads(os.environ['KUBERNETES_EXEC_INFO'])['spec']\n" + printing(
        "{'token': 't'}"
    )
    assert (await run(config_asking(script(tmp_path, body)))).token == "t"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"print({SECRET!r}); sys.stderr.write('who are\\n you?'); sys.exit(3)", "it ended with 3: who are you?"),
        (f"print({SECRET!r})", "what it printed is not an ExecCredential"),
        (printing(f"{{'token': '{SECRET}'}}", "client.authentication.k8s.io/v1beta1"), f"an ExecCredential of {V1}"),
        (printing("None"), "it printed neither a token nor a certificate"),
        (printing(f"{{'clientCertificateData': '{SECRET}'}}"), "a certificate or a key, but not both"),
    ],
)
async def test_a_plug_in_that_fails_is_named_with_what_it_complained_of(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(Unauthorized) as refused:
        await run(config_asking(script(tmp_path, body)))
    assert said in str(refused.value)
    assert f"{tmp_path}/login" in str(refused.value)
    assert SECRET not in "".join(map(str, (refused.value, refused.value.__cause__, refused.value.__context__)))


async def test_a_missing_plug_in_is_said_with_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(Unauthorized, match="there is no such program; Get it from here"):
        await run(config_asking(f"{tmp_path}/missing", install_hint="Get it from\nhere"))


async def test_a_plug_in_is_not_run_by_a_shell(tmp_path: Path) -> None:
    command = script(tmp_path, printing("{'token': sys.argv[1]}"))
    assert (await run(config_asking(command, args=("$(id);`id`",)))).token == "$(id);`id`"


async def test_a_plug_in_that_must_ask_someone_needs_a_terminal(tmp_path: Path) -> None:
    with pytest.raises(Unauthorized, match="standard input is not a terminal"):
        await run(config_asking(script(tmp_path, ""), interactive_mode="Always"))


async def test_a_cancelled_plug_in_is_ended(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    os.mkfifo(pid)
    body = f"open({str(pid)!r}, 'w').write(str(os.getpid()))\nimport time\ntime.sleep(60)"
    asked = asyncio.create_task(run(config_asking(script(tmp_path, body))))
    number = int(await asyncio.to_thread(pid.read_text))
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


async def test_credentials_are_kept_until_shortly_before_they_expire(tmp_path: Path) -> None:
    clock = Wall()
    until = (clock.time + timedelta(minutes=5)).isoformat()
    user = asking(script(tmp_path, printing(f"{{'token': 't%d' % calls, 'expirationTimestamp': '{until}'}}")))
    async with serving(answering(POD), keys(tmp_path / "pki")) as place:
        async with HttpClient(place.config(user), clock=clock) as client:
            await asyncio.gather(*(get(client) for _ in range(5)))
            assert calls(tmp_path) == 1
            clock.time += timedelta(minutes=4, seconds=55)
            await get(client)
        assert tokens(place) == ["t1"] * 5 + ["t2"]


async def test_a_refused_token_is_renewed_once(tmp_path: Path) -> None:
    user = asking(script(tmp_path, printing("{'token': 't%d' % calls}")))

    async def picky(request: web.BaseRequest) -> web.StreamResponse:
        good = request.headers["Authorization"] == "Bearer t2"
        return web.json_response(
            POD if good else {"kind": "Status", "reason": "Unauthorized"}, status=200 if good else 401
        )

    async with serving(picky, keys(tmp_path / "pki")) as place, HttpClient(place.config(user)) as client:
        found = await asyncio.gather(*(get(client) for _ in range(5)))
        assert len(found) == 5
    assert calls(tmp_path) == 2


async def test_a_server_that_refuses_everything_is_not_asked_for_ever(tmp_path: Path) -> None:
    user = asking(script(tmp_path, printing("{'token': 't%d' % calls}")))
    refusing = answering({"kind": "Status", "reason": "Unauthorized", "message": "Unauthorized"}, 401)
    async with serving(refusing, keys(tmp_path / "pki")) as place, HttpClient(place.config(user)) as client:
        with pytest.raises(Unauthorized):
            await get(client)
        with pytest.raises(Unauthorized):
            await anext(client.watch(PODS))
        assert tokens(place) == ["t1", "t2", "t2", "t3"]


async def test_a_plug_in_can_answer_with_a_certificate(tmp_path: Path) -> None:
    pki = keys(tmp_path / "pki")
    pair = pki.issue_client_certificate("someone", ["people"], 1)
    status = {"clientCertificateData": pair.certificate.decode(), "clientKeyData": pair.key.decode()}

    async def who(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        return web.json_response({"subject": request.transport.get_extra_info("peercert")["subject"]})

    async with serving(who, pki) as place:
        user = asking(script(tmp_path, printing(repr(status))))
        async with HttpClient(place.config(user)) as client:
            assert "someone" in str(await get(client))


async def test_a_token_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("one\n")
    user = User(token_file=file)
    async with serving(answering(POD), keys(tmp_path / "pki")) as place, HttpClient(place.config(user)) as client:
        await get(client)
        (tmp_path / "next").write_text("two\n")
        (tmp_path / "next").replace(file)
        await get(client)
        file.unlink()
        await get(client)
        assert tokens(place) == ["one", "two", "two"]


async def test_a_token_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    async with HttpClient(Config(Cluster("https://127.0.0.1:1"), User(token_file=tmp_path / "token"))) as client:
        with pytest.raises(Unauthorized, match=r"token file .*/token: No such file"):
            await get(client)


async def test_a_token_stands_in_for_a_file_that_is_not_there(tmp_path: Path) -> None:
    user = User(token="spare", token_file=tmp_path / "token")
    async with serving(answering(POD), keys(tmp_path / "pki")) as place, HttpClient(place.config(user)) as client:
        await get(client)
        assert tokens(place) == ["spare"]


async def test_certificate_files_are_read_again_when_the_server_refuses_them(tmp_path: Path) -> None:
    pki = keys(tmp_path / "pki")
    files = Material(file=tmp_path / "crt"), Material(file=tmp_path / "key")

    def place_pair(name: str) -> None:
        pair = pki.issue_client_certificate(name, [], 1)
        (tmp_path / "crt").write_bytes(pair.certificate)
        (tmp_path / "key").write_bytes(pair.key)

    async def picky(request: web.BaseRequest) -> web.StreamResponse:
        assert request.transport is not None
        good = "new" in str(request.transport.get_extra_info("peercert"))
        place_pair("new")
        return web.json_response(POD if good else {"kind": "Status"}, status=200 if good else 401)

    place_pair("old")
    async with serving(picky, pki) as place, HttpClient(place.config(User(*files))) as client:
        assert (await get(client))["kind"] == "Pod"
        assert len(place.requests) == 2


async def test_a_password_is_sent_as_such(tmp_path: Path) -> None:
    user = User(username="me", password="p:w")
    async with serving(answering(POD), keys(tmp_path / "pki")) as place, HttpClient(place.config(user)) as client:
        await get(client)
        assert tokens(place) == [f"Basic {base64.b64encode(b'me:p:w').decode()}"]


async def test_nothing_secret_goes_over_a_connection_anyone_can_read() -> None:
    async with serving(answering(POD)) as place, HttpClient(place.config(User(token=SECRET))) as client:
        await get(client)
        assert tokens(place) == [""]


async def test_someone_else_is_impersonated() -> None:
    other = Impersonation("jane", ("a", "b"), "7", {"example.com/reason": ("x", "y")})
    async with serving(answering(POD)) as place, HttpClient(place.config(User(impersonation=other))) as client:
        await get(client)
        headers = place.requests[0].headers
    assert (headers["Impersonate-User"], headers["Impersonate-Uid"]) == ("jane", "7")
    assert headers.getall("Impersonate-Group") == ["a", "b"]
    assert headers.getall("Impersonate-Extra-example.com%2Freason") == ["x", "y"]


async def test_no_error_and_no_client_shows_a_secret(tmp_path: Path) -> None:
    user = User(token=SECRET)
    refusing = answering({"kind": "Status", "reason": "Forbidden"}, 403)
    async with serving(refusing, keys(tmp_path / "pki")) as place, HttpClient(place.config(user)) as client:
        with pytest.raises(ApiError) as refused:
            await get(client)
        assert SECRET not in repr(refused.value) + repr(client.config) + repr(vars(client))
