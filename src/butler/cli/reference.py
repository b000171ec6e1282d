"""The reference page of all commands, made of the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

import click

from .command import connection_options

HEAD = """# Commands

`butlerctl` is for those who use clusters, `butleradm` for those who run the platform. Results go to stdout, talk to
stderr.

## Exit codes

| code | meaning |
|---|---|
| 0 | done |
| 1 | an error; what is wrong stands in a line on stderr |
| 2 | wrong usage: an unknown command or flag, something missing, or a value that can never be right |
| 3 | what was asked about is not there |
| 4 | denied: the platform does not know you, or you may not do that |
| 5 | timed out: what was waited for has not happened, and may still happen |
| 6 | no platform can be reached: nothing answers, what answers is none, or nothing says where one is |
| 7 | refused: it cannot be as things are, such as a name that is taken, a quota that is used up, or a provider in use |
| 130 | ended by Ctrl-C |

Like `kubectl diff`, `butlerctl addon diff` ends with 1 when something would change, and with no error of its own.

## Which platform

`butlerctl` talks to the API that is named first in this list:

1. `--kubeconfig FILE`, with `--context NAME` if it is given
2. `--context NAME` in the files of `KUBECONFIG`, else in `~/.kube/config`
3. the files of `KUBECONFIG`; an error if none of them exists
4. the platform that `butleradm up` runs on this computer: the one started last, else that of `~/.butler/local`
5. `~/.butler/*-kubeconfig` or `~/.butler/kubeconfig`; an error if there are several
6. `~/.kube/config`
7. the cluster it runs in

The namespace is that of `-n`, else of `BUTLER_NAMESPACE`, else `butler-tenants`.

## Environment

| variable | |
|---|---|
| `KUBECONFIG` | kubeconfig files, as for kubectl |
| `BUTLER_HOME` | Butler's own directory; `~/.butler` if it is not set; `addon diff` keeps charts there |
| `BUTLER_NAMESPACE` | the namespace of clusters |
| `NO_COLOR`, `BUTLER_NO_COLOR` | no colours, whatever the terminal can do |
| `VISUAL`, `EDITOR` | the editor of `butlerctl cluster edit`; `vi` if neither is set |
"""


Texts = dict[str, str | None]
"""What the options say that all commands have."""


@runtime_checkable
class Varied(Protocol):
    """A command whose options depend on one of them."""

    def variants(self) -> Iterator[tuple[str, list[click.Option]]]: ...


def page(*programs: tuple[str, click.Group]) -> str:
    """The page in Markdown, the same wherever it is made."""
    shared = _shared_options()
    texts = {name: option.help for name, option in shared.items()}
    parts = [HEAD, "## Options of every `butlerctl` command\n", *_table([*shared.values()])]
    for name, group in programs:
        parts += [f"\n## {name}\n", *_command(group, click.Context(group, info_name=name), texts)]
        parts += _below(group, click.Context(group, info_name=name), texts)
    return "\n".join(parts) + "\n"


def _shared_options() -> dict[str, click.Option]:
    @connection_options
    def nothing() -> None:
        """Only its options matter."""

    found: list[click.Option] = nothing.__click_params__[::-1]  # type: ignore[attr-defined]
    return {option.name or "": option for option in found}


def _below(group: click.Group, context: click.Context, shared: Texts) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        yield f"\n### {inner.command_path}\n"
        yield from _command(command, inner, shared)
        if isinstance(command, click.Group):
            yield from _below(command, inner, shared)


def _command(command: click.Command, context: click.Context, shared: Texts) -> Iterator[str]:
    text, _, example = inspect.cleandoc(command.help or "").partition("\b\nExample:\n")
    yield text.strip()
    yield f"\n```\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```"
    options = [one for one in command.params if isinstance(one, click.Option) and not one.hidden]
    own = [one for one in options if not _is_shared(one, command, shared)]
    if own:
        yield ""
        yield from _table(own)
    if isinstance(command, Varied):
        for title, variant in command.variants():
            yield f"\n{title}:\n"
            yield from _table(variant)
    if example:
        yield f"\n```sh\n{inspect.cleandoc(example)}\n```"


def _is_shared(option: click.Option, command: click.Command, shared: Texts) -> bool:
    """Whether it is described once for all: a command has all of those, but perhaps for the namespace, or none."""
    has_all = shared.keys() - {"namespace"} <= {one.name for one in command.params}
    return has_all and shared.get(option.name or "") == option.help


def _table(options: list[click.Option]) -> Iterator[str]:
    yield "| option | default | meaning |"
    yield "|---|---|---|"
    for option in options:
        names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
        value = "" if option.is_flag or option.count else f" {_value(option)}"
        meaning = (option.help or "") + (" Required." if option.required else "")
        cells = [names + value, _default(option), meaning]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return option.metavar or option.type.name.upper()


def _default(option: click.Option) -> str:
    if isinstance(option.show_default, str):
        return option.show_default
    if not option.show_default or callable(option.default):
        return ""
    # As the program itself does it: what is left out is not the same as what was given as nothing.
    default = option.get_default(click.Context(click.Command("")))
    if option.secondary_opts:
        return f"`{option.opts[0] if default else option.secondary_opts[0]}`"
    return "" if default is None else f"`{default}`"
