"""What the server fills into new objects from other objects and from who asks, before webhooks see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubekit.model.resource import Object
from kubekit.server.kinds.platform import certificate_requests
from kubekit.server.kinds.pods import pods
from kubekit.server.objects import refusals
from kubekit.server.objects.request import Target
from kubekit.server.objects.user import UserInfo

if TYPE_CHECKING:
    from .space import Space

_TOKEN_PLACE = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 - a path, not a password
_TOKEN_VOLUME = "kube-api-access-"  # noqa: S105 - a name, not a password
_TOKEN_SECONDS = 3607
_MIRROR = "kubernetes.io/config.mirror"
_PLAIN_PRIORITY: Object = {"value": 0, "preemptionPolicy": "PreemptLowerPriority"}


def complete(space: Space, target: Target, obj: Object, user: UserInfo) -> None:
    """Complete a new object in place. Raises Forbidden when something it names does not exist."""
    match target.resource.storage_key:
        case "/pods":
            space.limits.fill(target.namespace, obj)
            pods.admit(obj["spec"])
            _check_runtime(space, target, obj["spec"])
            _give_account(space, target, obj)
            _give_priority(space, target, obj)
        case "certificates.k8s.io/certificatesigningrequests":
            _sign_with(obj["spec"], user)


def complete_part(space: Space, target: Target, obj: Object, old: Object) -> None:
    """Complete what is changed by a subresource, in place."""
    if target.subresource and target.resource.storage_key == "certificates.k8s.io/certificatesigningrequests":
        certificate_requests.answer(target.subresource, obj, old, space.timestamp())


def stamp(space: Space, target: Target, obj: Object) -> None:
    """Note in place, in the first status of a new object, when it began."""
    match target.resource.storage_key:
        case "/pods":
            for condition in obj["status"].get("conditions") or ():
                condition["lastTransitionTime"] = space.timestamp()
        case "/persistentvolumes":
            obj["status"]["lastPhaseTransitionTime"] = space.timestamp()


def _sign_with(spec: Object, user: UserInfo) -> None:
    """A request for a certificate says who asks, whatever it said itself."""
    for name in ("username", "uid", "groups", "extra"):
        spec.pop(name, None)
    spec.update(user.wire())


def _check_runtime(space: Space, target: Target, spec: Object) -> None:
    name = spec.get("runtimeClassName")
    classes = space.kinds.at("node.k8s.io", "v1", "runtimeclasses")
    assert classes is not None
    if name and space.find(classes, "", name) is None:
        raise refusals.forbidden(target, f'pod rejected: RuntimeClass "{name}" not found')


def _give_account(space: Space, target: Target, pod: Object) -> None:
    if _MIRROR in pod["metadata"].get("annotations", {}):
        return
    spec = pod["spec"]
    name = spec.get("serviceAccountName") or "default"
    accounts = space.kinds.at("", "v1", "serviceaccounts")
    assert accounts is not None
    account = space.find(accounts, target.namespace, name)
    if account is None and name != "default":
        why = f'error looking up service account {target.namespace}/{name}: serviceaccount "{name}" not found'
        raise refusals.forbidden(target, why)
    # The default account of a new namespace may be a moment away; it has nothing to add.
    account = account or {}
    wanted = spec.get("automountServiceAccountToken")
    if account.get("automountServiceAccountToken", True) if wanted is None else wanted:
        _mount_token(space, spec)
    if account.get("imagePullSecrets") and not spec.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [{"name": one["name"]} for one in account["imagePullSecrets"]]


def _mount_token(space: Space, spec: Object) -> None:
    """Every container gets the account's token, unless it has something of its own in that place."""
    volumes = spec.get("volumes") or []
    name = next((one["name"] for one in volumes if one["name"].startswith(_TOKEN_VOLUME)), "")
    mount = {"name": name or space.generated_name(_TOKEN_VOLUME), "readOnly": True, "mountPath": _TOKEN_PLACE}
    bare = [
        container
        for container in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))
        if all(one.get("mountPath") != _TOKEN_PLACE for one in container.get("volumeMounts") or ())
    ]
    for container in bare:
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), dict(mount)]
    if bare and not name:
        spec["volumes"] = [*volumes, {"name": mount["name"], "projected": _token_sources()}]


def _token_sources() -> Object:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": 0o644,
    }


def _give_priority(space: Space, target: Target, pod: Object) -> None:
    """The number and policy of the class a pod names, or of the one that holds for all."""
    spec = pod["spec"]
    chosen = _priority_class(space, spec.get("priorityClassName") or "")
    if chosen is None:
        raise refusals.forbidden(target, f"no PriorityClass with name {spec['priorityClassName']} was found")
    value, policy = chosen["value"], chosen.get("preemptionPolicy", "PreemptLowerPriority")
    if spec.get("priority") not in (None, value):
        raise refusals.forbidden(
            target,
            f"the integer value of priority ({spec['priority']}) must not be provided in pod spec; "
            f"priority admission controller computed {value} from the given PriorityClass name",
        )
    if (spec.get("preemptionPolicy") or policy) != policy:
        raise refusals.forbidden(
            target,
            f"the string value of PreemptionPolicy ({spec['preemptionPolicy']}) must not be provided in pod spec; "
            f"priority admission controller computed {policy} from the given PriorityClass name",
        )
    spec["priority"], spec["preemptionPolicy"] = value, policy
    if "metadata" in chosen:
        spec["priorityClassName"] = chosen["metadata"]["name"]


def _priority_class(space: Space, name: str) -> Object | None:
    classes = space.kinds.at("scheduling.k8s.io", "v1", "priorityclasses")
    assert classes is not None
    if name:
        return space.find(classes, "", name)
    stored = (row.decode() for row in space.store.page(space.bucket(classes), count=False).rows)
    for_all = (one for one in stored if one.get("globalDefault"))
    return min(for_all, key=lambda one: one["value"], default=_PLAIN_PRIORITY)
