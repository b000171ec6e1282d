"""Namespaces: what every one holds from the start, and emptying those that end."""

from __future__ import annotations

from typing import Any

from kubekit.errors import AlreadyExists, ApiError, NotFound
from kubekit.model.resource import Object
from kubekit.server.objects.request import DeleteOptions, Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import commit, deletion, writes
from kubekit.server.pipeline.space import Space
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.rows import Row
from kubekit.server.store.store import Store

from .worker import Worker

_USER = UserInfo("system:serviceaccount:kube-system:namespace-controller", groups=("system:masters",))
_FINALIZER = "kubernetes"
_CERTIFICATE = "kube-root-ca.crt"
_CONDITIONS = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": ("ParsedGroupVersions", "All legacy kube types successfully parsed"),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


_AUTHORITY_NOTE = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


def options() -> WriteOptions:
    """As whom a namespace is furnished."""
    return WriteOptions(_USER, manager="kube-controller-manager")


def contents(namespace: str, authority: str) -> tuple[Object, Object]:
    """What every namespace holds: an account, and the authority that signs the server's certificate."""
    note = {"kubernetes.io/description": _AUTHORITY_NOTE}
    certificate = {"name": _CERTIFICATE, "namespace": namespace, "annotations": note}
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": namespace}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": certificate, "data": {"ca.crt": authority}},
    )


def is_furnished(store: Store, space: str, namespace: str) -> bool:
    """Whether a namespace holds what every one holds; asked without a query."""
    return store.has(space, "/serviceaccounts", f"{namespace}/default") and store.has(
        space, "/configmaps", f"{namespace}/{_CERTIFICATE}"
    )


