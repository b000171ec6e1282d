"""-v: requests, retries and decisions on stderr, and never a secret."""

from __future__ import annotations

import json
from pathlib import Path

from testbed.running.embedded import ServerProcess
from tests.cli.conftest import User
from tests.cli.test_ctl_kubeconfig import furnished

SECRET = "a-token-that-nobody-must-see"


def test_requests_and_decisions_are_shown(user: User, platform: ServerProcess) -> None:
    name = user.cluster()
    quiet = user("cluster", "get", name)
    shown = user("cluster", "get", name, "-v")
    assert (quiet.err, shown.out.splitlines()[0]) == ("", quiet.out.splitlines()[0])
    assert f"by {platform.kubeconfig}" in shown.err
    assert "namespace butler-tenants, because none was named" in shown.err
    path = f"/apis/butler.butlerlabs.dev/v1alpha1/namespaces/butler-tenants/tenantclusters/{name}"
    assert f"GET {path}: 200" in shown.err


def test_writes_are_shown_too_wherever_the_flag_stands(user: User) -> None:
    name = user.cluster()
    for words in (("-v", "cluster", "scale", name, "-w", "2"), ("cluster", "scale", name, "-w", "1", "--verbose")):
        shown = user(*words).err
        assert "PATCH /apis/butler.butlerlabs.dev" in shown
        assert "asyncio" not in shown, "what others say is not ours to show"
    assert "GET /apis/butler.butlerlabs.dev" in user.adm("-v", "provider", "list").err


def test_nothing_secret_is_shown(user: User, tmp_path: Path) -> None:
    name = furnished(user)
    content = json.loads(user.kubectl("config", "view", "--raw", "-o", "json").out)
    content["users"][0]["user"] = {"token": SECRET}
    path = tmp_path / "token"
    path.write_text(json.dumps(content))
    for words in (("cluster", "list"), ("cluster", "scale", name, "-w", "2")):
        assert SECRET not in user(*words, "-v", "--kubeconfig", str(path), fails=4).err
    written = user("cluster", "kubeconfig", name, "-v")
    assert "token: t" in written.out
    assert "token: t" not in written.err
