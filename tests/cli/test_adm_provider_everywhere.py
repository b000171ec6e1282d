"""butleradm provider on every infrastructure: the same commands, the fakes of all of them."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.cli.object_draft import at
from butler.cli.provider.section_flags import fields
from testbed.running.embedded import Ran
from tests.cli.conftest import User
from tests.providers.fakes import FAKES, Fake

pytestmark = pytest.mark.usefixtures("own_providers")


NAMED: dict[str, set[str]] = {
    "harvester": {"images", "networks"},
    "nutanix-v3": {"images", "networks"},
    "nutanix-v4": {"images", "networks"},
    "proxmox": {"images"},
    "aws": set(),
    "azure": {"images", "networks"},
    "gcp": set(),
}
"""What the ProviderConfig of each fake names among what is listed; others leave it to a default, or to a family."""


def flags_of(fake: Fake) -> Iterator[str]:
    """The flags that say what its ProviderConfig says."""
    assert fake.config.spec.provider is not None
    kind, config = fake.config.spec.provider.value, msgspec.to_builtins(fake.config)
    yield f"--type={kind}"
    for field in fields(kind):
        value: Any = at(config, f"{field.path}UUID" if field.is_entity else field.path)
        match value:
            case None:
                continue
            case bool():
                yield field.flag if value else field.flag.replace("--", "--no-", 1)
            case list() | tuple():
                yield f"{field.flag}={','.join(value)}"
            case _:
                yield f"{field.flag}={value}"


def files_of(fake: Fake, folder: Path) -> Iterator[str]:
    for name, value in fake.credentials.items():
        (folder / name).write_text(value)
        yield f"--credentials-file={name}={folder / name}"


def section_of(config: Any) -> Any:
    """What a ProviderConfig says about its infrastructure, however it is spelled."""
    found = normalise(msgspec.convert(msgspec.to_builtins(config), ProviderConfig))
    assert found.spec.provider is not None
    return getattr(found.spec, found.spec.provider.value)


@pytest.mark.parametrize("kind", FAKES)
async def test_a_provider_is_made_looked_at_and_deleted(kind: str, user: User, tmp_path: Path) -> None:
    name = f"{kind}-{uuid.uuid4().hex[:6]}"

    async def adm(*arguments: str) -> Ran:
        ran = await asyncio.to_thread(user.adm, "provider", *arguments)
        assert not any(secret in ran.out + ran.err for secret in fake.harness.secrets)
        return ran

    async with FAKES[kind]() as fake:
        made = await adm("create", name, *flags_of(fake), *files_of(fake, tmp_path))
        assert "FAILED" not in made.err
        assert section_of(msgspec.json.decode((await adm("get", name, "-o", "json")).out)) == section_of(fake.config)
        assert "reachable" in (await adm("validate", name)).out
        used = {
            verb for verb in ("images", "networks")
            if any(one["used"] for one in json.loads((await adm(verb, name, "-o", "json")).out))
        }  # fmt: skip
        assert used >= NAMED[kind]
        assert (await adm("delete", name, "--yes", "--with-secret")).out.endswith("-credentials is gone\n")
