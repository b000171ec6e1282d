"""butlerctl cluster export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from butler.api.model import GROUP
from kubekit.client.protocol import Selection

from .. import completion
from ..command import command
from ..lazy import Failure
from ..output import as_yaml, say, success
from ..rows import CLUSTERS
from ..session import Session
from .lookup import speaking_of

_OURS = f"{GROUP}/"
_KEPT = f"{GROUP}/environment"
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@command
@click.argument("name", required=False, shell_complete=completion.clusters)
@click.option("-o", "--output", metavar="FILE|DIR", help="Where to write; a directory gets a file for each cluster.")
@click.option("--all", "everything", is_flag=True, help="All clusters of the namespace.")
@click.option("-A", "--all-namespaces", is_flag=True, help="All clusters of all namespaces.")
@click.option("--as", "new_name", metavar="NAME", help="Give the cluster another name.")
@click.option("--include-status", is_flag=True, help="Also how it is, not only how it should be.")
async def export(
    session: Session,
    name: str | None,
    output: str | None,
    everything: bool,
    all_namespaces: bool,
    new_name: str | None,
    include_status: bool,
) -> None:
    """Print clusters as YAML that can be applied again, here or elsewhere, and makes clusters like these.

    It says how a cluster runs, with everything that defaults filled in; a change that is refused is not part of it.

    \b
    Example:
      butlerctl cluster export shop > shop.yaml
      butlerctl cluster export shop --as shop-copy | butlerctl cluster create -f -
      butlerctl cluster export --all -o clusters/
    """
    many = everything or all_namespaces
    if bool(name) == many:
        raise click.UsageError("export needs a NAME, or --all, or -A")
    if many and new_name:
        raise click.UsageError("--as names one cluster, and there may be several")
    with speaking_of(session, name or ""):
        found = await _found(session, name, all_namespaces)
        exported = await _exported(session, found, include_status)
    if new_name:
        exported[0]["metadata"]["name"] = new_name
    if not exported:
        say("there are no clusters to export")
    elif output is None or output == "-":
        click.echo(as_yaml(*exported), nl=False)
    else:
        _write(exported, output, all_namespaces)


async def _found(session: Session, name: str | None, everywhere: bool) -> list[dict[str, Any]]:
    if name:
        return [await session.client.get(CLUSTERS, name, session.namespace)]
    return list((await session.client.list(CLUSTERS, Selection("" if everywhere else session.namespace))).items)


async def _exported(session: Session, found: list[dict[str, Any]], include_status: bool) -> list[dict[str, Any]]:
    """Each cluster as it runs; as it is written when it never did, or when we may not see what it gets from others."""
    import msgspec

    from butler.api.cluster import TenantCluster
    from butler.controllers.cluster import effective_spec
    from butler.controllers.cluster.lookup import Snapshot
    from kubekit.errors import Forbidden
    from kubekit.runtime.objects import wire

    sight, exported = Snapshot(), []
    for one in found:
        made, cluster = exportable(one, include_status), msgspec.convert(one, TenantCluster)
        try:
            await effective_spec.fetch_defaults(session.client, sight, cluster)
            running = effective_spec.as_it_runs(cluster, sight)
        except Forbidden as error:
            say(f"warning: cluster {cluster.key} is exported as it is written: {error}")
            running = None
        if running is not None:
            made["spec"] = wire(running.spec)
        exported.append(made)
    return exported


def exportable(cluster: dict[str, Any], include_status: bool = False) -> dict[str, Any]:
    """A cluster as a person would have written it: without what servers and controllers put there."""
    meta = cluster["metadata"]
    kept: dict[str, Any] = {"name": meta["name"], "namespace": meta.get("namespace")}
    for part in ("labels", "annotations"):
        theirs = {key: value for key, value in (meta.get(part) or {}).items() if _is_theirs(key)}
        if theirs:
            kept[part] = theirs
    made = {"apiVersion": CLUSTERS.api_version, "kind": CLUSTERS.kind, "metadata": kept, "spec": cluster["spec"]}
    return {**made, "status": cluster["status"]} if include_status and "status" in cluster else made


def _is_theirs(key: str) -> bool:
    """Whether a person, rather than a program, set a label or an annotation."""
    return key == _KEPT or not (key.startswith(_OURS) or key == _APPLIED)


def _write(exported: list[dict[str, Any]], output: str, everywhere: bool) -> None:
    path = Path(output)
    try:
        if not (output.endswith("/") or path.is_dir()):
            path.write_text(as_yaml(*exported))
            success(f"{_count(exported)} written to {path}")
            return
        path.mkdir(parents=True, exist_ok=True)
        for one in exported:
            meta = one["metadata"]
            stem = f"{meta['namespace']}-{meta['name']}" if everywhere else meta["name"]
            (path / f"{stem}.yaml").write_text(as_yaml(one))
        success(f"{_count(exported)} written to {path}/")
    except OSError as error:
        raise Failure(f"{error.filename or path}: {error.strerror or error}") from error


def _count(exported: list[dict[str, Any]]) -> str:
    return "1 cluster" if len(exported) == 1 else f"{len(exported)} clusters"
