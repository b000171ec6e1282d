"""Charts come from repositories, registries, mirrors and folders; each is fetched once and checked."""

from __future__ import annotations

import ssl
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from butler.engines.helm.archives import Archives
from butler.engines.helm.charts import NO_CREDENTIALS, Chart, Credentials, Mirror, mirrored, nearest
from butler.engines.helm.errors import ChartNotFound, ChartRefused, ChartUnavailable, HelmError
from butler.engines.helm.program import Program
from butler.engines.helm.workspace import Workspace
from testbed.running.certificates import Authority
from testbed.running.helm import VERSIONS, helm_of
from tests.engines.helm import charts
from tests.engines.helm.sources import Source, serving
from tests.engines.helm.world import World

PASSWORD = "open-sesame-123"
ROBOT = Credentials("robot", PASSWORD)
ARCHIVE = charts.archive()


class Fetching:
    """Archives in a folder of their own."""

    def __init__(self, folder: Path, *mirrors: Mirror, most: int = 10**9, version: str = "3") -> None:
        self.folder = folder
        self.program = Program(helm_of(version))
        self.mirrors = mirrors
        self.archives = Archives(self.program, folder / "charts", self.mirror_now, most)

    async def mirror_now(self, repository: str) -> Mirror | None:
        return nearest(self.mirrors, repository)

    async def fetch(self, chart: Chart, credentials: Credentials = NO_CREDENTIALS) -> bytes:
        with Workspace(self.folder / "runs") as workspace:
            path = await self.archives.put(chart, credentials, workspace)
            return path.read_bytes()


@pytest.fixture(params=VERSIONS)
def fetching(request: pytest.FixtureRequest, tmp_path: Path) -> Fetching:
    return Fetching(tmp_path, version=request.param)


def repository(password: str = "") -> Source:
    source = Source(password)
    source.files = {
        "/index.yaml": charts.index(web=("1.0.0", "1.1.0+build.1")),
        "/web-1.0.0.tgz": ARCHIVE,
        "/web-1.1.0+build.1.tgz": charts.archive(version="1.1.0+build.1"),
    }
    return source


def at(source: Source, **changed: Any) -> Chart:
    return replace(Chart(f"http://127.0.0.1:{source.port}", "web", "1.0.0"), **changed)


async def test_a_chart_is_fetched_from_a_repository_once(fetching: Fetching) -> None:
    async with serving(repository()) as source:
        assert await fetching.fetch(at(source)) == ARCHIVE
        assert source.asked == ["/index.yaml", "/web-1.0.0.tgz"]
        runs = fetching.program.runs
        assert await fetching.fetch(at(source)) == ARCHIVE
        assert (len(source.asked), fetching.program.runs) == (2, runs)
        assert await fetching.fetch(at(source, version="1.1.0+build.1")) != ARCHIVE


async def test_what_is_kept_is_kept_for_the_next_process_and_within_bounds(tmp_path: Path) -> None:
    async with serving(repository()) as source:
        await Fetching(tmp_path).fetch(at(source))
        small = Fetching(tmp_path, most=10)
        await small.fetch(at(source))
        assert small.program.runs == 0
        await small.fetch(at(source, version="1.1.0+build.1"))
    assert len(list((tmp_path / "charts").iterdir())) == 1
    assert list((tmp_path / "runs").iterdir()) == []


async def test_a_private_repository_opens_by_its_password_alone(fetching: Fetching) -> None:
    async with serving(repository(PASSWORD)) as source:
        with pytest.raises(ChartUnavailable, match="401"):
            await fetching.fetch(at(source))
        with pytest.raises(ChartUnavailable, match="401") as caught:
            await fetching.fetch(at(source), Credentials("robot", "wrong-password"))
        assert "wrong-password" not in str(caught.value)
        assert await fetching.fetch(at(source), ROBOT) == ARCHIVE


async def test_what_was_opened_by_a_password_is_not_kept_for_those_without(fetching: Fetching) -> None:
    async with serving(repository(PASSWORD)) as source:
        assert await fetching.fetch(at(source), ROBOT) == ARCHIVE
        with pytest.raises(ChartUnavailable, match="401"):
            await fetching.fetch(at(source))
        with pytest.raises(ChartUnavailable, match="401"):
            await fetching.fetch(at(source), Credentials("robot", "guessed"))


async def test_a_repository_with_a_certificate_of_its_own(fetching: Fetching, tmp_path: Path) -> None:
    authority = Authority()
    authority.issue("charts").write(tmp_path, "charts")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "charts.crt", tmp_path / "charts.key")
    async with serving(repository(PASSWORD), context) as source:
        chart = at(source, repository=f"https://127.0.0.1:{source.port}")
        with pytest.raises(ChartUnavailable, match="certificate"):
            await fetching.fetch(chart, ROBOT)
        assert await fetching.fetch(chart, replace(ROBOT, authority=authority.pair.certificate)) == ARCHIVE


@pytest.mark.parametrize("password", ["", PASSWORD])
async def test_a_chart_is_fetched_from_a_registry(fetching: Fetching, password: str) -> None:
    source = Source(password)
    source.add_to_registry("team/charts/web", "1.0.0", ARCHIVE)
    async with serving(source):
        chart = Chart(f"oci://127.0.0.1:{source.port}/team/charts", "web", "1.0.0", plain_http=True)
        assert await fetching.fetch(chart, ROBOT if password else NO_CREDENTIALS) == ARCHIVE
        with pytest.raises(ChartNotFound, match=r"web 9\.0\.0"):
            await fetching.fetch(replace(chart, version="9.0.0"), ROBOT if password else NO_CREDENTIALS)
        if password:
            with pytest.raises(ChartUnavailable, match=r"401|credential"):
                await fetching.fetch(replace(chart, digest=charts.digest(ARCHIVE)))


