"""Stored settings of which any field is not what it should be: the server starts, passes them over, and says so."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store
from tests.http_api import Api
from tests.server.attacks.test_hostile_start import CRDS, KETTLES, MAPS, REGISTRATION, furnish, served

RBAC = "rbac.authorization.k8s.io"
SETTINGS = (
    "apiextensions.k8s.io/customresourcedefinitions",
    "admissionregistration.k8s.io/validatingadmissionpolicies",
    "admissionregistration.k8s.io/validatingadmissionpolicybindings",
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
    "admissionregistration.k8s.io/mutatingwebhookconfigurations",
    "/limitranges",
    "/resourcequotas",
    f"{RBAC}/clusterroles",
    f"{RBAC}/clusterrolebindings",
)
WRONG: tuple[Any, ...] = (5, "text", True, [], {}, [5], {"a": 5}, None)
KETTLE = {"apiVersion": "example.com/v1", "kind": "Kettle", "metadata": {"name": "k"}, "size": 1}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


def damaged(obj: Any) -> Iterator[Any]:
    """The object with one part of another type, or without it, in every way."""
    for *path, last in places(obj):
        if path == ["metadata"] and last in ("name", "namespace"):
            continue
        for wrong in WRONG:
            made = inner = copy.deepcopy(obj)
            for key in path:
                inner = inner[key]
            if wrong is None and isinstance(inner, dict):
                del inner[last]
            else:
                inner[last] = wrong
            yield made


async def damage(data: Path) -> int:
    """Beside every setting, store it again with each damage there is. Answers how many were made."""
    store = Store(data / "state.db")
    space, count = "root", 0
    assert space in store.spaces()
    for resource in SETTINGS:
        bucket = store.bucket(space, resource)
        for row in list(store.rows(space, resource)):
            namespace, _, name = row.key.rpartition("/")
            if resource.startswith(RBAC) and name != "watcher":
                continue
            for number, obj in enumerate(damaged(row.decode())):
                value = msgspec.json.encode(obj)
                new = f"d{number}-{name}"
                if "customresource" in resource:
                    # A kind of its own, so that nobody mistakes it for the one that is whole.
                    new = name.replace("example.com", f"d{number}.example.com")
                    value = value.replace(b'"example.com"', b'"d%d.example.com"' % number)
                value = value.replace(f'"name":"{name}"'.encode(), f'"name":"{new}"'.encode())
                await store.write(bucket, f"{namespace}/{new}" if namespace else new, Change.ADDED, value)
                count += 1
    await store.close()
    return count


async def furnish_more(api: Api) -> None:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["secrets"]}
    hook = {
        "name": "hook.example.com",
        "rules": [rule],
        "clientConfig": {"service": {"namespace": "default", "name": "none"}},
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    limit = {"type": "Container", "max": {"cpu": "1"}}
    reference = {"kind": "ClusterRole", "name": "watcher", "apiGroup": RBAC}
    rights = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}
    for path, obj in (
        (f"{REGISTRATION}/mutatingwebhookconfigurations", {"metadata": {"name": "more"}, "webhooks": [hook]}),
        ("/api/v1/namespaces/default/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [limit]}}),
        ("/api/v1/namespaces/default/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "9"}}}),
        (f"/apis/{RBAC}/v1/clusterroles", {"metadata": {"name": "watcher"}, "rules": [rights]}),
        (
            f"/apis/{RBAC}/v1/clusterrolebindings",
            {"metadata": {"name": "watcher"}, "roleRef": reference, "subjects": [{"kind": "User", "name": "amy"}]},
        ),
    ):
        answer = await api("POST", path, obj)
        assert answer.status == 201, answer.body


@pytest.mark.timeout(240)
async def test_the_server_starts_and_serves(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with served(tmp_path) as api:
        await furnish(api)
        await furnish_more(api)
        while (await api("GET", KETTLES)).status == 404:
            pass
    assert await damage(tmp_path) > 1000
    for _ in range(2):
        caplog.clear()
        async with served(tmp_path) as api:
            assert (await api("GET", "/readyz")).status == 200
            assert (await api("GET", MAPS)).status == 200
            assert (await api("GET", MAPS, Impersonate_User="amy")).status == 200
            assert (await api("GET", MAPS, Impersonate_User="eve")).status == 403
            assert (await api("POST", f"{KETTLES}?dryRun=All", KETTLE)).status == 201
            for path in ("/openapi/v2", "/openapi/v3", "/openapi/v3/apis/example.com/v1", "/apis", "/apis/example.com"):
                assert (await api("GET", path)).status == 200, path
            # Some of the damaged settings say which requests they are for, and then these fail as they say.
            assert (await api("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "m"}})).status in (201, 403, 422)
            secret = {"metadata": {"name": "s"}}
            answer = await api("POST", "/api/v1/namespaces/default/secrets?dryRun=All", secret)
            assert answer.status == 201 or "webhook" in answer.body["message"]
            pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
            answer = await api("POST", "/api/v1/namespaces/default/pods?dryRun=All", pod)
            assert answer.status in (201, 403, 422), answer.body
        passed_over = [one for one in caplog.messages if "passed over" in one]
        for resource in (*SETTINGS[:-2], "ClusterRole", "ClusterRoleBinding"):
            assert any(f"resource={resource} " in one for one in passed_over), resource
        assert not any("request failed" in one for one in caplog.messages)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("policy", "status"), [("Fail", 422), ("Ignore", 201)])
async def test_a_damaged_policy_fails_as_it_says(tmp_path: Path, policy: str, status: int) -> None:
    async with served(tmp_path) as api:
        await furnish(api)
    store = Store(tmp_path / "state.db")
    resource = SETTINGS[1]
    (row,) = store.rows("root", resource)
    obj = row.decode()
    obj["spec"] |= {"failurePolicy": policy, "validations": 5}
    value = msgspec.json.encode(obj)
    await store.write(store.bucket("root", resource), row.key, Change.MODIFIED, value, previous=row)
    await store.close()
    async with served(tmp_path) as api:
        answer = await api("POST", MAPS, {"metadata": {"name": "m"}})
        assert answer.status == status, answer.body
        if policy == "Fail":
            assert "spec.validations" in answer.body["message"]
        path = f"{REGISTRATION}/validatingadmissionpolicies/policy.example.com"
        assert (await api("DELETE", path)).status == 200
        assert (await api("POST", MAPS, {"metadata": {"name": "n"}})).status == 201


@pytest.mark.timeout(60)
async def test_a_damaged_definition_can_be_mended(tmp_path: Path) -> None:
    async with served(tmp_path) as api:
        await furnish(api)
        while (await api("GET", KETTLES)).status == 404:
            pass
        made = (await api("GET", f"{CRDS}/kettles.example.com")).body
    store = Store(tmp_path / "state.db")
    (row,) = store.rows("root", SETTINGS[0])
    obj = row.decode()
    obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = 5
    value = msgspec.json.encode(obj)
    await store.write(store.bucket("root", SETTINGS[0]), row.key, Change.MODIFIED, value, previous=row)
    await store.close()
    async with served(tmp_path) as api:
        assert (await api("GET", KETTLES)).status == 404
        stored = (await api("GET", f"{CRDS}/kettles.example.com")).body
        answer = await api("PUT", f"{CRDS}/kettles.example.com", {**stored, "spec": made["spec"]})
        assert answer.status == 200, answer.body
        while (await api("GET", KETTLES)).status == 404:
            pass
