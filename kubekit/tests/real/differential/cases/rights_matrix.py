"""Every verb, by every way to name an object, for roles of every form: only the codes are compared.

Nothing is changed (all writes are dry runs), so that each request meets the same objects whatever was allowed before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import (
    APPLY,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Step,
    case,
    delete,
    get,
    patch,
    post,
    put,
    quietly,
    status,
)
from tests.real.differential.vocabulary import (
    ACCOUNT_READY,
    ACCOUNTS,
    CORE,
    DEPLOYMENTS,
    MAPS,
    NAMESPACES,
    NODES,
    PODS,
    RBAC,
    config_map,
    deployment,
    lease,
    made,
    pod,
    role,
    rule,
)

_USER = "$ns-user"
_RBAC_GROUP = "rbac.authorization.k8s.io"
_DRY = "dryRun=All"
_WIDGET_GROUP = "differential.example.org"
_EVERY_VERB = "get list watch create update patch delete deletecollection"
_CHANGES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)


def rights(*rules: dict[str, Any], everywhere: tuple[dict[str, Any], ...] = ()) -> tuple[Step, ...]:
    """Rights in the namespace of the case and in the whole cluster, in force."""
    subject = {"apiGroup": _RBAC_GROUP, "kind": "User", "name": _USER}
    probes = rule("get", "podtemplates"), {"nonResourceURLs": ["/probe"], "verbs": ["get"]}

    def binding(kind: str, of: str, name: str) -> dict[str, Any]:
        reference = {"apiGroup": _RBAC_GROUP, "kind": of, "name": name}
        return made(f"{_RBAC_GROUP}/v1", kind, name, roleRef=reference, subjects=[subject])

    cluster_role = made(f"{_RBAC_GROUP}/v1", "ClusterRole", "$ns-role", rules=[probes[1], *everywhere])
    return (
        *quietly(
            post(f"{RBAC}/namespaces/$ns/roles", role("r", probes[0], *rules)),
            post(f"{RBAC}/clusterroles", cluster_role),
            post(f"{RBAC}/namespaces/$ns/rolebindings", binding("RoleBinding", "Role", "r")),
            post(f"{RBAC}/clusterrolebindings", binding("ClusterRoleBinding", "ClusterRole", "$ns-role")),
        ),
        get(f"{CORE}/podtemplates/none", user=_USER, until=status(404), is_shown=False),
        get("/probe", user=_USER, until=status(404), is_shown=False),
    )


def as_user(*steps: Step) -> tuple[Step, ...]:
    """The steps as the user whose rights are in question."""
    return quietly(*(replace(step, headers={"Impersonate-User": _USER, **step.headers}) for step in steps))


def _writes(place: str, name: str, obj: dict[str, Any], patches: tuple[str, ...] = _CHANGES) -> list[Step]:
    """Every change of one object."""
    at = f"{place}/{name}"
    bodies = {JSON_PATCH: [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]}
    labels = {"metadata": {"labels": {"a": "b"}}}
    return [
        put(f"{at}?{_DRY}", obj),
        *(patch(f"{at}?{_DRY}", bodies.get(kind, labels), kind) for kind in patches),
        patch(f"{at}?fieldManager=m&force=true&{_DRY}", obj, APPLY),
        delete(f"{at}?{_DRY}"),
    ]


_SELECTORS = (
    "metadata.name=a",
    "metadata.name%3Da",
    "metadata.name==a",
    "metadata.name=b",
    "metadata.name!=a",
    "metadata.name=a,metadata.name=a",
    "metadata.name=a,metadata.name=b",
    "metadata.name=b,metadata.name=a",
    "metadata.name=a,metadata.name!=b",
    "metadata.name!=b,metadata.name=a",
    "metadata.name=a,metadata.namespace=$ns",
    "metadata.namespace=$ns,metadata.name=a",
    "metadata.namespace=$ns",
    "metadata.name=",
    "metadata.name",
    "metadata.name=a,",
    "metadata.name=a%2Fb",
    "metadata.name=..",
    "metadata.name=%25",
    "metadata.name=a%00",
    "name=a",
    "metadata.name=a&fieldSelector=metadata.name=b",
    "metadata.name=b&fieldSelector=metadata.name=a",
    "metadata.name=a&limit=x",
    "metadata.name=a&limit=",
    "metadata.name=a&timeoutSeconds=x",
    "metadata.name=a&labelSelector=a==%3D=",
    "metadata.name=a&sendInitialEvents=maybe",
    "metadata.name=a;limit=1",
)
_NO_WATCH = "resourceVersionMatch=none"
"""Ends a watch that is allowed before it begins."""


def _reads(place: str) -> list[Step]:
    """Every way to look at one object and at several."""
    watches = "watch=1", "watch=true", "watch=TRUE", "watch=yes", "watch", "watch=", "watch=0", "watch=False"
    return [
        *(get(f"{place}/{name}") for name in ("a", "b", "a/", "none", "..", "%2561", "a%2Fstatus")),
        *(Step("HEAD", f"{place}{name}") for name in ("", "/a")),
        get(place),
        get(f"{place}/"),
        get(f"{place}?limit=1"),
        *(get(f"{place}?fieldSelector={one}") for one in _SELECTORS),
        *(get(f"{place}?fieldSelector={one}&watch=1&{_NO_WATCH}") for one in _SELECTORS),
        *(get(f"{place}?{one}&{_NO_WATCH}") for one in watches),
        *(get(f"{place}?{one}&{_NO_WATCH}&fieldSelector=metadata.name=a") for one in watches),
        *(get(f"{place}?{one}&{_NO_WATCH}&limit=x&fieldSelector=metadata.name=a") for one in watches),
        get(f"{place}/a?watch=1"),
        get(f"{place}/b?fieldSelector=metadata.name=a"),
    ]


def _old_watches(before: str, place: str) -> list[Step]:
    """Watches with the verb in the path, and what is no watch there."""
    return [
        *(
            get(f"{before}/watch{place}{name}&{_NO_WATCH}")
            for name in ("?", "/a?", "/b?", "?fieldSelector=metadata.name=a", "/b?fieldSelector=metadata.name=a")
        ),
        post(f"{before}/watch{place}?{_DRY}", config_map("new")),
        put(f"{before}/watch{place}/a?{_DRY}", config_map("a")),
        delete(f"{before}/watch{place}/a?{_DRY}"),
        delete(f"{before}/watch{place}?{_DRY}"),
        get(f"{before}/proxy{place}/a"),
    ]


def _selected_deletions(place: str) -> list[Step]:
    return [
        delete(f"{place}?{_DRY}"),
        *(delete(f"{place}?{_DRY}&fieldSelector={one}") for one in _SELECTORS),
    ]


def _creations(place: str) -> list[Step]:
    new = config_map("new")
    return [
        post(f"{place}?{_DRY}", new),
        post(f"{place}?{_DRY}", config_map("a")),
        post(f"{place}?{_DRY}", config_map("", {"generateName": "a"})),
        post(f"{place}?{_DRY}&fieldSelector=metadata.name=a", config_map("a")),
        post(f"{place}?{_DRY}&fieldSelector=metadata.name=a&name=a", new),
        post(f"{place}/a?{_DRY}", config_map("a")),
        post(f"{place}/new?{_DRY}", new),
        put(f"{place}?{_DRY}", config_map("a")),
        put(f"{place}?{_DRY}&fieldSelector=metadata.name=a", config_map("a")),
        patch(f"{place}?{_DRY}&fieldSelector=metadata.name=a", {}),
        put(f"{place}/a?{_DRY}", config_map("b")),
        put(f"{place}/b?{_DRY}", config_map("a")),
        put(f"{place}/new?{_DRY}", new),
        patch(f"{place}/new?fieldManager=m&{_DRY}", new, APPLY),
        patch(f"{place}/b?fieldManager=m&{_DRY}", config_map("a"), APPLY),
        patch(f"{place}/a?{_DRY}", {"metadata": {"name": "b"}}),
        put(f"/apis/coordination.k8s.io/v1/namespaces/$ns/leases/new?{_DRY}", lease("new")),
        put(f"/apis/coordination.k8s.io/v1/namespaces/$ns/leases/a?{_DRY}", lease("a")),
    ]


_MAP_REQUESTS = (
    *_reads(MAPS),
    *_writes(MAPS, "a", config_map("a")),
    *_writes(MAPS, "b", config_map("b")),
    *_creations(MAPS),
    *_selected_deletions(MAPS),
    *_old_watches("/api/v1", "/namespaces/$ns/configmaps"),
    get("/api/v1/configmaps?limit=1"),
    get("/api/v1/configmaps?limit=1&fieldSelector=metadata.name=a"),
    get("/api/v1/configmaps?limit=1&fieldSelector=metadata.name=a,metadata.namespace=$ns"),
    get(f"{NAMESPACES}/default/configmaps/a"),
    get("/api/v2/namespaces/$ns/configmaps/a"),
    get("/apis/v1/namespaces/$ns/configmaps/a"),
    get("/apis/core/v1/namespaces/$ns/configmaps/a"),
    Step("OPTIONS", f"{MAPS}/a"),
    Step("TRACE", f"{MAPS}/a"),
)


def _named(verbs: str, resources: str, *names: str, groups: str = "") -> dict[str, Any]:
    return rule(verbs, resources, groups, resourceNames=list(names))


_MAP_ROLES: dict[str, tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]] = {
    "nothing": ((), ()),
    **{f"{verb} any": ((rule(verb, "configmaps"),), ()) for verb in _EVERY_VERB.split()},
    **{f"{verb} one": ((_named(verb, "configmaps", "a"),), ()) for verb in _EVERY_VERB.split()},
    "everything with one": ((_named("*", "configmaps", "a"), _named("*", "leases", "a", groups="*")), ()),
    "everything with one, everywhere": ((), (_named("*", "configmaps", "a"),)),
    "everything with one of the cluster's objects": ((), (_named("*", "*", "a", groups="*"),)),
    "everything with an object without a name": ((_named("*", "configmaps", ""),), ()),
    "everything with several": ((_named(_EVERY_VERB, "configmaps", "a", "b", "new"),), ()),
    "everything in the group": ((rule("*", "*"),), ()),
    "everything in another group": ((rule("*", "*", "apps"),), ()),
    "its subresources only": ((rule("*", "configmaps/*", "*"), rule("*", "*/status", "*")), ()),
    "names with a star": ((_named("*", "configmaps", "*"), _named("*", "configmap*", "a")), ()),
    "change and create": ((rule("update patch create", "configmaps"), rule("update create", "leases", "*")), ()),
    "change only": ((rule("update patch", "configmaps"), rule("update patch", "leases", "*")), ()),
    "change one and create": ((_named("update patch", "configmaps", "a", "new"), rule("create", "configmaps")), ()),
    "change any and create one": ((rule("update patch", "configmaps"), _named("create", "configmaps", "new")), ()),
    "everything everywhere": ((), (rule("*", "*", "*"),)),
    "verbs that are none": ((rule("GET HEAD post put options trace foo proxy", "configmaps"),), ()),
}

_REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
_EVICTION = made("policy/v1", "Eviction", "a", deleteOptions={"dryRun": ["All"]})
_BINDING = made("v1", "Binding", "a", target={"kind": "Node", "name": "n"})
_SCALE = made("autoscaling/v1", "Scale", "a", {"namespace": "$ns"}, spec={"replicas": 1})
_TOKEN = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
_PART_REQUESTS = (
    *(
        get(f"{PODS}/{name}{part}")
        for name in ("a", "b")
        for part in (
            *("", "/status", "/log", "/exec", "/attach", "/portforward", "/proxy", "/proxy/", "/proxy/some/where"),
            *("/ephemeralcontainers", "/resize", "/eviction", "/binding", "/none", "/status/more", "/log/more"),
        )
    ),
    *(
        step
        for name in ("a", "b")
        for step in (
            post(f"{PODS}/{name}/eviction", {**_EVICTION, "metadata": {"name": name}}),
            post(f"{PODS}/{name}/binding?{_DRY}", {**_BINDING, "metadata": {"name": name}}),
            post(f"{PODS}/{name}/proxy", {}),
            post(f"{PODS}/{name}/exec", {}),
            patch(f"{PODS}/{name}/status?{_DRY}", {"status": {"message": "x"}}),
            patch(f"{PODS}/{name}/ephemeralcontainers?{_DRY}", {}),
            patch(f"{PODS}/{name}/resize?{_DRY}", {}, STRATEGIC_PATCH),
            delete(f"{PODS}/{name}/status?{_DRY}"),
            post(f"{PODS}/{name}/status?{_DRY}", {}),
            get(f"{DEPLOYMENTS}/{name}/scale"),
            put(f"{DEPLOYMENTS}/{name}/scale?{_DRY}", {**_SCALE, "metadata": {"name": name, "namespace": "$ns"}}),
            patch(f"{DEPLOYMENTS}/{name}/scale?{_DRY}", {"spec": {"replicas": 2}}),
            patch(f"{DEPLOYMENTS}/{name}/status?{_DRY}", {"status": {"replicas": 2}}),
            patch(f"{DEPLOYMENTS}/{name}?{_DRY}", {"status": {"replicas": 2}}),
            get(f"{WIDGETS}/{name}/scale"),
            get(f"{WIDGETS}/{name}/status"),
            get(f"{WIDGETS}/{name}/status/more"),
            get(f"{WIDGETS}/{name}"),
            put(f"{WIDGETS}/{name}?{_DRY}", widget(name)),
            patch(f"{WIDGETS}/{name}?fieldManager=m&{_DRY}", widget(name), APPLY),
            patch(f"{WIDGETS}/{name}/status?fieldManager=m&{_DRY}", widget(name, status={"phase": "x"}), APPLY),
            patch(f"{WIDGETS}/{name}/status?{_DRY}", {"status": {"phase": "x"}}),
            patch(f"{WIDGETS}/{name}/scale?{_DRY}", {"spec": {"replicas": 1}}),
            post(f"{ACCOUNTS}/{name}/token?{_DRY}", _TOKEN),
            post(f"{ACCOUNTS}/{name}/token/more?{_DRY}", _TOKEN),
            get(f"{ACCOUNTS}/{name}/token"),
        )
    ),
    post(f"{CORE}/bindings?{_DRY}", _BINDING),
    patch(f"{WIDGETS}/new/status?fieldManager=m&{_DRY}", widget("new", status={"phase": "x"}), APPLY),
    get(f"{NAMESPACES}/$ns"),
    get(f"{NAMESPACES}/$ns/status"),
    get(f"{NAMESPACES}/$ns/finalize"),
    put(f"{NAMESPACES}/$ns/finalize?{_DRY}", made("v1", "Namespace", "$ns")),
    put(f"{NAMESPACES}/$ns/status?{_DRY}", made("v1", "Namespace", "$ns")),
    patch(f"{NAMESPACES}/$ns?{_DRY}", {"metadata": {"labels": {"a": "b"}}}),
    patch(f"{NAMESPACES}/$ns/status?{_DRY}", {}),
    delete(f"{NAMESPACES}/$ns?{_DRY}"),
    get(f"{NAMESPACES}/default"),
    get(NAMESPACES),
    get(f"{NAMESPACES}?fieldSelector=metadata.name=$ns"),
    post(f"{NAMESPACES}?{_DRY}", made("v1", "Namespace", "$ns-new")),
    delete(f"{NAMESPACES}?{_DRY}"),
    get(NODES),
    get(f"{NODES}/none"),
    get(f"{NODES}/none/status"),
    get(f"{NODES}/none/proxy"),
    get(f"{NODES}/none/proxy/metrics"),
    get(f"{_REQUESTS}/none/approval"),
    get(f"{_REQUESTS}/none/status"),
    put(f"{_REQUESTS}/none/approval?{_DRY}", made("certificates.k8s.io/v1", "CertificateSigningRequest", "none")),
    *(
        Step(method, path)
        for method in ("GET", "HEAD", "POST", "DELETE")
        for path in (
            *("/healthz", "/healthz/ping", "/livez", "/readyz", "/metrics", "/metrics/", "/version", "/version/"),
            *("/api", "/apis", "/api/", "/apis/apps", "/apis/apps/v1", "/api/v1", "/openapi/v2", "/openapi/v3"),
            *("/logs", "/logs/", "/none", "/none/at/all", "/", "/openid/v1/jwks", "/.well-known/openid-configuration"),
        )
    ),
)
_PART_ROLES: dict[str, tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]] = {
    "nothing": ((), ()),
    "everything but subresources": (
        (rule("*", "pods deployments widgets serviceaccounts namespaces bindings", "*"),),
        (rule("*", "namespaces nodes certificatesigningrequests", "*"),),
    ),
    "everything with one, but no subresource": (
        (_named("*", "pods deployments widgets serviceaccounts", "a", groups="*"),),
        (_named("*", "namespaces", "default", groups="*"),),
    ),
    "subresources by name": (
        (
            rule("*", "pods/status pods/log pods/exec pods/attach pods/portforward pods/proxy pods/eviction"),
            rule("*", "pods/binding pods/ephemeralcontainers pods/resize serviceaccounts/token"),
            rule("*", "deployments/scale deployments/status widgets/status widgets/scale", "*"),
        ),
        (rule("*", "namespaces/status namespaces/finalize nodes/status nodes/proxy"),),
    ),
    "subresources of one": (
        (
            _named("*", "pods/status pods/log pods/exec pods/attach pods/portforward pods/proxy pods/eviction", "a"),
            _named("*", "pods/binding pods/ephemeralcontainers pods/resize serviceaccounts/token", "a"),
            _named("*", "deployments/scale deployments/status widgets/status widgets/scale", "a", groups="*"),
        ),
        (_named("*", "namespaces/status namespaces/finalize nodes/status nodes/proxy", "default"),),
    ),
    "subresources of all": ((rule("*", "*/status */scale */eviction */token */proxy", "*"),), ()),
    "subresources of all in the cluster": ((), (rule("*", "*/status */scale */finalize */approval */proxy", "*"),)),
    "a star behind a resource": ((rule("*", "pods/* deployments/*", "*"),), (rule("*", "namespaces/*", "*"),)),
    "everything": ((rule("*", "*", "*"),), ()),
    "everything with one": ((_named("*", "*", "a", groups="*"),), ()),
    "everything everywhere": ((), (rule("*", "*", "*"), {"nonResourceURLs": ["*"], "verbs": ["*"]})),
    "paths": (
        (),
        (
            {"nonResourceURLs": ["/metrics", "/logs/*", "/none*"], "verbs": ["get"]},
            {"nonResourceURLs": ["/apis/*"], "verbs": ["post", "head"]},
        ),
    ),
    "paths with every verb": ((), ({"nonResourceURLs": ["/healthz/*", "/", "/version", "/*"], "verbs": ["*"]},)),
    "reads": ((rule("get list watch", "*", "*"),), (rule("get list watch", "*", "*"),)),
}

_MAPS = quietly(post(MAPS, config_map("a")), post(MAPS, config_map("b")))
_OTHERS = (
    ACCOUNT_READY,
    *quietly(
        *(post(PODS, pod(name, automountServiceAccountToken=False)) for name in ("a", "b")),
        *(post(DEPLOYMENTS, deployment(name)) for name in ("a", "b")),
        *(post(WIDGETS, widget(name, spec={"replicas": 1})) for name in ("a", "b")),
        *(post(ACCOUNTS, made("v1", "ServiceAccount", name)) for name in ("a", "b")),
    ),
)

CASES = (
    *(
        case(f"maps: {name}", _MAPS, rights(*local, everywhere=everywhere), as_user(*_MAP_REQUESTS))
        for name, (local, everywhere) in _MAP_ROLES.items()
    ),
    *(
        case(f"parts: {name}", _OTHERS, rights(*local, everywhere=everywhere), as_user(*_PART_REQUESTS))
        for name, (local, everywhere) in _PART_ROLES.items()
    ),
)
