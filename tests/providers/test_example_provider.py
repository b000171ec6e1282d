"""The example of a provider outside the package: installed as others would, and held against the contract."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from butler.providers import registry

EXAMPLE = Path(__file__).parents[2] / "examples" / "provider-tinycloud"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder for sys.path with the example in it, as an installer leaves it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    package = next((EXAMPLE / "src").iterdir())
    (tmp_path / package.name).symlink_to(package)
    info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"][registry.ENTRY_POINTS]
    lines = [f"[{registry.ENTRY_POINTS}]", *(f"{name} = {value}" for name, value in points.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return tmp_path


def test_the_example_is_short() -> None:
    code = [line for path in (EXAMPLE / "src").rglob("*.py") for line in path.read_text().splitlines()]
    assert len(code) < 150


def test_the_example_keeps_the_contract(installed: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", "tests"],
        cwd=EXAMPLE,
        env={**os.environ, "PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    passed, skipped = (int(number) for number in re.findall(r"(\d+) (?:passed|skipped)", done.stdout))
    # It has neither load balancers nor images, and everything else.
    assert (passed >= 100, skipped) == (True, 13)


def test_an_installed_provider_is_known_and_not_imported(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(installed))
    assert "tinycloud" in registry.names()
    assert not registry.offers_clusters("tinycloud")
    assert "butler_tinycloud.provider" not in sys.modules
