"""What every API holds from its first moment.

The objects are made once in the ordinary way, in a store of their own, and kept as a pattern: their bytes, with gaps
for what differs between spaces. Nearly all of them become a base that is stored once and lies under every space; the
few that say where the server listens are written for each space, because they change when the server moves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property

import msgspec

from kubekit.clock import SystemChance
from kubekit.model.resource import Object
from kubekit.server.access import default_roles
from kubekit.server.access.rbac import GROUP as RBAC
from kubekit.server.kinds.pods.pods import SYSTEM_PRIORITIES
from kubekit.server.kinds.registry import Kinds
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.user import MASTERS, UserInfo
from kubekit.server.pipeline.service_addresses import SERVICE_NETWORK, ServiceAddresses
from kubekit.server.pipeline.space import Space
from kubekit.server.pipeline.writes import create, rebuild
from kubekit.server.store.ground import Base
from kubekit.server.store.store import Store

from . import kubernetes_service
from .background import namespaces
from .kubernetes_service import Location

SYSTEM_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")

_PRIORITIES = {
    "system-cluster-critical": (
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."
    ),
    "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
}
"""What Kubernetes says of the classes it brings."""
_NETWORKS = {"IPv4": SERVICE_NETWORK, "IPv6": "fd00:10:96::/112"}
_ELSEWHERE = {"IPv4": "192.0.2.1", "IPv6": "2001:db8::1"}
"""Addresses for documentation: unlike the server's own, which may be on the loopback interface, they are valid."""
_SOMEBODY = "(the authority of clients)"
_THEN = datetime(1987, 6, 5, 4, 3, 2, tzinfo=UTC)
"""A moment at which nothing was created."""


def options(manager: str = "kube-apiserver") -> WriteOptions:
    """As whom the server writes."""
    return WriteOptions(UserInfo("system:apiserver", groups=(MASTERS,)), manager=manager)


def system_objects() -> list[Object]:
    """What is the same in every API of this version of the server."""
    return [
        *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in SYSTEM_NAMESPACES),
        *default_roles.bootstrap_objects(),
        *(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                "description": _PRIORITIES[name],
            }
            for name, value in SYSTEM_PRIORITIES.items()
        ),
    ]


