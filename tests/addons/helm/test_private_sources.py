"""Charts of private repositories and mirrors, opened by Secrets that are read when they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from butler.addons import installer, mirrors
from butler.addons.errors import CredentialsMissing
from butler.addons.model import AddonState
from butler.api.config import ChartMirror, Charts
from butler.api.shared import RepositorySecretRef
from butler.engines.helm.charts import Chart
from kubekit.clock import SystemClock
from kubekit.errors import NotFound
from tests.addons.helm.site import Site
from tests.engines.helm import charts
from tests.engines.helm.sources import Source, serving

PASSWORD = "open-sesame-123"
ROBOT = {"username": b"robot", "password": PASSWORD.encode()}
REF = ("butler-system", "charts")


def repository() -> Source:
    source = Source(PASSWORD)
    source.files = {"/index.yaml": charts.index(web=("1.0.0",)), "/web-1.0.0.tgz": charts.archive()}
    return source


async def test_a_private_repository_opens_by_its_secret(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(repository()) as source:
        chart = Chart(f"http://127.0.0.1:{source.port}", "web", "1.0.0")
        addon = site.addon("web", chart=chart, credentials=REF)
        missing = await site.installed(addon)
        assert (missing.state, missing.reason) == (AddonState.FAILED, "CredentialsMissing")
        assert missing.message == "web: Secret butler-system/charts, which opens its repository, is not there"
        site.opening[REF] = {**ROBOT, "password": b"wrong-password"}
        refused = await site.installed(addon)
        assert (refused.state, refused.reason) == (AddonState.FAILED, "ChartUnavailable")
        assert "401" in refused.message
        site.opening[REF] = ROBOT
        assert (await site.installed(addon)).state is AddonState.HEALTHY
        asked, site.opening = len(source.asked), {}
        assert (await site.installed(addon)).state is AddonState.HEALTHY
        assert len(source.asked) == asked
    told = f"{missing}{refused}{caplog.text}"
    assert PASSWORD not in told
    assert "wrong-password" not in told


async def test_an_installer_asks_the_mirrors_of_now(site: Site, tmp_path: Path) -> None:
    said = [Charts()]

    async def read_charts() -> Charts:
        return said[-1]

    built = installer.build(tmp_path / "built", SystemClock(), site.read_secret, read_charts)
    assert built is not None
    site.installer = built
    async with serving(repository()) as source:
        addon = site.addon("web", chart=Chart("https://charts.invalid", "web", "1.0.0"))
        assert (await site.installed(addon)).reason == "ChartUnavailable"
        mirror = ChartMirror(
            prefix="https://charts.invalid",
            replacement=f"http://127.0.0.1:{source.port}",
            credentials_ref=RepositorySecretRef(name="charts"),
        )
        said.append(Charts(mirrors=(mirror,)))
        assert (await site.installed(addon)).reason == "CredentialsMissing"
        site.opening[REF] = ROBOT
        assert (await site.installed(addon)).state is AddonState.HEALTHY
    assert (await site.look(replace(addon, credentials=REF))).state is AddonState.HEALTHY


async def test_a_mirror_that_nobody_opens_is_named() -> None:
    async def read(namespace: str, name: str) -> Mapping[str, bytes]:
        raise NotFound(f"{namespace}/{name}")

    mirror = ChartMirror(
        prefix="https://a.example", replacement="oci://b.example", credentials_ref=RepositorySecretRef(name="x")
    )
    with pytest.raises(
        CredentialsMissing, match=r"the mirror of https://a\.example: Secret butler-system/x, which opens"
    ):
        await mirrors.mirror_of("https://a.example/stable", Charts(mirrors=(mirror,)), read)


async def test_what_opens_another_mirror_is_not_needed() -> None:
    async def read(namespace: str, name: str) -> Mapping[str, bytes]:
        raise NotFound(f"{namespace}/{name}")

    closed = ChartMirror(
        prefix="https://a.example", replacement="oci://b.example", credentials_ref=RepositorySecretRef(name="x")
    )
    open_to_all = ChartMirror(prefix="https://c.example", replacement="oci://d.example")
    said = Charts(mirrors=(closed, open_to_all))
    found = await mirrors.mirror_of("https://c.example", said, read)
    assert found is not None
    assert found.replacement == "oci://d.example"
    assert await mirrors.mirror_of("https://e.example", said, read) is None


def test_where_there_is_no_helm_there_is_no_installer(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read_charts() -> Charts:
        return Charts()

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert installer.build(tmp_path / "built", SystemClock(), site.read_secret, read_charts) is None
