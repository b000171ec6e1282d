"""Releases that Flux or Argo CD keep in a cluster: shown as theirs, and left alone.

What they say in words is not passed on, since it may repeat values."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from butler.engines.helm.protocol import Cluster, Place
from kubekit.clock import Clock
from kubekit.errors import Forbidden, NotFound
from kubekit.model.resource import Address, Object

from .model import AddonState, Keeper, Seen

FLUX = Address.of("helm.toolkit.fluxcd.io/v2", "HelmRelease")
ARGO_CD = Address.of("argoproj.io/v1alpha1", "Application")
_AGAIN = 300.0
"""Seconds after which a cluster that had none of a kind's definition is asked again."""
_MOST_CLUSTERS = 1000
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{0,99}")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,99}")
_IN_CLUSTER = ("https://kubernetes.default.svc", "https://kubernetes.default.svc.cluster.local", "in-cluster")


@dataclass(frozen=True, slots=True)
class Claim:
    """A release that somebody else keeps."""

    keeper: Keeper
    object: str
    """Which says so: `HelmRelease flux-system/cilium`."""
    release: str
    namespaces: frozenset[str]
    """Where its objects or its records are."""
    chart: str
    version: str
    state: AddonState
    word: str
    """How it says it is doing."""

    def covers(self, place: Place, chart: str = "") -> bool:
        is_same = self.release == place.name or (self.chart != "" and self.chart == chart)
        return is_same and place.namespace in self.namespaces

    def seen(self, name: str) -> Seen:
        return Seen(name, self.version, self.state, f"kept by {self.object}: {self.word}", self.keeper)


class GitOps:
    """Asks clusters for what others keep: one list for each of the two, and for five minutes nothing where their
    definitions are not installed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._absent: OrderedDict[tuple[str, str], float] = OrderedDict()

    async def claims(self, cluster: Cluster) -> tuple[Claim, ...]:
        flux = await self._listed(cluster, FLUX)
        argo = await self._listed(cluster, ARGO_CD)
        return *_readable(_of_flux, flux), *_readable(_of_argo_cd, argo)

    async def _listed(self, cluster: Cluster, kind: Address) -> tuple[Object, ...]:
        key = cluster.config.cluster.server, kind.name
        if self._clock.monotonic() < self._absent.get(key, float("-inf")):
            return ()
        self._absent.pop(key, None)
        try:
            return (await cluster.client.list(kind)).items
        except (NotFound, Forbidden):
            # Who may not look still sees whether a release is Butler's.
            self._absent[key] = self._clock.monotonic() + _AGAIN
            if len(self._absent) > _MOST_CLUSTERS:
                self._absent.popitem(last=False)
            return ()


def _readable(read: Callable[[Object], Iterator[Claim]], objects: Iterable[Object]) -> Iterator[Claim]:
    for one in objects:
        yield from read(one)


def _of_flux(obj: Object) -> Iterator[Claim]:
    meta, spec, status = obj["metadata"], _map(obj.get("spec")), _map(obj.get("status"))
    target = _text(spec.get("targetNamespace"))
    usual = f"{target}-{meta['name']}" if target else meta["name"]
    newest = next((_map(one) for one in _list(status.get("history"))), {})
    chart = _map(_map(spec.get("chart")).get("spec"))
    ready = next((_map(one) for one in _list(status.get("conditions")) if _map(one).get("type") == "Ready"), {})
    yield Claim(
        "flux",
        f"HelmRelease {meta['namespace']}/{meta['name']}",
        _text(spec.get("releaseName")) or usual,
        frozenset([target or meta["namespace"], _text(spec.get("storageNamespace")) or meta["namespace"]]),
        _text(newest.get("chartName")) or _text(chart.get("chart")),
        _version(newest.get("chartVersion")) or _version(status.get("lastAttemptedRevision")),
        _flux_state(ready, has_run=any(_map(one).get("status") == "deployed" for one in _list(status.get("history")))),
        "suspended" if spec.get("suspend") is True else _word(ready.get("reason")),
    )


def _flux_state(ready: dict[str, Any], *, has_run: bool) -> AddonState:
    match ready.get("status"):
        case "True":
            return AddonState.HEALTHY
        case "False":
            return AddonState.DEGRADED if has_run else AddonState.FAILED
        case _:
            return AddonState.INSTALLING


def _of_argo_cd(obj: Object) -> Iterator[Claim]:
    """One for each source that is a chart: an Application may have several."""
    meta, spec, status = obj["metadata"], _map(obj.get("spec")), _map(obj.get("status"))
    destination = _map(spec.get("destination"))
    if (destination.get("server") or destination.get("name")) not in _IN_CLUSTER:
        return
    sources = _list(spec.get("sources")) or [spec.get("source")]
    revisions = _list(_map(status.get("sync")).get("revisions")) or [_map(status.get("sync")).get("revision")]
    for number, source in enumerate(map(_map, sources)):
        helm = _map(source.get("helm"))
        if not source.get("chart") and not helm:
            continue
        yield Claim(
            "argocd",
            f"Application {meta['namespace']}/{meta['name']}",
            _text(helm.get("releaseName")) or meta["name"],
            frozenset([_text(destination.get("namespace")) or "default"]),
            _text(source.get("chart")),
            _version(revisions[number]) if source.get("chart") and number < len(revisions) else "",
            _argo_cd_state(status),
            _word(_map(status.get("health")).get("status")),
        )


def _argo_cd_state(status: dict[str, Any]) -> AddonState:
    has_failed = _map(status.get("operationState")).get("phase") in ("Failed", "Error")
    match _map(status.get("health")).get("status"):
        case "Healthy":
            return AddonState.HEALTHY
        case "Degraded" | "Suspended":
            return AddonState.DEGRADED
        case _:
            return AddonState.FAILED if has_failed else AddonState.INSTALLING


def _map(value: Any) -> dict[str, Any]:
    """Others' objects are read as far as they make sense."""
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _version(value: Any) -> str:
    return value if isinstance(value, str) and _VERSION.fullmatch(value) else ""


def _word(value: Any) -> str:
    return value if isinstance(value, str) and _WORD.fullmatch(value) else "no word yet"
