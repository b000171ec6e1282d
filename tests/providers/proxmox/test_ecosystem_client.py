"""proxmoxer, the client that Ansible and many others use, gets along with the same fake."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from aiohttp import web
from proxmoxer import ProxmoxAPI, ResourceException
from proxmoxer.core import AuthenticationError
from proxmoxer.tools import Tasks

from butler.providers.testing.driver import driving
from butler.providers.testing.web import Handler, serving
from testbed.running import loopback_tls
from tests.providers.proxmox.fake import PASSWORD, TOKEN_SECRET, USER, Pve
from tests.providers.proxmox.harness import ProxmoxHarness, cluster

Answer = TypeVar("Answer")
AUTH = {
    "token": {"user": USER, "token_name": "machines", "token_value": TOKEN_SECRET},
    "password": {"user": USER, "password": PASSWORD},
}


class World:
    """A cluster by TLS, and someone else's client in a thread of its own."""

    def __init__(self, pve: Pve, authority: Path) -> None:
        self.pve, self.authority = pve, str(authority)
        self._clients: list[Any] = []
        self.transports: list[asyncio.Transport] = []

    @web.middleware
    async def remember(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        assert request.transport is not None
        self.transports.append(request.transport)
        return await handler(request)

    def at(self, url: str) -> None:
        self.host, self.harness = url.removeprefix("https://"), ProxmoxHarness(self.pve, url, insecure=True)

    async def client(self, **login: str) -> Any:
        made = await self.ask(lambda: ProxmoxAPI(self.host, verify_ssl=self.authority, **login))
        self._clients.append(made)
        return made

    async def close(self) -> None:
        """The client has no way to be closed itself, and leaves without the good-bye that TLS waits for."""
        for client in self._clients:
            await self.ask(client._store["session"].close)
        for transport in self.transports:
            transport.abort()
        for _ in range(3):
            await asyncio.sleep(0)

    async def ask(self, call: Callable[[], Answer]) -> Answer:
        return await asyncio.to_thread(call)

    async def done(self, client: Any, call: Callable[[], str]) -> dict[str, Any]:
        """Start a task and let time pass until it has ended."""
        task = await self.ask(call)
        node = Tasks.decode_upid(task)["node"]
        for _ in range(20):
            status: dict[str, Any] = await self.ask(client.nodes(node).tasks(task).status.get)
            if status["status"] == "stopped":
                return status
            self.pve.clock.pass_by(5)
        raise AssertionError("the task does not end")


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    authority = tmp_path / "ca.pem"
    authority.write_text(loopback_tls.authority())
    world = World(cluster(), authority)
    app = world.pve.app()
    app.middlewares.append(world.remember)
    async with serving(app, loopback_tls.context()) as url:
        world.at(url)
        yield world
        await world.close()


@pytest.mark.parametrize("auth", AUTH)
async def test_a_machine_from_its_beginning_to_its_end(world: World, auth: str) -> None:
    client = await world.client(**AUTH[auth])
    vmid = int(await world.ask(client.cluster.nextid.get))
    node = client.nodes("pve1")
    vm = node.qemu(vmid)

    assert (await world.done(client, lambda: node.qemu(9000).clone.post(newid=vmid, name="web", full=1)))[
        "exitstatus"
    ] == "OK"
    await world.done(client, lambda: vm.config.post(cores=4, memory=8192, tags="one;two", agent="enabled=1"))
    await world.done(client, lambda: vm.resize.put(disk="scsi0", size="+5G"))
    await world.done(client, vm.status.start.post)

    config = await world.ask(vm.config.get)
    assert (config["cores"], config["memory"], config["tags"], config["name"]) == (4, "8192", "one;two", "web")
    assert config["scsi0"].endswith("size=15G")
    assert (await world.ask(vm.status.current.get))["status"] == "running"
    world.pve.clock.pass_by(60)
    told = await world.ask(vm.agent("network-get-interfaces").get)
    assert [one["name"] for one in told["result"]] == ["lo", "eth0", "cni0", "bond0"]
    listed = await world.ask(lambda: client.cluster.resources.get(type="vm"))
    assert [(one["name"], one["status"]) for one in listed if one["vmid"] == vmid] == [("web", "running")]

    await world.done(client, vm.status.stop.post)
    assert (await world.ask(vm.status.current.get))["status"] == "stopped"
    await world.done(client, vm.status.start.post)
    await world.done(client, lambda: vm.status.shutdown.post(forceStop=1))
    await world.done(client, lambda: vm.delete(purge=1, **{"destroy-unreferenced-disks": 1}))
    with pytest.raises(ResourceException, match="does not exist"):
        await world.ask(vm.config.get)


async def test_an_iso_image_is_uploaded_listed_and_removed(world: World, tmp_path: Path) -> None:
    client = await world.client(**AUTH["token"])
    storage = client.nodes("pve1").storage("local")
    (tmp_path / "seed.iso").write_bytes(b"\0" * 32769 + b"CD001")
    with (tmp_path / "seed.iso").open("rb") as file:
        copied = await world.done(client, lambda: storage.upload.post(content="iso", filename=file))
    assert copied["exitstatus"] == "OK"
    listed = await world.ask(lambda: storage.content.get(content="iso"))
    assert [one["volid"] for one in listed] == ["local:iso/seed.iso"]
    await world.done(client, storage.content("local:iso/seed.iso").delete)
    assert await world.ask(lambda: storage.content.get(content="iso")) == []


async def test_what_butler_makes_is_what_the_client_sees(world: World) -> None:
    order = world.harness.order("web")
    async with driving(world.harness) as driver:
        machine = await driver.bring_up(order)
    client = await world.client(**AUTH["password"])
    listed = await world.ask(lambda: client.cluster.resources.get(type="vm"))
    (mine,) = [one for one in listed if f"butler-{order.token}" in one.get("tags", "").split(";")]
    config = await world.ask(client.nodes(mine["node"]).qemu(mine["vmid"]).config.get)
    assert config["smbios1"] == f"uuid={machine.id.removeprefix('proxmox://')}"
    assert config["name"] == "web"


async def test_parameters_that_are_wrong_are_told_one_by_one(world: World) -> None:
    client = await world.client(**AUTH["token"])
    with pytest.raises(ResourceException) as raised:
        await world.ask(lambda: client.nodes("pve1").qemu(9000).clone.post(newid=5, colour="red", full="maybe"))
    assert raised.value.status_code == 400
    assert raised.value.content.startswith("Parameter verification failed.")
    assert set(raised.value.errors) == {"newid", "colour", "full"}


async def test_what_the_user_may_not_do_is_told_in_the_reason(world: World) -> None:
    client = await world.client(**AUTH["token"])
    del world.pve.acl["/"]["VM.Clone"]
    with pytest.raises(ResourceException) as raised:
        await world.ask(lambda: client.nodes("pve1").qemu(9000).clone.post(newid=500))
    assert (raised.value.status_code, raised.value.content[:65]) == (
        403,
        "Permission check failed (/vms/9000, VM.Clone)",
    )


async def test_a_wrong_password_is_told(world: World) -> None:
    with pytest.raises(AuthenticationError, match="401"):
        await world.client(user=USER, password="wrong")
