"""The flags of each kind of infrastructure, made of what a ProviderConfig may say about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click

from kubekit.errors import KubeError

from ..merge_patch import Change, put
from ..usage import Command

TYPES = ("harvester", "nutanix", "proxmox", "aws", "azure", "gcp", "simulated", "external")

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OTHER_SPELLING = "Another "
"""How the text of a field begins that another one says as well."""
_FLAGS = {
    "spec.external.name": "--external-name",
    "spec.external.settings": "--setting",
}
"""Where the name of the field would be misunderstood."""
RESERVED = (
    *("--type", "--filename", "--secret", "--credentials", "--credentials-file", "--credentials-env-file", "--team"),
    *("--network-mode", "--network-pool", "--max-clusters-per-team", "--max-nodes-per-team", "--set", "--check"),
    *("--dry-run", "--show-secrets", "--output", "--wait", "--timeout"),
    *("--namespace", "--kubeconfig", "--context", "--verbose", "--help"),
)
"""Flags that mean the same whatever the infrastructure: a field of such a name gets the infrastructure in front."""
_FROM_FILE = "@"
"""How a value begins that is the name of a file."""
_ANY = "any"
"""Stands for the kind of infrastructure until that is known."""
_ASKED = re.compile(r"has\(self\.(\w+)")

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a section and the flag that writes it."""

    path: str
    schema: Schema
    is_required: bool = False
    is_entity: bool = False
    """Whether it is something that may be meant by its name or by its UUID."""
    about: str = ""
    """What the field is a part of."""

    @property
    def flag(self) -> str:
        _, kind, below = self.path.split(".", 2)
        words = _HUMP.sub("-", below).replace(".", "-").lower()
        return _FLAGS.get(self.path) or (f"--{kind}-{words}" if f"--{words}" in RESERVED else f"--{words}")

    @property
    def parameter(self) -> str:
        """What the value is called among those of a command."""
        return f"section_{self.flag.removeprefix('--').replace('-', '_')}"

    def option(self) -> click.Option:
        kind, declared = self.schema.get("type"), self.flag
        settings: dict[str, Any] = {}
        if self.is_entity:
            settings["metavar"] = "NAME|UUID"
        elif "enum" in self.schema:
            settings["type"] = click.Choice(self.schema["enum"])
        elif kind == "boolean":
            declared = f"{self.flag}/{self.flag.replace('--', '--no-', 1)}"
        elif kind == "integer":
            ends = self.schema.get("minimum"), self.schema.get("maximum")
            settings["type"] = click.INT if ends == (None, None) else click.IntRange(*ends)
        elif kind in ("array", "object"):
            settings |= {"multiple": True, "metavar": "A,B,..." if kind == "array" else "KEY=VALUE"}
        if "default" in self.schema:
            # Only shown: what is left out is filled in by the platform.
            settings["show_default"] = _shown(self.schema["default"])
        return click.Option([declared, self.parameter], default=None, help=self._help(), **settings)

    def _help(self) -> str:
        text = self.schema.get("description", "").rstrip(".")
        text = f"{text} ({self.about[:1].lower()}{self.about[1:].rstrip('.')})" if self.about else text
        is_many = self.schema.get("type") in ("array", "object") and not self.is_entity
        more = "; may be repeated" if is_many else ""
        return f"{text}{more}." + (" Required." if self.is_required else "")

    def value(self, given: Any) -> Any:
        """What is written into the field."""
        if self.is_entity:
            # The other of both may have been said before.
            return {"uuid": None, "name": None} | {"uuid" if _UUID.fullmatch(given) else "name": given}
        match self.schema.get("type"):
            case "array":
                return [part.strip() for text in given for part in text.split(",") if part.strip()]
            case "object":
                return dict(setting(text, self.flag) for text in given)
            case "string" if given.startswith(_FROM_FILE):
                return _text_of(given, self.flag)
        return given


def _shown(default: Any) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


@cache
def fields(kind: str) -> tuple[Field, ...]:
    """Every field of a section that a flag can write."""
    return tuple(_below(_spec()["properties"][kind], f"spec.{kind}"))


@cache
def _spec() -> Schema:
    from butler.api.provider import ProviderConfig
    from kubekit.model.crd import schema_of

    spec: Schema = schema_of(ProviderConfig)["properties"]["spec"]
    return spec


def _below(schema: Schema, path: str, about: str = "") -> Iterator[Field]:
    properties: Mapping[str, Schema] = schema["properties"]
    required = set() if about else _required(schema)
    for name, part in properties.items():
        if _is_other_spelling(name, properties) or part.get("items", {}).get("type") == "object":
            continue
        is_entity = f"{name}UUID" in properties
        if "properties" in part and not is_entity:
            yield from _below(part, f"{path}.{name}", part.get("description", ""))
        else:
            yield Field(f"{path}.{name}", part, name in required, is_entity, about)


def _is_other_spelling(name: str, properties: Mapping[str, Schema]) -> bool:
    is_uuid = name.endswith("UUID") and name.removesuffix("UUID") in properties
    return is_uuid or properties[name].get("description", "").startswith(_OTHER_SPELLING)


def _required(schema: Schema) -> set[str]:
    """Fields there have to be, whichever way they are spelled."""
    properties = schema["properties"]
    found = set(schema.get("required", ()))
    for rule in schema.get("x-kubernetes-validations", ()):
        asked = {name for name in _ASKED.findall(rule["rule"]) if name in properties}
        meant = {name for name in asked if not _is_other_spelling(name, properties)}
        if rule.get("fieldPath") and len(meant) == 1:
            found |= meant
    return found


