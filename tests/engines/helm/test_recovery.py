"""A run that was killed, wherever it was, leaves no release locked; one that lives is left alone."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import aclosing, suppress
from datetime import datetime, timedelta

import pytest

from butler.engines.helm import locks
from butler.engines.helm.engine import Helm
from butler.engines.helm.errors import HelmError, ReleaseBusy, ReleaseNotReady
from butler.engines.helm.protocol import Deployed
from kubekit.client.protocol import Selection
from kubekit.clock import SystemClock
from kubekit.model.resource import Address
from tests.engines.helm import charts
from tests.engines.helm.world import DEPLOYMENT, World, kill, processes_of, until

JOB = Address.of("batch/v1", "Job")
FREE = {"stuck": False}
STUCK = {"stuck": True, "added": True}
ADDED = """
{{- if .Values.added }}
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-added}
{{- end }}
"""


def hanging(hook: str) -> dict[str, str]:
    """A chart whose Job is never done, where it has one."""
    job = charts.JOB.replace("HOOK", hook)
    return {
        "templates/config.yaml": charts.CONFIG,
        "templates/added.yaml": ADDED,
        "templates/job.yaml": f"{{{{- if .Values.stuck }}}}{job}{{{{- end }}}}",
    }


@pytest.fixture
def hook(world: World, request: pytest.FixtureRequest) -> str:
    name: str = request.param
    world.chart = charts.folder(world.folder / "source", more=hanging(name))
    return name


async def reach(world: World, kind: Address = JOB) -> None:
    """Wait until Helm has come to what never ends."""
    async with asyncio.timeout(30), aclosing(world.cluster.client.watch(kind, Selection("addons"))) as events:
        async for event in events:
            if event.item is not None:
                return


async def killed(world: World, task: asyncio.Task[object], kind: Address = JOB) -> None:
    await reach(world, kind)
    assert kill(world.folder / "helm" / "runs") == 1
    with pytest.raises(HelmError):
        await task


@pytest.mark.parametrize("hook", ["pre-install", "post-install"], indirect=True)
async def test_a_killed_install_is_done_anew(world: World, hook: str) -> None:
    await killed(world, asyncio.create_task(world.deploy(STUCK)))
    assert await world.states() == [(1, "pending-install")]
    assert (await world.deploy(FREE)).record.status == "deployed"
    assert await world.states() == [(1, "deployed")]
    assert await world.data("web-added") is None


@pytest.mark.parametrize("hook", ["pre-upgrade", "post-upgrade"], indirect=True)
async def test_a_killed_upgrade_is_taken_back_before_the_next(world: World, hook: str) -> None:
    await world.deploy({"greeting": "first"})
    await killed(world, asyncio.create_task(world.deploy(STUCK, roll_back=False)))
    assert (await world.states())[-1] == (2, "pending-upgrade")
    assert (await world.deploy({"greeting": "second"})).record.status == "deployed"
    assert (await world.states())[-1] == (4, "deployed")
    assert (await world.data() or {})["greeting"] == "second"
    assert await world.data("web-added") is None


@pytest.mark.parametrize("hook", ["post-upgrade"], indirect=True)
async def test_an_upgrade_that_is_killed_before_our_eyes_is_taken_back_at_once(world: World, hook: str) -> None:
    await world.deploy({"greeting": "first"})
    await killed(world, asyncio.create_task(world.deploy(STUCK)))
    assert (await world.states())[-1] == (3, "deployed")
    assert (await world.data() or {})["greeting"] == "first"
    assert await world.data("web-added") is None


@pytest.mark.parametrize("hook", ["post-rollback"], indirect=True)
async def test_a_killed_rollback_is_recovered(world: World, hook: str) -> None:
    await world.deploy(STUCK)
    await world.deploy(FREE)
    await killed(world, asyncio.create_task(world.helm.rollback(world.cluster, world.place)))
    assert (await world.states())[-1] == (3, "pending-rollback")
    assert (await world.deploy({"greeting": "on"})).record.status == "deployed"


@pytest.mark.parametrize("hook", ["pre-delete"], indirect=True)
@pytest.mark.parametrize("verb", ["deploy", "uninstall"])
async def test_a_killed_uninstall_is_finished(world: World, hook: str, verb: str) -> None:
    await world.deploy(STUCK)
    await killed(world, asyncio.create_task(world.helm.uninstall(world.cluster, world.place)))
    assert await world.states() == [(1, "uninstalling")]
    await world.cluster.client.delete(JOB, "web-job", "addons", propagation="Background")
    if verb == "deploy":
        assert (await world.deploy(FREE)).record.revision == 1
        return
    await asyncio.gather(world.helm.uninstall(world.cluster, world.place), finish_job(world))
    assert await world.states() == []


async def finish_job(world: World) -> None:
    await reach(world)
    job = await world.cluster.client.get(JOB, "web-job", "addons")
    now = job["metadata"]["creationTimestamp"]
    true = {"status": "True", "lastProbeTime": now, "lastTransitionTime": now}
    conditions = [{"type": "SuccessCriteriaMet", **true}, {"type": "Complete", **true}]
    status = {
        "active": 0,
        "ready": 0,
        "succeeded": 1,
        "startTime": now,
        "completionTime": now,
        "conditions": conditions,
    }
    await world.cluster.client.patch(JOB, "web-job", {"status": status}, "addons", subresource="status")


async def test_a_run_killed_while_it_waits_is_recovered(world: World) -> None:
    world.chart = charts.folder(world.folder / "source", more=charts.WHOLE)
    await killed(world, asyncio.create_task(world.deploy(wait=True)), DEPLOYMENT)
    assert await world.states() == [(1, "pending-install")]
    assert (await world.deploy()).record.status == "deployed"


@pytest.mark.parametrize("moment", [0.0, 0.05, 0.1, 0.2, 0.3, 0.5])
async def test_a_run_killed_at_any_moment_is_recovered(world: World, moment: float) -> None:
    world.chart = charts.folder(world.folder / "source", more=charts.WHOLE)
    for number in range(2):
        task = asyncio.create_task(world.deploy({"greeting": f"try {number}"}))
        await until(lambda: bool(processes_of(world.folder / "helm" / "runs")) or task.done())  # noqa: B023
        await asyncio.sleep(moment)
        kill(world.folder / "helm" / "runs")
        await asyncio.gather(task, return_exceptions=True)
    assert (await world.deploy({"greeting": "at last"})).record.status == "deployed"
    assert (await world.data() or {})["greeting"] == "at last"
    assert await world.helm.drift(world.cluster, world.place) == ()


async def test_a_run_that_nobody_saw_end_and_that_did_its_work_is_no_longer_remembered(world: World) -> None:
    await world.deploy()
    folder = world.folder / "helm" / "locks"
    with locks.held(folder, world.cluster, world.place) as lock:
        lock.begin(1)
    assert len(list(folder.iterdir())) == 1
    assert not (await world.deploy()).changed
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("hook", ["pre-install"], indirect=True)
async def test_a_cancelled_run_ends_politely_and_leaves_nothing(world: World, hook: str) -> None:
    task = asyncio.create_task(world.deploy(STUCK))
    await reach(world)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await world.states() == [(1, "failed")]
    assert processes_of(world.folder / "helm" / "runs") == []
    assert list((world.folder / "helm" / "runs").iterdir()) == []


@pytest.mark.parametrize("hook", ["pre-install"], indirect=True)
async def test_two_verbs_on_one_release_do_not_meet(world: World, hook: str) -> None:
    task = asyncio.create_task(world.deploy(STUCK))
    await reach(world)
    with pytest.raises(ReleaseBusy, match=r"release addons/web: a run of Helm is at work"):
        await world.helm.uninstall(world.cluster, world.place)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


PROGRAM = """
import asyncio, sys
from pathlib import Path
from butler.engines.helm.charts import Chart
from butler.engines.helm.engine import Helm
from butler.engines.helm.protocol import Cluster, Place, Release
from kubekit.client import kubeconfig
from kubekit.client.http import HttpClient

