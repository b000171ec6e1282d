"""What is asked of the fake of an infrastructure for a ProviderConfig, in an account that nobody used before."""

from __future__ import annotations

import copy
import json
import re
import ssl
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Middleware

from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.errors import ProviderError
from butler.providers import registry
from butler.providers.contract import (
    Blueprint,
    Check,
    ExtraDisk,
    Known,
    MachineOrder,
    Pool,
    Power,
    Provider,
    Surroundings,
)
from butler.providers.images import ImageOrder, Progress
from butler.providers.loadbalancer import BalancerOrder, BalancerTarget
from butler.providers.testing import Harness
from butler.providers.testing.web import Handler, serving
from kubekit.clock import Clock, SeededChance, SystemClock
from kubekit.errors import InvalidConfiguration
from kubekit.server.serve.server import Server
from testbed.running import loopback_tls

_STEPS = 12
"""So often something is asked for until it is there."""
_TOKEN = "11111111-2222-4333-8444-555555555555"
_IMAGE_URL = "https://factory.example.com/image/37656798/v1.9.0/nocloud-amd64.raw"


@dataclass
class Infrastructure:
    """A fake that answers, an account on it, and everything it was asked."""

    harness: Harness
    config: ProviderConfig
    credentials: Mapping[str, str]
    url: str
    clock: Clock = field(default_factory=SystemClock)
    calls: list[str] = field(default_factory=list)
    stored: Callable[[], Awaitable[list[object]]] | None = None
    """What is there afterwards, where the calls do not show it."""

    async def seen(self) -> list[str]:
        return [*self.calls, *map(str, await self.stored() if self.stored is not None else ())]


_BY_CHANCE = re.compile(
    r"(127\.0\.0\.1)(?::|%3A)\d+"
    r"|\b(subnet|vpc|sg|i|vol|eni|snap|import-ami|ami(?!-0a1b2c3d4e5f60719)|lh)-[0-9a-f]{8}[0-9a-f-]*"
    r"|(ClientToken=[0-9a-f-]{36})-[0-9a-f]{16}"
    r"|(/|2F)[0-9a-f]{16}\b"
)
"""Ports, and what the fakes name by chance; the image is that of the account."""


def _without_chance(told: list[str]) -> list[str]:
    return [_BY_CHANCE.sub(lambda found: next(filter(None, found.groups())), one) for one in told]


def _recording(calls: list[str]) -> Middleware:
    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        answer = await handler(request)
        is_opaque = request.content_type.startswith("multipart/") or request.path.endswith(("/token", "/ticket"))
        # Afterwards, because the fakes ask whether there is a body to be read.
        body = "" if is_opaque else (await request.read()).decode(errors="replace")
        calls.append(f"{request.method} {request.path_qs} {body}")
        return answer

    return middleware


@asynccontextmanager
async def _serving(app: web.Application, calls: list[str], tls: ssl.SSLContext | None) -> AsyncIterator[str]:
    app.middlewares.insert(0, _recording(calls))
    async with serving(app, tls) as url:
        yield url


def _tls(is_wanted: bool) -> ssl.SSLContext | None:
    return loopback_tls.context() if is_wanted else None


@asynccontextmanager
async def _harvester(by_tls: bool = False) -> AsyncIterator[Infrastructure]:
    from butler.providers.harvester import kinds
    from tests.providers.harvester import harness as harvester

    with tempfile.TemporaryDirectory(prefix="butler-fake-") as folder:
        keys = Path(folder) / "keys"
        async with Server(keys):
            """It makes them."""
        async with harvester.embedded(keys / "pki", Path(folder) / "fake") as made:

            async def stored() -> list[object]:
                listed = [one for kind in (kinds.VIRTUAL_MACHINE, kinds.CLAIM, kinds.SECRET, kinds.IMAGE)
                          for one in await made.all(kind)]  # fmt: skip
                return [_wanted(one) for one in listed]

            text = made.fake.kubeconfig()
            if by_tls:
                text = re.sub(r"(?m)^.*certificate-authority-data.*\n|certificate-authority-data: ?[^,}]+, ?", "", text)
            config = harvester.config(made.fake.namespace)
            yield Infrastructure(made, config, {"kubeconfig": text}, "", stored=stored)


