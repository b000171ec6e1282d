"""Who may do what: tokens, permissions and limits."""

from __future__ import annotations

import pytest

from butler.errors import CapacityExhausted, CredentialsInvalid, ProviderError, ProviderUnavailable, RateLimited
from butler.providers.gcp.errors import Busy, judged
from butler.providers.rest import Reply
from tests.providers.gcp.worlds import connected, google_cloud

NOBODY = ("anybody", "33333333-3333-4333-8333-333333333333")


async def test_a_token_is_fetched_once_and_used_while_it_is_good() -> None:
    async with google_cloud() as world, connected(world) as provider:
        for _ in range(3):
            await provider.find(*NOBODY)
            await world.pass_time(1000)
        assert world.faults.calls.count("POST /token") == 1


async def test_a_token_is_renewed_before_it_ends() -> None:
    async with google_cloud() as world, connected(world) as provider:
        await provider.find(*NOBODY)
        await world.pass_time(3500)
        await provider.find(*NOBODY)
        assert world.faults.calls.count("POST /token") == 2


async def test_a_token_that_was_withdrawn_is_replaced_with_the_next_call() -> None:
    async with google_cloud() as world, connected(world) as provider:
        await provider.find(*NOBODY)
        world.google.issuer.tokens.clear()
        with pytest.raises(ProviderUnavailable):
            await provider.find(*NOBODY)
        assert await provider.find(*NOBODY) is None


async def test_a_key_that_was_disabled_is_nothing_to_try_again() -> None:
    async with google_cloud() as world, connected(world) as provider:
        world.google.issuer.is_disabled = True
        with pytest.raises(CredentialsInvalid, match=r"POST /token: invalid_grant: Invalid JWT Signature"):
            await provider.find(*NOBODY)


async def test_a_permission_that_is_missing_is_named() -> None:
    async with google_cloud() as world, connected(world) as provider:
        world.google.denied = {"compute.instances.create"}
        with pytest.raises(CredentialsInvalid, match=r"Required 'compute\.instances\.create' permission"):
            await provider.create(world.order("denied"))


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (403, "forbidden", CredentialsInvalid),
        (403, "insufficientPermissions", CredentialsInvalid),
        (403, "accessNotConfigured", CredentialsInvalid),
        (403, "quotaExceeded", CapacityExhausted),
        (403, "rateLimitExceeded", RateLimited),
        (403, "userRateLimitExceeded", RateLimited),
        (400, "resourceNotReady", Busy),
        (400, "resourceInUseByAnotherResource", Busy),
        (412, "conditionNotMet", Busy),
        (400, "invalid", None),
        (404, "notFound", None),
    ],
)
def test_the_reason_says_what_the_status_does_not(status: int, reason: str, kind: type[ProviderError] | None) -> None:
    body = {"error": {"code": status, "message": "no", "errors": [{"reason": reason, "domain": "global"}]}}
    assert judged(Reply(status, body)) is kind


@pytest.mark.parametrize("body", [None, "<html>", {}, {"error": "no"}, {"error": {"errors": ["no"]}}, [1]])
def test_an_answer_in_no_known_form_is_judged_by_its_status(body: object) -> None:
    assert judged(Reply(403, body)) is None