async def test_an_archive_is_the_one_that_was_vouched_for(fetching: Fetching) -> None:
    async with serving(repository()) as source:
        good = charts.digest(ARCHIVE)
        wrong = f"sha256:{'0' * 64}"
        with pytest.raises(ChartRefused, match=f"{good}.*{wrong}"):
            await fetching.fetch(at(source, digest=wrong))
        assert not list(fetching.folder.glob("charts/*.tgz"))
        assert await fetching.fetch(at(source, digest=good)) == ARCHIVE
        kept = next(fetching.folder.glob("charts/*.tgz"))
        kept.write_bytes(b"something else")
        assert await fetching.fetch(at(source, digest=good)) == ARCHIVE


async def test_a_missing_chart_and_a_missing_version_are_told(fetching: Fetching) -> None:
    async with serving(repository()) as source:
        with pytest.raises(ChartNotFound, match=r"127\.0\.0\.1.*/web 9\.9\.9"):
            await fetching.fetch(at(source, version="9.9.9"))
        with pytest.raises(ChartNotFound, match="nobody"):
            await fetching.fetch(at(source, name="nobody"))
        gone = at(source)
    with pytest.raises(ChartUnavailable, match="refused"):
        await fetching.fetch(gone)


async def test_a_mirror_is_asked_instead_and_shown_its_own_password(tmp_path: Path) -> None:
    async with serving(repository(PASSWORD)) as source:
        site = Mirror("https://charts.example.com", f"http://127.0.0.1:{source.port}", ROBOT)
        chart = Chart("https://charts.example.com", "web", "1.0.0", charts.digest(ARCHIVE))
        assert await Fetching(tmp_path, site).fetch(chart, Credentials("other", "never-shown")) == ARCHIVE


async def test_mirrors_may_change_at_any_time(tmp_path: Path) -> None:
    async with serving(repository()) as source:
        fetching = Fetching(tmp_path, Mirror("https://charts.example.com", "http://127.0.0.1:1"))
        chart = Chart("https://charts.example.com", "web", "1.0.0")
        with pytest.raises(ChartUnavailable, match="refused"):
            await fetching.fetch(chart)
        fetching.mirrors = (Mirror("https://charts.example.com", f"http://127.0.0.1:{source.port}"),)
        assert await fetching.fetch(chart) == ARCHIVE


def test_the_longest_prefix_counts_and_only_whole_words() -> None:
    mirrors = (
        Mirror("https://a.example", "https://m.example/a"),
        Mirror("https://a.example/deep/", "oci://m.example/deep", plain_http=True),
    )

    def to(repository: str) -> str:
        return mirrored(Chart(repository, "web", "1.0.0"), ROBOT, nearest(mirrors, repository))[0].repository

    assert to("https://a.example/deep/er") == "oci://m.example/deep/er"
    assert to("https://a.example/deeper") == "https://m.example/a/deeper"
    assert to("https://a.example.evil/x") == "https://a.example.evil/x"
    assert nearest(mirrors, "https://b.example") is None
    assert mirrored(Chart("https://b.example", "web", "1.0.0"), ROBOT, None)[1] == ROBOT


@pytest.mark.parametrize(
    ("chart", "message"),
    [
        (Chart("ftp://x", "web", "1.0.0"), "begins with none of"),
        (Chart("https://me:hunter2@x", "web", "1.0.0"), "no name or password"),
        (Chart("https://x", "--post-renderer=/bin/sh", "1.0.0"), "not the name of a chart"),
        (Chart("https://x", "../web", "1.0.0"), "not the name of a chart"),
        (Chart("https://x", "web", ""), "exactly one version"),
        (Chart("https://x", "web", "^1"), "exactly one version"),
        (Chart("https://x", "web", ">0"), "exactly one version"),
        (Chart("https://x", "web", "1.0.0", "sha256:12"), "digest"),
    ],
)
def test_a_reference_that_cannot_be_meant_is_refused(chart: Chart, message: str) -> None:
    with pytest.raises(ChartRefused, match=message) as caught:
        chart.check()
    assert "hunter2" not in str(caught.value)


async def test_a_packed_chart_in_a_folder(fetching: Fetching, tmp_path: Path) -> None:
    (tmp_path / "web-1.0.0.tgz").write_bytes(ARCHIVE)
    chart = Chart(tmp_path.as_uri(), "web", "1.0.0", charts.digest(ARCHIVE))
    assert await fetching.fetch(chart) == ARCHIVE
    with pytest.raises(ChartRefused, match="digest"):
        await fetching.fetch(replace(chart, digest=f"sha256:{'1' * 64}"))
    with pytest.raises(ChartNotFound, match=r"web-2\.0\.0\.tgz"):
        await fetching.fetch(replace(chart, version="2.0.0"))


async def test_a_release_from_a_private_repository(world: World) -> None:
    async with serving(repository(PASSWORD)) as source:
        world.chart = at(source)
        assert (await world.deploy(credentials=ROBOT)).changed
        asked = len(source.asked)
        assert not (await world.deploy(credentials=ROBOT)).changed
        assert (await world.deploy({"greeting": "again"}, credentials=ROBOT)).changed
        assert len(source.asked) == asked
        with pytest.raises(HelmError):
            await world.deploy(chart=at(source, version="1.1.0"))
        assert (await world.record()).status == "deployed"