class Namespaces:
    """The namespaces of one space."""

    def __init__(self, space: Space, authority: str) -> None:
        self._space, self._authority = space, authority
        self.worker: Worker[str] = Worker("namespaces", self._settle, space.clock)

    def load(self, row: Row) -> None:
        """Learn of a namespace that is stored, and go on with one that is not finished."""
        self._space.namespaces[row.key] = is_ending = b'"deletionTimestamp"' in row.value
        if is_ending or not is_furnished(self._space.store, self._space.name, row.key):
            self.worker.add(row.key)

    def see_namespace(self, event: Event) -> None:
        meta = event.object["metadata"]
        if event.change is Change.DELETED:
            self._space.namespaces.pop(meta["name"], None)
            return
        self._space.namespaces[meta["name"]] = "deletionTimestamp" in meta
        self.worker.add(meta["name"])

    def see_gone(self, event: Event) -> None:
        """Something is gone: perhaps it was the last thing in its namespace, or one that is always there."""
        if "/" not in event.key:
            return
        namespace, _, name = event.key.partition("/")
        if self._space.namespaces.get(namespace) or name in ("default", _CERTIFICATE):
            self.worker.add(namespace)

    def see_config_map(self, event: Event) -> None:
        """Somebody may have changed what every namespace holds."""
        namespace, _, name = event.key.partition("/")
        if name == _CERTIFICATE and event.change is Change.MODIFIED:
            self.worker.add(namespace)

    async def _settle(self, name: str) -> None:
        found = self._space.find(self._kind("namespaces"), "", name)
        if found is None:
            return
        if "deletionTimestamp" not in found["metadata"]:
            await self._furnish(name)
        elif _FINALIZER in (found.get("spec") or {}).get("finalizers", ()):
            await self._empty(name)

    async def _furnish(self, name: str) -> None:
        for obj in contents(name, self._authority):
            await self._ensure(obj)

    async def _ensure(self, obj: Object) -> None:
        resource = self._space.kinds.of_api_version(obj["apiVersion"], obj["kind"])
        assert resource is not None, obj["kind"]
        namespace, name = obj["metadata"]["namespace"], obj["metadata"]["name"]
        found = self._space.latest(target := Target(resource, namespace, name))
        if found is not None:
            if obj.get("data") != found.decode().get("data"):
                await writes.rebuild(self._space, target, lambda live: {**live, "data": obj["data"]}, options())
            return
        try:
            await writes.create(self._space, Target(resource, namespace), obj, options())
        except AlreadyExists:
            return
        except (NotFound, ApiError):
            # The namespace is going or gone, and then it needs nothing.
            if self._space.namespaces.get(namespace) is False:
                raise

    async def _empty(self, name: str) -> None:
        """Delete everything in it; when nothing is left, let it go."""
        remaining: dict[str, int] = {}
        finalizers: dict[str, int] = {}
        for resource in _namespaced(self._space):
            left = await self._delete_all(resource, name, finalizers)
            if left:
                remaining[f"{resource.plural}.{resource.group}"] = left
        namespaces = self._kind("namespaces")
        target = Target(namespaces, name=name)
        if remaining:
            await self._report(target, remaining, finalizers)
            return
        row = self._space.latest(target)
        if row is None:
            return
        obj = row.decode()
        kept = [one for one in obj["spec"].get("finalizers", ()) if one != _FINALIZER]
        if kept:
            obj["spec"]["finalizers"] = kept
        else:
            obj["spec"].pop("finalizers", None)
        change = Change.DELETED if deletion.is_finished(namespaces, obj) else Change.MODIFIED
        await commit.stage(self._space, target, change, obj, row)

    async def _delete_all(self, resource: Resource, namespace: str, finalizers: dict[str, int]) -> int:
        bucket = self._space.bucket(resource)
        wanted = DeleteOptions(propagation="Background")
        for key in self._space.store.keys(bucket, f"{namespace}/"):
            row = self._space.store.latest(bucket, key)
            if row is None or b'"deletionTimestamp"' in row.value:
                continue
            try:
                target = Target(resource, namespace, key.partition("/")[2])
                await deletion.delete(self._space, target, wanted, WriteOptions(_USER))
            except NotFound:
                continue
        left = 0
        for key in self._space.store.keys(bucket, f"{namespace}/"):
            row = self._space.store.latest(bucket, key)
            if row is not None:
                left += 1
                for finalizer in row.decode()["metadata"].get("finalizers") or ():
                    finalizers[finalizer] = finalizers.get(finalizer, 0) + 1
        return left

    async def _report(self, target: Target, remaining: dict[str, int], finalizers: dict[str, int]) -> None:
        """Say in the namespace's status what is still there."""
        texts = {
            "NamespaceContentRemaining": (
                "SomeResourcesRemain",
                "Some resources are remaining: "
                + ", ".join(f"{name} has {count} resource instances" for name, count in sorted(remaining.items())),
            )
        }
        if finalizers:
            texts["NamespaceFinalizersRemaining"] = (
                "SomeFinalizersRemain",
                "Some content in the namespace has finalizers remaining: "
                + ", ".join(f"{name} in {count} resource instances" for name, count in sorted(finalizers.items())),
            )

        def build(live: Object) -> Object:
            conditions = live.setdefault("status", {}).setdefault("conditions", [])
            for kind, (reason, message) in {**_CONDITIONS, **texts}.items():
                _set_condition(conditions, kind, kind in texts, reason, message, self._space.timestamp())
            return live

        status = Target(target.resource, "", target.name, "status")
        await writes.rebuild(self._space, status, build, options())

    def _kind(self, plural: str) -> Resource:
        resource = self._space.kinds.at("", "v1", plural)
        assert resource is not None, plural
        return resource


def _namespaced(space: Space) -> list[Resource]:
    """One resource per kind that lives in namespaces and can be deleted."""
    chosen: dict[str, Resource] = {}
    for resource in space.kinds:
        if resource.namespaced and "delete" in resource.verbs:
            chosen.setdefault(resource.storage_key, resource)
    return list(chosen.values())


def _set_condition(conditions: list[Any], kind: str, holds: bool, reason: str, message: str, now: str) -> None:
    status = "True" if holds else "False"
    found = next((one for one in conditions if one.get("type") == kind), None)
    if found is None:
        found = {"type": kind}
        conditions.append(found)
    if found.get("status") != status:
        found["lastTransitionTime"] = now
    found.update(status=status, reason=reason, message=message)
