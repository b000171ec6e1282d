"""butleradm provider create."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from butler import advice

from ..lazy import UNREACHABLE, Failure
from ..options import timeout_option, wait_option
from ..output import document, next_steps, output_option, say, success
from ..session import NoApi, Session
from .account import provider_command, where
from .credentials import credentials_options
from .provider_draft import config_options
from .section_flags import TYPES, SectionCommand

if TYPE_CHECKING:
    from butler.api.provider import ProviderConfig

    from ..object_draft import Draft

_HIDDEN = "********"


@provider_command(cls=SectionCommand)
@click.argument("name", required=False)
@click.option(
    "--type", "kind", type=click.Choice(TYPES), help="The kind of infrastructure; it decides what else can be said."
)
@click.option("-f", "--filename", metavar="FILE", help="A ProviderConfig as YAML, - for stdin; flags win over it.")
@credentials_options
@config_options
@click.option(
    "--check/--no-check", default=True, show_default=True, help="Try the account from here before anything is written."
)
@click.option("--dry-run", is_flag=True, help="Check everything, print what would be written, and write nothing.")
@click.option("--show-secrets", is_flag=True, help="Print credentials as they are instead of hiding them.")
@output_option("text", "yaml", "json", "name")
@wait_option
@timeout_option("2m")
async def create(session: Session, name: str | None, kind: str | None, **given: Any) -> None:
    """Make a provider called NAME: a ProviderConfig, and a Secret with its credentials.

    Everything is checked before anything is written: the fields by the platform, and the account by connecting to it
    from here. Credentials that are missing are asked for.

    What can be said about an infrastructure is shown by `butleradm provider create --type TYPE --help`. A text that
    begins with @ is read from the file of that name, such as --ca-bundle @ca.pem.

    \b
    Example:
      butleradm provider create lab --type nutanix --endpoint https://prism.example.com --cluster c1 --subnet vms
      butleradm provider create lab --type harvester --network-name default/vms --credentials-file harvester.yaml
      butleradm provider create lab --type aws --region eu-central-1 --credentials-env-file aws.env --wait
      butleradm provider create -f lab.yaml --secret lab-credentials --dry-run
    """
    from . import creation, provider_draft

    draft = provider_draft.drafted(session, name, kind, given)
    meta = draft["metadata"]
    what = f"provider {meta['namespace']}/{meta['name']} cannot be created"
    is_new = creation.place_credentials(draft, given)
    config = provider_draft.typed(draft, what)
    await _accepted(session, draft, what, given["dry_run"])
    secret = creation.secret_for(draft, given) if is_new else None
    if given["check"]:
        await creation.try_account(session, config, secret, what)
    if given["dry_run"]:
        say("# this is what would be written; nothing was")
        _show(draft, secret, given)
        return
    tell = success if given["output"] == "text" else say
    stored = await creation.write(session, draft, secret, what, tell)
    _show(draft, secret, given)
    await _finish(session, stored, given["wait"], given["patience"], tell)


async def _accepted(session: Session, draft: Draft, what: str, is_dry: bool) -> None:
    """Ask the platform beforehand. Raises Failure."""
    from kubekit.errors import ServiceUnavailable

    from . import creation

    try:
        await creation.ask_platform(session, draft, what)
    except (ServiceUnavailable, NoApi) as error:
        if not is_dry:
            message = str(error) if isinstance(error, NoApi) else f"{error}{session.remedy()}"
            raise Failure(message, UNREACHABLE) from error
        say(f"# not checked against a platform: {error}")


def _show(draft: Draft, secret: Draft | None, given: dict[str, Any]) -> None:
    """Print what is, or would be, written."""
    output = "yaml" if given["dry_run"] and given["output"] == "text" else given["output"]
    if output == "name":
        click.echo(draft["metadata"]["name"])
    if output not in ("yaml", "json"):
        return
    shown = [draft] if secret is None else [_masked(secret, given["show_secrets"]), draft]
    if output == "json":
        click.echo(document({"apiVersion": "v1", "kind": "List", "items": shown}, output))
    else:
        click.echo("---\n".join(document(one, output) + "\n" for one in shown), nl=False)


def _masked(secret: Draft, is_shown: bool) -> Draft:
    entries = {name: value if is_shown else _HIDDEN for name, value in secret["stringData"].items()}
    return {**secret, "stringData": entries}


async def _finish(
    session: Session, config: ProviderConfig, wait: bool, patience: timedelta, tell: Callable[[str], None]
) -> None:
    from .wait import wait_until_ready

    name, there = config.metadata.name, where(session)
    session.when_interrupted = f"it goes on without you; `{advice.get_provider(name, there)}` looks at it again"
    if wait:
        await wait_until_ready(session, config, patience)
        tell(f"provider {config.key} is ready")
    next_steps(
        *([] if wait else [(advice.get_provider(name, there), "how it is")]),
        (advice.provider_images(name, there), "what machines can boot from"),
        (advice.create_cluster_on(name, session.api), "a cluster on it"),
    )
