"""ProviderConfigs for the fake AWS, and the keys that it takes."""

from __future__ import annotations

from typing import Any

from butler.api.provider import ProviderConfig, ProviderConfigSpec
from butler.api.sections.aws import AwsSection
from butler.api.shared import ProviderType, SecretRef
from kubekit.model.resource import ObjectMeta

REGION = "eu-central-1"
ACCESS_KEY, SECRET_KEY = "AKIACANARY7F3B2D91EX", "canary/secret+access+key+5be2c0a1d4"
SESSION_TOKEN = "canary-session-token-0c44"
CREDENTIALS = {"accessKeyID": ACCESS_KEY, "secretAccessKey": SECRET_KEY, "sessionToken": SESSION_TOKEN}
AMI = "ami-0a1b2c3d4e5f60719"
BUCKET = "talos-images"


def config(endpoint: str, **section: Any) -> ProviderConfig:
    spec = ProviderConfigSpec(
        provider=ProviderType.AWS,
        credentials_ref=SecretRef(name="aws", namespace="butler-system"),
        aws=AwsSection(**{"region": REGION, "endpoint": endpoint, "image": AMI, "image_bucket": BUCKET, **section}),
    )
    return ProviderConfig(metadata=ObjectMeta(name="aws", namespace="butler-system"), spec=spec)
