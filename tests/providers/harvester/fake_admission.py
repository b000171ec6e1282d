"""What the webhooks of KubeVirt and Harvester change and refuse."""

from __future__ import annotations

import base64
import json

from aiohttp import web

from butler.api.units import amount
from butler.providers.harvester import kinds
from kubekit.client.protocol import Client, Selection
from kubekit.errors import NotFound
from kubekit.model.resource import Object

INLINE_LIMIT = 2048
MIB = 2**20


class Refused(Exception):
    """A denial with the code that goes with it."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = {"code": code, "reason": reason, "message": message}


class Admission:
    """Answers the API server's questions about VMs and disks."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.is_full = False
        """Let the quota for VMs be used up."""

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/{what:mutate|validate}", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.Response:
        judge = self._mutated if request.match_info["what"] == "mutate" else self._validated
        review = await request.json()
        answer: Object = {"uid": review["request"]["uid"], "allowed": True}
        try:
            if patch := await judge(review["request"]):
                answer |= {"patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
        except Refused as refused:
            answer |= {"allowed": False, "status": refused.status}
        return web.json_response({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer})

    async def _mutated(self, asked: Object) -> list[Object]:
        """Harvester reckons the machine's memory from the limit, whatever the VM says itself."""
        vm, path = asked["object"], "/spec/template/spec/domain"
        domain = vm["spec"]["template"]["spec"]["domain"]
        limit = (domain.get("resources", {}).get("limits") or {}).get("memory")
        if asked["operation"] != "CREATE" or limit is None:
            return []
        annotations = vm["metadata"].get("annotations") or {}
        reserved = amount(annotations.get("harvesterhci.io/reservedMemory") or "100Mi")
        guest = {"guest": f"{int(amount(limit) - reserved) // MIB}Mi"}
        return [{"op": "add", "path": f"{path}/memory", "value": guest}]

    async def _validated(self, asked: Object) -> list[Object]:
        if asked["resource"]["resource"] == kinds.CLAIM.plural:
            await self._claim(asked)
        elif asked["operation"] == "CREATE":
            _coherent(asked["object"]["spec"]["template"]["spec"])
            await self._attached(asked["object"])
            if self.is_full:
                message = "exceeded quota: default, requested: count/virtualmachines.kubevirt.io=1, used: 0, limited: 0"
                raise Refused(403, "Forbidden", message)
        return []

    async def _attached(self, vm: Object) -> None:
        for network in vm["spec"]["template"]["spec"].get("networks") or ():
            namespace, _, name = network["multus"]["networkName"].partition("/")
            try:
                await self.client.get(kinds.NETWORK, name, namespace)
            except NotFound as error:
                raise Refused(500, "InternalError", str(error)) from None

    async def _claim(self, asked: Object) -> None:
        """A disk of a VM that is still there cannot go."""
        name = asked["name"]
        vms = (await self.client.list(kinds.VIRTUAL_MACHINE, Selection(asked["namespace"]))).items
        users = [vm["metadata"]["name"] for vm in vms if name in _claims(vm)]
        if users:
            message = f"can not delete the volume {name} which is currently attached to VMs: {', '.join(users)}"
            raise Refused(422, "Invalid", message)


def _claims(vm: Object) -> list[str]:
    volumes = vm["spec"]["template"]["spec"].get("volumes") or ()
    return [one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one]


def _coherent(spec: Object) -> None:
    """KubeVirt: disks and volumes, interfaces and networks belong together; what is inline is small."""
    devices = spec["domain"]["devices"]
    for left, right in (("disks", "volumes"), ("interfaces", "networks")):
        known = {one["name"] for one in spec.get(right) or ()}
        if unknown := {one["name"] for one in devices.get(left) or ()} ^ known:
            raise Refused(422, "Invalid", f"spec.template.spec.domain.devices.{left}: alone: {sorted(unknown)}")
    for volume in spec.get("volumes") or ():
        given = volume.get("cloudInitNoCloud") or {}
        inline = str(given.get("userData") or given.get("userDataBase64") or "")
        if len(inline) > INLINE_LIMIT:
            raise Refused(422, "Invalid", f"{volume['name']} exceeds {INLINE_LIMIT} bytes limit")


def configurations(url: str, authority: bytes) -> list[Object]:
    """How an API server comes to ask."""
    reached = base64.b64encode(authority).decode()

    def hook(name: str, path: str, *rules: Object) -> Object:
        client = {"url": f"{url}/{path}", "caBundle": reached}
        common = {"admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail"}
        return {
            "name": name,
            "clientConfig": client,
            "rules": [{"apiVersions": ["v1"], **one} for one in rules],
            **common,
        }

    vms = {"apiGroups": ["kubevirt.io"], "operations": ["CREATE", "UPDATE"], "resources": ["virtualmachines"]}
    claims = {"apiGroups": [""], "operations": ["DELETE"], "resources": ["persistentvolumeclaims"]}
    return [
        _configuration("Mutating", hook("mutator.harvesterhci.io", "mutate", vms)),
        _configuration("Validating", hook("validator.harvesterhci.io", "validate", vms, claims)),
    ]


def _configuration(what: str, hook: Object) -> Object:
    api = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{what}WebhookConfiguration"}
    return {**api, "metadata": {"name": "harvester"}, "webhooks": [hook]}
