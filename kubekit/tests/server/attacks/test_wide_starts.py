"""What is stored in great numbers: nobody waits for a start, for a space that wakes or for roles that are gathered."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from kubekit.server.access.coverage import uncovered
from kubekit.server.access.pki import ROOT
from kubekit.server.access.rules import Rule
from kubekit.server.serve.server import Server
from kubekit.server.store.changes import Change
from kubekit.server.store.store import Store
from kubekit.testing.watchdog import slowness, watched
from tests.http_api import Api
from tests.server.attacks.payloads import KETTLES, ROLES
from tests.server.attacks.test_hostile_start import opened, served
from tests.server.attacks.test_wide_settings import BINDINGS, CRDS, RBAC, grant_many
from tests.server.attacks.tries import let_others_have_turns
from tests.server.custom import definition
from tests.server.wire import APPLY

pytestmark = [pytest.mark.usefixtures("as_served"), pytest.mark.timeout(180)]

MANY = {"Impersonate_User": "many"}


async def let_many_write_roles(api: Api) -> None:
    rules = [{"apiGroups": [RBAC], "resources": ["*"], "verbs": ["create", "update", "patch", "get"]}]
    assert (await api("POST", ROLES, {"metadata": {"name": "writer"}, "rules": rules})).status == 201
    bound = {
        "metadata": {"name": "writer"},
        "roleRef": {"kind": "ClusterRole", "apiGroup": RBAC, "name": "writer"},
        "subjects": [{"kind": "User", "name": "many", "apiGroup": RBAC}],
    }
    assert (await api("POST", BINDINGS, bound)).status == 201


async def test_nobody_waits_for_what_is_granted_by_who_has_very_many_rights(api: Api) -> None:
    await grant_many(api)
    await let_many_write_roles(api)

    def role(name: str, resource: str) -> dict[str, Any]:
        rules = [{"apiGroups": ["a"], "resources": [f"{resource}-{i}"], "verbs": ["c"]} for i in range(2000)]
        return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}

    async with watched():
        assert (await api("POST", ROLES, role("granted", "b7"), **MANY)).status == 201
    async with watched():
        assert (await api("POST", ROLES, role("refused", "none"), **MANY)).status == 403
    async with watched():
        assert (await api("PUT", f"{ROLES}/put", role("put", "b8"), **MANY)).status == 201
    async with watched():
        applied = json.dumps(role("applied", "b9")).encode()
        assert (await api("PATCH", f"{ROLES}/applied?fieldManager=me", applied, APPLY, **MANY)).status == 201
    async with watched():
        reference = {"kind": "ClusterRole", "apiGroup": RBAC, "name": "r5"}
        assert (await api("POST", BINDINGS, {"metadata": {"name": "x"}, "roleRef": reference}, **MANY)).status == 201


def test_paths_are_compared_in_no_time() -> None:
    owned = [Rule(("get",), urls=(f"/a{number}/*", f"/b{number}")) for number in range(20_000)]
    held = [Rule(("get",), urls=tuple(f"/a{number}/x" for number in range(0, 20_000, 10)))]
    before = time.process_time()
    assert uncovered(owned, held) == []
    assert uncovered(owned, [Rule(("get",), urls=("/a", "/b7", "/a7", "/b77/"))]) == [
        Rule(("get",), urls=(url,)) for url in ("/a", "/a7", "/b77/")
    ]
    assert time.process_time() - before < 5 * slowness()


async def define_many(data: Path, space: str, prefix: str = "") -> None:
    """Of one long definition, make a hundred: to send them all would take much longer than to store them."""
    made = definition("kettles", "Kettle", "Namespaced")
    parts = {f"part{i}": {"type": "string", "description": "x" * 20} for i in range(5000)}
    schema = made["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"] = {"spec": {"type": "object", "properties": parts}}
    async with Server(data) as server:
        await server.add_space(space)
        async with opened(server, space) as api:
            assert (await api("POST", f"{prefix}{CRDS}", made)).status == 201
        await server.spaces[space].settled()
    store = Store(data / "state.db")
    bucket = store.bucket(space, "apiextensions.k8s.io/customresourcedefinitions")
    row = store.get(bucket, "kettles.example.com")
    assert row is not None
    for number in range(100):
        value = row.value.replace(b"kettle", b"kettle%d" % number).replace(b"Kettle", b"Kettle%d" % number)
        await store.write(bucket, f"kettle{number}s.example.com", Change.ADDED, value)
    await store.close()


async def test_nobody_waits_for_a_start_with_very_many_definitions(tmp_path: Path) -> None:
    await define_many(tmp_path, ROOT)
    async with watched(), served(tmp_path) as api:
        assert (await api("GET", KETTLES.replace("kettles", "kettle99s"))).status == 200


async def test_nobody_waits_for_a_space_with_very_many_definitions_to_wake(tmp_path: Path) -> None:
    await define_many(tmp_path, "demo", "/clusters/demo")
    async with Server(tmp_path) as server, watched(), opened(server, "demo") as api:
        found = await api("GET", f"/clusters/demo{KETTLES.replace('kettles', 'kettle99s')}")
        assert found.status == 200


async def test_nobody_waits_for_roles_that_gather_very_many(server: Server, api: Api) -> None:
    labels = {"example.com/gathered": "true"}
    for number in range(60):
        rules = [{"apiGroups": ["a"], "resources": [f"b{number}-{i}"], "verbs": ["c"]} for i in range(200)]
        role = {"metadata": {"name": f"r{number}", "labels": labels}, "rules": rules}
        assert (await api("POST", ROLES, role)).status == 201
    await server.root.settled()
    gathering = {"clusterRoleSelectors": [{"matchLabels": labels}]}
    made = iter(range(10))

    async def gather() -> None:
        role = {"metadata": {"name": f"all-{next(made)}"}, "aggregationRule": gathering}
        assert (await api("POST", ROLES, role)).status == 201
        await server.root.settled()

    await let_others_have_turns(gather)
    found = await api("GET", f"{ROLES}/all-0")
    assert len(found.body["rules"]) == 60 * 200
