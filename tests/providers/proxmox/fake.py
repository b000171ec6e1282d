"""Proxmox VE on loopback: a cluster of two hosts, as strict as the real one, by a clock that is moved by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import format_datetime
from itertools import count
from typing import Any
from urllib.parse import unquote

from aiohttp import web

from butler.providers.testing import Faults
from butler.providers.testing.web import troubling
from tests.providers.clocks import HandClock
from tests.providers.proxmox import fake_schema

TOKEN_USER, TOKEN_SECRET = "butler@pve!machines", "7c1a0c9e-canary-4b1d-9f55-token"
USER, PASSWORD = "butler@pve", "pass-canary word+/=9"
TICKET_LIFE, RRD = 7200.0, 10.0
"""Seconds a ticket is good for, and between two looks of the statistics daemon."""
GIB = 1 << 30
EVERYTHING = (
    "VM.Allocate", "VM.Audit", "VM.Clone", "VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Disk", "VM.Config.HWType",
    "VM.Config.Memory", "VM.Config.Network", "VM.Config.Options", "VM.PowerMgmt", "VM.Monitor", "VM.GuestAgent.Audit",
    "Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.AllocateTemplate", "Datastore.Audit", "SDN.Use",
    "Sys.Audit", "Sys.AccessNetwork", "Pool.Allocate",
)  # fmt: skip


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, reason: str, errors: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status, self.reason, self.errors = status, reason, errors


@dataclass
class Task:
    """A worker of a host: steps, each at its time."""

    upid: str
    node: str
    kind: str
    about: str
    user: str
    steps: list[tuple[float, Callable[[], None]]]
    exit: str = ""
    makes: Guest | None = None
    """What will be there in a moment."""

    @property
    def is_running(self) -> bool:
        return not self.exit


@dataclass
class Guest:
    """A VM: its configuration file, and whether it runs."""

    vmid: int
    node: str
    conf: dict[str, str]
    name: str
    """What it will be called, which the configuration does not say while it is being made."""
    notes: str = ""
    running_since: float | None = None
    busy: Task | None = None

    @property
    def is_template(self) -> bool:
        return self.conf.get("template") == "1"


@dataclass
class Host:
    name: str
    is_online: bool = True
    memory: int = 256 * GIB
    used: int = 32 * GIB
    bridges: list[str] = field(default_factory=lambda: ["vmbr0", "vmbr1"])
    cores: int = 64


@dataclass
class Volume:
    volid: str
    size: int
    content: str
    made: float
    data: bytes = b""
    form: str = "raw"


@dataclass
class Storage:
    """One that is shared, or the one of that name on each host."""

    name: str
    content: set[str]
    is_shared: bool
    is_file: bool
    volumes: dict[str, dict[str, Volume]] = field(default_factory=dict)
    size: int = 1000 * GIB
    used: int = 100 * GIB
    is_full: bool = False

    def on(self, node: str) -> dict[str, Volume]:
        return self.volumes.setdefault("" if self.is_shared else node, {})


@dataclass(frozen=True)
class Call:
    """A request that came in, as the schema sees it."""

    method: str
    route: str
    at: dict[str, str]
    given: dict[str, str]
    user: str
    data: bytes = b""


Handler = Callable[["Pve", Call], Any]
HANDLERS: dict[tuple[str, str], Handler] = {}


def handles(method: str, route: str) -> Callable[[Handler], Handler]:
    def remember(handler: Handler) -> Handler:
        HANDLERS[method, route] = handler
        return handler

    return remember


class Pve:
    """The whole cluster."""

    def __init__(self) -> None:
        self.faults, self.clock = Faults(), HandClock()
        self.version = "8.4.1"
        self.hosts = {name: Host(name) for name in ("pve1", "pve2")}
        self.storages = {
            "ceph": Storage("ceph", {"images", "rootdir"}, is_shared=True, is_file=False),
            "local": Storage("local", {"iso", "vztmpl", "import", "backup"}, is_shared=False, is_file=True),
            "local-lvm": Storage("local-lvm", {"images", "rootdir"}, is_shared=False, is_file=False),
        }
        self.pools = {"butler"}
        self.acl: dict[str, dict[str, bool]] = {"/": dict.fromkeys(EVERYTHING, True)}
        """Privileges by path, and whether they hold for what is below."""
        self.unseen: set[int] = set()
        """VMs that the user is not allowed to see."""
        self.containers: set[int] = set()
        """Guests that are no VMs."""
        self.needs_second_factor = False
        self.guests: dict[int, Guest] = {}
        self.tasks: dict[str, Task] = {}
        self.tickets: dict[str, float] = {}
        self.calls: list[Call] = []
        self.statistics: dict[int, dict[str, Any]] = {}
        self.looked_at = -RRD
        self.numbers = count(1)

    @property
    def now(self) -> float:
        return self.clock.monotonic()

    def add_template(self, vmid: int, name: str, node: str = "pve1", storage: str = "ceph", **more: str) -> Guest:
        volid = f"{storage}:base-{vmid}-disk-0"
        self.storages[storage].on(node)[volid] = Volume(volid, 10 * GIB, "images", self.now)
        conf = {
            "name": name, "template": "1", "boot": "order=scsi0", "scsi0": f"{volid},size=10G", "cores": "2",
            "memory": "2048", "net0": f"virtio={self.mac()},bridge=vmbr0", "ide2": "none,media=cdrom",
            "smbios1": f"uuid={self.uuid()}", "ostype": "l26", "tags": "golden", "scsihw": "virtio-scsi-single",
        } | more  # fmt: skip
        return self.add_guest(vmid, node, conf)

    def add_guest(self, vmid: int, node: str, conf: dict[str, str]) -> Guest:
        guest = Guest(vmid, node, conf, conf.get("name", ""), conf.get("description", ""))
        self.guests[vmid] = guest
        self.look_round()
        return guest

    def mac(self) -> str:
        number = next(self.numbers)
        return f"BC:24:11:00:{number // 256:02X}:{number % 256:02X}"

    def uuid(self) -> str:
        return f"00000000-0000-4000-8000-{next(self.numbers):012}"

    def look_round(self) -> None:
        """The statistics daemon looks at every guest: names and states in the cluster's list are as old as that."""
        self.looked_at = self.now
        self.statistics = {
            one.vmid: {
                "name": one.conf.get("name", f"VM {one.vmid}"),
                "status": "running" if one.running_since is not None else "stopped",
                "template": int(one.is_template),
                "maxcpu": int(one.conf.get("cores", 1)),
                "maxmem": int(one.conf.get("memory", 512)) << 20,
            }
            for one in self.guests.values()
        }

    def work(self, call: Call, kind: str, about: str, *steps: tuple[float, Callable[[], None]], node: str = "") -> str:
        """Start a task. Answers its UPID."""
        node = node or call.at["node"]
        number = next(self.numbers)
        upid = f"UPID:{node}:{number:08X}:{number * 7:08X}:{int(self.clock.now().timestamp()):08X}:{kind}:{about}:"
        task = Task(f"{upid}{call.user}:", node, kind, about, call.user, [])
        task.steps = [(self.now + after, step) for after, step in steps]
        self.tasks[task.upid] = task
        return task.upid

    def forget(self, vmid: int) -> None:
        self.guests.pop(vmid, None)

    def existing(self) -> list[Guest]:
        """All VMs, with those whose making has begun and of which nothing can be seen yet."""
        self.catch_up()
        coming = {one.makes.vmid: one.makes for one in self.tasks.values() if one.is_running and one.makes is not None}
        return list({**coming, **self.guests}.values())

    def catch_up(self) -> None:
        """Do what the workers have done by now, in the order in which they did it."""
        while due := [
            (one.steps[0][0], one) for one in self.tasks.values() if one.is_running and one.steps[0][0] <= self.now
        ]:
            task = min(due, key=lambda pair: pair[0])[1]
            _, step = task.steps.pop(0)
            try:
                step()
            except Refused as failure:
                task.exit = failure.reason
            else:
                task.exit = task.exit or ("" if task.steps else "OK")
        if self.now - self.looked_at >= RRD:
            self.look_round()

    def app(self) -> web.Application:
        app = web.Application(middlewares=[troubling(self.faults)], client_max_size=64 << 20)
        app.router.add_route("*", "/api2/json/{path:.*}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.Response:
        self.catch_up()
        headers = {"Date": format_datetime(self.clock.now(), usegmt=True)}
        try:
            data = await self._done(request)
        except Refused as refused:
            body: dict[str, Any] = {"data": None, "message": f"{refused.reason}\n"}
            if refused.errors:
                body["errors"] = refused.errors
            return web.json_response(body, status=refused.status, reason=refused.reason, headers=headers)
        return web.json_response({"data": data}, headers=headers)

    async def _done(self, request: web.Request) -> Any:
        method, path = request.method, "/" + unquote(request.match_info["path"])
        route, at = _matched(method, path)
        user = "" if route == "/access/ticket" else self._admitted(request)
        if method == "DELETE" and request.can_read_body:
            raise Refused(501, f"Unexpected content for method '{method}'")
        given, data = await _parameters(request)
        if problems := fake_schema.wrong(method, route, given):
            raise Refused(400, "Parameter verification failed.", problems)
        call = Call(method, route, at, given, user, data)
        self.calls.append(call)
        self._reach(at.get("node", ""))
        return HANDLERS[method, route](self, call)

    def _reach(self, node: str) -> None:
        if node and node not in self.hosts:
            raise Refused(500, f"hostname lookup '{node}' failed - failed to get address info for: {node}")
        if node and not self.hosts[node].is_online:
            raise Refused(595, "No route to host")

    def _admitted(self, request: web.Request) -> str:
        """Who asks: by an API token, or by a ticket and, for what changes something, a token against forged forms."""
        header = request.headers.get("Authorization", "")
        if header.startswith("PVEAPIToken="):
            user, _, secret = header.removeprefix("PVEAPIToken=").rpartition("=")
            if (user, secret) != (TOKEN_USER, TOKEN_SECRET):
                raise Refused(401, "invalid token value!")
            return user
        ticket = unquote(request.cookies.get("PVEAuthCookie", ""))
        if not ticket:
            raise Refused(401, "No ticket")
        if self.tickets.get(ticket, -1.0) < self.now:
            raise Refused(401, "permission denied - invalid PVE ticket")
        if request.method != "GET" and request.headers.get("CSRFPreventionToken") != csrf_of(ticket):
            raise Refused(401, "Permission denied - invalid csrf token")
        return ticket.split(":")[1]

    def demand(self, path: str, *privileges: str) -> None:
        """Turn away whoever may not."""
        for one in privileges:
            if not self.may(path, one):
                raise Refused(403, f"Permission check failed ({path}, {one})")

    def may(self, path: str, privilege: str) -> bool:
        above = path
        while above not in self.acl and above != "/":
            above = above.rpartition("/")[0] or "/"
        held = self.acl.get(above, {})
        return privilege in held and (above == path or held[privilege])


def csrf_of(ticket: str) -> str:
    return f"{ticket[-8:]}:csrf"


def _matched(method: str, path: str) -> tuple[str, dict[str, str]]:
    for known_method, route in HANDLERS:
        pattern = re.sub(r"\{(volume)\}", r"(?P<\1>.+)", route)
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)
        if known_method == method and (found := re.fullmatch(pattern, path)):
            return route, found.groupdict()
    raise Refused(501, f"Method '{method} {path}' not implemented")


async def _parameters(request: web.Request) -> tuple[dict[str, str], bytes]:
    given, data = dict(request.query), b""
    if request.can_read_body:
        kind = request.content_type
        if kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
            raise Refused(501, f"Unsupported content type '{kind}'")
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                with value.file as file:
                    data, given[name] = file.read(), value.filename
            else:
                given[name] = str(value)
    return given, data
