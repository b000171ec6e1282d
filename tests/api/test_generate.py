"""The generated files are those in the repository, and a difference is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from butler.api import KINDS

ROOT = Path(__file__).parent.parent.parent


def generate(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts/generate.py"), *options], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    assert generate("--root", str(root)).returncode == 0
    return root


def test_the_repository_is_up_to_date() -> None:
    assert generate("--check").stdout == ""


def test_there_is_one_crd_per_kind(written: Path) -> None:
    names = {yaml.safe_load(path.read_text())["metadata"]["name"] for path in (written / "deploy/crds").iterdir()}
    assert names == {kind.address.name for kind in KINDS}


def test_every_kind_has_a_section_in_the_reference(written: Path) -> None:
    page = (written / "docs/reference/kinds.md").read_text()
    assert [kind.address.kind for kind in KINDS if f"\n## {kind.address.kind}\n" not in page] == []


def test_a_difference_is_named(written: Path) -> None:
    (written / "deploy/crds/teams.yaml").write_text("changed")
    (written / "deploy/crds/gone.yaml").write_text("left over")
    checked = generate("--check", "--root", str(written))
    assert checked.returncode == 1
    assert checked.stdout.splitlines() == [
        "out of date: deploy/crds/gone.yaml (run `make generate`)",
        "out of date: deploy/crds/teams.yaml (run `make generate`)",
    ]
