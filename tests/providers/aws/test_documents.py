"""The guide and the example say what is so."""

from __future__ import annotations

import json

import msgspec

from butler.api.machine import MachineRequest
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.providers.aws.api import OPERATIONS
from butler.providers.aws.section import settings_of
from butler.providers.aws.vm import MANAGED_BY, TOKEN, USER_DATA_LIMIT
from tests.docs.pages import GUIDES, example, objects, written
from tests.providers.aws.configs import CREDENTIALS

GUIDE = GUIDES / "aws.md"


def test_the_policy_in_the_guide_allows_all_that_is_ever_asked_and_little_more() -> None:
    (policy,) = [json.loads(block) for block in written(GUIDE, "json")]
    allowed = [action for one in policy["Statement"] for action in one["Action"]]
    assert len(set(allowed)) == len(allowed)
    # Everybody may ask who they are; tags of a load balancer are allowed apart from it.
    assert {one.partition(":")[2] for one in allowed} == (OPERATIONS - {"GetCallerIdentity"}) | {"AddTags"}


def test_the_policy_in_the_guide_knows_our_mark() -> None:
    (policy,) = [json.loads(block) for block in written(GUIDE, "json")]
    conditions = [one["Condition"]["StringEquals"] for one in policy["Statement"] if "Condition" in one]
    assert conditions == [{f"aws:ResourceTag/{MANAGED_BY}": "butler"}]
    assert TOKEN in GUIDE.read_text()
    assert f"EC2 takes {USER_DATA_LIMIT}" in GUIDE.read_text()


def test_both_spellings_in_the_guide_are_good() -> None:
    found = [one for one in objects(*written(GUIDE, "yaml")) if one["kind"] == "ProviderConfig"]
    given = [settings_of(normalise(msgspec.convert(one, ProviderConfig)), CREDENTIALS) for one in found]
    assert [(one.region, one.instance_type) for one in given] == [("eu-central-1", ""), ("eu-central-1", "m6i.xlarge")]
    assert given[1].image_owners == ("540036508848",)


def test_the_example_is_good() -> None:
    secret, config, request = example("aws")
    provider = normalise(msgspec.convert(config, ProviderConfig))
    assert settings_of(provider, secret["stringData"]).image.startswith("ami-")
    assert provider.spec.credentials_ref is not None
    assert provider.spec.credentials_ref.name == secret["metadata"]["name"]
    assert msgspec.convert(request, MachineRequest).spec.provider_ref.name == provider.metadata.name