def _wanted(obj: Any) -> str:
    """What is wanted of an object, without what its server gives it."""
    kept = {"metadata": {name: obj["metadata"].get(name) for name in ("name", "namespace", "labels", "annotations")}}
    shown = {**kept, **{name: obj[name] for name in ("spec", "data") if name in obj}}
    return re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", json.dumps(shown, sort_keys=True))


@asynccontextmanager
async def _nutanix(by_tls: bool = False) -> AsyncIterator[Infrastructure]:
    from tests.providers.nutanix import harness as nutanix
    from tests.providers.nutanix.fake import Prism
    from tests.providers.nutanix.fake_web import app

    prism, calls = Prism(offers_v4=True), list[str]()
    async with _serving(app(prism), calls, _tls(by_tls)) as url:
        made = nutanix.NutanixHarness(prism, url)
        yield Infrastructure(made, nutanix.config(url), nutanix.CREDENTIALS, url, calls=calls)


@asynccontextmanager
async def _proxmox(by_tls: bool = False) -> AsyncIterator[Infrastructure]:
    from tests.providers.proxmox import harness as proxmox

    pve, calls = proxmox.cluster(), list[str]()

    async def stored() -> list[object]:
        volumes = [one for store in pve.storages.values() for there in store.volumes.values() for one in there.values()]
        return [proxmox.read_iso(one.data) for one in volumes if one.data]

    async with _serving(pve.app(), calls, _tls(by_tls)) as url:
        made = proxmox.ProxmoxHarness(pve, url)
        yield Infrastructure(made, proxmox.config(url), proxmox.TOKEN, url, pve.clock, calls, stored)


@asynccontextmanager
async def _aws(by_tls: bool = False) -> AsyncIterator[Infrastructure]:
    from tests.providers.aws import configs
    from tests.providers.aws.fake import FakeAws
    from tests.providers.aws.harness import AwsHarness

    aws, calls = FakeAws("100000000000"), list[str]()
    aws.imports.bucket[configs.BUCKET] = {"image/37656798/v1.9.0/nocloud-amd64.raw"}
    try:
        async with _serving(aws.app(), calls, _tls(by_tls)) as url:
            yield Infrastructure(AwsHarness(aws, url), configs.config(url), configs.CREDENTIALS, url, aws.clock, calls)
    finally:
        aws.account.close()


@asynccontextmanager
async def _azure(by_tls: bool = False) -> AsyncIterator[Infrastructure]:
    from tests.providers.azure import harness as azure
    from tests.providers.azure.fake import Azure

    fake, calls = Azure(), list[str]()
    async with _serving(fake.app(), calls, _tls(True)) as url:
        yield Infrastructure(azure.AzureHarness(fake, url), azure.config(url), azure.CREDENTIALS, url, calls=calls)


@asynccontextmanager
async def _gcp(by_tls: bool = False) -> AsyncIterator[Infrastructure]:
    from tests.providers.gcp import harness as gcp
    from tests.providers.gcp.fake import Google
    from tests.providers.gcp.fake_issuer import key_file

    google, calls = Google(), list[str]()
    async with _serving(google.app(), calls, _tls(by_tls)) as url:
        credentials = {"serviceAccountKey": key_file(url)}
        yield Infrastructure(gcp.GcpHarness(google, url), gcp.config(url), credentials, url, google.clock, calls)


_FAKES: dict[str, Callable[[bool], AbstractAsyncContextManager[Infrastructure]]] = {
    "harvester": _harvester,
    "nutanix": _nutanix,
    "proxmox": _proxmox,
    "aws": _aws,
    "azure": _azure,
    "gcp": _gcp,
}
KINDS = tuple(_FAKES)

Change = Callable[[Infrastructure, dict[str, Any]], None]
"""Makes another of the spec of a ProviderConfig."""