async def main(path, folder, source, helm):
    config = kubeconfig.load(Path(path))
    async with HttpClient(config) as client:
        release = Release(Place("web", "addons"), Chart(source, "web", "1.0.0"), {"stuck": True})
        await Helm(Path(folder), Path(helm)).deploy(Cluster(config, client), release)

asyncio.run(main(*sys.argv[1:]))
"""


async def deployed_when_free(world: World) -> Deployed:
    """The lock of a process that was killed is free a moment after it is gone."""
    for _ in range(100):
        with suppress(ReleaseBusy):
            return await world.deploy(FREE)
        await asyncio.sleep(0.1)
    raise AssertionError("it stays busy")


@pytest.mark.parametrize("hook", ["pre-install"], indirect=True)
async def test_a_run_that_outlives_us_is_left_alone_until_it_ends(world: World, hook: str) -> None:
    folder = world.folder / "helm"
    assert world.chart is not None
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        str(world.kubeconfig),
        str(folder),
        world.chart.repository,
        str(world.helm.program.path),
    )
    await reach(world)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert len(processes_of(folder / "runs")) == 1
    successor = World(
        world.cluster, Helm(folder, world.helm.program.path), world.kubeconfig, world.folder, chart=world.chart
    )
    with pytest.raises(ReleaseBusy):
        await successor.deploy(FREE)
    assert kill(folder / "runs") == 1
    await until(lambda: not processes_of(folder / "runs"))
    assert (await deployed_when_free(successor)).record.status == "deployed"
    assert list((folder / "runs").iterdir()) == []


class At(SystemClock):
    """Always the same time."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment

    def now(self) -> datetime:
        return self._moment


