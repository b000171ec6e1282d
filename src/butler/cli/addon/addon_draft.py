"""A TenantAddon that somebody asks for, before any API has seen it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
import msgspec

from butler.api.addon import AddonDefinition, TenantAddon, ValuesSource
from butler.api.model import GROUP
from kubekit.client.protocol import Patch
from kubekit.errors import Forbidden, Invalid
from kubekit.model.resource import Address

from .. import object_draft
from ..lazy import Failure
from ..object_draft import Draft
from ..output import document, say
from ..session import Session
from . import checks, masking, secret_values
from .lookup import object_name
from .value_flags import Sources

_FLAGS = {
    "metadata.name": "--name",
    "spec.version": "--version",
    "spec.helm.chart": "--chart",
    "spec.helm.repository": "--repo",
    "spec.helm.namespace": "--target-namespace",
    "spec.helm.releaseName": "--name",
    "spec.helm.credentialsRef.name": "--repo-secret",
    "spec.values": "--set",
    "spec.valuesFrom": "--values-secret",
}
_LONGEST_LABEL = 63


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a command line asks for."""

    addon: str = ""
    """Of the catalogue; else there is a chart."""
    chart: str = ""
    repository: str = ""
    login: str = ""
    """The Secret that opens the repository."""
    target: str = ""
    """The namespace in the cluster that a chart goes to."""
    name: str = ""
    """In the cluster."""
    version: str = ""
    sources: Sources = field(default_factory=Sources)

    def check(self) -> None:
        """Raises UsageError."""
        if bool(self.chart) is not bool(self.repository):
            raise click.UsageError("--chart and --repo go together")
        if not self.addon and not self.chart:
            raise click.UsageError("say which ADDON of the catalogue, or which chart with --chart and --repo")
        if self.chart and not self.version:
            raise click.UsageError("a chart that is not in the catalogue needs --version")
        if self.target and not self.chart:
            raise click.UsageError("--target-namespace is for --chart; the catalogue says where its addons go")
        if self.login and not self.chart:
            raise click.UsageError("--repo-secret is for --chart; the catalogue says what opens its repositories")


def drafted(session: Session, cluster: str, wanted: Wanted) -> Draft:
    """The object. Raises Failure, UsageError."""
    wanted.check()
    name = wanted.name or wanted.addon or wanted.chart
    labels = {f"{GROUP}/cluster": cluster, **({} if wanted.chart else {f"{GROUP}/addon-definition": wanted.addon})}
    spec: dict[str, Any] = {"clusterRef": {"name": cluster}}
    if wanted.chart:
        spec["helm"] = {"repository": wanted.repository, "chart": wanted.chart, "releaseName": name}
        spec["helm"] |= {"namespace": wanted.target or name}
        spec["helm"] |= {"credentialsRef": {"name": wanted.login}} if wanted.login else {}
    else:
        spec["addon"] = wanted.addon
    if wanted.version:
        spec["version"] = wanted.version
    if values := wanted.sources.over({}):
        spec["values"] = values
    if refs := wanted.sources.refs():
        spec["valuesFrom"] = refs
    return {
        "apiVersion": TenantAddon.address.api_version,
        "kind": TenantAddon.address.kind,
        "metadata": {
            "name": object_name(cluster, name),
            "namespace": session.namespace,
            "labels": {key: text for key, text in labels.items() if len(text) <= _LONGEST_LABEL},
        },
        "spec": spec,
    }


async def check_settings(session: Session, draft: Draft, definition: AddonDefinition | None) -> None:
    """That version and values of an addon can be had. Raises Failure."""
    spec = draft["spec"]
    if definition is None:
        helm = spec["helm"]
        checks.check_chart(draft["metadata"]["name"], helm["repository"], helm["chart"], spec.get("version", ""))
    else:
        checks.check_version(definition, spec.get("version", ""))
    sources = msgspec.convert(spec.get("valuesFrom") or [], tuple[ValuesSource, ...])
    secrets = await _readable(session, draft["metadata"]["name"], sources)
    if definition is not None and secrets is not None:
        checks.check_values(definition, [spec.get("values") or {}, *secrets])


async def _readable(
    session: Session, addon: str, sources: Sequence[ValuesSource]
) -> Sequence[Mapping[str, Any]] | None:
    """What Secrets hold; None for those who may not read them. Raises Failure."""
    try:
        return await secret_values.read(session, addon, sources)
    except Forbidden as error:
        say(f"Warning: values were not checked: {error}")
        return None


def invalid(what: str, error: Invalid) -> Failure:
    """What the API refused, by field."""
    return object_draft.invalid(what, error, lambda path: _FLAGS.get(path.partition("[")[0], ""))


async def replace_spec(session: Session, kind: Address, draft: Draft, namespace: str = "") -> Draft:
    """Write the whole spec of an addon that nobody has changed meanwhile: a merge patch would take away what is null,
    and to Helm a null means something. Raises Conflict, Invalid."""
    meta = draft["metadata"]
    change = [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": meta["resourceVersion"]},
        {"op": "replace", "path": "/spec", "value": draft["spec"]},
    ]
    made: Draft = await session.client.patch(
        kind, meta["name"], change, namespace, form=Patch.JSON, manager="butlerctl"
    )
    return made


def show(made: Draft, output: str, *, as_written: bool = False) -> None:
    """Print an addon for programs. What was only rehearsed is shown as it was written, to be put into a file."""
    if output == "name":
        click.echo(made["metadata"]["name"])
    elif output != "text":
        click.echo(document(made if as_written else masking.shown(made), output))
