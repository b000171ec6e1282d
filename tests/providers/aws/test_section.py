"""What a ProviderConfig and its Secret may say about AWS."""

from __future__ import annotations

from typing import Any

import pytest

from butler.api.credentials import canonical_keys
from butler.api.shared import ProviderType
from butler.errors import CredentialsInvalid
from butler.providers.aws.section import settings_of
from kubekit.errors import InvalidConfiguration
from tests.providers.aws.configs import CREDENTIALS, config

URL = "https://ec2.example.com"


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"region": "Frankfurt"}, "spec.aws.region: 'Frankfurt' is no region, such as eu-central-1"),
        ({"vpc_id": "net-1"}, "spec.aws.vpcID: 'net-1' does not begin with vpc-"),
        ({"subnet_ids": ("subnet-1", "nodes")}, "spec.aws.subnetIDs[1]: 'nodes' does not begin with subnet-"),
        ({"security_group_ids": ("default",)}, "spec.aws.securityGroupIDs[0]: 'default' does not begin with sg-"),
        ({"image_owners": ("canonical",)}, "spec.aws.imageOwners[0]: 'canonical' is neither the number of an account"),
    ],
)
def test_what_is_wrong_is_said_by_field(section: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidConfiguration) as raised:
        settings_of(config(URL, **section), CREDENTIALS)
    assert said in str(raised.value)


@pytest.mark.parametrize("region", ["eu-central-1", "us-gov-west-1", "cn-north-1", "us-iso-east-1", "ap-southeast-5"])
def test_every_region_is_taken(region: str) -> None:
    assert settings_of(config(URL, region=region), CREDENTIALS).region == region


@pytest.mark.parametrize("missing", ["accessKeyID", "secretAccessKey"])
def test_a_secret_without_a_key_is_named(missing: str) -> None:
    given = {key: value for key, value in CREDENTIALS.items() if key != missing}
    with pytest.raises(CredentialsInvalid, match=f"Secret aws needs the key {missing}"):
        settings_of(config(URL), given)


@pytest.mark.parametrize(
    "spelled",
    [
        ("accessKeyID", "secretAccessKey", "sessionToken"),
        ("accessKeyId", "secretAccessKey", "sessionToken"),
        ("AccessKeyID", "SecretAccessKey", "SessionToken"),
        ("access-key-id", "secret-access-key", "session-token"),
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    ],
)
def test_every_spelling_of_a_secret_is_understood(spelled: tuple[str, str, str]) -> None:
    data = dict(zip(spelled, ("id", "key", "token\n"), strict=True))
    keys = settings_of(config(URL), canonical_keys(ProviderType.AWS, data)).keys
    assert keys.secrets == ("id", "key", "token")


def test_certificates_that_are_none_are_refused() -> None:
    from butler.providers.aws.api import Api  # noqa: PLC0415 -- the SDK is imported here and not before

    settings = settings_of(config(URL), {**CREDENTIALS, "ca.pem": "nonsense"})
    with pytest.raises(InvalidConfiguration, match=r"ca: is not a certificate in PEM form"):
        Api(settings, 1.0)


def test_settings_show_no_secret() -> None:
    shown = repr(settings_of(config(URL), CREDENTIALS))
    assert not [secret for secret in CREDENTIALS.values() if secret in shown]
