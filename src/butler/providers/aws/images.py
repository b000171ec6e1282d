"""Images of AWS: a disk in S3 becomes a snapshot, and the snapshot an AMI."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from butler.errors import MachineRejected, ProviderError

from ..contract import NOTHING_KNOWN, Known, Object, Provider
from ..images import Image, ImageOrder, Progress
from . import vm
from .api import NAME, Refusal
from .provider import Aws
from .vm import TOKEN

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "arm64"}
_ROOT = "/dev/xvda"
_BUCKET_HOST = re.compile(r"(?P<bucket>[a-z0-9.-]+)\.s3[.-][a-z0-9.-]*amazonaws\.com(\.cn)?")
_ENDED = ("deleted", "deleting", "error")
_GONE = ("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidSnapshot.NotFound", "InvalidConversionTaskId")


def connect(provider: Provider) -> AwsImages:
    assert isinstance(provider, Aws)
    return AwsImages(provider)


class AwsImages:
    """Images of one account. An AMI's name is its own in an account, so that the same order is the same AMI."""

    def __init__(self, account: Aws) -> None:
        self._settings, self._api = account.settings, account.api

    async def ensure(self, order: ImageOrder, known: Known = NOTHING_KNOWN) -> Image:
        found = await self._ami(order.name)
        if found is not None:
            is_ready = found.get("State") == "available"
            return Image(found["ImageId"], order.name, Progress.READY if is_ready else Progress.FETCHING)
        tasks = await self._tasks(order.name)
        last = tasks[-1] if tasks else None
        if last is not None and _state(last) not in (*_ENDED, "completed"):
            return Image("", order.name, Progress.FETCHING, task=last["ImportTaskId"])
        if last is not None and _state(last) in _ENDED and known.task == last["ImportTaskId"]:
            raise _end_of(last)
        disk = last["SnapshotTaskDetail"].get("SnapshotId") if last is not None else None
        # One that was imported may have been removed since, with the image that was made of it.
        if disk and await self._existing([disk]):
            return await self._register(order, disk)
        return await self._fetch(order, last)

    async def delete(self, name: str, known: Known = NOTHING_KNOWN) -> bool:
        found = await self._ami(name)
        if found is not None and not vm.tag_of(found, TOKEN):
            return True
        tasks = await self._tasks(name)
        active = [one["ImportTaskId"] for one in tasks if _state(one) not in (*_ENDED, "completed")]
        if found is not None:
            await self._ask("ec2.deregister_image", ImageId=found["ImageId"])
        for task in active:
            await self._ask("ec2.cancel_import_task", ImportTaskId=task)
        for disk in await self._snapshots(name, tasks):
            await self._ask("ec2.delete_snapshot", SnapshotId=disk)
        return not active

    async def _ami(self, name: str) -> Any | None:
        only = [{"Name": "name", "Values": [_literally(name)]}]
        found = await self._api.every("ec2.describe_images", "Images", Owners=["self"], Filters=only)
        return next(iter(found), None)

    async def _tasks(self, name: str) -> list[Any]:
        """Imports for an image, oldest first. They cannot be asked for by tag."""
        found = await self._api.every("ec2.describe_import_snapshot_tasks", "ImportSnapshotTasks")
        ours = [one for one in found if vm.tag_of(one, vm.IMAGE) == name]
        return sorted(ours, key=lambda one: vm.tag_of(one, _ATTEMPT))

    async def _snapshots(self, name: str, tasks: list[Any]) -> list[str]:
        """Disks for an image, those too that were imported and not marked yet."""
        only = [{"Name": f"tag:{vm.IMAGE}", "Values": [_literally(name)]}]
        found = await self._api.every("ec2.describe_snapshots", "Snapshots", OwnerIds=["self"], Filters=only)
        marked = {one["SnapshotId"] for one in found}
        imported = {one["SnapshotTaskDetail"].get("SnapshotId", "") for one in tasks}
        return sorted({*marked, *await self._existing(sorted(imported - marked - {""}))})

    async def _existing(self, snapshots: list[str]) -> list[str]:
        if not snapshots:
            return []
        only = [{"Name": "snapshot-id", "Values": snapshots}]
        found = await self._api.every("ec2.describe_snapshots", "Snapshots", OwnerIds=["self"], Filters=only)
        return [one["SnapshotId"] for one in found]

    async def _fetch(self, order: ImageOrder, before: Any | None) -> Image:
        disk = {"Format": "RAW", "UserBucket": _place(order, self._settings.bucket)}
        attempt = str(int(vm.tag_of(before, _ATTEMPT) or 0) + 1) if before is not None else "1"
        marks = [*_marks(order), {"Key": _ATTEMPT, "Value": attempt.zfill(4)}]
        answer = await self._api.ask(
            "ec2.import_snapshot", Description=order.name, DiskContainer=disk, RoleName=self._settings.import_role,
            ClientToken=_once(order.name, disk, attempt),
            TagSpecifications=[{"ResourceType": "import-snapshot-task", "Tags": marks}],
        )  # fmt: skip
        return Image("", order.name, Progress.FETCHING, task=answer["ImportTaskId"])

    async def _register(self, order: ImageOrder, snapshot: str) -> Image:
        # An import does not mark the snapshot that it makes.
        await self._api.ask("ec2.create_tags", Resources=[snapshot], Tags=_marks(order))
        ebs = {"SnapshotId": snapshot, "VolumeType": self._settings.volume_type, "DeleteOnTermination": True}
        answer = await self._api.ask(
            "ec2.register_image", Name=order.name, Architecture=_architecture(order), VirtualizationType="hvm",
            EnaSupport=True, ImdsSupport="v2.0", RootDeviceName=_ROOT,
            BlockDeviceMappings=[{"DeviceName": _ROOT, "Ebs": ebs}],
            TagSpecifications=[{"ResourceType": "image", "Tags": _marks(order)}],
        )  # fmt: skip
        return Image(answer["ImageId"], order.name, Progress.FETCHING)

    async def _ask(self, call: str, **what: Any) -> None:
        """For what may be gone already."""
        try:
            await self._api.ask(call, expected=_GONE, **what)
        except Refusal:
            return


