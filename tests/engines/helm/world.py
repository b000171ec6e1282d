"""What tests of the engine do and look at."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from butler.engines.helm.charts import Chart
from butler.engines.helm.engine import Helm
from butler.engines.helm.protocol import Cluster, Deployed, Place, Release, Releases
from butler.engines.helm.records import Record
from kubekit.errors import NotFound
from kubekit.model.resource import Address, Object
from tests.engines.helm import charts

PLACE = Place("web", "addons")
CONFIG_MAP = Address.of("v1", "ConfigMap")
DEPLOYMENT = Address.of("apps/v1", "Deployment")
SECRET = Address.of("v1", "Secret")
WEBHOOKS = Address.of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", namespaced=False)
DEFINITIONS = Address.of("apiextensions.k8s.io/v1", "CustomResourceDefinition", namespaced=False)
GADGET = Address.of("gadgets.example.com/v1", "Gadget")


@dataclass
class World:
    """A cluster and an engine."""

    cluster: Cluster
    helm: Helm
    kubeconfig: Path
    folder: Path
    place: Place = PLACE
    chart: Chart | None = None

    def wanted(self, values: Mapping[str, Any] | None = None, **changed: Any) -> Release:
        if self.chart is None:
            self.chart = charts.folder(self.folder / "source")
        release = Release(self.place, self.chart, values or {}, timeout=timedelta(seconds=20))
        return replace(release, **changed)

    async def deploy(self, values: Mapping[str, Any] | None = None, *, again: bool = False, **changed: Any) -> Deployed:
        return await self.releases.deploy(self.cluster, self.wanted(values, **changed), again=again)

    @property
    def releases(self) -> Releases:
        """The engine as controllers know it."""
        return self.helm

    async def record(self) -> Record:
        found = await self.helm.find(self.cluster, self.place)
        assert found is not None
        return found

    async def states(self) -> list[tuple[int, str]]:
        """Revisions and what Helm says of them."""
        found = await self.helm.history(self.cluster, self.place)
        return [(one.revision, str(one.status)) for one in found]

    async def get(self, kind: Address, name: str) -> Object | None:
        try:
            return await self.cluster.client.get(kind, name, self.place.namespace)
        except NotFound:
            return None

    async def data(self, name: str = "web-config") -> dict[str, str] | None:
        found = await self.get(CONFIG_MAP, name)
        return None if found is None else found["data"]

    async def stock(self, *arguments: str) -> Any:
        """What Helm answers when people run it."""
        process = await asyncio.create_subprocess_exec(
            str(self.helm.program.path), *arguments, "--namespace", self.place.namespace,
            "--kubeconfig", str(self.kubeconfig), "--output", "json", stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        output, _ = await process.communicate()
        assert process.returncode == 0
        return json.loads(output)


def processes_of(folder: Path) -> list[int]:
    """Runs of Helm at work in private folders under this one."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cwd"):
        try:
            # One whose folder was swept away still says where it was.
            is_here = Path(os.readlink(path)).is_relative_to(folder)
        except OSError:
            continue
        if is_here and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found


def kill(folder: Path) -> int:
    """End every run without a word; how many there were."""
    found = processes_of(folder)
    for process in found:
        os.kill(process, signal.SIGKILL)
    return len(found)


async def until(happened: Callable[[], bool]) -> None:
    """Wait for what no API tells."""
    async with asyncio.timeout(30):
        while not happened():  # noqa: ASYNC110 - a process has no event
            await asyncio.sleep(0.01)
