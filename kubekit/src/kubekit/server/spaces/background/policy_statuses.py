"""The status of ValidatingAdmissionPolicies: what their expressions get wrong about the kinds they are for."""

from __future__ import annotations

from kubekit.errors import NotFound
from kubekit.model.resource import Object
from kubekit.server.admission.policies.type_check import expression_warnings
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import apply
from kubekit.server.pipeline.space import Space
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event

from .worker import Worker

_MANAGER = "validatingadmissionpolicy-status"
_USER = UserInfo(f"system:serviceaccount:kube-system:{_MANAGER}-controller", groups=("system:masters",))


class PolicyStatuses:
    """Checks every new version of a policy once."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self.worker: Worker[str] = Worker("admission policies", self._check, space.clock)

    def take_in(self, key: str, policy: Object) -> None:
        if not _is_checked(policy):
            self.worker.add(key)

    def see(self, event: Event) -> None:
        if event.change is not Change.DELETED:
            self.take_in(event.key, event.object)

    async def _check(self, name: str) -> None:
        policy = self._space.find(self._kind, "", name)
        if policy is None or _is_checked(policy):
            return
        warnings = await expression_warnings(policy["spec"], self._space.kinds)
        wanted: Object = {
            "apiVersion": self._kind.api_version,
            "kind": self._kind.kind,
            "metadata": {"name": name},
            "status": {
                "observedGeneration": policy["metadata"]["generation"],
                "typeChecking": {"expressionWarnings": warnings} if warnings else {},
            },
        }
        target = Target(self._kind, "", name, "status")
        try:
            await apply.apply_patch(self._space, target, wanted, WriteOptions(_USER, _MANAGER, force=True))
        except NotFound:
            return

    @property
    def _kind(self) -> Resource:
        found = self._space.kinds.at("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies")
        assert found is not None
        return found


def _is_checked(policy: Object) -> bool:
    seen = (policy.get("status") or {}).get("observedGeneration", 0)
    return int(policy["metadata"].get("generation", 0)) <= int(seen)