def change_of(kind: str, flags: Mapping[str, Any]) -> Change:
    """What the flags of a section change."""
    change: Change = {}
    for field in fields(kind):
        given = flags.get(field.parameter)
        if given is not None and given != ():
            put(change, field.path, field.value(given))
            if field.is_entity:
                put(change, f"{field.path}UUID", None)
    return change


def setting(text: str, flag: str) -> tuple[str, Any]:
    """KEY=VALUE, where the value is what YAML makes of it: a number, true, a list, a text."""
    import yaml

    name, sign, value = text.partition("=")
    if not sign or not name:
        raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint=f"'{flag}'")
    if value.startswith(_FROM_FILE):
        return name, _text_of(value, flag)
    try:
        return name, yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise click.BadParameter(f"{name}: {value!r} is not a value of YAML", param_hint=f"'{flag}'") from error


def _text_of(value: str, flag: str) -> str:
    path = Path(value.removeprefix(_FROM_FILE)).expanduser()
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "this is not text"
        raise click.BadParameter(f"{path}: {why}", param_hint=f"'{flag}'") from error


def flag_for(path: str) -> str:
    """The flag that writes a field of a section; empty when there is none."""
    parts = re.sub(r"\[.*?\]", "", path).split(".")
    if len(parts) < 3 or parts[0] != "spec" or parts[1] not in TYPES:
        return ""
    plain = ".".join(parts).removesuffix("UUID")
    return next((one.flag for one in fields(parts[1]) if plain == one.path or plain.startswith(f"{one.path}.")), "")


def types_with(flag: str) -> list[str]:
    """The kinds of infrastructure that have a flag."""
    return [kind for kind in TYPES if flag in [name for one in fields(kind) for name in _names(one)]]


def _names(field: Field) -> list[str]:
    option = field.option()
    return [*option.opts, *option.secondary_opts]


def keys_of(kind: str) -> dict[str, str]:
    """The entries of the Secret of a kind of infrastructure, and what there is to say about each."""
    from butler.api.credentials import spellings
    from butler.api.shared import ProviderType

    known = spellings(ProviderType(kind)) if kind in TYPES else {}
    return {name: f"Also spelled {', '.join(others)}." if others else "" for name, others in known.items()}


class SectionCommand(Command):
    """A command whose options depend on its `--type`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        context.meta[__name__] = kind = self.type_in(context, arguments)
        try:
            return super().parse_args(context, arguments)
        except click.NoSuchOption as error:
            others = types_with(error.option_name)
            if not others:
                raise
            told = f"and this is {kind}" if kind else "say --type before it can be used"
            raise click.UsageError(f"{error.option_name} is for --type {', '.join(others)}; {told}", context) from None

    def type_in(self, context: click.Context, arguments: list[str]) -> str:
        """What a command line is about; empty if it does not say."""
        return _type_in(arguments)

    def get_params(self, context: click.Context) -> list[click.Parameter]:
        return [*super().get_params(context), *_options(context)]

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        own = [one for one in super().get_params(context) if isinstance(one, click.Option)]
        for title, options in ((f"Options of --type {context.meta[__name__]}", _options(context)), ("Options", own)):
            if options:
                with formatter.section(title):
                    formatter.write_dl([record for one in options if (record := one.get_help_record(context))])
        if keys := keys_of(context.meta[__name__]):
            with formatter.section("Entries of the Secret"):
                formatter.write_dl([*keys.items()])

    def variants(self) -> Iterator[tuple[str, list[click.Option]]]:
        """The options there are with each type, for the reference."""
        for kind in TYPES:
            keys = ", ".join(f"`{name}`" for name in keys_of(kind))
            about = f"; entries of the Secret are {keys}" if keys else ""
            yield f"With `--type {kind}`{about}", [one.option() for one in fields(kind)]


class StoredSectionCommand(SectionCommand):
    """A command whose options depend on the provider it is about, which is looked up before anything else."""

    def type_in(self, context: click.Context, arguments: list[str]) -> str:
        context.meta[__name__] = _ANY
        trial = click.Context(self, context.parent, context.info_name, resilient_parsing=True)
        click.Command.parse_args(self, trial, [*arguments])
        name = trial.params.get("name")
        if not name:
            return ""
        try:
            return _type_of_stored(trial, name)
        except (click.ClickException, KubeError):
            if context.resilient_parsing or {*context.help_option_names} & {*arguments}:
                return ""
            raise

    def variants(self) -> Iterator[tuple[str, list[click.Option]]]:
        """None: they are those of another command."""
        return iter(())


def _type_of_stored(context: click.Context, name: str) -> str:
    from butler.api.provider import ProviderConfig

    from ..command import remember
    from ..session import Session
    from .account import namespace_of, speaking_of

    said = {key: context.params.get(key) for key in ("kubeconfig", "context_name", "namespace")}
    session = Session(remember(context, {**said, "verbose": False}))
    with speaking_of(session, name):
        spec = session.reader.get(ProviderConfig.address, name, namespace_of(session))["spec"]
    return str(spec.get("provider") or spec.get("type"))


def _options(context: click.Context) -> list[click.Option]:
    kind = context.meta.get(__name__, "")
    if kind == _ANY:
        return [*{one.flag: one.option() for each in TYPES for one in fields(each)}.values()]
    return [one.option() for one in fields(kind)] if kind in TYPES else []


def _type_in(arguments: list[str]) -> str:
    """What `--type` says, before anything is parsed."""
    for index, argument in enumerate(arguments):
        if argument == "--type":
            return next(iter(arguments[index + 1 :]), "")
        if argument.startswith("--type="):
            return argument.removeprefix("--type=")
    return ""
