"""butleradm provider, with an account behind it: the example's, which is a cloud on loopback."""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
import os
import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from butler.providers.testing.web import serving
from testbed.running.embedded import Ran
from tests.cli.conftest import User
from tests.providers.installing import EXAMPLE, install_example

pytestmark = pytest.mark.usefixtures("own_providers")


class Account:
    """Someone who has an account there, and the account."""

    def __init__(self, user: User, cloud: Any, url: str, key: str) -> None:
        self._user, self.cloud, self._url, self.key = user, cloud, url, key
        self.kubectl = user.kubectl
        self.name = f"tiny-{uuid.uuid4().hex[:8]}"

    async def adm(self, *arguments: str, fails: int = 0, stdin: str = "") -> Ran:
        return await asyncio.to_thread(self._user.adm, *arguments, fails=fails, stdin=stdin)

    async def create(self, *arguments: str, fails: int = 0, key: str = "", **settings: str) -> Ran:
        given = [f"--setting={name}={value}" for name, value in {"endpoint": self._url, **settings}.items()]
        return await self.adm(
            "provider", "create", self.name, "--type", "external", "--external-name", "tinycloud", *given,
            "--credentials-file", "apiKey=-", *arguments, stdin=key or self.key, fails=fails,
        )  # fmt: skip

    def exists(self, kind: str, name: str) -> bool:
        return f"/{name}\n" in self._user.kubectl("get", kind, "-n", "butler-system", "-o", "name").out

    def write(self, kind: str, name: str, spec: dict[str, Any]) -> None:
        body = {
            "apiVersion": "butler.butlerlabs.dev/v1alpha1", "kind": kind,
            "metadata": {"name": name, "namespace": "butler-system"}, "spec": spec,
        }  # fmt: skip
        self._user.kubectl("create", "-f", "-", stdin=json.dumps(body))

    def remove(self, kind: str, name: str) -> None:
        self._user.kubectl("delete", kind, name, "-n", "butler-system")


@pytest.fixture
async def account(user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Account]:
    place = tmp_path / "installed"
    place.mkdir()
    known = user.environ.get("PYTHONPATH", "")
    user.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(install_example(place)), known]))
    monkeypatch.syspath_prepend(str(EXAMPLE / "tests"))
    fake = importlib.import_module("tinycloud_fake")
    cloud = fake.Tinycloud()
    async with serving(cloud.app()) as url:
        yield Account(user, cloud, url, fake.KEY)


async def test_the_account_is_tried_before_anything_is_written(account: Account) -> None:
    made = await account.create()
    assert "Trying tinycloud from here:" in made.err
    assert "ok      capacity     0 of 100 servers are used." in made.err
    assert account.exists("providerconfig", account.name)
    assert account.exists("secret", f"{account.name}-credentials")
    assert account.key not in made.out + made.err


async def test_a_provider_tells_where_its_credentials_are(account: Account) -> None:
    await account.create("--no-check")
    shown = (await account.adm("provider", "get", account.name)).out
    assert re.search(rf"^Credentials: +{account.name}-credentials$", shown, re.MULTILINE)
    assert re.search(r"^Scope: +platform$", shown, re.MULTILINE)
    assert re.search(r"^Addresses: +from the provider$", shown, re.MULTILINE)


@pytest.mark.parametrize("option", [(), ("--dry-run",)])
async def test_an_account_that_is_not_well_is_not_written(account: Account, option: tuple[str, ...]) -> None:
    refused = await account.create(*option, image="debian", fails=1)
    assert "FAILED  image        Image debian." in refused.err
    assert "Upload it first." in refused.err
    assert "nothing was written; --no-check writes it all the same" in refused.err
    assert not account.exists("providerconfig", account.name)
    assert not account.exists("secret", f"{account.name}-credentials")


async def test_wrong_credentials_are_said_and_not_shown(account: Account) -> None:
    refused = await account.create(key="wrong-canary-88ab", fails=1)
    assert "tinycloud: " in refused.err
    assert "nothing was written" in refused.err
    assert "wrong-canary-88ab" not in refused.out + refused.err


async def test_settings_the_provider_does_not_have_are_named(account: Account) -> None:
    refused = await account.create(colour="red", fails=2)
    assert "spec.external.settings (--setting): Invalid value: Object contains unknown field `colour`" in refused.err


async def test_images_and_networks_are_listed_and_the_chosen_ones_marked(account: Account) -> None:
    account.cloud.add_network("storage")
    await account.create("--no-check", network="net-2")
    shown = (await account.adm("provider", "networks", account.name)).out.splitlines()
    assert [line.split() for line in shown] == [
        ["NAME", "ID", "USED", "DETAIL"],
        ["default", "net-1", "-", "10.1.0.0/16"],
        ["storage", "net-2", "yes", "10.2.0.0/16"],
    ]
    images = json.loads((await account.adm("provider", "images", account.name, "-o", "json")).out)
    assert [(one["id"], one["used"]) for one in images] == [("flatcar", False), ("talos", False)]
    assert (await account.adm("provider", "images", account.name, "-o", "name")).out == "flatcar\ntalos\n"


async def test_the_image_of_the_section_is_marked(account: Account) -> None:
    await account.create("--no-check", image="flatcar")
    images = json.loads((await account.adm("provider", "images", account.name, "-o", "json")).out)
    assert {one["id"]: one["used"] for one in images} == {"flatcar": True, "talos": False}


