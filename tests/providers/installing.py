"""The example of a provider, installed as others would."""

from __future__ import annotations

import tomllib
from pathlib import Path

from butler.providers import registry

EXAMPLE = Path(__file__).parents[2] / "examples" / "provider-tinycloud"


def install_example(place: Path) -> Path:
    """A folder for sys.path with the example in it, as an installer leaves it."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    package = next((EXAMPLE / "src").iterdir())
    (place / package.name).symlink_to(package)
    info = place / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"][registry.ENTRY_POINTS]
    lines = [f"[{registry.ENTRY_POINTS}]", *(f"{name} = {value}" for name, value in points.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return place
