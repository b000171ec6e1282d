"""A project and what is in it before anyone asks for anything."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from tests.providers.clocks import EPOCH
from tests.providers.gcp.fake_answers import WWW, Json

PROJECT, IMAGES = "butler-test", "talos-images"
REGION, ZONES = "us-central1", ("us-central1-a", "us-central1-b", "us-central1-c")
IMAGE = f"projects/{IMAGES}/global/images/talos-v1-11"
PENDING = 1.0
"""Seconds until an operation starts."""
LAG = 3.0
"""Seconds until a list shows what is there."""
TYPES = {
    "e2-standard-2": (2, 8192),
    "e2-standard-4": (4, 16384),
    "e2-highcpu-2": (2, 2048),
    "n2-standard-48": (48, 196608),
}
NEVER = float("inf")


@dataclass
class Thing:
    """A resource, by its path."""

    path: str
    body: Json
    appears_at: float = -NEVER
    gone_at: float = NEVER
    phases: list[tuple[float, str]] = field(default_factory=list)
    """From when on its status is what."""
    members: list[str] = field(default_factory=list)
    """The instances in a group."""
    is_ghost: bool = False
    """Whether only lists show it, because they have not noticed that it is gone."""

    @property
    def collection(self) -> str:
        return self.path.split("/")[-2]

    @property
    def name(self) -> str:
        return self.path.split("/")[-1]

    def is_listed(self, now: float) -> bool:
        return self.appears_at + LAG <= now < self.gone_at

    def shown(self, now: float) -> Json:
        parts = self.path.split("/")
        is_placed = len(parts) > 4 and parts[2] in ("zones", "regions")
        scope = {parts[2].removesuffix("s"): link("/".join(parts[:4]))} if is_placed else {}
        status = [phase for since, phase in self.phases if now >= since]
        shown = {"kind": f"compute#{self.collection.removesuffix('s')}", "name": self.name, **self.body, **scope}
        return {**shown, "selfLink": link(self.path), **({"status": status[-1]} if status else {})}

    def refers_to(self, other: Thing) -> bool:
        """Whether the other cannot go while this one is there."""
        if other.collection == "addresses":
            return bool(self.body.get("IPAddress") == other.body.get("address"))
        return f'{other.path}"' in json.dumps(self.body)


@dataclass
class Done:
    """An operation."""

    name: str
    kind: str
    target: str
    made_at: float
    takes: float
    request: str = ""
    failure: tuple[str, str, int] | None = None

    @property
    def scope(self) -> str:
        parts = self.target.split("/")
        return f"{parts[2]}/{parts[3]}" if parts[2] in ("zones", "regions") else "global"

    @property
    def path(self) -> str:
        return f"{'/'.join(self.target.split('/')[:2])}/{self.scope}/operations/{self.name}"

    @property
    def collection(self) -> str:
        return "operations"

    def _made_in(self, summer: int) -> datetime:
        """By the clock of California, as always."""
        return (EPOCH + timedelta(seconds=self.made_at)).astimezone(timezone(timedelta(hours=summer - 8)))

    def status(self, now: float) -> str:
        if now < self.made_at + PENDING:
            return "PENDING"
        return "RUNNING" if now < self.made_at + max(self.takes, PENDING) else "DONE"

    def shown(self, now: float) -> Json:
        status, project = self.status(now), "/".join(self.path.split("/")[:2])
        kind, _, place = self.scope.partition("/")
        answer: Json = {
            "kind": "compute#operation",
            "id": str(abs(hash(self.name))),
            "name": self.name,
            "operationType": self.kind,
            "targetLink": link(self.target),
            "status": status,
            "progress": 100 if status == "DONE" else 0,
            "insertTime": self._made_in(int(self.name[-1]) % 2).isoformat(timespec="milliseconds"),
            "selfLink": link(self.path),
            **({kind.removesuffix("s"): link(f"{project}/{self.scope}")} if place else {}),
            **({"clientOperationId": self.request} if self.request else {}),
        }
        if status == "DONE" and self.failure is not None:
            code, message, http = self.failure
            answer["error"] = {"errors": [{"code": code, "message": message}]}
            answer |= {"httpErrorStatusCode": http, "httpErrorMessage": "SERVICE UNAVAILABLE"}
        return answer


def link(path: str) -> str:
    return f"{WWW}/{path}"


def furnished() -> dict[str, Thing]:
    """Regions with zones, a network, images and types."""
    project = f"projects/{PROJECT}"
    found = [Thing(project, {"name": PROJECT}), Thing(f"projects/{IMAGES}", {"name": IMAGES})]
    found += _region(REGION, ZONES)
    found += _region("europe-west1", ("europe-west1-b", "europe-west1-c", "europe-west1-d"))
    found.append(Thing(f"{project}/global/networks/default", {"autoCreateSubnetworks": True}))
    found.append(Thing(f"{project}/global/networks/custom", {"autoCreateSubnetworks": False}))
    found.append(subnetwork("default"))
    found.append(image("talos-v1-10"))
    found.append(image("talos-v1-11", family="talos"))
    return {one.path: one for one in found}


def image(name: str, project: str = IMAGES, **more: Any) -> Thing:
    body = {"status": "READY", "diskSizeGb": "10", "architecture": "X86_64", "sourceType": "RAW", **more}
    return Thing(f"projects/{project}/global/images/{name}", body)


def subnetwork(name: str, network: str = "default", region: str = REGION, project: str = PROJECT) -> Thing:
    body = {
        "network": link(f"projects/{project}/global/networks/{network}"),
        "ipCidrRange": "10.128.0.0/20",
        "purpose": "PRIVATE",
    }
    return Thing(f"projects/{project}/regions/{region}/subnetworks/{name}", body)


def _region(name: str, zones: tuple[str, ...]) -> list[Thing]:
    project = f"projects/{PROJECT}"
    quotas = [{"metric": metric, "limit": 240.0, "usage": 0.0} for metric in ("CPUS", "INSTANCES", "SNAPSHOTS")]
    body = {"status": "UP", "zones": [link(f"{project}/zones/{zone}") for zone in zones], "quotas": quotas}
    found = [Thing(f"{project}/regions/{name}", body)]
    for zone in zones:
        place = f"{project}/zones/{zone}"
        found.append(Thing(place, {"status": "UP", "region": link(f"{project}/regions/{name}")}))
        found += [Thing(f"{place}/diskTypes/{kind}", {}) for kind in ("pd-balanced", "pd-ssd")]
        for kind, (cpu, memory) in TYPES.items():
            size = {"guestCpus": cpu, "memoryMb": memory, "architecture": "X86_64"}
            found.append(Thing(f"{place}/machineTypes/{kind}", size))
    return found