async def test_an_account_that_does_not_answer_is_one_line(account: Account) -> None:
    await account.create("--no-check", endpoint="http://127.0.0.1:1")
    for verb in ("images", "networks", "validate"):
        refused = await account.adm("provider", verb, account.name, fails=1)
        assert refused.err.startswith("butleradm: tinycloud: ")
        assert len(refused.err.splitlines()) == 1


async def test_a_provider_goes_with_its_secret_if_that_is_wanted(account: Account) -> None:
    await account.create("--no-check")
    gone = await account.adm("provider", "delete", account.name, "--yes", "--with-secret")
    assert gone.out == (
        f"✓ provider butler-system/{account.name} is gone\n✓ Secret butler-system/{account.name}-credentials is gone\n"
    )
    assert not account.exists("providerconfig", account.name)
    assert not account.exists("secret", f"{account.name}-credentials")


async def test_the_secret_stays_otherwise(account: Account) -> None:
    await account.create("--no-check")
    await account.adm("provider", "delete", account.name, stdin="y\n")
    assert not account.exists("providerconfig", account.name)
    assert account.exists("secret", f"{account.name}-credentials")


async def test_who_does_not_say_yes_keeps_it(account: Account) -> None:
    await account.create("--no-check")
    asked = await account.adm("provider", "delete", account.name, stdin="n\n", fails=1)
    assert f"Delete provider butler-system/{account.name} (tinycloud)?" in asked.err
    assert account.exists("providerconfig", account.name)


async def test_a_provider_that_is_used_stays_and_its_users_are_named(account: Account) -> None:
    await account.create("--no-check")
    spec = {
        "providerRef": {"name": account.name},
        "machineName": "cp-0",
        "role": "worker",
        "cpu": 1,
        "memoryMB": 1024,
        "diskGB": 10,
    }
    account.write("MachineRequest", account.name, spec)
    refused = await account.adm("provider", "delete", account.name, "--yes", fails=7)
    assert f"is used by MachineRequest butler-system/{account.name};" in refused.err
    assert account.exists("providerconfig", account.name)
    account.remove("machinerequest", account.name)
    await account.adm("provider", "delete", account.name, "--yes")


async def test_a_secret_that_another_provider_has_too_stays(account: Account) -> None:
    await account.create("--no-check")
    other = f"{account.name}-2"
    await account.adm(
        "provider", "create", other, "--type", "external", "--external-name", "tinycloud",
        "--secret", f"{account.name}-credentials", "--no-check",
    )  # fmt: skip
    refused = await account.adm("provider", "delete", account.name, "--yes", "--with-secret", fails=7)
    assert f"has the credentials of provider butler-system/{other} too" in refused.err
    assert account.exists("providerconfig", account.name)


async def test_what_is_not_there_is_said_so(account: Account) -> None:
    for verb in ("delete", "images", "networks"):
        refused = await account.adm("provider", verb, "nowhere", fails=3)
        assert 'there is no provider "nowhere" in namespace butler-system' in refused.err


def read(account: Account, kind: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(account.kubectl("get", kind, name, "-n", "butler-system", "-o", "json").out)
    return found


async def test_a_provider_is_changed_by_the_flags_that_made_it(account: Account) -> None:
    await account.create("--no-check", "--max-clusters-per-team", "3", image="talos")
    changed = await account.adm("provider", "update", account.name, "--setting", "image=flatcar", "--dry-run")
    assert "  spec.external.settings.image: talos → flatcar\n" in changed.err
    assert "Trying tinycloud from here:" in changed.err
    assert read(account, "providerconfig", account.name)["spec"]["external"]["settings"]["image"] == "talos"
    await account.adm("provider", "update", account.name, "--setting", "image=flatcar", "--max-nodes-per-team", "9")
    spec = read(account, "providerconfig", account.name)["spec"]
    assert spec["external"]["settings"]["image"] == "flatcar"
    assert spec["external"]["settings"]["endpoint"], "what no flag names stays"
    assert spec["limits"] == {"maxClustersPerTeam": 3, "maxNodesPerTeam": 9}
    again = await account.adm("provider", "update", account.name, "--max-nodes-per-team", "9")
    assert "nothing to change" in again.out


async def test_an_update_that_does_not_work_changes_nothing(account: Account) -> None:
    await account.create("--no-check")
    before = read(account, "providerconfig", account.name)
    refused = await account.adm("provider", "update", account.name, "--setting", "image=debian", fails=1)
    assert "not every check passed; nothing was written; --no-check writes it all the same" in refused.err
    where = ["--credentials-file", "apiKey=-"]
    wrong = await account.adm("provider", "update", account.name, *where, stdin="wrong-canary-88ab", fails=1)
    assert "canary" not in wrong.out + wrong.err
    assert read(account, "providerconfig", account.name)["metadata"]["generation"] == before["metadata"]["generation"]


async def test_new_credentials_take_the_place_of_the_old_ones_and_the_others_stay(account: Account) -> None:
    await account.create("--no-check", "--credentials", "region=north", key="old-key")
    told = await account.adm("provider", "update", account.name, "--credentials-file", "apiKey=-", stdin=account.key)
    secret = f"{account.name}-credentials"
    assert f"  Secret butler-system/{secret}: apiKey changes\n" in told.err
    assert account.key not in told.out + told.err
    data = read(account, "secret", secret)["data"]
    assert {name: base64.b64decode(value).decode() for name, value in data.items()} == {
        "apiKey": account.key,
        "region": "north",
    }
