"""butleradm apiserver: the embedded API server by itself."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kubekit.clock import SystemClock

from .lazy import LazyGroup
from .output import document, output_option, plain

if TYPE_CHECKING:
    from kubekit.server.spaces.salvage import Report


def default_data() -> Path:
    """Where data lies when nobody says: BUTLER_DATA, else the user's data directory."""
    given = os.environ.get("BUTLER_DATA")
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(given or f"{base}/butler").expanduser()


data_option = click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    default=default_data,
    show_default="$BUTLER_DATA or ~/.local/share/butler",
    help="The data directory.",
)


@click.group(cls=LazyGroup, invoke_without_command=True)
@data_option
@click.option("--port", default=6443, show_default=True, type=click.IntRange(0, 65535), help="0 chooses a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--name", "names", multiple=True, help="A further name or address the certificate is for.")
@click.pass_context
def apiserver(context: click.Context, data: Path, port: int, host: str, names: tuple[str, ...]) -> None:
    """Run the embedded, Kubernetes-compatible API server.

    It keeps everything in the data directory and writes an administrator's kubeconfig to DATA/kubeconfig.

    \b
    Example:
      butleradm apiserver --data ./data --port 6443
      KUBECONFIG=./data/kubeconfig kubectl get namespaces
    """
    context.obj = data
    if context.invoked_subcommand is None:
        asyncio.run(_serve(data.resolve(), host, port, names))


async def _serve(data: Path, host: str, port: int, names: tuple[str, ...]) -> None:
    from butler.product import PRODUCT
    from kubekit.server.serve.server import Server, tune_process

    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        server = Server(data, host=host, port=port, names=names, product=PRODUCT)
        await server.start()
    except OSError as error:
        raise click.ClickException(f"cannot listen on {host} port {port}: {error.strerror or error}") from error
    tune_process()
    click.echo(f"serving on {server.url}", err=True)
    click.echo(f"export KUBECONFIG={server.kubeconfig}", err=True)
    await stop.wait()
    click.echo("stopping", err=True)
    await server.stop()


@apiserver.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The data directory.")
@click.pass_obj
def backup(inherited: Path, file: Path, data: Path | None) -> None:
    """Copy the data directory to FILE, also while the server runs.

    The copy is consistent, checked before it appears, and holds the keys too: keep it as safe as the original. A file
    that exists is never overwritten.

    \b
    Example:
      butleradm apiserver backup --data ./data backup.tar.gz
    """
    from kubekit.server.store import backup as backups

    now = SystemClock().now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    manifest = backups.make((data or inherited).resolve(), file.resolve(), now, _say)
    click.echo(f"{file}: {manifest.objects} objects at revision {manifest.revision}")


@apiserver.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The new data directory.")
@click.option("--check", is_flag=True, help="Only check that FILE is complete and undamaged.")
@click.pass_obj
def restore(inherited: Path, file: Path, data: Path | None, check: bool) -> None:
    """Make a new data directory out of a backup.

    The backup is checked from end to end before the directory appears, which must be new or empty.

    \b
    Example:
      butleradm apiserver restore --data ./restored backup.tar.gz
    """
    from kubekit.server.store import backup as backups

    manifest = backups.read(file) if check else backups.restore(file, (data or inherited).resolve(), _say)
    click.echo(f"{file}: {manifest.objects} objects at revision {manifest.revision}, made {manifest.created}")


@apiserver.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="The damaged data directory.")
@output_option("table", "json", "yaml")
@click.pass_obj
def salvage(inherited: Path, directory: Path, data: Path | None, output: str) -> None:
    """Bring what can be read of damaged data into DIRECTORY, which must be new or empty.

    For when a start is refused and there is no backup, or only an old one. The damaged data is only read. A server
    starts from the new directory, and what was lost is told: every object by its name, as far as that can be read.

    \b
    Example:
      butleradm apiserver salvage --data ./data ./salvaged
      butleradm apiserver --data ./salvaged
    """
    import msgspec

    from kubekit.server.spaces.salvage import salvage as bring_out

    source = (data or inherited).resolve()
    report = bring_out(source, directory.resolve(), SystemClock(), _say)
    if output == "table":
        click.echo(_told(report, directory))
    else:
        click.echo(document(msgspec.to_builtins(report), output))


def _told(report: Report, directory: Path) -> str:
    lists = (
        ("lost", report.lost),
        ("brought out in an older version, because the newest is lost", report.older),
        ("brought out, and may have been deleted before", report.doubtful),
    )
    lines = [f"{directory}: {report.objects} objects at revision {report.revision}"]
    for title, losses in lists:
        if losses:
            lines.append(f"{len(losses)} {title}:")
            lines += [f"  {plain(f'{one.space} {one.resource} {one.key}')}" for one in losses]
    if report.unplaced:
        lines.append(f"objects of which the kind is lost, in {directory / 'unplaced.json'}: {report.unplaced}")
    if report.missing_revisions:
        lines.append(f"writes that are missing, perhaps of objects no list names: {report.missing_revisions}")
    lines += map(plain, report.remarks)
    return "\n".join([*lines, "nothing was lost"] if report.is_complete else lines)


def _say(text: str) -> None:
    click.echo(text, err=True)
