"""Write what is derived from the code: CRDs and the table of their fields, policies, the reference of commands.

With --check nothing is written; files that differ are named and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from butler.api import KINDS
from butler.api.admission import policies
from butler.cli import reference as commands
from butler.cli.adm import butleradm
from butler.cli.ctl import butlerctl
from kubekit.model import crd
from kubekit.model.resource import Resource

ROOT = Path(__file__).resolve().parent.parent
CRDS = Path("deploy/crds")
POLICIES = Path("deploy/policies.yaml")
REFERENCE = Path("docs/reference/kinds.md")
COMMANDS = Path("docs/reference/cli.md")
NOTICE = "Made by `make generate` from `src/butler/api`; changes here are lost."


class _Dumper(yaml.SafeDumper):
    """Indents lists, so that the files read like hand-written manifests."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def crd_yaml(kind: type[Resource]) -> str:
    body = yaml.dump(crd.definition(kind), Dumper=_Dumper, sort_keys=False, width=10_000, allow_unicode=True)
    return f"# {NOTICE}\n{body}"


def policies_yaml() -> str:
    texts = [yaml.dump(one, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True) for _, one in policies()]
    return f"# {NOTICE}\n" + "---\n".join(texts)


def reference() -> str:
    """The page that lists every field of every kind."""
    head = f"""<!-- {NOTICE} -->
# Kinds

All kinds are in the group `butler.butlerlabs.dev/v1alpha1`. A field marked * is required when the object it stands in
is present. A default is filled in only when the object it stands in is present. "Rule" is a CEL rule the API server
checks.
"""
    return "\n".join([head, *(_section(kind) for kind in KINDS)])


def _section(kind: type[Resource]) -> str:
    address = kind.address
    schema = crd.schema_of(kind)
    scope = "in a namespace" if address.namespaced else "cluster-wide"
    short = ", ".join(f"`{name}`" for name in kind.short_names)
    lines = [f"## {address.kind}", "", schema["description"], "", f"`{address.plural}` (short {short}), {scope}.", ""]
    for part in ("spec", "status"):
        if part in schema["properties"]:
            lines += ["| field | type | default | constraint | meaning |", "|---|---|---|---|---|"]
            lines += [_row(path, node, needed) for path, node, needed in _nodes(schema["properties"][part], part)]
            lines.append("")
    rules = [(path, rule) for path, node in _all(schema) for rule in node.get("x-kubernetes-validations", ())]
    lines += [f"- Rule on `{path}{rule.get('fieldPath', '')}`: {_rule_text(rule)}." for path, rule in rules]
    return "\n".join([*lines, ""] if rules else lines)


def _rule_text(rule: dict[str, str]) -> str:
    return f"required, {rule['message']}" if "fieldPath" in rule else rule["message"]


def _nodes(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any], bool]]:
    for name, node in schema.get("properties", {}).items():
        here = f"{path}.{name}"
        yield here, node, name in schema.get("required", ())
        yield from _nodes(_below(node), here + _suffix(node))


def _all(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in ("spec", "status"):
        if node := schema["properties"].get(part):
            yield part, node
            for path, found, _ in _nodes(node, part):
                yield path + _suffix(found), _below(found)


def _below(node: dict[str, Any]) -> dict[str, Any]:
    below: dict[str, Any] = node.get("items") or node.get("additionalProperties") or node
    return below


def _suffix(node: dict[str, Any]) -> str:
    return "[]" if "items" in node else "{}" if "additionalProperties" in node else ""


def _row(path: str, node: dict[str, Any], required: bool) -> str:
    default = f"`{node['default']}`" if "default" in node else ""
    if isinstance(node.get("default"), bool):
        default = default.lower()
    cells = [f"`{path}`" + ("\\*" if required else ""), _type(node), default, _constraint(node), node["description"]]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _type(node: dict[str, Any]) -> str:
    if "x-kubernetes-int-or-string" in node:
        return "quantity"
    if "items" in node:
        return f"list of {_type(node['items'])}"
    if "additionalProperties" in node:
        return f"map of {_type(node['additionalProperties'])}"
    if "x-kubernetes-preserve-unknown-fields" in node:
        return "free-form object"
    return "time" if node.get("format") == "date-time" else str(node["type"])


def _constraint(node: dict[str, Any]) -> str:
    found = []
    if "enum" in node:
        found.append("one of " + ", ".join(f"`{value}`" if value else "empty" for value in node["enum"]))
    bounds = {"minimum": "≥", "maximum": "≤", "minLength": "length ≥", "maxLength": "length ≤"}
    bounds |= {"minItems": "items ≥", "maxItems": "items ≤"}
    found += [f"{sign} {node[name]}" for name, sign in bounds.items() if name in node]
    if "pattern" in node and "x-kubernetes-int-or-string" not in node:
        found.append(f"`{node['pattern']}`")
    if keys := node.get("x-kubernetes-list-map-keys"):
        found.append(f"unique by `{', '.join(keys)}`")
    return ", ".join(found)


def outputs() -> dict[Path, str]:
    made = {CRDS / f"{kind.address.plural}.yaml": crd_yaml(kind) for kind in KINDS}
    return {**made, POLICIES: policies_yaml(), REFERENCE: reference(), COMMANDS: command_reference()}


def command_reference() -> str:
    """The page that lists every command of both programs."""
    notice = NOTICE.replace("src/butler/api", "src/butler/cli")
    return f"<!-- {notice} -->\n{commands.page(('butlerctl', butlerctl), ('butleradm', butleradm))}"


def differences(root: Path, wanted: dict[Path, str]) -> list[str]:
    """Files that are missing, out of date, or left over from a kind that is gone."""
    stale = [path for path, text in wanted.items() if not (root / path).exists() or (root / path).read_text() != text]
    return sorted(str(path) for path in [*stale, *_left_over(root, wanted)])


def _left_over(root: Path, wanted: dict[Path, str]) -> list[Path]:
    found = [path.relative_to(root) for path in (root / CRDS).glob("*.yaml")]
    return [path for path in found if path not in wanted]


def write(root: Path, wanted: dict[Path, str]) -> None:
    for path, text in wanted.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for path in _left_over(root, wanted):
        (root / path).unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say what differs")
    parser.add_argument("--root", type=Path, default=ROOT, help="repository to write to")
    options = parser.parse_args()
    wanted = outputs()
    if not options.check:
        write(options.root, wanted)
        return 0
    differing = differences(options.root, wanted)
    for path in differing:
        print(f"out of date: {path} (run `make generate`)")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