def client_authority(certificate: str) -> Object:
    """By whom others recognise the clients of this API: aggregated servers, the scheduler and controllers read it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "extension-apiserver-authentication", "namespace": "kube-system"},
        "data": {"client-ca-file": certificate},
    }


@cache
def fingerprint() -> str:
    """Changes with `system_objects`."""
    made = [*system_objects(), client_authority("")]
    return hashlib.sha256(msgspec.json.encode(made)).hexdigest()[:16]


@dataclass(frozen=True)
class Contents:
    """Objects that a space is to hold from its first moment, beside those that every API has.

    They are stored once for all spaces that begin with the same, so nothing in them may be of one space alone."""

    manager: str = ""
    """As whom they are written."""
    objects: tuple[Object, ...] = ()

    @cached_property
    def digest(self) -> str:
        if not self.objects:
            return ""
        return hashlib.sha256(msgspec.json.encode((self.manager, self.objects), order="sorted")).hexdigest()[:16]


NOTHING_ELSE = Contents()


@dataclass(frozen=True, slots=True)
class Template:
    """One object, with gaps."""

    resource: str
    key: str
    text: bytes


class StoredBase(msgspec.Struct, frozen=True):
    """A base as it is kept: what an older version of the server once put under a space stays as it was."""

    objects: dict[str, dict[str, str]]
    """Texts by resource and key."""

    @classmethod
    def of(cls, templates: Iterable[Template]) -> StoredBase:
        objects: dict[str, dict[str, str]] = {}
        for one in templates:
            objects.setdefault(one.resource, {})[one.key] = one.text.decode()
        return cls(objects)

    def encode(self) -> bytes:
        return msgspec.json.encode(self, order="sorted")

    def base(self) -> Base:
        return Base({name: {key: text.encode() for key, text in found.items()} for name, found in self.objects.items()})


@dataclass(frozen=True, slots=True)
class Filling:
    """What goes into the gaps of one space."""

    time: str
    """When it began."""
    service_address: str = ""
    client_authority: str = ""

    def gaps(self) -> dict[bytes, bytes]:
        """All but uids and revisions."""
        return {
            b"time": self.time.encode(),
            b"address": self.service_address.encode(),
            b"authority": msgspec.json.encode(self.client_authority),
        }


@dataclass(frozen=True)
class Pattern:
    """All objects every API begins with."""

    shared: bytes
    """Those that lie under it, as a StoredBase."""
    own: tuple[Template, ...]
    """Those that say where the server is."""

    @cached_property
    def name(self) -> str:
        """What the shared ones are kept as."""
        return hashlib.sha256(self.shared).hexdigest()[:16]

    def written(self, filling: Filling, new_uid: Callable[[], str], revision: int) -> Iterator[tuple[Template, bytes]]:
        """The objects that every space has for itself as bytes to store, at the revisions from this one on."""
        gaps = filling.gaps()
        for number, template in enumerate(self.own, revision):
            gaps[b"uid"], gaps[b"revision"] = new_uid().encode(), b"%d" % number
            yield template, template.text % gaps

    def only(self, resource: str) -> Pattern:
        """The pattern of one resource that every space has for itself."""
        return Pattern(self.shared, tuple(one for one in self.own if one.resource == resource))


class _StoppedClock:
    """Always the same moment."""

    def now(self) -> datetime:
        return _THEN

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("nothing waits here")


async def draw_pattern(
    kinds: Kinds, authority: str, server: Location, family: str, contents: Contents = NOTHING_ELSE
) -> Pattern:
    """Make every object in the ordinary way, and keep what it became. `family` is that of the network of Services.

    Raises what a server answers when an object of `contents` is not valid."""
    space = Space("pattern", Store(None), kinds, _StoppedClock(), SystemChance())
    space.addresses = ServiceAddresses(_NETWORKS[family])
    space.namespaces.update(dict.fromkeys(SYSTEM_NAMESPACES, False))
    address, place = (
        kubernetes_service.first_address(_NETWORKS[family]),
        Location(_ELSEWHERE[server.family], server.port),
    )
    ours = (*system_objects(), client_authority(_SOMEBODY), *kubernetes_service.objects(address, place))
    made = [(one, options()) for one in ours]
    for name in SYSTEM_NAMESPACES:
        made += [(one, namespaces.options()) for one in namespaces.contents(name, authority)]
    made += [(one, options(contents.manager)) for one in contents.objects]
    templates = [await _template(space, one, how, address) for one, how in made]
    await space.store.close()
    here, there = b'"%b"' % place.address.encode(), b'"%b"' % server.address.encode()
    own = [replace(one, text=one.text.replace(here, there)) for one in templates if _is_about_the_server(one)]
    shared = StoredBase.of(one for one in templates if not _is_about_the_server(one))
    return Pattern(shared.encode(), tuple(own))


def _is_about_the_server(template: Template) -> bool:
    return template.key == kubernetes_service.KEY and template.resource in kubernetes_service.RESOURCES


async def _template(space: Space, obj: Object, how: WriteOptions, address: str) -> Template:
    resource = space.kinds.of_api_version(obj["apiVersion"], obj["kind"])
    assert resource is not None, obj["kind"]
    meta = obj["metadata"]
    target = Target(resource, meta.get("namespace", ""), meta["name"])
    answer = await create(space, Target(resource, target.namespace), obj, how)
    stored = answer.decode()["metadata"]
    text = answer.value.replace(b"%", b"%%")
    for given, gap in (
        (f'"resourceVersion":"{stored["resourceVersion"]}"', '"resourceVersion":"%(revision)b"'),
        (f'"{stored["uid"]}"', '"%(uid)b"'),
        (f'"{space.timestamp()}"', '"%(time)b"'),
        (f'"{address}"', '"%(address)b"'),
        (f'"{_SOMEBODY}"', "%(authority)b"),
    ):
        text = text.replace(given.encode(), gap.encode())
    return Template(resource.storage_key, target.key, text)


async def bring_up_to_date(space: Space, authority: str) -> None:
    """Create what is missing, and add to default roles what they lack, unless someone said not to.

    `authority` is the PEM of the one that signs the certificates of clients."""
    for default in (*system_objects(), client_authority(authority)):
        kind = space.kinds.of_api_version(default["apiVersion"], default["kind"])
        assert kind is not None, default["kind"]
        meta = default["metadata"]
        target = Target(kind, meta.get("namespace", ""), meta["name"])
        existing = space.find(kind, target.namespace, target.name)
        if existing is None:
            await create(space, Target(kind, target.namespace), default, options())
        elif kind.group == RBAC:
            await _reconcile(space, target, existing, default)


async def _reconcile(space: Space, target: Target, existing: Object, default: Object) -> None:
    wanted = default_roles.reconciled(existing, default)
    if wanted is not None:
        untyped = {key: value for key, value in wanted.items() if key not in ("apiVersion", "kind")}
        await rebuild(space, target, lambda _: untyped, options())
