"""What changed behind Helm's back is seen, field by field, and mended."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.client.protocol import Patch
from kubekit.model.resource import Address
from tests.engines.helm import charts
from tests.engines.helm.world import CONFIG_MAP, DEPLOYMENT, GADGET, SECRET, WEBHOOKS, World

AUTOSCALER = Address.of("autoscaling/v2", "HorizontalPodAutoscaler")
WEBHOOK = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: {{ .Release.Name }}}
webhooks:
- name: a.example.com
  clientConfig: {caBundle: "", service: {name: web, namespace: addons}}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]
  sideEffects: None
  failurePolicy: Ignore
  admissionReviewVersions: [v1]
"""


async def seen(world: World) -> dict[str, tuple[str, ...]]:
    found = await world.helm.drift(world.cluster, world.place)
    return {one.object: one.paths for one in found}


@pytest.fixture
async def deployed(world: World) -> World:
    world.chart = charts.folder(world.folder / "source", more={**charts.WHOLE, "templates/webhook.yaml": WEBHOOK})
    await world.deploy()
    return world


async def change(world: World, kind: Address, name: str, patch: dict[str, Any]) -> None:
    await world.cluster.client.patch(kind, name, patch, world.place.namespace if kind.namespaced else "")


async def test_nothing_drifts_by_itself(deployed: World) -> None:
    runs = deployed.helm.program.runs
    assert await seen(deployed) == {}
    assert deployed.helm.program.runs == runs


async def test_changed_fields_are_named_and_mended(deployed: World) -> None:
    await change(deployed, CONFIG_MAP, "web-config", {"data": {"greeting": "changed", "other": "untouched"}})
    await change(deployed, SECRET, "web-secret", {"data": {"password": "Y2hhbmdlZA=="}})
    await change(deployed, GADGET, "web", {"spec": {"size": 1}})
    image = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "evil:1"}]
    await deployed.cluster.client.patch(DEPLOYMENT, "web", image, "addons", form=Patch.JSON)
    found = await deployed.helm.drift(deployed.cluster, deployed.place)
    assert {one.object: one.paths for one in found} == {
        "ConfigMap addons/web-config": ("data.greeting",),
        "Secret addons/web-secret": ("data.password",),
        "Deployment addons/web": ("spec.template.spec.containers[0].image",),
        "Gadget addons/web": ("spec.size",),
    }
    assert "changed" not in repr(found)
    await deployed.helm.repair(deployed.cluster, deployed.place, found)
    assert await seen(deployed) == {}
    assert await deployed.data() == {"greeting": "hello", "loud": "HELL", "seen": "{}", "other": "untouched"}
    assert await deployed.states() == [(1, "deployed")]
    await deployed.deploy({"greeting": "upgraded"})
    assert (await deployed.data() or {})["greeting"] == "upgraded"


async def test_a_missing_object_comes_back(deployed: World) -> None:
    await deployed.cluster.client.delete(DEPLOYMENT, "web", "addons")
    found = await deployed.helm.drift(deployed.cluster, deployed.place)
    assert [str(one) for one in found] == ["Deployment addons/web: missing"]
    await deployed.helm.repair(deployed.cluster, deployed.place, found)
    mended = await deployed.get(DEPLOYMENT, "web") or {}
    assert mended["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "Helm"}
    assert mended["metadata"]["annotations"]["meta.helm.sh/release-name"] == "web"
    assert (await deployed.deploy({"greeting": "still ours"})).changed


async def test_what_others_may_change_is_no_drift(deployed: World) -> None:
    await change(deployed, DEPLOYMENT, "web", {"metadata": {"annotations": {"theirs": "yes"}}})
    await change(deployed, DEPLOYMENT, "web", {"spec": {"template": {"metadata": {"labels": {"theirs": "yes"}}}}})
    live = await deployed.cluster.client.get(WEBHOOKS, "web")
    live["webhooks"][0]["clientConfig"]["caBundle"] = "LS0tLS1CRUdJTg=="
    await change(deployed, WEBHOOKS, "web", {"webhooks": live["webhooks"]})
    assert await seen(deployed) == {}


async def test_replicas_are_drift_unless_something_scales_them(deployed: World) -> None:
    await change(deployed, DEPLOYMENT, "web", {"spec": {"replicas": 4}})
    assert await seen(deployed) == {"Deployment addons/web": ("spec.replicas",)}
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "addons"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "maxReplicas": 5,
        },
    }
    await deployed.cluster.client.create(autoscaler, AUTOSCALER)
    assert await seen(deployed) == {}
    await change(deployed, DEPLOYMENT, "web", {"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}})
    found = await deployed.helm.drift(deployed.cluster, deployed.place)
    await deployed.helm.repair(deployed.cluster, deployed.place, found)
    assert (await deployed.get(DEPLOYMENT, "web") or {})["spec"]["replicas"] == 4