async def asked_of(kind: str, change: Change, *, by_tls: bool = False) -> list[str]:
    """Everything that can be seen while an account is tried and a machine, a load balancer and an image are asked for,
    and the Cluster API objects of a cluster on it."""
    async with _FAKES[kind](by_tls) as there:
        spec = msgspec.to_builtins(there.config)["spec"]
        change(there, spec)
        wanted = {"metadata": {"name": "lab", "namespace": "butler-system"}, "spec": spec}
        told: list[str] = []
        try:
            config = normalise(msgspec.convert(wanted, ProviderConfig))
            around = Surroundings(clock=there.clock, chance=SeededChance(7), patience=10.0)
            provider = registry.connect(config, there.credentials, around)
        except (msgspec.ValidationError, InvalidConfiguration, ProviderError) as error:
            return _without_chance([str(error)])
        try:
            told += await _used(there, config, provider)
        finally:
            await provider.close()
        return _without_chance([*told, *await there.seen()])


async def _used(there: Infrastructure, config: ProviderConfig, provider: Provider) -> list[str]:
    told = [*_templates(config)]
    told.append(await _said(_checked(provider)))
    told.append(await _said(_machine(there, provider)))
    kind = config.spec.infrastructure
    if (balancers := registry.load_balancers(kind, provider)) is not None:
        order = BalancerOrder("shop", _TOKEN, 6443, 6443, (BalancerTarget(name="web", address="10.0.0.9"),))
        told.append(await _said(_until(there, lambda: balancers.ensure(order), lambda made: made.is_ready)))
    if (images := registry.images(kind, provider)) is not None:
        image = ImageOrder("talos", _TOKEN, _IMAGE_URL, "raw")
        told.append(
            await _said(_until(there, lambda: images.ensure(image), lambda made: made.progress is Progress.READY))
        )
    return told


def _templates(config: ProviderConfig) -> list[str]:
    made, pool = registry.templates(config.spec.infrastructure), Pool("", 4, "8Gi", "40Gi")
    blueprint = Blueprint("shop", "shop-1234", config, "v1.32.2", (pool,))
    told = []
    for make in (
        lambda: made.cluster(blueprint),
        lambda: made.machine(blueprint, pool),
        lambda: made.joining(blueprint, pool),
        lambda: made.extras(blueprint),
    ):
        try:
            told.append(str(make()))
        except InvalidConfiguration as error:
            told.append(str(error))
    return told


async def _said(doing: Awaitable[object]) -> str:
    try:
        return str(await doing)
    except ProviderError as error:
        return f"{error.reason}: {error}"


async def _checked(provider: Provider) -> tuple[Check, ...]:
    return await provider.check()


async def _machine(there: Infrastructure, provider: Provider) -> object:
    order = MachineOrder(
        "web", _TOKEN, 2, 4096, 40, "#cloud-config\n", {"purpose": "proof"}, extra_disks=(ExtraDisk(20),)
    )
    known = Known()
    for _ in range(_STEPS):
        machine = await provider.create(order, known)
        known = Known(machine.id or known.id, machine.task)
        if machine.power is Power.RUNNING and machine.addresses:
            return machine.power, len(machine.addresses)
        await there.harness.pass_time(there.harness.step)
    return "it does not come"


async def _until(there: Infrastructure, ask: Callable[[], Awaitable[Any]], is_done: Callable[[Any], bool]) -> object:
    for _ in range(_STEPS):
        if is_done(found := await ask()):
            return type(found).__name__
        await there.harness.pass_time(there.harness.step)
    return "it does not come"


ABSENT = object()
"""Stands for a field that nobody wrote."""


def put(spec: dict[str, Any], path: str, value: Any) -> None:
    """Write a field, or take it away."""
    *above, last = path.split(".")
    for name in above:
        spec = spec.setdefault(name, {})
    if value is ABSENT:
        spec.pop(last, None)
    else:
        spec[last] = copy.deepcopy(value)
