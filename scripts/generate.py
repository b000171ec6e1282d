"""Write what is derived from the code: CRDs and the tables of their fields, policies, the reference of commands.

With --check nothing is written; files that differ are named and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from butler.addons import builtin
from butler.addons.bundled import REPOSITORY
from butler.api import KINDS
from butler.api.addon import AddonDefinition
from butler.api.admission import policies
from butler.api.fields import Effect, Field, acts_at_all, fields_in, fields_of, idle_fields, leaves_of
from butler.cli import reference as commands
from butler.cli.adm import butleradm
from butler.cli.ctl import butlerctl
from kubekit.model import crd
from kubekit.model.resource import Resource

ROOT = Path(__file__).resolve().parent.parent
CRDS = Path("deploy/crds")
POLICIES = Path("deploy/policies.yaml")
REFERENCE = Path("docs/reference/kinds.md")
FIELDS = Path("docs/reference/fields.md")
COMMANDS = Path("docs/reference/cli.md")
CATALOGUE = Path("docs/reference/catalogue.md")
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
            lines += [_row(field) for field in fields_of(kind, part)]
            lines.append("")
    nodes = [node for part in ("spec", "status") for node in _nodes(schema, part)]
    rules = [(node.prefix, rule) for node in nodes for rule in node.inside.get("x-kubernetes-validations", ())]
    lines += [f"- Rule on `{path}{rule.get('fieldPath', '')}`: {_rule_text(rule)}." for path, rule in rules]
    return "\n".join([*lines, ""] if rules else lines)


def _rule_text(rule: dict[str, str]) -> str:
    return f"required, {rule['message']}" if "fieldPath" in rule else rule["message"]


def _nodes(schema: dict[str, Any], part: str) -> Iterator[Field]:
    """A part of a kind, and every field in it."""
    if found := schema["properties"].get(part):
        whole = Field(part, found)
        yield from (whole, *fields_in(whole))


def _row(field: Field) -> str:
    node = field.schema
    default = f"`{node['default']}`" if "default" in node else ""
    if isinstance(node.get("default"), bool):
        default = default.lower()
    cells = [
        f"`{field.path}`" + ("\\*" if field.required else ""),
        _type(node),
        default,
        _constraint(node),
        node["description"],
    ]
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
    pages = {REFERENCE: reference(), FIELDS: effects(), COMMANDS: command_reference(), CATALOGUE: catalogue()}
    return {**made, POLICIES: policies_yaml(), **pages}


_EFFECTS = {
    Effect.ACTS: """## Fields that act

Changing one of these changes something: an object Butler makes, a request it sends, what a status says. Titles and
descriptions act by being read.""",
    Effect.REFUSED: """## Fields of which only the default is accepted

Anything else is refused, by the API server or in the status of the object, with a message that says why.""",
    Effect.NOT_YET: """## Fields that do not act yet

They can be written, so that documents made for other versions apply, and nothing comes of it. Whoever writes one gets
a warning, and `kubectl explain` says the same. A field with others in it stands for all of them.""",
}


def effects() -> str:
    """The page that says of every field what comes of writing it."""
    head = f"""<!-- {NOTICE} -->
# What comes of writing a field

Every field of every `spec` is in one of three lists. A test walks through all of them: it writes each field that acts
at two values and sees what else differs, and writes each that is refused and reads the message. What the fields mean
is in [Kinds](kinds.md).
"""
    return "\n".join([head, *(_effect(effect, text) for effect, text in _EFFECTS.items())])


def _effect(effect: Effect, text: str) -> str:
    lines = [text, ""]
    for kind in KINDS:
        if paths := _paths(kind, effect):
            lines += [f"### {kind.address.kind}", "", *(f"- `{path}`" for path in paths), ""]
    if effect is Effect.NOT_YET:
        idle = ", ".join(kind.address.kind for kind in KINDS if not acts_at_all(kind))
        lines += [
            "### Whole kinds",
            "",
            f"{idle}: their objects say so in their condition `Reconciled`, where they have a status.",
            "",
        ]
    return "\n".join(lines)


def _paths(kind: type[Resource], effect: Effect) -> list[str]:
    if not acts_at_all(kind):
        return []
    if effect is Effect.NOT_YET:
        return [field.path for field in idle_fields(kind)]
    return [leaf.path for leaf in leaves_of(kind) if leaf.effect is effect]


def command_reference() -> str:
    """The page that lists every command of both programs."""
    notice = NOTICE.replace("src/butler/api", "src/butler/cli")
    return f"<!-- {notice} -->\n{commands.page(('butlerctl', butlerctl), ('butleradm', butleradm))}"


def catalogue() -> str:
    """The page that lists every addon of the catalogue."""
    notice, everything = NOTICE.replace("src/butler/api", "src/butler/addons/builtin"), builtin.definitions()
    parts = {
        "Platform": [one for one in everything if one.spec.platform],
        "Of infrastructures": [one for one in everything if one.spec.providers],
        "Others": [one for one in everything if not one.spec.platform and not one.spec.providers],
    }
    head = f"""<!-- {notice} -->
# The addon catalogue

Every platform starts with these AddonDefinitions; on yours, `kubectl get addondefinitions` shows what has become of
them. Which of them a cluster gets by itself, and what placeholders in their values stand for, is in
[What addon definitions can say](addon-definitions.md).

**Values checked** means that an addon resolves on every infrastructure it is for, and that its values fit the schema
of its definition. The chart itself was not rendered: charts of the internet cannot be had where Butler is tested, and
versions and values are what their sources say. This is a gap. **Rendered** means that Helm rendered the chart, and
that an API server took what came out. Neither means that somebody saw it at work on the infrastructure itself.

Charts of `builtin://` come with Butler; their images come from the internet as all others do.
"""
    return "\n".join([head, *(line for title, those in parts.items() for line in _addons(title, those))])


_ADDON_COLUMNS = (
    "name", "what it does", "chart", "version", "further versions", "repository", "namespace", "category", "for",
    "Kubernetes", "depends on", "conflicts with", "tried",
)  # fmt: skip


def _addons(title: str, definitions: Iterable[AddonDefinition]) -> Iterator[str]:
    yield from (f"## {title}", "", f"| {' | '.join(_ADDON_COLUMNS)} |", "|---" * len(_ADDON_COLUMNS) + "|")
    yield from (f"| {' | '.join(_addon(one))} |" for one in definitions)
    yield ""


def _addon(definition: AddonDefinition) -> tuple[str, ...]:
    spec, name = definition.spec, definition.metadata.name
    return (
        f"`{name}`",
        spec.description,
        f"`{spec.chart.name}`",
        spec.chart.default_version,
        ", ".join(spec.chart.available_versions),
        f"`{spec.chart.repository}`",
        f"`{spec.defaults.namespace or name}`",
        spec.category,
        ", ".join(spec.providers) or "all",
        f"`{spec.kubernetes_versions}`" if spec.kubernetes_versions else "all",
        ", ".join(spec.depends_on),
        ", ".join(spec.conflicts),
        "rendered" if spec.chart.repository == REPOSITORY else "values checked",
    )


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
