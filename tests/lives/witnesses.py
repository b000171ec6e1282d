"""Those who look at a cluster, each with a program of their own: what they see has to be the same."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from testbed.running.embedded import Ran
from tests.lives.upstream_client import UpstreamClient
from tests.local.shells import Shell

TENANTS = "butler-tenants"


@dataclass(frozen=True)
class Truth:
    """A cluster as somebody sees it."""

    phase: str
    version: str
    ready: int
    desired: int
    endpoint: str
    namespace: str
    is_ready: bool


class Witnesses:
    """kubectl, butlerctl and the client of the original Butler, on one platform."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.upstream = UpstreamClient(shell.data / "kubeconfig")

    def together(self, name: str) -> Truth:
        """What all of them see of a cluster at rest."""
        seen = {
            "kubectl": self.by_kubectl(name),
            "butlerctl list": self.by_list(name),
            "butlerctl get": self.by_get(name),
            "upstream list": self.by_upstream_list(name),
            "upstream get": self.by_upstream(name),
        }
        assert len(set(seen.values())) == 1, seen
        return seen["kubectl"]

    def by_kubectl(self, name: str) -> Truth:
        """The object, and the line about it among others."""
        found = self.object(name)
        status = found["status"]
        workers = status["observedState"]["workers"]
        line = done(self.shell.kubectl("get", "tenantclusters", "-n", TENANTS, "--no-headers")).out
        (shown,) = [words.split() for words in line.splitlines() if words.split()[0] == name]
        truth = Truth(
            status["phase"], status["observedState"]["kubernetesVersion"], workers["ready"], workers["desired"],
            status["controlPlaneEndpoint"], status["tenantNamespace"], condition(found, "Ready") == "True",
        )  # fmt: skip
        columns = [truth.phase, str(truth.is_ready), truth.version, str(truth.ready), truth.endpoint]
        assert shown[1:6] == columns, shown
        assert (status["workerNodesReady"], status["workerNodesDesired"]) == (truth.ready, truth.desired)
        assert status["observedGeneration"] == found["metadata"]["generation"]
        return truth

    def by_list(self, name: str) -> Truth:
        """As programs and as people read it."""
        listed = json.loads(done(self.shell.butlerctl("cluster", "list", "-o", "json")).out)
        (one,) = [item for item in listed if item["name"] == name]
        table = done(self.shell.butlerctl("cluster", "list", "-o", "wide")).out
        (shown,) = [words.split() for words in table.splitlines() if words.split()[0] == name]
        workers = one["workers"]
        counted = f"{workers['ready']}/{workers['desired']}"
        assert shown[1:4] == [one["phase"], one["kubernetesVersion"], counted], shown
        assert shown[5:] == [one["endpoint"], one["providerConfig"]], shown
        return Truth(
            one["phase"], one["kubernetesVersion"], workers["ready"], workers["desired"],
            one["endpoint"], one["tenantNamespace"], self.by_get(name).is_ready,
        )  # fmt: skip

    def by_get(self, name: str) -> Truth:
        shown = done(self.shell.butlerctl("cluster", "get", name)).out
        facts = dict(re.findall(r"^([A-Z][\w ]+): +(.+)$", shown, re.MULTILINE))
        (ready, desired), = re.findall(r"^(\d+)/(\d+) Ready$", facts["Workers"])  # fmt: skip
        (is_ready,) = re.findall(r"^ +Ready +(True|False|Unknown) ", shown, re.MULTILINE)
        return Truth(
            facts["Phase"], facts["K8s Version"], int(ready), int(desired),
            facts["Endpoint"], facts["Tenant Namespace"], is_ready == "True",
        )  # fmt: skip

    def by_upstream(self, name: str) -> Truth:
        info, conditions = self.upstream.get(name)
        return Truth(
            info.phase, info.version, info.ready, info.desired,
            info.endpoint, info.tenant_namespace, conditions["Ready"][0] == "True",
        )  # fmt: skip

    def by_upstream_list(self, name: str) -> Truth:
        (info,) = [one for one in self.upstream.list() if one.name == name]
        return replace(
            self.by_upstream(name), phase=info.phase, version=info.version, ready=info.ready, desired=info.desired
        )

    def object(self, name: str) -> dict[str, Any]:
        found = done(self.shell.kubectl("get", "tenantcluster", name, "-n", TENANTS, "-o", "json"))
        loaded: dict[str, Any] = json.loads(found.out)
        return loaded

    def inside(self, kubeconfig: str, folder: Path) -> dict[str, str]:
        """The nodes that a kubeconfig leads to, and the version each runs; all have to be ready."""
        path = folder / "tenant.kubeconfig"
        path.write_text(kubeconfig)
        nodes = json.loads(done(self.shell.run("kubectl", "--kubeconfig", str(path), "get", "nodes", "-o", "json")).out)
        assert [condition(node, "Ready") for node in nodes["items"]] == ["True"] * len(nodes["items"])
        return {node["metadata"]["name"]: node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes["items"]}

    def exported(self, name: str) -> dict[str, Any]:
        """What butlerctl and the original one would have applied again."""
        ours = yaml.safe_load(done(self.shell.butlerctl("cluster", "export", name)).out)
        assert ours == self.upstream.export(name)
        assert ours["spec"] == self.object(name)["spec"]
        return dict(ours)


def condition(found: dict[str, Any], type_: str) -> str:
    (one,) = [one for one in found["status"]["conditions"] if one["type"] == type_]
    return str(one["status"])


def done(ran: Ran) -> Ran:
    assert ran.code == 0, ran.err
    return ran
