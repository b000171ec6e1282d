"""Binding: putting a pod on a node, which is what a scheduler does."""

from __future__ import annotations

from kubekit.errors import BadRequest, Conflict, Details, Unclassified, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects.request import Target, WriteOptions
from kubekit.server.store.changes import Change

from . import writes
from .commit import durably, stage
from .space import Space


@durably
async def bind(space: Space, namespace: str, binding: Object, options: WriteOptions, *, pod: str = "") -> None:
    """Put the pod a binding is for on the node it names; its annotations become the pod's.

    Raises NotFound, Conflict (the pod has a node or is on its way out), BadRequest."""
    node = _node_of(binding, pod)
    pods = space.kinds.at("", "v1", "pods")
    assert pods is not None
    target = Target(pods, namespace, pod or binding["metadata"].get("name", ""))
    row = space.existing(target)
    old, obj = row.decode(), row.decode()
    if obj["spec"].get("nodeName"):
        raise _refused(target.name, f'pod {target.name} is already assigned to node "{obj["spec"]["nodeName"]}"')
    if "deletionTimestamp" in obj["metadata"]:
        raise _refused(target.name, f"pod {target.name} is being deleted, cannot be assigned to a host")
    _place(obj, node, binding["metadata"].get("annotations") or {}, space.timestamp())
    writes.record(space, Target(pods, namespace, target.name, "binding"), obj, old, options.manager)
    if not options.dry_run:
        await stage(space, target, Change.MODIFIED, obj, row)


def _place(pod: Object, node: str, annotations: dict[str, str], now: str) -> None:
    pod["spec"]["nodeName"] = node
    if annotations:
        pod["metadata"]["annotations"] = {**(pod["metadata"].get("annotations") or {}), **annotations}
    conditions = pod.setdefault("status", {}).setdefault("conditions", [])
    conditions[:] = [one for one in conditions if one["type"] != "PodScheduled"]
    conditions.append({"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now})


def _node_of(binding: Object, pod: str) -> str:
    if pod and binding["metadata"].get("name", "") != pod:
        raise BadRequest("name in URL does not match name in Binding object")
    target = binding.get("target") or {}
    problems = []
    if target.get("kind", "") not in ("", "Node"):
        problems.append(str(not_supported("target.kind", target["kind"], ("Node", "<empty>"))))
    if not target.get("name"):
        problems.append("target.name: Required value")
    if problems:
        raise Unclassified(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")
    return str(target["name"])


def _refused(pod: str, why: str) -> Conflict:
    return Conflict(
        f'Operation cannot be fulfilled on pods/binding "{pod}": {why}', Details(name=pod, kind="pods/binding")
    )
