"""butlerctl cluster upgrade."""

from __future__ import annotations

from datetime import timedelta

import click

from .. import completion
from ..command import command
from ..options import timeout_option, wait_option
from ..output import success
from ..session import Session
from .change import change
from .lookup import cluster_name


@command
@cluster_name
@click.option(
    "--version",
    "--k8s-version",
    "version",
    required=True,
    shell_complete=completion.versions,
    help="Kubernetes version, as v1.33.1.",
)
@wait_option
@timeout_option("30m")
async def upgrade(session: Session, name: str, version: str, wait: bool, patience: timedelta) -> None:
    """Bring a cluster to another Kubernetes version: the control plane first, then worker by worker.

    No minor version may be skipped, and none taken back.

    \b
    Example:
      butlerctl cluster upgrade shop --version v1.33.1 --wait
    """
    generation, is_new = await change(session, name, lambda _: {"spec": {"kubernetesVersion": version}}, "upgraded")
    said = f"goes to {version}" if is_new else f"is to have {version} already; nothing to do"
    success(f"cluster {session.namespace}/{name} {said}")
    if wait:
        from .wait import wait_until_settled

        await wait_until_settled(session, name, patience, generation, "is upgraded")
