"""AddonProfile: addons for all clusters that match, brought to them wave by wave."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import AGE, Column, Int64, Model, NotEmpty, NotNegative, Rule, keyed_by
from kubekit.model.status import Status

from .addon import HelmChart
from .model import DnsLabel, Resource, Values

_LABEL_VALUE = 63
MOST_TOLD = 50
"""So many clusters are told of in a status."""


class LabelRequirement(Model):
    """What has to hold for one label."""

    rules = (
        Rule(
            "self.operator in ['In', 'NotIn'] == (has(self.values) && self.values.size() > 0)",
            "values are needed for In and NotIn, and for nothing else",
        ),
    )

    key: NotEmpty
    """Label."""
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    """What has to hold; clusters without the label are NotIn whatever is listed."""
    values: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    """Values of the label."""


class ClusterSelector(Model):
    """Clusters by their labels: all that is said has to hold, and where nothing is said all clusters match."""

    match_labels: Mapping[str, str] = {}
    """Labels with the values they must have."""
    match_expressions: Annotated[tuple[LabelRequirement, ...], Meta(max_length=20)] = ()
    """Further requirements."""


# Of a release in a cluster, whose names Helm allows to be so long.
AddonName = Annotated[str, Meta(min_length=1, max_length=53, pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]


class ProfileAddon(Model):
    """An addon that every matching cluster gets: one of the catalogue, or a chart."""

    rules = (
        Rule("has(self.addon) != has(self.helm)", "exactly one of addon and helm must be set"),
        Rule(
            "!has(self.helm) || (has(self.version) && self.version != '')",
            "a chart has no version but the one that is named here",
            missing=".version",
        ),
        Rule("!has(self.dependsOn) || !(self.name in self.dependsOn)", "an addon cannot depend on itself"),
    )

    name: AddonName
    """Name in the cluster; its TenantAddon is called like the cluster, a dash, and this."""
    addon: Annotated[str, Meta(min_length=1, max_length=_LABEL_VALUE)] | None = None
    """AddonDefinition; instead of helm."""
    helm: HelmChart | None = None
    """A chart; instead of addon. Its release is called like the addon unless it says otherwise, and Secrets that it
    names are those beside each cluster."""
    version: str = ""
    """Version to install; left out, that of the definition, which then changes in all clusters at once."""
    values: Values | None = None
    """Helm values, over those of the definition."""
    depends_on: Annotated[tuple[AddonName, ...], Meta(max_length=8)] = ()
    """Addons of this profile that must be installed first."""


WaveSize = Annotated[
    str | int,
    Meta(
        extra_json_schema={
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": r"^([1-9][0-9]?|100)%$",
            "x-kubernetes-int-or-string": True,
        }
    ),
]


class Rollout(Model):
    """How changes reach the clusters."""

    rules = (Rule("type(self.waveSize) != int || self.waveSize >= 1", "waveSize must be at least 1, or 1%"),)

    wave_size: WaveSize = "25%"
    """How many clusters get a change at the same time: a number, or a percentage of all that match, rounded up."""
    order: Annotated[tuple[ClusterSelector, ...], Meta(max_length=20)] = ()
    """Who comes first: the clusters that match the first selector, then those that match the second, and so on; all
    others come last. Nobody shares a wave with clusters of another selector."""
    pause: bool = False
    """Leave all clusters as they are."""
    max_failures: NotNegative = 0
    """How many clusters may fail before no further one is touched."""


class AddonProfileSpec(Model):
    """Which clusters get which addons, and how changes reach them."""

    rules = (
        Rule(
            "self.addons.all(one, !has(one.dependsOn)"
            " || one.dependsOn.all(name, self.addons.exists(other, other.name == name)))",
            "dependsOn must name addons of the profile",
        ),
    )

    cluster_selector: ClusterSelector
    """TenantClusters that get the addons; an empty one matches all."""
    namespaces: Annotated[tuple[DnsLabel, ...], Meta(max_length=500)] = ()
    """Namespaces of the clusters; left out, all."""
    teams: Annotated[tuple[NotEmpty, ...], Meta(max_length=500)] = ()
    """Teams of the clusters; left out, all and those without a team."""
    addons: Annotated[tuple[ProfileAddon, ...], Meta(min_length=1, max_length=32), keyed_by("name")]
    """What they get."""
    rollout: Rollout = Rollout()
    prune: bool = True
    """Remove an addon where it is no longer wanted: from clusters that match no more, and where the profile no longer
    has it."""


class ClusterProgress(StrEnum):
    """How far a cluster is."""

    FAILED = "Failed"
    """An addon failed."""
    UPDATING = "Updating"
    """Addons are being installed."""
    WAITING = "Waiting"
    """The cluster was never ready; its addons come when it is."""
    PENDING = "Pending"
    """Its wave has not begun."""


class ProfileCluster(Model):
    """A cluster that does not have all addons."""

    namespace: str
    """Its namespace."""
    name: str
    """Its name."""
    state: ClusterProgress
    """How far it is."""
    message: str | None = None
    """What is missing."""


class AddonProfileStatus(Status):
    """How far the clusters are."""

    matched: int | None = None
    """Clusters that match."""
    updated: int | None = None
    """Of these, clusters that were told to have the addons as they are here."""
    ready: int | None = None
    """Of these, clusters that have them."""
    failed: int | None = None
    """Clusters in which an addon failed."""
    waiting: int | None = None
    """Clusters that were never ready; they hold up nobody."""
    wave: str | None = None
    """Wave that is under way, such as 2/4."""
    completed_generation: Int64 | None = None
    """Generation of the spec that has been to all clusters; clusters that match later get it at once."""
    clusters: Annotated[tuple[ProfileCluster, ...], Meta(max_length=MOST_TOLD)] = ()
    """Clusters that do not have all addons; the first 50, those that failed before the others."""


class AddonProfile(
    Resource,
    plural="addonprofiles",
    short="ap",
    namespaced=False,
    columns=(
        Column("Matched", ".status.matched", "integer"),
        Column("Updated", ".status.updated", "integer"),
        Column("Ready", ".status.ready", "integer"),
        Column("Failed", ".status.failed", "integer"),
        Column("Wave", ".status.wave"),
        Column("Stopped", '.status.conditions[?(@.type=="Stopped")].status'),
        AGE,
    ),
):
    """Addons for all clusters that match, brought to them wave by wave."""

    rules = (
        Rule("has(self.spec)", "a profile without a spec means nothing", missing=".spec"),
        Rule(
            f"self.metadata.name.size() <= {_LABEL_VALUE}",
            f"the name must be no longer than {_LABEL_VALUE} letters: it is a label of what the profile makes",
        ),
    )

    spec: AddonProfileSpec
    status: AddonProfileStatus = AddonProfileStatus()
