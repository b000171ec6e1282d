"""A cluster as it runs, and what another one becomes that is made from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from msgspec import structs

from butler.addons.resolution import Reason, Wish
from butler.api.normalise import normalise
from butler.controllers.cluster.effective_spec import as_it_runs
from butler.controllers.cluster.scope import Scope
from butler.controllers.cluster.settings import ClusterSettings, settings_of
from tests.controllers.clusters import cluster, config, provider, scope_of, surroundings, team

MADE_WITH = {"name": "simulated", "namespace": "butler-system"}


def accepted(**spec: Any) -> Scope:
    world = surroundings(
        config(
            multiTenancy={"mode": "Optional"},
            defaultAddonVersions={"cilium": "1.16.0"},
            defaultControlPlaneResources={"apiServer": {"requests": {"cpu": "1"}}},
            sshAuthorizedKey="ssh-ed25519 AAAA",
        ),
        team(clusterDefaults={"workerCount": 4, "workerCPU": 6, "kubernetesVersion": "v1.31.0"}),
        provider(network={"timeServers": ["clock.example"]}),
    )
    return scope_of(cluster(teamRef={"name": "web"}, namespace="team-web", **spec), world)


def wishes(settings: ClusterSettings) -> list[Wish]:
    """Whoever wanted them: what was filled in once is asked for then."""
    return [replace(one, reason=Reason.ASKED) for one in settings.addons]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"workers": {"replicas": 2, "machineTemplate": {"disk": "60Gi"}}, "timeServers": ["own"]},
        {"workers": {"pools": [{"name": "gpu", "minReplicas": 1, "maxReplicas": 3, "labels": {"gpu": "yes"}}]}},
        {"addons": {"storage": {"provider": "longhorn"}, "loadBalancer": {}, "ingress": {"enabled": False}}},
        {"addons": {"cni": {"values": {"mtu": 1400}}}},
    ],
    ids=("nothing", "sizes", "pools", "addons", "values"),
)
def test_another_cluster_made_from_it_is_the_same_without_any_defaults(spec: dict[str, Any]) -> None:
    scope = accepted(**spec)
    status = {"acceptedSpec": scope.asked, "providerConfigRef": MADE_WITH}
    written = cluster(teamRef={"name": "web"}, namespace="team-web", status=status, **spec)
    running = as_it_runs(written, scope.sight)
    assert running is not None
    assert running.spec.provider_config_ref is not None
    assert running.spec.provider_config_ref.name == "simulated"
    alone = normalise(structs.replace(running, status=cluster().status))
    assert settings_of(alone, None, None) == scope.settings
    assert wishes(settings_of(alone, None, None)) == wishes(scope.settings)
    read = msgspec.json.decode(msgspec.json.encode(running), type=type(running))
    assert settings_of(read, None, None) == scope.settings
    assert wishes(settings_of(read, None, None)) == wishes(scope.settings)


def test_what_is_refused_is_not_part_of_it() -> None:
    scope = accepted(kubernetesVersion="v1.31.4", workers={"replicas": 2})
    changed = cluster(
        teamRef={"name": "web"},
        namespace="team-web",
        kubernetesVersion="v1.34.1",
        workers={"replicas": 7},
        status={"acceptedSpec": scope.asked},
    )
    running = as_it_runs(changed, scope.sight)
    assert running is not None
    assert (running.spec.kubernetes_version, running.spec.workers.replicas) == ("v1.31.4", 2)


def test_of_a_cluster_that_was_never_accepted_nothing_runs() -> None:
    assert as_it_runs(cluster(), surroundings()) is None
