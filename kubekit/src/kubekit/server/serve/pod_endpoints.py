"""The endpoints of a pod beside its status: its parts, and those that lead to a kubelet."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from aiohttp.web import Response, StreamResponse

from kubekit.errors import BadRequest, ServiceUnavailable
from kubekit.model.resource import Object
from kubekit.server.kinds.builtin import catalogue
from kubekit.server.kinds.builtin.behaviours import behaviour_of
from kubekit.server.kinds.pods.parts import PARTS
from kubekit.server.objects import refusals
from kubekit.server.objects.request import Target, with_type
from kubekit.server.objects.resource import Resource
from kubekit.server.pipeline import body_decoding, patches, reads, writes

from . import answers, request_body
from .call import Call
from .log_options import check_log_options

STREAMS = frozenset({"attach", "exec", "log", "portforward"})
"""What the kubelet of a pod's node would answer."""


async def change_part(call: Call) -> StreamResponse:
    """Read a pod, or change only the part of it that the endpoint is for."""
    name = call.target.subresource
    pod = Target(_pods(name), call.target.namespace, call.target.name)
    if call.verb == "get":
        return await answers.one(await reads.get(call.space, pod), call.view(), call.space.bench)
    is_patch = call.verb == "patch"
    options = call.write_options(request_body.patch_kind(call) if is_patch else "UpdateOptions")
    body = await (request_body.read_patch if is_patch else request_body.read_object)(call, options)

    def build(live: Object) -> Object:
        if not is_patch:
            wanted = body_decoding.accept(call.space, pod, body, options)
        else:
            made = patches.patched(pod, call.media_type, with_type(pod.resource, live), body)
            told = patches.shown(call.media_type, made, body)
            wanted = body_decoding.accept_patched(call.space, pod, made, told, options)
        writes.check_uid(pod, wanted["metadata"], live)
        version = wanted["metadata"].get("resourceVersion") or live["metadata"]["resourceVersion"]
        meta = {**live["metadata"], "resourceVersion": version}
        return {**live, "metadata": meta, "spec": PARTS[name].take(wanted["spec"], live["spec"])}

    answer = await writes.rebuild(call.space, pod, build, options, subresource=name)
    return await answers.one(answer, call.view(), call.space.bench, warnings=options.warnings)


@cache
def _pods(part: str) -> Resource:
    """Pods as the endpoint of a part judges them."""
    resource = next(one for one in catalogue.resources() if one.storage_key == "/pods")
    resource.behaviour = replace(behaviour_of("", "Pod"), check_update=PARTS[part].check)
    return resource


async def stream(call: Call) -> StreamResponse:
    """Say, as far as the real server gets without a kubelet, what keeps the request from one."""
    target = call.target
    if target.subresource == "log":
        check_log_options(target.name, call.query)
    else:
        # A WebSocket begins with a GET, and yet does what only those may who may create.
        await call.space.confirm_creation(call.user, target)
    pod = (await reads.get(call.space, Target(target.resource, target.namespace, target.name))).decode()
    if target.subresource != "portforward":
        _check_container(pod, call.query.get("container", ""))
    if (pod["metadata"].get("annotations") or {}).get(call.space.product.simulated) == "true":
        return _nothing_runs(target.subresource)
    node = pod["spec"].get("nodeName")
    if not node and target.subresource == "log":
        return Response(status=204)
    if not node:
        raise BadRequest(f"pod {target.name} does not have a host assigned")
    nodes = call.space.kinds.at("", "v1", "nodes")
    assert nodes is not None
    if call.space.find(nodes, "", node) is None:
        raise refusals.not_found(target.resource, node)
    raise ServiceUnavailable(f"pods/{target.subresource} needs the kubelet of node {node}, and there is none")


def _nothing_runs(endpoint: str) -> Response:
    if endpoint == "log":
        return Response(text="simulated pod: nothing runs, so there are no logs\n")
    raise ServiceUnavailable(f"simulated pod: nothing runs, so {endpoint} reaches nobody")


def _check_container(pod: Object, name: str) -> None:
    spec, pod_name = pod["spec"], pod["metadata"]["name"]
    names = [one["name"] for kind in _CONTAINERS for one in spec.get(kind) or ()]
    if name and name not in names:
        raise BadRequest(f"container {name} is not valid for pod {pod_name}")
    if not name and len(spec["containers"]) > 1:
        choice = " ".join(names)
        raise BadRequest(f"a container name must be specified for pod {pod_name}, choose one of: [{choice}]")


_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
