"""What a change would do to the objects of an addon, by real Helm, before it happens."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from testbed.running.embedded import BUTLER, ServerProcess, start_server, stop_server
from testbed.running.helm import Helm
from tests.cli.addons import Addons
from tests.cli.conftest import User
from tests.engines.helm import charts

VERSIONS = ("1.0.0", "1.1.0")
CHART = {
    "templates/config.yaml": charts.CONFIG,
    "templates/secret.yaml": charts.SECRET,
    "templates/hook.yaml": charts.HOOK,
}
NEWER = {**CHART, "templates/more.yaml": charts.CONFIG.replace("-config", "-more")}
SECRET = "hunter2-and-more"
SPACE = "monitoring"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a repository with two versions of a chart."""
    folder = tmp_path_factory.mktemp("charts")
    (folder / "index.yaml").write_bytes(charts.index(web=VERSIONS))
    for version, files in zip(VERSIONS, (CHART, NEWER), strict=True):
        (folder / f"web-{version}.tgz").write_bytes(charts.archive("web", version, files))
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def tenant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The API of a tenant's cluster."""
    server = start_server(tmp_path_factory.mktemp("tenant"), program=BUTLER)
    yield server
    stop_server(server)


class World(Addons):
    """An addon of the catalogue in a cluster that can be reached."""

    def __init__(self, user: User, tenant: ServerProcess, repository: str) -> None:
        super().__init__(user)
        self.user = user
        self.name = self.define(
            "web", chart={"repository": repository, "name": "web", "availableVersions": ["1.1.0"]},
            defaults={"namespace": SPACE, "values": {"greeting": "hello $(cluster.name)"}},
        )  # fmt: skip
        inside = f"inside-{self.ending}"
        self.cluster_name = self.cluster(tenantNamespace=inside, controlPlaneEndpoint="10.0.0.9:6443")
        data = {"admin.conf": base64.b64encode(tenant.kubeconfig.read_bytes()).decode()}
        meta = {"name": f"{self.cluster_name}-admin-kubeconfig", "namespace": inside}
        objects = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inside}},
            {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": data},
        ]
        user.kubectl("create", "-f", "-", stdin=yaml.safe_dump_all(objects))
        self.helm = Helm("3", tenant.kubeconfig, SPACE, user.home)
        self._repository = repository

    def deploy(self, version: str = "1.0.0", **values: str) -> None:
        """What the addon's controller would have done."""
        given = {"greeting": f"hello {self.cluster_name}", **values}
        path = self.user.home / "given.yaml"
        path.write_text(yaml.safe_dump(given))
        self.helm(
            "upgrade", "--install", self.name, "web", "--repo", self._repository, "--version", version,
            "--create-namespace", "--values", str(path),
        )  # fmt: skip

    def change_values(self, **values: str) -> None:
        """Of the definition."""
        change = json.dumps({"spec": {"defaults": {"values": values}}})
        self.user.kubectl("patch", "addondefinition", self.name, "--type=merge", "-p", change)

    def install(self, *flags: str) -> None:
        self.user("addon", "install", self.cluster_name, self.name, *flags)

    def diff(self, *flags: str, fails: int = 1, **environ: str) -> Any:
        return self.user("addon", "diff", self.cluster_name, self.name, *flags, fails=fails, **environ)


@pytest.fixture
def world(user: User, tenant: ServerProcess, repository: str) -> Iterator[World]:
    made = World(user, tenant, repository)
    yield made
    made.clear()


def test_before_anything_is_installed_all_of_it_is_new(world: World) -> None:
    world.install()
    items = json.loads(world.diff("-o", "json").out)
    assert [(one["kind"], one["name"], one["change"]) for one in items] == [
        ("ConfigMap", f"{world.name}-config", "added"),
        ("Secret", f"{world.name}-secret", "added"),
    ]
    assert f"+  greeting: hello {world.cluster_name}" in items[0]["diff"]
    assert world.helm.json("list") == [], "nothing is installed by looking"


