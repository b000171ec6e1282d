"""The fake is as strict as what it stands for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from testbed.running import loopback_tls
from tests.providers.azure.fake_things import GROUP, LOCATION, SUBNET
from tests.providers.azure.harness import AzureHarness, running

NIC = f"{GROUP}/providers/Microsoft.Network/networkInterfaces/one"
VERSION = {"api-version": "2024-05-01"}
BEARER = {"Authorization": "Bearer static"}


@pytest.fixture
async def harness() -> AsyncIterator[AzureHarness]:
    async with running() as harness:
        yield harness


async def refused(harness: AzureHarness, method: str, path: str, **more: Any) -> tuple[int, str]:
    """Status and code of an answer."""
    given = {"headers": BEARER, "params": VERSION, **more}
    async with aiohttp.ClientSession() as session:
        trust = aiohttp.Fingerprint(loopback_tls.fingerprint())
        async with session.request(method, harness.url + path, ssl=trust, **given) as answer:
            return answer.status, (await answer.json())["error"]["code"]


@pytest.mark.parametrize(
    ("more", "status", "code"),
    [
        ({"headers": {}}, 401, "AuthenticationFailed"),
        ({"headers": {"Authorization": "Bearer stolen"}}, 401, "InvalidAuthenticationToken"),
        ({"params": {}}, 400, "MissingApiVersionParameter"),
        ({"params": {"api-version": "latest"}}, 400, "NoRegisteredProviderFound"),
        ({}, 404, "ResourceNotFound"),
    ],
)
async def test_a_question_is_refused_in_azures_words(
    harness: AzureHarness, more: dict[str, Any], status: int, code: str
) -> None:
    assert await refused(harness, "GET", NIC, **more) == (status, code)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"colour": "red"}, "InvalidRequestContent"),
        ({"tags": {"count": 5}}, "InvalidRequestContent"),
        ({"location": "atlantis"}, "LocationNotAvailableForResourceType"),
        ({"tags": {"a/b": "c"}}, "InvalidTagNameCharacters"),
        ({"tags": {f"tag-{number}": "x" for number in range(51)}}, "InvalidTags"),
        ({"properties": {"ipConfigurations": []}}, "NetworkInterfaceMustHaveAtLeastOneIpConfiguration"),
        ({"properties": {"networkSecurityGroup": {"id": "/none"}}}, "InvalidResourceReference"),
    ],
)
async def test_a_body_is_refused_for_what_azure_would_not_take(
    harness: AzureHarness, change: dict[str, Any], code: str
) -> None:
    address = {"name": "one", "properties": {"subnet": {"id": SUBNET}}}
    body = {"location": LOCATION, "properties": {"ipConfigurations": [address]}, **change}
    assert await refused(harness, "PUT", NIC, json=body) == (400, code)
