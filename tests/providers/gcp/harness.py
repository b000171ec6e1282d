"""Google Cloud under test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.gcp import GcpSection
from butler.api.shared import ProviderType, SecretRef
from butler.providers import registry
from butler.providers.contract import MachineOrder, Provider, Surroundings
from butler.providers.gcp.vm import MARK, USER_DATA_LIMIT
from butler.providers.loadbalancer import LoadBalancers
from butler.providers.testing import Harness, Seen
from kubekit.model.resource import ObjectMeta
from tests.providers.gcp import fake_instances
from tests.providers.gcp.fake import Google
from tests.providers.gcp.fake_issuer import TOKEN, key_file, pem
from tests.providers.gcp.fake_project import IMAGES, PROJECT, REGION, Thing, image, subnetwork

_BALANCING = ("addresses", "healthChecks", "backendServices", "forwardingRules", "instanceGroups")


def config(url: str, **section: Any) -> ProviderConfig:
    given = {
        "project_id": PROJECT,
        "region": REGION,
        "image_family": "talos",
        "image_project": IMAGES,
        "endpoint": url,
        "resource_manager_endpoint": url,
        **section,
    }
    spec = ProviderConfigSpec(
        provider=ProviderType.GCP,
        credentials_ref=SecretRef(name="gcp-credentials", namespace="butler-system"),
        gcp=GcpSection(**given),
    )
    return ProviderConfig(metadata=ObjectMeta(name="google", namespace="butler-system"), spec=spec)


class GcpHarness(Harness):
    provider_id = r"gce://butler-test/us-central1-[abc]/[a-z0-9-]+"
    secrets = (TOKEN, *pem().splitlines()[1:-1])
    user_data_limit = USER_DATA_LIMIT

    def __init__(self, google: Google, url: str, **section: Any) -> None:
        self.google, self.url, self.faults = google, url, google.faults
        self._section = section

    async def connect(self) -> Provider:
        return self.connected(key_file(self.url))

    async def connect_wrongly(self) -> Provider:
        return self.connected(key_file(self.url, client_email="someone@butler-test.iam.gserviceaccount.com"))

    def connected(self, key: str, **section: Any) -> Provider:
        surroundings = Surroundings(clock=self.google.clock)
        wanted = config(self.url, **{**self._section, **section})
        return registry.connect(wanted, {"serviceAccountKey": key}, surroundings)

    async def machines(self) -> list[Seen]:
        return [self._seen(one) for one in self.google.existing("instances")]

    async def leftovers(self) -> list[str]:
        in_use = {one["source"] for vm in self.google.existing("instances") for one in vm.body["disks"]}
        disks = [one for one in self.google.existing("disks") if one.shown(self.google.now)["selfLink"] not in in_use]
        balancing = [one for kind in _BALANCING for one in self.google.existing(kind)]
        return sorted(one.path for one in (*disks, *balancing))

    async def pass_time(self, seconds: float) -> None:
        self.google.clock.pass_by(seconds)

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        items = self.instance(token).body.get("metadata", {}).get("items", [])
        return {one["key"]: one["value"] for one in items} == ({"user-data": user_data} if user_data else {})

    async def lose(self, token: str) -> None:
        """The disk stays, as when someone deleted the machine with --keep-disks."""
        instance = self.instance(token)
        for disk in fake_instances.disks_of(self.google, instance):
            disk.body["users"] = []
        instance.gone_at = self.google.now

    async def stop(self, token: str) -> None:
        self.instance(token).phases.append((self.google.now, "TERMINATED"))

    async def add_stranger(self, name: str) -> None:
        path = f"projects/{PROJECT}/zones/us-central1-a/instances/{name}"
        body = {"machineType": f"https://x/v1/projects/{PROJECT}/zones/us-central1-a/machineTypes/e2-standard-2"}
        self.google.things[path] = Thing(path, {**body, "disks": []}, phases=[(self.google.now, "RUNNING")])

    async def add_image(self, name: str) -> str:
        added = image(name)
        self.google.things[added.path] = added
        return name

    async def add_network(self, name: str) -> str:
        added = subnetwork(name)
        self.google.things[added.path] = added
        return name

    def refused(self, order: MachineOrder) -> MachineOrder:
        self.google.echoes = True
        return replace(order, image="no-such-image")

    async def fill(self) -> None:
        for region in self.google.existing("regions"):
            region.body["quotas"] = [{"metric": "CPUS", "limit": 1.0, "usage": 1.0}]

    def load_balancers(self, provider: Provider) -> LoadBalancers:
        found = registry.load_balancers("gcp", provider)
        assert found is not None
        return found

    def instance(self, token: str) -> Thing:
        return next(one for one in self.google.existing("instances") if one.body.get("labels", {}).get(MARK) == token)

    def _seen(self, instance: Thing) -> Seen:
        disks = [one.get("initializeParams", {}) for one in instance.body["disks"]]
        sizes = [int(one["diskSizeGb"]) for one in disks]
        kind = self.google.things[instance.body["machineType"].partition("/v1/")[2]].body
        return Seen(
            name=instance.name,
            token=instance.body.get("labels", {}).get(MARK, ""),
            cpu=kind["guestCpus"],
            memory_mb=kind["memoryMb"],
            disk_gb=sizes[0] if sizes else None,
            extra_disks=tuple(sizes[1:]),
            labels=instance.body.get("labels", {}),
            image=disks[0]["sourceImage"] if disks else None,
        )