_ATTEMPT = f"{vm.IMAGE}-attempt"
"""The tag that puts imports for one image in order."""


def _marks(order: ImageOrder) -> list[Object]:
    return vm.tags(order.name, order.token, {vm.IMAGE: order.name})


def _state(task: Mapping[str, Any]) -> str:
    return str(task["SnapshotTaskDetail"].get("Status", "active"))


def _end_of(task: Mapping[str, Any]) -> ProviderError:
    said = task["SnapshotTaskDetail"].get("StatusMessage", "") or "no reason is given"
    return ProviderError(NAME, "", f"import {task['ImportTaskId']} failed: {said}")


def _literally(name: str) -> str:
    """A name as a filter, in which some characters stand for others."""
    return re.sub(r"([*?\\])", r"\\\1", name)


def _once(name: str, disk: Object, attempt: str) -> str:
    """A key that comes back with other parameters is refused, so it says what they are."""
    return hashlib.sha256(msgspec.json.encode([name, disk, attempt], order="sorted")).hexdigest()


def _architecture(order: ImageOrder) -> str:
    found = _ARCHITECTURES.get(order.arch)
    if found is None:
        raise MachineRejected(NAME, "", f"image {order.name}: EC2 has no machines of architecture {order.arch!r}")
    return found


def _place(order: ImageOrder, bucket: str) -> Object:
    """Where in S3 the disk is: nothing else is read by EC2. Raises MachineRejected."""
    _architecture(order)
    if order.format != "raw":
        message = f"image {order.name}: EC2 imports disks that are raw, and not {order.format}; set format: raw"
        raise MachineRejected(NAME, "", message)
    url = urlsplit(order.url)
    host = _BUCKET_HOST.fullmatch(url.hostname or "")
    source = bucket or (url.hostname if url.scheme == "s3" else "") or (host["bucket"] if host else "")
    if not source:
        message = (
            f"image {order.name}: EC2 fetches disks only from S3; name a bucket in spec.aws.imageBucket"
            f" that has {url.path.lstrip('/')}"
        )
        raise MachineRejected(NAME, "", message)
    return {"S3Bucket": source, "S3Key": url.path.lstrip("/")}
