"""The account for clusters reaches those addons that need it, and nobody else."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from butler.addons.builtin import aws
from butler.addons.model import Addon
from butler.api import KINDS
from butler.api.provider import ProviderConfig
from butler.api.references import ALLOWED_NAMESPACES
from butler.api.shared import SecretRef
from butler.controllers.cluster.addons.cloud_account import with_account
from butler.engines.core import Secret
from butler.engines.helm.charts import Chart
from butler.engines.helm.protocol import Place, Release
from kubekit.clock import SystemChance, SystemClock
from kubekit.model.resource import ObjectMeta
from kubekit.testing.memory import MemorySpace
from tests.addons.clusters import ACCOUNTS, SECRET, provider

SYSTEM = "butler-system"


def addon(name: str) -> Addon:
    return Addon(name, Release(Place(name, "kube-system"), Chart("https://charts.example.com", name, "1.0.0")))


async def outcome(config: ProviderConfig, place: str = SYSTEM, **meta: Any) -> tuple[list[Addon], list[str]]:
    """With a Secret `clusters` in a namespace: the addons, and why others cannot be."""
    space = MemorySpace(SystemClock(), SystemChance(), kinds=KINDS, namespaces=(SYSTEM, "vault"))
    data = {name: value.encode() for name, value in ACCOUNTS["aws"].items()}
    secret = Secret(metadata=ObjectMeta(name="clusters", namespace=place, **meta), data=data)
    client = space.client()
    await client.create(secret)
    able, lacking = await with_account(client, config, [addon("traefik"), addon(aws.CONTROLLER)])
    return able, [one.message for one in lacking]


async def test_only_who_needs_an_account_gets_one() -> None:
    (plain, controller), lacking = await outcome(provider("aws", account=True))
    assert lacking == []
    assert plain.secrets == ()
    assert [one["metadata"]["name"] for one in controller.secrets] == [aws.SECRET]
    assert SECRET not in repr(controller)


async def test_without_an_account_all_stay_as_they_are() -> None:
    able, lacking = await outcome(provider("aws"))
    assert ([one.secrets for one in able], lacking) == ([(), ()], [])


async def test_a_secret_that_is_not_there_keeps_out_only_who_needs_it() -> None:
    (plain,), (said,) = await outcome(provider("aws", account=True), place="vault")
    assert plain.name == "traefik"
    assert said == f"there is no Secret clusters in namespace {SYSTEM} that serves namespace {SYSTEM}"


async def test_a_secret_of_another_namespace_has_to_allow_it() -> None:
    config = provider("aws", account=True)
    elsewhere = SecretRef(name="clusters", namespace="vault")
    config = structs.replace(config, spec=structs.replace(config.spec, cluster_credentials_ref=elsewhere))
    _, (said,) = await outcome(config, place="vault")
    assert said == f"there is no Secret clusters in namespace vault that serves namespace {SYSTEM}"
    able, lacking = await outcome(config, place="vault", annotations={ALLOWED_NAMESPACES: SYSTEM})
    assert (len(able), lacking) == (2, [])
