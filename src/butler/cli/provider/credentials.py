"""Where the credentials of a new provider come from: files, arguments, a question, or a Secret that is there."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from butler.api.credentials import canonical_keys, spellings
from butler.api.shared import ProviderType

from .. import prompts
from ..lazy import USAGE, Failure

F = TypeVar("F", bound=Callable[..., Any])

_NEEDED: Mapping[ProviderType, tuple[tuple[str, ...], ...]] = {
    ProviderType.HARVESTER: (("kubeconfig",),),
    ProviderType.NUTANIX: (("username", "password"), ("credentials",)),
    ProviderType.PROXMOX: (("token", "secret"), ("username", "password")),
    ProviderType.AWS: (("accessKeyID", "secretAccessKey"),),
    ProviderType.AZURE: (("tenantID", "clientID", "clientSecret"),),
    ProviderType.GCP: (("serviceAccountKey",),),
}
"""Which keys there have to be, in each of the ways to log in."""
_FILES = ("kubeconfig", "serviceAccountKey", "credentials")
"""Keys whose values nobody types."""
_VISIBLE = ("username", "token", "accessKeyID", "tenantID", "clientID")
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(.*)")


def credentials_options(function: F) -> F:
    """The command takes them as `secret`, `pairs`, `files` and `env_file`."""
    for option in reversed(
        [
            click.option("--secret", metavar="NAME", help="A Secret that is there already has the credentials."),
            click.option(
                "--credentials-file",
                "files",
                metavar="[KEY=]PATH",
                multiple=True,
                help="An entry of the Secret from a file, - for stdin; may be repeated.",
            ),
            click.option(
                "--credentials-env-file",
                "env_file",
                metavar="PATH",
                help="All entries of the Secret from lines of the form KEY=VALUE.",
            ),
            click.option(
                "--credentials",
                "pairs",
                metavar="KEY=VALUE",
                multiple=True,
                help="An entry of the Secret; may be repeated. Others can see it in the list of processes and in the "
                "history of the shell: for user names, not for passwords.",
            ),
        ]
    ):
        function = option(function)
    return function


def gathered(kind: ProviderType, section: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, str]:
    """The entries of the Secret, as they are to be written; what neither they nor the section has is asked for.

    Raises Failure and UsageError, neither of which shows a value."""
    found = said(kind, given)
    for name in _missing(kind, section, found):
        found[name] = _asked(kind, name)
    return found


def said(kind: ProviderType, given: Mapping[str, Any]) -> dict[str, str]:
    """The entries of the Secret that are named. Raises Failure and UsageError, neither of which shows a value."""
    found = _lines(given["env_file"]) if given["env_file"] else {}
    found |= dict(_read(kind, text) for text in given["files"])
    found |= dict(_pair(text) for text in given["pairs"])
    _check_known(kind, found)
    return found


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise click.BadParameter("this is not KEY=VALUE", param_hint="'--credentials'")
    return name, value


def _read(kind: ProviderType, text: str) -> tuple[str, str]:
    name, sign, path = text.partition("=")
    if not sign or Path(text).exists():
        only = _NEEDED.get(kind, ())
        if len(only) != 1 or len(only[0]) != 1:
            raise click.BadParameter(f"{text!r} is not KEY=PATH", param_hint="'--credentials-file'")
        name, path = only[0][0], text
    return name, _text_of(path)


def _text_of(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).expanduser().read_text()
    except UnicodeDecodeError:
        raise Failure(f"{path}: this is not text", USAGE) from None
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}", USAGE) from error


def _lines(path: str) -> dict[str, str]:
    """What a file for `docker --env-file` or a shell says; nothing in it is run."""
    found = {}
    for number, line in enumerate(map(str.strip, _text_of(path).splitlines()), 1):
        if not line or line.startswith("#"):
            continue
        if (match := _LINE.fullmatch(line)) is None:
            raise Failure(f"{path}: line {number} is not KEY=VALUE", USAGE)
        name, value = match.groups()
        is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
        found[name] = value[1:-1] if is_quoted else value
    return found


def _check_known(kind: ProviderType, found: Mapping[str, str]) -> None:
    known = spellings(kind)
    names = {name: key for key, others in known.items() for name in (key, *others)}
    for name in found:
        if known and name not in names:
            raise click.UsageError(f"credentials of {kind.value} have no key {name!r}; there are: {', '.join(known)}")


def _missing(kind: ProviderType, section: Mapping[str, Any], found: Mapping[str, str]) -> tuple[str, ...]:
    """The keys that are lacking for the way to log in that most is known of."""
    known = canonical_keys(kind, found)
    present = {name for name, value in known.items() if value.strip()}
    best = max(_NEEDED.get(kind, ()), key=lambda way: len(present & set(way)), default=())
    if "=" in known.get("token", ""):
        # A token of Proxmox may be written with its secret.
        present.add("secret")
    return tuple(name for name in best if name not in present and not section.get(name))


def _asked(kind: ProviderType, name: str) -> str:
    if not prompts.is_somebody_there():
        raise click.UsageError(
            f"provider {kind.value} needs credentials, and {name} is missing: give it with "
            f"--credentials-file {name}=PATH or --credentials-env-file PATH, or name a Secret with --secret"
        )
    if name in _FILES:
        return _text_of(prompts.prompt(f"File with the {name}"))
    return prompts.prompt(name) if name in _VISIBLE else prompts.secret(name)
