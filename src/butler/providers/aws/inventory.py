"""What is on an account: all that carries our mark, and what a ProviderConfig may name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..contract import Asset, Choice
from . import vm
from .api import Api
from .vm import TOKEN

PREFIX = "butler-"
"""What the names of our load balancers and target groups begin with."""

_OURS = [{"Name": "tag-key", "Values": [TOKEN]}]
_TAGS_AT_ONCE = 20
"""So many load balancers may be asked for their tags in one call."""


async def marked(api: Api) -> tuple[Asset, ...]:
    """Everything that carries our mark."""
    return (
        *await _instances(api),
        *await _tagged(api, "ec2.describe_volumes", "Volumes", _disk),
        *await _tagged(api, "ec2.describe_network_interfaces", "NetworkInterfaces", _card),
        *await _tagged(api, "ec2.describe_images", "Images", _image, Owners=["self"]),
        *await _tagged(api, "ec2.describe_snapshots", "Snapshots", _snapshot, OwnerIds=["self"]),
        *await _balancing(api, "LoadBalancer", "loadbalancer"),
        *await _balancing(api, "TargetGroup", "targetgroup"),
    )


async def images(api: Api, owners: Iterable[str]) -> tuple[Choice, ...]:
    """What machines can boot from."""
    only = [{"Name": "state", "Values": ["available"]}, {"Name": "root-device-type", "Values": ["ebs"]}]
    found = await api.every("ec2.describe_images", "Images", Owners=list(owners), Filters=only)
    return _sorted(
        Choice(one["ImageId"], one.get("Name") or one["ImageId"], one.get("Architecture", "")) for one in found
    )


async def networks(api: Api, vpc: str) -> tuple[Choice, ...]:
    """What machines can be connected to."""
    only = [{"Name": "vpc-id", "Values": [vpc]}] if vpc else []
    found = await api.every("ec2.describe_subnets", "Subnets", Filters=only)
    return _sorted(
        Choice(
            one["SubnetId"],
            vm.tag_of(one, "Name") or one["SubnetId"],
            f"{one['VpcId']}, {one['AvailabilityZone']}, {one['CidrBlock']}",
        )
        for one in found
    )


async def tags_of(api: Api, arns: Iterable[str], about: str = "") -> dict[str, Any]:
    """The tags of load balancers and target groups, as EC2 shows those of its own things."""
    found: dict[str, Any] = {}
    wanted = list(arns)
    for start in range(0, len(wanted), _TAGS_AT_ONCE):
        some = wanted[start : start + _TAGS_AT_ONCE]
        answer = await api.ask("elbv2.describe_tags", about, ResourceArns=some)
        found |= {one["ResourceArn"]: one for one in answer["TagDescriptions"]}
    return found


async def _instances(api: Api) -> list[Asset]:
    only = [*_OURS, {"Name": "instance-state-name", "Values": list(vm.ALIVE)}]
    reservations = await api.every("ec2.describe_instances", "Reservations", Filters=only)
    return [_instance(one) for reservation in reservations for one in reservation["Instances"]]


async def _tagged(
    api: Api, call: str, key: str, asset: Callable[[Mapping[str, Any]], Asset], **more: Any
) -> list[Asset]:
    return [asset(one) for one in await api.every(call, key, Filters=_OURS, **more)]


async def _balancing(api: Api, what: str, kind: str) -> list[Asset]:
    calls = {"LoadBalancer": "elbv2.describe_load_balancers", "TargetGroup": "elbv2.describe_target_groups"}
    found = await api.every(calls[what], f"{what}s")
    ours = {one[f"{what}Arn"]: one for one in found if one[f"{what}Name"].startswith(PREFIX)}
    tags = await tags_of(api, ours)
    return [
        Asset(kind, arn, vm.tag_of(tags[arn], "Name"), token)
        for arn in ours
        if arn in tags and (token := vm.tag_of(tags[arn], TOKEN))
    ]


def _sorted(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    return tuple(sorted(choices, key=lambda one: (one.name, one.id)))


def _instance(one: Mapping[str, Any]) -> Asset:
    return Asset("vm", vm.provider_id(one), vm.tag_of(one, "Name"), vm.tag_of(one, TOKEN), one["InstanceType"])


def _disk(one: Mapping[str, Any]) -> Asset:
    return Asset("disk", one["VolumeId"], vm.tag_of(one, "Name"), vm.tag_of(one, TOKEN), f"{one['Size']} GB")


def _card(one: Mapping[str, Any]) -> Asset:
    # Network cards call their tags otherwise than everything else.
    tags = {"Tags": one.get("TagSet", ())}
    return Asset("nic", one["NetworkInterfaceId"], vm.tag_of(tags, "Name"), vm.tag_of(tags, TOKEN))


def _image(one: Mapping[str, Any]) -> Asset:
    return Asset("image", one["ImageId"], one.get("Name", ""), vm.tag_of(one, TOKEN))


def _snapshot(one: Mapping[str, Any]) -> Asset:
    size = f"{one['VolumeSize']} GB" if one.get("VolumeSize") else ""
    return Asset("snapshot", one["SnapshotId"], vm.tag_of(one, "Name"), vm.tag_of(one, TOKEN), size)
