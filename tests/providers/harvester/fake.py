"""A Harvester on loopback: a Kubernetes API server with its kinds, its webhooks and what its controllers do."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from butler.providers.harvester import kinds
from kubekit.client import kubeconfig
from kubekit.client.config import Config
from kubekit.client.http import HttpClient
from kubekit.client.protocol import Client, Selection
from kubekit.errors import ApiError, NotFound
from kubekit.model.resource import Address, Object
from tests.providers.harvester import fake_admission, fake_kinds
from tests.providers.harvester.fake_admission import Admission
from tests.providers.harvester.fake_controllers import Controllers, imported
from tests.providers.harvester.fake_gate import Gate, serving

NETWORK, IMAGE, STORAGE_CLASS = "workloads", "talos-1.9", "harvester-longhorn"
POLICY = Path(__file__).parents[3] / "docs" / "howto" / "providers" / "harvester.md"
_DEFINITION = Address("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
_ACCOUNT = Address("", "v1", "ServiceAccount", "serviceaccounts", True)
_NAMESPACE = Address("", "v1", "Namespace", "namespaces", False)
_RBAC = {
    kind: Address("rbac.authorization.k8s.io", "v1", kind, f"{kind.lower()}s", kind in ("Role", "RoleBinding"))
    for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
}
_DOMAIN = {"devices": {}, "resources": {"limits": {"memory": "1Gi"}}}
_PROBE = {"runStrategy": "Halted", "template": {"spec": {"domain": _DOMAIN}}}
_HOOKS = {
    kind: Address("admissionregistration.k8s.io", "v1", kind, f"{kind.lower()}s", False)
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
}


@dataclass
class Fake:
    """A Harvester, what is behind it, and a kubeconfig with the rights that the documentation asks for."""

    url: str
    namespace: str
    authority: bytes
    token: str
    operator: str
    """The token of one who may do everything."""
    client: Client
    gate: Gate
    admission: Admission
    controllers: Controllers

    def kubeconfig(self, token: str = "") -> str:
        cluster = {"server": self.url, "certificate-authority-data": base64.b64encode(self.authority).decode()}
        return yaml.safe_dump(
            {
                "clusters": [{"name": "harvester", "cluster": cluster}],
                "users": [{"name": "butler", "user": {"token": token or self.token}}],
                "contexts": [{"name": "butler", "context": {"cluster": "harvester", "user": "butler"}}],
                "current-context": "butler",
            }
        )

    async def add_image(self, name: str, **spec: str) -> str:
        """One that machines can boot from."""
        spec = {
            "displayName": name,
            "sourceType": "download",
            "url": f"https://images.example.com/{name}.qcow2",
            **spec,
        }
        made = await self._add(kinds.IMAGE, name, spec=spec)
        await self.client.patch(kinds.IMAGE, name, {"status": imported(made)}, self.namespace, subresource="status")
        return f"{self.namespace}/{name}"

    async def add_network(self, name: str) -> str:
        config = '{"cniVersion":"0.3.1","type":"bridge","bridge":"mgmt-br","vlan":40,"ipam":{}}'
        labels = {"network.harvesterhci.io/type": "L2VlanNetwork", "network.harvesterhci.io/vlan-id": "40"}
        await self._add(kinds.NETWORK, name, labels, spec={"config": config})
        return f"{self.namespace}/{name}"

    async def _add(self, kind: Address, name: str, labels: Object | None = None, **content: Object) -> Object:
        meta = {"name": name, "namespace": self.namespace, "labels": labels or {}}
        made: Object = await self.client.create(_object(kind, meta, **content), kind)
        return made


@dataclass(frozen=True)
class Upstream:
    """An API server, and how its administrator reaches it."""

    config: Config
    client: Client
    """The same administrator, by whatever way is quickest."""
    authority: bytes
    tls: ssl.SSLContext
    """With which something on loopback may serve so that the authority stands for it."""
    machine: fake_kinds.Schema = field(default_factory=lambda: fake_kinds.VIRTUAL_MACHINE)
    """What KubeVirt takes."""
    takes_a_moment: bool = False
    """To know what it was told."""


@asynccontextmanager
async def harvester(upstream: Upstream, namespace: str = "default") -> AsyncIterator[Fake]:
    """A Harvester made of an API server; what it had before as Harvester, it has still."""
    client = upstream.client
    trust = ssl.create_default_context(cadata=upstream.config.cluster.authority.read().decode())
    gate, admission = Gate(upstream.config.cluster.server, trust, client), Admission(client)
    async with AsyncExitStack() as stack:
        admin = await stack.enter_async_context(HttpClient(upstream.config))
        hooks = await stack.enter_async_context(serving(admission.app(), upstream.tls))
        for definition in fake_kinds.definitions(upstream.machine):
            await _apply(client, definition, _DEFINITION)
        await _install(client, namespace)
        for hook in fake_admission.configurations(hooks, upstream.authority):
            await _apply(client, hook, _HOOKS[hook["kind"]])
        token, operator = [await _token(admin, name, namespace) for name in ("butler", "operator")]
        url = await stack.enter_async_context(gate.open(upstream.tls))
        controllers = Controllers(client, namespace)
        made = Fake(url, namespace, upstream.authority, token, operator, client, gate, admission, controllers)
        await _until(lambda: made.add_network(NETWORK))
        await made.add_image(IMAGE)
        if upstream.takes_a_moment:
            await _until(lambda: _is_in_force(made))
        gate.faults.forget()
        gate.requests.clear()
        yield made


async def _install(client: Client, namespace: str) -> None:
    await _apply(client, _object(_NAMESPACE, {"name": namespace}), _NAMESPACE)
    for document in (*policy(namespace), _everything(namespace)):
        await _apply(client, document, _RBAC[document["kind"]])
    setting = _object(kinds.SETTING, {"name": "server-version"}, value="v1.8.2")
    await _until(lambda: _apply(client, setting, kinds.SETTING))
    provisioner = {"provisioner": "driver.longhorn.io"}
    await _apply(client, _object(kinds.STORAGE_CLASS, {"name": STORAGE_CLASS}, **provisioner), kinds.STORAGE_CLASS)
    await _apply(client, _object(kinds.NODE, {"name": "harvester-0"}), kinds.NODE)
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    await client.patch(kinds.NODE, "harvester-0", {"status": ready}, subresource="status")


async def _apply(client: Client, obj: Object, kind: Address) -> None:
    await client.apply(obj, kind, manager="fake")


async def _is_in_force(made: Fake) -> None:
    """Whether the API server has heard of all rights and webhooks. Raises ApiError as long as it has not."""
    probe = _object(kinds.VIRTUAL_MACHINE, {"name": "probe", "namespace": made.namespace}, spec=_PROBE)
    answer = await made.client.create(probe, kinds.VIRTUAL_MACHINE, dry_run=True)
    if "memory" not in answer["spec"]["template"]["spec"]["domain"]:
        raise NotFound("nobody has changed it")
    account = kubeconfig.parse(made.kubeconfig(), Path("kubeconfig")).config()
    async with HttpClient(account) as client:
        await client.list(kinds.VIRTUAL_MACHINE, Selection(made.namespace))
        await client.list(kinds.NODE)


async def _until(attempt: Callable[[], Awaitable[object]]) -> None:
    """Ask until it is done; a server that takes a moment refuses at first."""
    for _ in range(100):
        try:
            await attempt()
            return
        except ApiError:
            await asyncio.sleep(0.05)
    await attempt()


def policy(namespace: str) -> list[Object]:
    """The rights that people are told to give, for the namespace of a test."""
    blocks = POLICY.read_text().split("```yaml\n")[1:]
    text = next(one.partition("```")[0] for one in blocks if "kind: ClusterRole" in one)
    documents: list[Object] = list(yaml.safe_load_all(text.replace("namespace: default", f"namespace: {namespace}")))
    return [one for one in documents if one["kind"] in _RBAC]


def _everything(namespace: str) -> Object:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    subject = {"kind": "ServiceAccount", "name": "operator", "namespace": namespace}
    kind = _RBAC["ClusterRoleBinding"]
    return {**_object(kind, {"name": "operator"}), "roleRef": role, "subjects": [subject]}


async def _token(admin: HttpClient, name: str, namespace: str) -> str:
    """Of a new account."""
    await admin.create(_object(_ACCOUNT, {"name": name, "namespace": namespace}), _ACCOUNT)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    made = await admin.post(_ACCOUNT, name, namespace, "token", request)
    return str(made["status"]["token"])


def _object(kind: Address, meta: Object, **content: Object | str) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **content}
