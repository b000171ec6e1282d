"""The account of the fake AWS that the rules are tried on."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from butler.providers import registry
from butler.providers.aws import images, loadbalancer
from butler.providers.aws.vm import TOKEN, USER_DATA_LIMIT
from butler.providers.contract import ExtraDisk, MachineOrder, Provider, Surroundings
from butler.providers.images import ImageOrder, Images
from butler.providers.loadbalancer import LoadBalancers
from butler.providers.testing import Harness, Seen
from butler.providers.testing.web import serving
from tests.providers.aws.configs import (
    ACCESS_KEY,
    BUCKET,
    CREDENTIALS,
    REGION,
    SECRET_KEY,
    SESSION_TOKEN,
    config,
)
from tests.providers.aws.fake import FakeAws
from tests.providers.aws.fake_instances import Held

_NUMBERS = itertools.count(100_000_000_000)
"""Accounts, one for each test, so that none has to be emptied."""


class AwsHarness(Harness):
    provider_id = r"aws:///eu-central-1[abc]/i-[0-9a-f]{17}"
    secrets = (ACCESS_KEY, SECRET_KEY, SESSION_TOKEN)
    user_data_limit = USER_DATA_LIMIT
    says_how_long = False
    step = 10.0

    def __init__(self, aws: FakeAws, url: str) -> None:
        self.aws, self.url, self.faults = aws, url, aws.faults
        self._subnets = itertools.count()

    def connected(self, credentials: dict[str, str] | None = None, patience: float = 30.0, **section: Any) -> Provider:
        around = Surroundings(clock=self.aws.clock, patience=patience)
        return registry.connect(config(self.url, **section), credentials or CREDENTIALS, around)

    async def connect(self) -> Provider:
        return self.connected()

    async def connect_wrongly(self) -> Provider:
        return self.connected({**CREDENTIALS, "accessKeyID": "AKIAWRONG"})

    async def machines(self) -> list[Seen]:
        return [self._seen(one) for one in self.aws.instances.living()]

    def _seen(self, held: Held) -> Seen:
        kind = self.aws.account.types()[held.instance.instance_type]
        root, *others = self.aws.instances.disks(held).values()
        return Seen(
            held.tags["Name"], held.tags.get(TOKEN, ""), kind["VCpuInfo"]["DefaultVCpus"],
            kind["MemoryInfo"]["SizeInMiB"], root, tuple(others), held.tags, held.instance.image_id,
        )  # fmt: skip

    async def leftovers(self) -> list[str]:
        """What carries our mark and belongs to no machine."""
        ec2, living = self.aws.account.ec2, {one.instance.id for one in self.aws.instances.living()}
        disks = [one for one in ec2.volumes.values() if not one.attachment or one.attachment.instance.id not in living]
        cards = [one for one in ec2.enis.values() if not one.instance or one.instance.id not in living]
        snapshots = list(ec2.snapshots.values())
        balancing = [one.name for one in (*self.aws.balancers.existing(), *self.aws.balancers.groups())]
        return sorted([*(one.id for one in (*disks, *cards, *snapshots) if _is_ours(one)), *balancing])

    async def pass_time(self, seconds: float) -> None:
        self.aws.clock.pass_by(seconds)
        self.aws.instances.tick()

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        return self.aws.instances.user_data(self.aws.instances.of_token(TOKEN, token)) == user_data

    async def lose(self, token: str) -> None:
        self.aws.instances.lose(self.aws.instances.of_token(TOKEN, token))

    async def stop(self, token: str) -> None:
        self.aws.instances.of_token(TOKEN, token).instance.stop()

    async def add_stranger(self, name: str) -> None:
        order = replace(self.order(name), token="")
        provider = self.connected()
        await provider.create(order)
        await provider.close()
        held = next(one for one in self.aws.instances.living() if one.tags[TOKEN] == "")
        for thing in (held.instance, *held.instance.nics.values(), *self._disks_of(held)):
            self.aws.account.ec2.delete_tags([thing.id], {TOKEN: None})

    def _disks_of(self, held: Held) -> list[Any]:
        volumes = self.aws.account.ec2.volumes
        return [volumes[disk.volume_id] for disk in held.instance.block_device_mapping.values()]

    def refused(self, order: MachineOrder) -> MachineOrder:
        return replace(order, extra_disks=(ExtraDisk(10, "warp9"),))

    async def fill(self) -> None:
        self.aws.instances.full = set(self.aws.subnets())

    def load_balancers(self, provider: Provider) -> LoadBalancers:
        return loadbalancer.connect(provider)

    def images(self, provider: Provider) -> Images:
        return images.connect(provider)

    def brought(self, order: ImageOrder) -> ImageOrder:
        return replace(order, url=order.url.replace(".qcow2", ".raw"), format="raw")

    async def add_image(self, name: str) -> str:
        ami = self.aws.account.ec2.register_image(name, "someone's")
        ami.root_device_type, ami.architecture = "ebs", "x86_64"
        return str(ami.id)

    async def add_network(self, name: str) -> str:
        ec2 = self.aws.account.ec2
        vpc = next(iter(ec2.vpcs))
        zone = f"{REGION}{'abc'[next(self._subnets) % 3]}"
        subnet = ec2.create_subnet(vpc, f"172.31.{100 + next(self._subnets)}.0/24", availability_zone=zone)
        subnet.add_tags({"Name": name})
        return str(subnet.id)


def _is_ours(thing: Any) -> bool:
    return any(tag["key"] == TOKEN for tag in thing.get_tags())


@asynccontextmanager
async def aws_account() -> AsyncIterator[AwsHarness]:
    """A new account, which nobody has used."""
    aws = FakeAws(str(next(_NUMBERS)))
    aws.imports.bucket[BUCKET] = {f"image/37656798/{one}/nocloud-amd64.raw" for one in ("v1.9.0", "v1.9.1")}
    try:
        async with serving(aws.app()) as url:
            yield AwsHarness(aws, url)
    finally:
        aws.account.close()
