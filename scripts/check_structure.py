"""Fails when the shape of the source is no longer what people expect of it.

Folders stay small enough to read at a glance, modules too, no two modules know each other in a circle (also not for
types alone), and every provider calls the same thing by the same name.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOUSES = (ROOT / "src" / "butler", ROOT / "kubekit" / "src" / "kubekit")
MOST_MODULES = 20
MOST_LINES = 400

PROVIDER_MODULES = {
    "__init__": "what it is",
    "api": "one call to the infrastructure, one answer or one error of ours",
    "assets": "what there is besides machines",
    "boot_image": "what machines boot from: finding it, and judging whether it does",
    "boot_images": "the images that are made for single machines",
    "boot_volume": "what is in such an image",
    "checks": "whether an account has what a machine needs",
    "datacentre": "the infrastructure itself, where it is simulated",
    "errors": "which of our errors an answer is",
    "faults": "what goes wrong on purpose, where it is simulated",
    "images": "bringing images to where machines find them",
    "inventory": "everything of ours, and what a ProviderConfig may name",
    "iso": "files as an ISO image",
    "kinds": "kinds of its API, where that is a Kubernetes API",
    "loadbalancer": "load balancers",
    "loadbalancer_parts": "what load balancers are made of",
    "lookup": "names and what they stand for",
    "network_data": "the addresses a machine gives itself",
    "provider": "the verbs on one machine",
    "section": "what a ProviderConfig and its Secret say, with every default filled in",
    "sizes": "which type of machine is large enough",
    "templates": "its Cluster API objects",
    "tokens": "proving who we are",
    "traffic": "how much it is asked",
    "v3": "one version of its API",
    "v3_shapes": "the bodies of that version",
    "v4": "another version of its API",
    "v4_shapes": "the bodies of that version",
    "version": "which version it speaks",
    "vm": "a machine in its own words",
    "vm_state": "a machine as it shows it",
}
"""What the modules of a provider are called. A new word needs a meaning that no other word has."""
EVERY_PROVIDER = {"__init__", "provider", "section", "templates", "vm"}


def main() -> None:
    found = [*_sizes(), *_circles(imports()), *_providers()]
    for one in found:
        print(one)
    sys.exit(bool(found))


def _sizes() -> Iterator[str]:
    for house in HOUSES:
        for path in sorted(house.rglob("*.py")):
            lines = len(path.read_text().splitlines())
            if lines > MOST_LINES:
                yield f"{path.relative_to(ROOT)}: {lines} lines, at most {MOST_LINES} are wanted"
        for folder in sorted({path.parent for path in house.rglob("*.py")}):
            modules = len(list(folder.glob("*.py")))
            if modules > MOST_MODULES:
                yield f"{folder.relative_to(ROOT)}: {modules} modules side by side, at most {MOST_MODULES} are wanted"


def _providers() -> Iterator[str]:
    for folder in sorted((ROOT / "src" / "butler" / "providers").iterdir()):
        if not (folder / "provider.py").exists():
            continue
        names = {path.stem for path in folder.glob("*.py")}
        for name in sorted(names - PROVIDER_MODULES.keys()):
            yield f"{folder.relative_to(ROOT)}/{name}.py: no provider has a module of that name; see PROVIDER_MODULES"
        for name in sorted(EVERY_PROVIDER - names):
            yield f"{folder.relative_to(ROOT)}: {name}.py is missing"


def imports() -> dict[str, set[str]]:
    """Which module of ours knows which."""
    modules = {_name(house, path): path for house in HOUSES for path in house.rglob("*.py")}
    return {name: set(_known(name, path, modules)) - {name} for name, path in modules.items()}


def _name(house: Path, path: Path) -> str:
    parts = path.relative_to(house.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _known(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in modules)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for one in node.names:
                if f"{source}.{one.name}" in modules:
                    yield f"{source}.{one.name}"
                elif source in modules:
                    yield source


def _circles(graph: Mapping[str, set[str]]) -> Iterator[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"modules that know each other in a circle: {' -> '.join(reversed(error.args[1]))}"


if __name__ == "__main__":
    main()