@pytest.mark.parametrize("hook", ["pre-install"], indirect=True)
async def test_a_run_of_others_counts_as_alive_until_it_is_too_old(world: World, hook: str) -> None:
    source = str(world.folder / "source" / "web")
    process = await asyncio.create_subprocess_exec(
        str(world.helm.program.path), "install", "web", source, "--set", "stuck=true", "--namespace", "addons",
        "--create-namespace", "--kubeconfig", str(world.kubeconfig),
    )  # fmt: skip
    await reach(world)
    process.kill()
    await process.wait()
    for verb in (world.deploy(FREE), world.helm.uninstall(world.cluster, world.place)):
        with pytest.raises(ReleaseBusy, match="revision 1 is pending-install, by somebody who may still be at work"):
            await verb
    world.helm = Helm(
        world.folder / "helm", world.helm.program.path, clock=At(SystemClock().now() + timedelta(hours=1))
    )
    assert (await world.deploy(FREE)).record.status == "deployed"


@pytest.mark.parametrize("hook", ["pre-delete"], indirect=True)
async def test_an_uninstall_of_others_counts_as_alive_however_old_the_release_is(world: World, hook: str) -> None:
    await world.deploy(STUCK)
    process = await asyncio.create_subprocess_exec(
        str(world.helm.program.path), "uninstall", "web", "--namespace", "addons",
        "--kubeconfig", str(world.kubeconfig),
    )  # fmt: skip
    await reach(world)
    record = await world.record()
    assert record.status == "uninstalling"
    assert record.begun_at is not None
    soon = At(record.begun_at + timedelta(seconds=30))
    world.helm = Helm(world.folder / "helm", world.helm.program.path, clock=soon)
    with pytest.raises(ReleaseBusy, match="uninstalling"):
        await world.deploy(FREE)
    process.kill()
    await process.wait()


async def test_what_was_not_ready_in_time_is_named(world: World) -> None:
    world.chart = charts.folder(world.folder / "source", more=charts.WHOLE)
    await world.deploy({"greeting": "good"})
    with pytest.raises(ReleaseNotReady, match="Deployment addons/web: ") as caught:
        await world.deploy({"image": "nginx:2"}, wait=True, timeout=timedelta(seconds=1))
    assert len(caught.value.objects) == 1
    assert caught.value.rolled_back
    assert await world.states() == [(1, "superseded"), (2, "failed"), (3, "deployed")]
