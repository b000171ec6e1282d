"""One account of moto, in this process: what the fake of AWS is built on."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

# moto reads its settings when it is imported.
os.environ |= {
    "MOTO_AMIS_PATH": str(Path(__file__).parent / "amis.json"),
    "MOTO_ENABLE_AMI_VALIDATION": "true",
    "MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION": "true",
}

from moto.ec2.models import ec2_backends
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, InstanceTypeBackend
from moto.elbv2 import elbv2_backends
from moto.server import create_backend_app

from tests.providers.aws.configs import REGION

TYPES = (
    "c5.large", "c5a.large", "c6i.large", "c6i.xlarge", "c6i.2xlarge", "c6g.large", "g4dn.xlarge", "m4.large",
    "m6a.large", "m6a.xlarge", "m6a.2xlarge", "m6g.large", "r6a.large", "t3.medium",
)  # fmt: skip
"""Of the hundreds of instance types a few that differ in what matters."""

InstanceTypeBackend.instance_types = [one for one in InstanceTypeBackend.instance_types if one["InstanceType"] in TYPES]
_OFFERED = INSTANCE_TYPE_OFFERINGS["availability-zone"]
_OFFERED[REGION] = [one for one in _OFFERED[REGION] if one["InstanceType"] in TYPES]


@dataclass(frozen=True)
class Told:
    """An answer of moto."""

    status: int
    text: str


class MotoAccount:
    """The records of one account, and its API."""

    def __init__(self, number: str) -> None:
        self.number = number
        self.ec2 = ec2_backends[number][REGION]
        self.elbv2 = elbv2_backends[number][REGION]

    def ask(self, service: str, authorization: str, body: bytes) -> Told:
        """What moto answers to a form; a service is called as in signatures. Without a connection, which it can do
        without."""
        said: list[str] = []
        environment = {
            "REQUEST_METHOD": "POST", "SCRIPT_NAME": "", "PATH_INFO": "/", "QUERY_STRING": "",
            "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "127.0.0.1",
            "CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": str(len(body)),
            "HTTP_AUTHORIZATION": authorization, "HTTP_X_MOTO_ACCOUNT_ID": self.number,
            "wsgi.version": (1, 0), "wsgi.url_scheme": "http", "wsgi.input": BytesIO(body), "wsgi.errors": sys.stderr,
            "wsgi.multithread": False, "wsgi.multiprocess": False, "wsgi.run_once": False,
        }  # fmt: skip

        def start(status: str, headers: object, failure: object = None) -> None:
            said.append(status)

        content = b"".join(_app(_NAMES.get(service, service))(environment, start))
        return Told(int(said[0].split()[0]), content.decode())

    def types(self) -> dict[str, Any]:
        return {one["InstanceType"]: one for one in InstanceTypeBackend.instance_types}

    def close(self) -> None:
        for backends in (ec2_backends, elbv2_backends):
            backends.pop(self.number, None)


_NAMES = {"elasticloadbalancing": "elbv2"}


@cache
def _app(service: str) -> Any:
    return create_backend_app(service)


def _warm_up() -> None:
    """What is imported and read when it is first needed takes longer than a provider has patience."""
    account = MotoAccount("099999999999")
    for service, question in (
        ("ec2", "Action=DescribeInstances&Version=2016-11-15"),
        ("elasticloadbalancing", "Action=DescribeLoadBalancers&Version=2015-12-01"),
        ("sts", "Action=GetCallerIdentity&Version=2011-06-15"),
    ):
        scope = f"Credential=K/20300101/{REGION}/{service}/aws4_request, SignedHeaders=host, Signature=0"
        assert account.ask(service, f"AWS4-HMAC-SHA256 {scope}", question.encode()).status == 200
    account.close()


_warm_up()
