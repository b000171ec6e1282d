"""Tinycloud keeps the provider contract."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from butler_tinycloud.provider import MARK, USER_DATA_LIMIT
from tinycloud_fake import KEY, Tinycloud

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.others import ExternalSection
from butler.api.shared import ProviderType, SecretRef
from butler.errors import CredentialsInvalid
from butler.providers import registry
from butler.providers.contract import MachineOrder, Provider, Surroundings
from butler.providers.testing import ConformanceKit, Harness, Seen
from butler.providers.testing.web import serving
from kubekit.errors import InvalidConfiguration
from kubekit.model.resource import ObjectMeta


def config(**settings: object) -> ProviderConfig:
    spec = ProviderConfigSpec(
        provider=ProviderType.EXTERNAL,
        credentials_ref=SecretRef(name="tinycloud", namespace="butler-system"),
        external=ExternalSection(name="tinycloud", settings=settings),
    )
    return ProviderConfig(metadata=ObjectMeta(name="tiny", namespace="butler-system"), spec=spec)


class TinycloudHarness(Harness):
    provider_id = r"tinycloud://srv-\d{6}"
    secrets = (KEY,)
    user_data_limit = USER_DATA_LIMIT

    def __init__(self, cloud: Tinycloud, url: str) -> None:
        self.cloud, self.url, self.faults = cloud, url, cloud.faults

    async def connect(self) -> Provider:
        return self._connected(KEY)

    async def connect_wrongly(self) -> Provider:
        return self._connected("wrong")

    def _connected(self, key: str) -> Provider:
        return registry.connect(config(endpoint=self.url), {"apiKey": key}, Surroundings(patience=0.2))

    async def machines(self) -> list[Seen]:
        return [
            Seen(
                one["name"], one["tags"].get(MARK, ""), one["cores"], one.get("memory_mb"),
                next(iter(one.get("disks_gb", ())), None), tuple(one.get("disks_gb", ())[1:]), one["tags"],
                one.get("image"),
            )
            for one in self.cloud.existing()
        ]  # fmt: skip

    async def pass_time(self, seconds: float) -> None:
        self.cloud.now += seconds

    async def was_booted_with(self, token: str, user_data: str) -> bool:
        return base64.b64decode(self._server(token)["user_data"]).decode() == user_data

    async def lose(self, token: str) -> None:
        self._server(token)["gone_at"] = self.cloud.now

    async def stop(self, token: str) -> None:
        self._server(token)["off"] = True

    async def add_stranger(self, name: str) -> None:
        self.cloud.add(name, {"owner": "someone"})

    async def add_image(self, name: str) -> str:
        self.cloud.images.append(name)
        return name

    async def add_network(self, name: str) -> str:
        return self.cloud.add_network(name)

    def refused(self, order: MachineOrder) -> MachineOrder:
        return replace(order, cpu=3)

    async def fill(self) -> None:
        self.cloud.limit = 0

    def _server(self, token: str) -> dict[str, Any]:
        return next(one for one in self.cloud.existing() if one["tags"].get(MARK) == token)


class TestTinycloud(ConformanceKit):
    @pytest.fixture
    async def harness(self) -> AsyncIterator[Harness]:
        cloud = Tinycloud()
        async with serving(cloud.app()) as url:
            yield TinycloudHarness(cloud, url)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "spec.external.settings: Object missing required field `endpoint`"),
        ({"endpoint": 5}, "spec.external.settings.endpoint: Expected `str`, got `int`"),
        ({"endpoint": "http://x", "colour": "red"}, "spec.external.settings: Object contains unknown field `colour`"),
    ],
)
def test_what_is_wrong_is_said_by_field(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        registry.connect(config(**settings), {"apiKey": KEY}, Surroundings())
    assert said in str(raised.value)


def test_a_secret_without_the_key_is_named() -> None:
    with pytest.raises(CredentialsInvalid, match="Secret tinycloud needs the key apiKey"):
        registry.connect(config(endpoint="http://x"), {}, Surroundings())
