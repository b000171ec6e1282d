"""The guides to providers do what they say: typed on a platform that runs, with the fake of each infrastructure."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from butler.providers.testing.web import serving
from testbed.running import loopback_tls
from testbed.running.embedded import Kubectl, kubectl_for
from tests.docs.pages import GUIDES, ROOT, Block, commands, example, objects, written
from tests.docs.walks import Walk
from tests.providers.fakes import FAKES, Fake
from tests.providers.installing import EXAMPLE, install_example

OWN = "docs/howto/add-a-provider.md"
PAGES = sorted(GUIDES.glob("*.md"))
NAMES = sorted(path.stem for path in (ROOT / "examples" / "providers").glob("*.yaml"))
KINDS = ("ProviderConfig", "MachineRequest", "LoadBalancerRequest", "ImageSync", "Secret")
ACCOUNT = "00000000-0000-0000-0000-000000000000"


@dataclass
class Account:
    """What stands for an account in the words of a guide: other names, files, and what is typed when asked."""

    instead: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)


def aws(fake: Fake) -> Account:
    section, keys = fake.config.spec.aws, fake.credentials
    assert section is not None
    variables = zip(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), keys.values(), strict=True)
    return Account(
        {"--type aws": f"--type aws --endpoint {section.endpoint}", "ami-0123456789abcdef0": str(section.image)},
        {"aws.env": "".join(f"{name}={value}\n" for name, value in variables)},
    )


def azure(fake: Fake) -> Account:
    section = fake.config.spec.azure
    assert section is not None
    here = f"--endpoint {section.endpoint} --authority {section.authority} --ca-bundle @ca.pem"
    return Account(
        {"--type azure": f"--type azure {here}", ACCOUNT: str(section.subscription_id),
         "--resource-group butler": "--resource-group Butler-RG", "Groups/butler/": "Groups/Butler-RG/"},
        {"ca.pem": loopback_tls.authority()},
        {f"{name}:": value for name, value in fake.credentials.items()},
    )  # fmt: skip


def gcp(fake: Fake) -> Account:
    section = fake.config.spec.gcp
    assert section is not None
    here = f"--endpoint {section.endpoint} --resource-manager-endpoint {section.endpoint}"
    return Account(
        {"--type gcp": f"--type gcp {here} --image-project {section.image_project}",
         "my-project": str(section.project_id), "europe-west3": str(section.region)},
        {"key.json": fake.credentials["serviceAccountKey"]},
    )  # fmt: skip


def harvester(fake: Fake) -> Account:
    return Account({}, {"harvester.kubeconfig": fake.credentials["kubeconfig"]})


def nutanix(fake: Fake) -> Account:
    return Account(
        {"https://prism-central.example.com": prism_of(fake), "talos-1.13": "talos-1.9"},
        answers={"password:": fake.credentials["password"]},
    )


def prism_of(fake: Fake) -> str:
    section = fake.config.spec.nutanix
    assert section is not None
    return f"{section.endpoint}:{section.port}"


def proxmox(fake: Fake) -> Account:
    section = fake.config.spec.proxmox
    assert section is not None
    return Account(
        {"https://pve.example.com:8006": str(section.endpoint)},
        {"pve-root-ca.pem": loopback_tls.authority()},
        {"secret:": fake.credentials["secret"]},
    )


GUIDED = {
    "aws": (aws, "aws"), "azure": (azure, "azure"), "gcp": (gcp, "gcp"), "harvester": (harvester, "harvester"),
    "nutanix": (nutanix, "nutanix-v4"), "proxmox": (proxmox, "proxmox"),
}  # fmt: skip


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory, bytecode: Path) -> Iterator[Walk]:
    """A platform that runs, in which the provider of the example is installed."""
    folder = tmp_path_factory.mktemp("platform")
    installed = folder / "installed"
    installed.mkdir()
    reader = Walk(folder / "reader", bytecode)
    path = (str(install_example(installed)), os.environ.get("PYTHONPATH", ""))
    reader.environ["PYTHONPATH"] = os.pathsep.join(path)
    reader.type("butleradm up --fast --detach --empty --port 0")
    yield reader
    reader.end()


@pytest.fixture
def kubectl(platform: Walk) -> Kubectl:
    return kubectl_for(platform.home / ".butler" / "local" / "kubeconfig")


@pytest.fixture
def reader(platform: Walk, kubectl: Kubectl, tmp_path: Path) -> Iterator[Walk]:
    """Somebody new whose kubectl leads there; the providers they make go with them."""
    one = Walk(tmp_path / "reader", platform.bytecode)
    kubeconfig = platform.home / ".butler" / "local" / "kubeconfig"
    one.environ |= {"KUBECONFIG": str(kubeconfig), "PYTHONPATH": platform.environ["PYTHONPATH"]}
    yield one
    kubectl("delete", "providerconfigs", "-n", "butler-system", "--field-selector=metadata.name!=simulated")
    kubectl("delete", "secrets", "-n", "butler-system", "--field-selector=type=Opaque")


async def follow(reader: Walk, blocks: list[Block], account: Account) -> None:
    reader.instead, reader.answers = account.instead, account.answers
    for name, text in account.files.items():
        reader.write(name, text)
    await asyncio.to_thread(reader.follow, blocks)


@asynccontextmanager
async def passing_time(fake: Fake) -> AsyncIterator[None]:
    """Machines of a fake boot by its own clock."""

    async def pass_by() -> None:
        while True:
            await fake.harness.pass_time(fake.harness.step)
            await asyncio.sleep(1)

    passing = asyncio.create_task(pass_by())
    try:
        yield
    finally:
        passing.cancel()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
async def test_a_guide_leads_to_a_machine(name: str, reader: Walk) -> None:
    account, fake_name = GUIDED[name]
    async with FAKES[fake_name]() as fake, passing_time(fake):
        await follow(reader, commands(GUIDES / f"{name}.md"), account(fake))
        assert await fake.harness.machines() == []
        assert await fake.harness.leftovers() == []


@pytest.mark.timeout(600)
async def test_the_page_about_all_of_them_is_true_of_one(reader: Walk) -> None:
    async with FAKES["nutanix-v4"]() as fake:
        password = fake.credentials["password"]
        config = {**msgspec.to_builtins(fake.config), "metadata": {"name": "lab-3", "namespace": "butler-system"}}
        account = Account(
            {"https://prism.example.com": prism_of(fake), "--cluster c1": "--cluster cluster-01",
             "--subnet vms": "--subnet workload-subnet"},
            {"lab-3.yaml": yaml.safe_dump(config)},
            {"username:": fake.credentials["username"], "password:": password, "[y/N]:": "y"},
        )  # fmt: skip
        programs = reader.clone / "programs"
        programs.mkdir()
        (programs / "vault").write_text(f"#!/bin/sh\necho {password}\n")
        (programs / "vault").chmod(0o755)
        reader.environ["PATH"] = f"{programs}{os.pathsep}{reader.environ['PATH']}"
        await follow(reader, commands(GUIDES / "README.md"), account)


@pytest.mark.timeout(600)
async def test_the_page_about_a_provider_of_ones_own_is_true_of_the_example(
    reader: Walk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE / "tests"))
    fake = importlib.import_module("tinycloud_fake")
    async with serving(fake.Tinycloud().app()) as url:
        account = Account({"https://api.tinycloud.example": url}, {"key.txt": fake.KEY})
        await follow(reader, commands(ROOT / OWN), account)


def is_taken(kubectl: Kubectl, found: list[Any]) -> None:
    for one in found:
        one["metadata"].setdefault("namespace", "butler-system")
    kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump_all(found))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_taken(name: str, kubectl: Kubectl) -> None:
    found = example(name)
    assert [one["kind"] for one in found] == ["Secret", "ProviderConfig", "MachineRequest"]
    is_taken(kubectl, found)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_what_a_guide_shows_is_taken(page: Path, kubectl: Kubectl) -> None:
    if found := [one for one in objects(*written(page, "yaml")) if one.get("kind") in KINDS]:
        is_taken(kubectl, found)
    assert found or page.name == "README.md"