def test_placeholders_stand_for_what_the_controller_would_say(world: World) -> None:
    named = ("cluster.podCidr", "cluster.serviceType", "cluster.smallReplicas", "cluster.endpoint.port")
    world.change_values(greeting=" ".join(f"$({name})" for name in named))
    world.install()
    (config, _) = json.loads(world.diff("-o", "json").out)
    assert "+  greeting: 10.244.0.0/16 NodePort 2 6443" in config["diff"]


def test_what_is_there_as_it_is_written_is_no_difference(world: World) -> None:
    world.install()
    world.deploy()
    ended = world.diff(fails=0)
    assert (ended.out, "nothing would change" in ended.err) == ("", True)


def test_a_change_is_shown_by_lines_and_not_made(world: World) -> None:
    world.install()
    world.deploy()
    shown = world.diff("--set", "greeting=goodbye").out.splitlines()
    assert shown[:2] == [f"--- ConfigMap {world.name}-config", f"+++ ConfigMap {world.name}-config"]
    assert f"-  greeting: hello {world.cluster_name}" in shown
    assert "+  greeting: goodbye" in shown
    assert not any("-secret" in line for line in shown), "what stays is not shown"
    assert world.helm.json("list")[0]["revision"] == "1"
    assert "values" not in world.read(f"{world.cluster_name}-{world.name}")["spec"]


def test_another_version_shows_what_it_brings(world: World) -> None:
    world.install()
    world.deploy()
    items = json.loads(world.diff("--version", "1.1.0", "-o", "json").out)
    assert [(one["name"], one["change"]) for one in items] == [(f"{world.name}-more", "added")]


def test_an_addon_is_looked_for_where_its_status_says(world: World) -> None:
    world.install()
    world.deploy()
    place = {"name": world.name, "namespace": "elsewhere"}
    world.status(f"{world.cluster_name}-{world.name}", helmRelease=place)
    assert {one["change"] for one in json.loads(world.diff("-o", "json").out)} == {"added"}


def test_no_secret_is_shown(world: World) -> None:
    secret = world.secret("more", values_yaml=f"password: {SECRET}\ngreeting: {SECRET}-too\n")
    world.install("--values-secret", secret)
    world.deploy(password="before-and-secret", greeting="before-and-secret-too")
    ended = world.diff()
    assert "password: '*** (before)'" in ended.out
    assert "password: '*** (after)'" in ended.out
    for text in (SECRET, "before-and-secret", base64.b64encode(SECRET.encode()).decode()):
        assert text not in ended.out + ended.err
    assert f"ConfigMap {world.name}-config" in ended.out


def test_what_cannot_be_found_out_has_an_exit_code_of_its_own(world: World, tmp_path: Path) -> None:
    world.install()
    assert "9.9.9" in world.diff("--version", "9.9.9", fails=7).err
    assert "values-secret" in world.diff("--values-secret", "a/", fails=2).err
    (tmp_path / "helm").write_text("#!/no/such/shell\n")
    (tmp_path / "helm").chmod(0o755)
    assert "helm: cannot be run" in world.diff(fails=3, PATH=str(tmp_path)).err
    inside = f"inside-{world.ending}"
    world.user.kubectl("delete", "secret", "-n", inside, f"{world.cluster_name}-admin-kubeconfig")
    missing = world.diff(fails=3).err
    assert f"has no kubeconfig yet: it is Running; `butlerctl cluster why {world.cluster_name}`" in missing
    assert "the platform keeps" in world.user("addon", "diff", world.cluster_name, "cilium", fails=7).err


def test_a_chart_of_nobodys_catalogue_is_compared_too(world: World, repository: str) -> None:
    flags = ("--chart", "web", "--repo", repository, "--version", "1.0.0", "--target-namespace", SPACE)
    world.user("addon", "install", world.cluster_name, "own", *flags)
    shown = json.loads(world.user("addon", "diff", world.cluster_name, "own", "-o", "json", fails=1).out)
    assert {one["name"] for one in shown} == {"own-config", "own-secret"}
