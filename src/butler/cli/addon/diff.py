"""butlerctl addon diff."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec

from butler.api.addon import TenantAddon
from kubekit.errors import KubeError

from ..command import command
from ..lazy import FAILED, MISSING, REFUSED, UNREACHABLE, Failure, exit_code
from ..output import document, is_coloured, output_option, say
from ..session import Session, home
from .lookup import addon_argument, cluster_argument, host_of, installed
from .upgrade import change_options, changed

if TYPE_CHECKING:
    from butler.engines.helm.records import Record

    from .host import Host
    from .preview.manifest_diff import ObjectChange
    from .preview.wanted_release import WantedRelease

_CHANGES = 1
"""The exit code that says that there is a difference; no error of this command has it."""
_CODES = {"HelmMissing": MISSING, "ChartUnavailable": UNREACHABLE, "ClusterUnreachable": UNREACHABLE}
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@command
@cluster_argument
@addon_argument
@change_options
@output_option("text", "json", "yaml")
async def diff(session: Session, cluster: str, name: str, output: str, **given: Any) -> None:
    """Show what a change of an addon would do to the objects in its cluster, before it happens.

    The flags are those of `butlerctl addon upgrade`; without any, what is written down is compared with what is
    installed. Helm renders the chart on this computer and asks the cluster, by its kubeconfig; nothing is changed.
    The contents of Secrets are hidden. Hooks are not compared.

    Ends with exit code 0 when nothing would change, with 1 when something would, and with another when that cannot be
    found out.

    \b
    Example:
      butlerctl addon diff shop sealed-secrets --version 2.18.6
      butlerctl addon diff shop loki --values loki.yaml --set replicas=3 -o json
    """
    with _never_one():
        found = changed(await installed(session, cluster, name), given)
        changes = await _changes(session, await host_of(session, cluster), msgspec.convert(found, TenantAddon))
    if output != "text":
        click.echo(document([_item(one) for one in changes], output))
    else:
        for change in changes:
            click.echo("\n".join(map(_painted, change.lines)))
    if changes:
        raise click.exceptions.Exit(_CHANGES)
    say("nothing would change")


async def _changes(session: Session, host: Host, addon: TenantAddon) -> list[ObjectChange]:
    from butler.engines.helm.engine import Helm

    from .preview import manifest_diff
    from .preview.wanted_release import connected, wanted_release

    wanted = await wanted_release(session, host, addon)
    subject = str(wanted.release.place)
    folder = home(session.environ) / "helm"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    helm = Helm(folder, clock=session.clock)
    async with connected(session, host) as cluster:
        record = await helm.find(cluster, wanted.release.place)
        rendered = await helm.render(cluster, wanted.release)
    if not rendered.is_exact:
        say("# the cluster lacks kinds that the chart brings itself, so that it could not be asked about everything")
    after = rendered.manifest if rendered.is_exact else manifest_diff.without_hooks(rendered.manifest, subject)
    before = record.manifest if record is not None else ""
    return await asyncio.to_thread(manifest_diff.changes, before, after, subject, _hidden(wanted, record))


def _hidden(wanted: WantedRelease, record: Record | None) -> Sequence[Any]:
    """What comes from Secrets, and what came from there when the release was made."""
    return [*wanted.secrets, *(_same_places(one, record.values) for one in wanted.secrets if record is not None)]


def _same_places(values: Mapping[str, Any], others: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = []
    for name, value in values.items():
        other = others.get(name)
        found += _same_places(value, other) if isinstance(value, Mapping) and isinstance(other, Mapping) else [other]
    return found


@contextmanager
def _never_one() -> Iterator[None]:
    """Lets no error end with the exit code that stands for a difference."""
    try:
        yield
    except Failure as failure:
        raise Failure(failure.message, REFUSED if failure.code == FAILED else failure.code) from failure
    except KubeError as error:
        code = _CODES.get(error.reason, exit_code(error))
        raise Failure(str(error), REFUSED if code == FAILED else code) from error
    except OSError as error:
        about = f"{error.filename}: " if error.filename is not None else ""
        raise Failure(f"{about}{error.strerror or error}", REFUSED) from error


def _painted(line: str) -> str:
    colour = _COLOURS.get(line[:1])
    return click.style(line, fg=colour) if colour and is_coloured(sys.stdout) else line


def _item(change: ObjectChange) -> dict[str, Any]:
    ref = change.ref
    return {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "namespace": ref.namespace or None,
        "name": ref.name,
        "change": change.verb,
        "diff": "\n".join(change.lines),
    }
