"""Controllers as programs: how they start, what they say when they cannot, and how they end."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import urllib.request
from contextlib import AbstractContextManager, aclosing
from pathlib import Path
from typing import Any

import pytest

from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient
from kubekit.clock import SystemChance, SystemClock
from kubekit.model.resource import Address
from kubekit.runtime.leader import LEASE
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key_of
from kubekit.runtime.program import FAILED, KIND_MISSING, add
from testbed.running.embedded import ServerProcess
from tests.programs import Program, running
from tests.runtime.controller_world import Scripted, done
from tests.runtime.world import Widget, WidgetSpace

NAMESPACES = Address("", "v1", "Namespace", "namespaces", False)
HEAD = """
from kubekit import Address, Election, Model, Outcome, Reconciler, Resource, Status, condition, run, status_with

class TuneSpec(Model):
    title: str

class TuneStatus(Status):
    length: int | None = None

class {kind}(Resource, plural="{plural}", group="music.example.com", version="v1"):
    spec: TuneSpec
    status: TuneStatus = TuneStatus()

class Tunes(Reconciler[{kind}]):
    kind = {kind}

    async def reconcile(self, obj):
        return Outcome(status_with(obj, condition("Heard", True, "Played"), length=len(obj.spec.title)))
"""


def program(folder: Path, config: Path, kind: str, call: str) -> AbstractContextManager[Program]:
    """Runs a file with a controller for a kind of its own."""
    script = folder / "tunes.py"
    script.write_text(HEAD.format(kind=kind, plural=f"{kind.lower()}s") + call)
    return running(script, config)


def test_a_kind_that_is_not_offered_is_named_with_what_to_do(tmp_path: Path, server_process: ServerProcess) -> None:
    with program(tmp_path, server_process.kubeconfig, "Silence", "run(Tunes, port=None)") as running:
        code, said = running.ended()
    assert code == KIND_MISSING
    assert "does not offer:\n  silences.music.example.com in version v1 (kind Silence): apply its Custom" in said
    assert "kubekit.definition(Silence), or let run(…, define=[Silence]) do it" in said
    assert "Traceback" not in said


def test_a_kind_of_others_is_named_too(tmp_path: Path, server_process: ServerProcess) -> None:
    calls = """
Tunes.kind = Address.of("apps/v2", "Deployment")
class Others(Reconciler): kind = Address.of("nobody.example.com/v1", "Thing")
run(Tunes, Others, port=None)"""
    with program(tmp_path, server_process.kubeconfig, "Unused", calls) as running:
        code, said = running.ended()
    assert code == KIND_MISSING
    assert "deployments.apps in version v2 (kind Deployment): it offers v1" in said
    assert "things.nobody.example.com in version v1 (kind Thing): install what brings" in said


def test_a_kubeconfig_that_is_not_there_is_said(tmp_path: Path) -> None:
    with program(tmp_path, tmp_path / "none", "Tune", "run(Tunes)") as running:
        code, said = running.ended()
    assert (code, said) == (FAILED, f"error: {tmp_path}/none: current-context: is not set; there are no contexts\n")


def test_an_api_that_does_not_answer_is_said(tmp_path: Path) -> None:
    cluster = {"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}
    context = {"name": "a", "context": {"cluster": "a", "user": "a"}}
    known = {"clusters": [cluster], "contexts": [context], "users": [{"name": "a"}], "current-context": "a"}
    (tmp_path / "config").write_text(json.dumps(known))
    with program(tmp_path, tmp_path / "config", "Tune", "run(Tunes)") as running:
        code, said = running.ended()
    assert (code, said) == (FAILED, "error: 127.0.0.1:1: Connection refused\n")


async def test_a_program_defines_its_kind_works_answers_and_ends_in_order(
    tmp_path: Path, server_process: ServerProcess
) -> None:
    call = 'run(Tunes(), define=[Tune], host="127.0.0.1", port=0, election=Election("tunes", "default"))'
    with program(tmp_path, server_process.kubeconfig, "Tune", call) as running:
        served = await asyncio.to_thread(running.until, "serving")
        assert re.match(
            r"time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=INFO logger=kubekit.runtime serving", served
        )
        await asyncio.to_thread(running.until, "started controllers=tunes")
        async with HttpClient(kubeconfig.load(server_process.kubeconfig)) as client:
            heard = await first_heard(client, "Tune", "default")
            assert (heard["status"]["length"], heard["status"]["observedGeneration"]) == (6, 1)
            port = re.search(r"port=(\d+)", served)
            assert port is not None
            assert await asyncio.to_thread(fetch, f"http://127.0.0.1:{port[1]}/readyz") == "ok"
            metrics = await asyncio.to_thread(fetch, f"http://127.0.0.1:{port[1]}/metrics")
            assert 'controller_runtime_reconcile_total{controller="tunes",result="success"} 1' in metrics
            assert (await client.get(LEASE, "tunes", "default"))["spec"]["holderIdentity"]
            running.process.send_signal(signal.SIGTERM)
            code, said = await asyncio.to_thread(running.ended)
            assert not (await client.get(LEASE, "tunes", "default"))["spec"].get("holderIdentity")
    assert code == 0
    assert "stopping signal=SIGTERM" in said
    assert "stopped manager=controller" in said


async def test_a_program_can_keep_to_one_namespace(tmp_path: Path, server_process: ServerProcess) -> None:
    call = 'run(lambda manager: Tunes(), define=[Chant], namespace="choir", port=None)'
    async with HttpClient(kubeconfig.load(server_process.kubeconfig)) as client:
        await client.create({"metadata": {"name": "choir"}}, NAMESPACES)
        with program(tmp_path, server_process.kubeconfig, "Chant", call) as running:
            await asyncio.to_thread(running.until, "namespace=choir")
            await client.create(tune("default"), address("Chant"))
            await first_heard(client, "Chant", "choir")
            assert "status" not in await client.get(address("Chant"), "first", "default")
            running.process.send_signal(signal.SIGINT)
            assert (await asyncio.to_thread(running.ended))[0] == 0


def test_logging_that_is_set_up_is_left_alone(tmp_path: Path, server_process: ServerProcess) -> None:
    call = """
import logging
logging.basicConfig(format="mine %(message)s", level=logging.INFO)
run(Tunes, define=[Hum], port=None)"""
    with program(tmp_path, server_process.kubeconfig, "Hum", call) as running:
        assert running.until("started").startswith("mine started controllers=hums")


@pytest.mark.parametrize("maker", [Scripted(done), lambda: Scripted(done), lambda manager: Scripted(done)])
async def test_reconcilers_come_made_or_to_be_made(maker: Any) -> None:
    manager = Manager(WidgetSpace(SystemClock(), SystemChance()).client())
    add(manager, [maker])
    assert [controller.name for controller in manager.controllers] == [Widget.address.plural]


def address(kind: str) -> Address:
    return Address.of("music.example.com/v1", kind)


def tune(namespace: str) -> dict[str, Any]:
    return {"metadata": {"name": "first", "namespace": namespace}, "spec": {"title": "Bolero"}}


async def first_heard(client: HttpClient, kind: str, namespace: str) -> Any:
    """Make an object of the kind, and wait until a controller has said so."""
    await client.create(tune(namespace), address(kind))
    async with asyncio.timeout(100), aclosing(client.watch(address(kind))) as events:
        async for event in events:
            if event.item is not None and key_of(event.item) == f"{namespace}/first" and event.item.get("status"):
                return event.item
    raise AssertionError("the watch ended")


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return str(answer.read().decode())
