"""Tokens of Microsoft Entra ID."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from butler.errors import CredentialsInvalid, ProviderError, ProviderUnavailable, RateLimited
from butler.providers.contract import Provider
from butler.providers.testing import Fault
from butler.providers.testing.driver import connected
from tests.providers.azure.harness import AzureHarness, running


@pytest.fixture
async def harness() -> AsyncIterator[AzureHarness]:
    async with running() as harness:
        yield harness


@pytest.fixture
async def provider(harness: AzureHarness) -> AsyncIterator[Provider]:
    async with connected(harness) as provider:
        yield provider


@pytest.mark.parametrize(
    ("fault", "error"),
    [(Fault.LIMITED, RateLimited), (Fault.BROKEN, ProviderUnavailable), (Fault.BEFORE, ProviderUnavailable)],
)
async def test_a_token_that_cannot_be_had_now_is_tried_again_by_others(
    harness: AzureHarness, provider: Provider, fault: Fault, error: type[Exception]
) -> None:
    harness.faults.strike(fault)
    with pytest.raises(error, match="a token from Microsoft Entra ID"):
        await provider.find("one", "x")
    assert len(harness.faults.calls) == 1


@pytest.mark.parametrize(
    ("credentials", "said"),
    [
        ({"clientSecret": "wrong"}, "AADSTS7000215"),
        ({"clientID": "nobody"}, "AADSTS700016"),
        ({"tenantID": "nowhere.example"}, "AADSTS90002"),
    ],
)
async def test_credentials_that_are_refused_are_told_in_microsofts_words(
    harness: AzureHarness, credentials: dict[str, str], said: str
) -> None:
    provider = harness.connected(None, **credentials)
    with pytest.raises(CredentialsInvalid, match=said):
        await provider.find("one", "x")
    await provider.close()


@pytest.mark.parametrize(("becomes", "error"), [("expired", ProviderUnavailable), ("revoked", CredentialsInvalid)])
async def test_a_token_that_is_refused_is_replaced(
    harness: AzureHarness, provider: Provider, becomes: str, error: type[ProviderError]
) -> None:
    await provider.find("one", "x")
    harness.azure.expired = set(harness.azure.tokens) if becomes == "expired" else set()
    harness.azure.tokens.clear()
    with pytest.raises(error, match="401 for GET"):
        await provider.find("one", "x")
    assert await provider.find("one", "x") is None
