"""Imports of snapshots, which moto does not have, and AMIs as they are made of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.providers.aws import answers
from tests.providers.aws.answers import Denied, told
from tests.providers.aws.configs import REGION
from tests.providers.aws.fake_instances import tags_in
from tests.providers.aws.moto_account import MotoAccount, Told
from tests.providers.clocks import HandClock

FETCHING = 9.0
Forward = Callable[..., Told]
Special = Callable[[dict[str, str], Forward], web.Response]


@dataclass
class Import:
    """A disk on its way from S3 to a snapshot."""

    id: str
    asked: dict[str, str]
    tags: dict[str, str]
    ready_at: float
    status: str = "active"
    snapshot: str = ""
    message: str = ""


@dataclass
class Imports:
    """All imports of an account."""

    account: MotoAccount
    clock: HandClock
    bucket: dict[str, set[str]] = field(default_factory=dict)
    """The keys that are in S3, by bucket."""
    roles: set[str] = field(default_factory=lambda: {"vmimport"})
    failure: str = ""
    """What the next import fails of."""
    tasks: dict[str, Import] = field(default_factory=dict)

    def answers(self, action: str) -> Special | None:
        self._tick()
        specials: dict[str, Special] = {
            "ImportSnapshot": self._import,
            "DescribeImportSnapshotTasks": self._describe,
            "CancelImportTask": self._cancel,
            "RegisterImage": self._register,
            "DeregisterImage": self._deregister,
            "DeleteSnapshot": self._delete_snapshot,
        }
        return specials.get(action)

    def _tick(self) -> None:
        for task in self.tasks.values():
            if task.status == "active" and self.clock.monotonic() >= task.ready_at:
                if task.message:
                    task.status = "deleted"
                    continue
                volume = self.account.ec2.create_volume(size="8", zone_name=f"{REGION}a")
                task.snapshot = self.account.ec2.create_snapshot(volume.id, task.id, self.account.number).id
                self.account.ec2.delete_volume(volume.id)
                task.status = "completed"

    def _import(self, form: dict[str, str], forward: Forward) -> web.Response:
        known = next((one for one in self.tasks.values() if one.asked["ClientToken"] == form["ClientToken"]), None)
        if known is not None:
            if known.asked != form:
                raise Denied("IdempotentParameterMismatch", "Arguments on this idempotent request are inconsistent")
            return self._answered("ImportSnapshot", known)
        if form.get("RoleName", "vmimport") not in self.roles:
            raise Denied("InvalidParameter", f"The service role {form['RoleName']} does not exist")
        if form["DiskContainer.Format"].upper() not in ("RAW", "VHD", "VMDK"):
            raise Denied("InvalidParameter", "The disk format is not supported")
        place, key = form["DiskContainer.UserBucket.S3Bucket"], form["DiskContainer.UserBucket.S3Key"]
        if key not in self.bucket.get(place, ()):
            raise Denied("InvalidParameter", f"User does not have access to the S3 object {place}/{key}")
        task = Import(
            f"import-snap-{len(self.tasks):017x}", form, tags_in(form, "import-snapshot-task"),
            self.clock.monotonic() + FETCHING, message=self.failure,
        )  # fmt: skip
        self.failure = ""
        self.tasks[task.id] = task
        return self._answered("ImportSnapshot", task)

    def _describe(self, form: dict[str, str], forward: Forward) -> web.Response:
        if any(key.startswith("Filters.") for key in form):
            raise Denied("InvalidParameterValue", "The filter is not known")
        found = [_shown(one) for one in self.tasks.values()]
        return answers.ec2("DescribeImportSnapshotTasks", {"importSnapshotTaskSet": found})

    def _cancel(self, form: dict[str, str], forward: Forward) -> web.Response:
        task = self.tasks.get(form["ImportTaskId"])
        if task is None:
            raise Denied("InvalidConversionTaskId", "There is no such task")
        if task.status == "active":
            task.status, task.message = "deleted", "Cancelled by the user"
        return answers.ec2("CancelImportTask", {"importTaskId": task.id, "state": task.status})

    def _register(self, form: dict[str, str], forward: Forward) -> web.Response:
        """moto takes the name alone."""
        amis = self.account.ec2.amis
        if any(one.name == form["Name"] and one.owner_id == self.account.number for one in amis.values()):
            raise Denied("InvalidAMIName.Duplicate", f"AMI name {form['Name']} is already in use")
        snapshot = self.account.ec2.snapshots.get(form["BlockDeviceMapping.1.Ebs.SnapshotId"])
        if snapshot is None:
            raise Denied("InvalidSnapshot.NotFound", "The snapshot does not exist")
        answer = forward()
        ami = amis[re.findall(r"<imageId>(ami-[0-9a-f]+)<", answer.text)[0]]
        ami.architecture, ami.virtualization_type = form["Architecture"], form["VirtualizationType"]
        ami.root_device_name, ami.root_device_type = form["RootDeviceName"], "ebs"
        made_by_moto, ami.ebs_snapshot = ami.ebs_snapshot, snapshot
        snapshot.from_ami = ami.id
        self.account.ec2.snapshots.pop(made_by_moto.id, None)
        ami.add_tags(tags_in(form, "image"))
        return told(answer)

    def _deregister(self, form: dict[str, str], forward: Forward) -> web.Response:
        for one in self.account.ec2.snapshots.values():
            if one.from_ami == form["ImageId"]:
                one.from_ami = None
        answer = forward()
        return told(answer)

    def _delete_snapshot(self, form: dict[str, str], forward: Forward) -> web.Response:
        snapshot = self.account.ec2.snapshots.get(form["SnapshotId"])
        if snapshot is not None and snapshot.from_ami in self.account.ec2.amis:
            raise Denied("InvalidSnapshot.InUse", f"The snapshot is in use by {snapshot.from_ami}")
        answer = forward()
        return told(answer)

    def _answered(self, action: str, task: Import) -> web.Response:
        return answers.ec2(action, _shown(task))


def _shown(task: Import) -> dict[str, Any]:
    detail = {"status": task.status, "format": "RAW"}
    detail |= {"snapshotId": task.snapshot} if task.snapshot else {}
    detail |= {"statusMessage": task.message} if task.message and task.status == "deleted" else {}
    return {
        "importTaskId": task.id,
        "snapshotTaskDetail": detail,
        "tagSet": [{"key": key, "value": value} for key, value in task.tags.items()],
    }
