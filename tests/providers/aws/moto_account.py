"""One account of moto, in this process: what the fake of AWS is built on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

os.environ |= {
    "MOTO_AMIS_PATH": str(Path(__file__).parent / "amis.json"),
    "MOTO_ENABLE_AMI_VALIDATION": "true",
    "MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION": "true",
}

from moto.ec2.models import ec2_backends  # noqa: E402 -- moto reads its settings when it is imported
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, InstanceTypeBackend  # noqa: E402
from moto.elbv2 import elbv2_backends  # noqa: E402
from moto.s3.models import s3_backends  # noqa: E402
from moto.server import create_backend_app  # noqa: E402
from werkzeug.test import Client  # noqa: E402
from werkzeug.wrappers import Response  # noqa: E402

REGION = "eu-central-1"
TYPES = (
    "c5.large", "c5a.large", "c6i.large", "c6i.xlarge", "c6i.2xlarge", "c6g.large", "g4dn.xlarge", "m4.large",
    "m6i.large", "m6i.xlarge", "m6i.2xlarge", "m6g.large", "r6i.large", "t3.medium",
)  # fmt: skip
"""Of the hundreds of instance types a few that differ in what matters."""

InstanceTypeBackend.instance_types = [
    one for one in InstanceTypeBackend.instance_types if one["InstanceType"] in TYPES
]
_OFFERED = INSTANCE_TYPE_OFFERINGS["availability-zone"]
_OFFERED[REGION] = [one for one in _OFFERED[REGION] if one["InstanceType"] in TYPES]


class MotoAccount:
    """The records of one account, and its API."""

    def __init__(self, number: str) -> None:
        self.number = number
        self.ec2 = ec2_backends[number][REGION]
        self.elbv2 = elbv2_backends[number][REGION]
        self.s3 = s3_backends[number]["aws"]

    def ask(self, service: str, path: str, headers: Mapping[str, str], body: bytes) -> Response:
        """What moto answers to a request; a service is called as in signatures."""
        kept = {key: value for key, value in headers.items() if key.lower() not in ("host", "content-length")}
        return _client(_NAMES.get(service, service)).post(path, data=body, headers={**kept, "x-moto-account-id": self.number})

    def types(self) -> dict[str, Any]:
        return {one["InstanceType"]: one for one in InstanceTypeBackend.instance_types}

    def close(self) -> None:
        for backends in (ec2_backends, elbv2_backends, s3_backends):
            backends.pop(self.number, None)


_NAMES = {"elasticloadbalancing": "elbv2"}


@cache
def _client(service: str) -> Client:
    return Client(create_backend_app(service), Response)


for _service in ("ec2", "elbv2", "sts", "ssm"):
    # They are imported when they are first asked, which takes longer than a provider has patience.
    _client(_service).get("/")
