"""Whether an account has what a machine needs, tried without changing anything."""

from __future__ import annotations

from typing import Any

from butler.errors import CredentialsInvalid, MachineRejected

from ..contract import Check, MachineOrder
from . import vm
from .api import NAME, Api, Refusal
from .lookup import Catalog
from .section import Settings
from .vm import TOKEN, Ami, Subnet

_VERSION = "2016-11-15"
"""Of the EC2 API; it has been the same for years."""
_ALLOWED, _DENIED = "DryRunOperation", "UnauthorizedOperation"
_FEWEST = 5
"""Less cannot be asked for."""
_SAMPLE = MachineOrder("butler-check", "00000000-0000-4000-8000-000000000000", 2, 4096, 20)
"""A machine that is never made."""


async def checked(api: Api, settings: Settings, catalog: Catalog) -> tuple[Check, ...]:
    """Raises ProviderError when nothing can be tried."""
    reached = Check("reachable", True, f"AWS answers in {settings.region}.")
    try:
        who = await api.ask("sts.get_caller_identity")
    except CredentialsInvalid as error:
        return (reached, Check("credentials", False, str(error), _REMEDY["credentials"]))
    about_network, places = await _network(api, settings, catalog)
    about_image, ami = await _image(settings, catalog)
    return (
        reached,
        Check("version", True, f"The EC2 API has version {_VERSION}.", value=_VERSION),
        Check("credentials", True, f"Signed in as {who['Arn']}."),
        *about_network,
        *about_image,
        *await _permissions(api, settings, catalog, ami, places),
    )


async def _network(api: Api, settings: Settings, catalog: Catalog) -> tuple[tuple[Check, ...], tuple[Subnet, ...]]:
    try:
        places = await catalog.look_for_places()
        await _groups(api, settings, places[0].vpc)
    except (MachineRejected, CredentialsInvalid) as error:
        return (Check("network", False, str(error), _REMEDY["network"]),), ()
    others = [one.id for one in places if one.vpc != (settings.vpc or places[0].vpc)]
    told = ", ".join(f"{one.id} in {one.zone}" for one in places)
    if others:
        message = f"Subnet {others[0]} is not in VPC {settings.vpc or places[0].vpc}."
        return (Check("network", False, message, _REMEDY["network"]),), places
    free = sum(one.free_addresses for one in places)
    return (
        Check("network", True, f"Subnets: {told}."),
        Check("capacity", free > 0, f"{free} addresses are free in {len(places)} subnets.", _REMEDY["capacity"]),
    ), places


async def _groups(api: Api, settings: Settings, vpc: str) -> None:
    if not settings.security_groups:
        return
    found = await api.every("ec2.describe_security_groups", "SecurityGroups", GroupIds=list(settings.security_groups))
    for group in found:
        if group["VpcId"] != vpc:
            message = f"security group {group['GroupId']} is in {group['VpcId']}, and the subnets are in {vpc}"
            raise MachineRejected(NAME, "", message)


async def _image(settings: Settings, catalog: Catalog) -> tuple[tuple[Check, ...], Ami | None]:
    if not settings.image:
        return (Check("image", True, "None is named: every MachineRequest has to name one."),), None
    try:
        ami = await catalog.ami("")
    except (MachineRejected, CredentialsInvalid) as error:
        return (Check("image", False, str(error), _REMEDY["image"]),), None
    return (
        Check("image", True, f"{ami.id} ({ami.name}) for {ami.architecture}."),
        Check("storage", True, f"Root disk {ami.root_device} of {ami.root_gb} GB at least, on {settings.volume_type}."),
    ), ami


async def _permissions(
    api: Api, settings: Settings, catalog: Catalog, ami: Ami | None, places: tuple[Subnet, ...]
) -> tuple[Check, ...]:
    """AWS says whether it would let a call pass, without making it. Whether machines may be ended is asked of one that
    is there, because who may end some may not end any."""
    ours = await _one_of_ours(api)
    denied = ["terminate"] if ours and not await _may(api, "ec2.terminate_instances", InstanceIds=[ours]) else []
    if ami is not None and places:
        size = await catalog.size(_SAMPLE, ami, places[0])
        parameters = vm.launch(_SAMPLE, settings, ami, size or "m5.large", places[0])
        try:
            denied += [] if await _may(api, "ec2.run_instances", **parameters) else ["run"]
        except MachineRejected as error:
            return (Check("permissions", False, f"A machine would be refused: {error}", _REMEDY["refused"]),)
    if denied:
        message = f"Instances may not be asked to {' and '.join(reversed(denied))}."
        return (Check("permissions", False, message, _REMEDY["permissions"]),)
    return (Check("permissions", True, f"Instances may be made{' and ended' if ours else ''}."),)


async def _one_of_ours(api: Api) -> str:
    only = [{"Name": "tag-key", "Values": [TOKEN]}, {"Name": "instance-state-name", "Values": ["running"]}]
    answer = await api.ask("ec2.describe_instances", Filters=only, MaxResults=_FEWEST)
    return next((one["InstanceId"] for found in answer["Reservations"] for one in found["Instances"]), "")


async def _may(api: Api, call: str, **parameters: Any) -> bool:
    expected = (_ALLOWED, _DENIED, "InvalidInstanceID.NotFound")
    try:
        await api.ask(call, expected=expected, DryRun=True, **parameters)
    except Refusal as refusal:
        return refusal.code != _DENIED
    return True


_REMEDY = {
    "credentials": "Look at accessKeyID and secretAccessKey in the Secret, and whether the key is active.",
    "network": "Look at subnetIDs, vpcID and securityGroupIDs: all have to be in one VPC of the region.",
    "capacity": "Name a larger subnet, or free addresses.",
    "image": "Name an AMI of this region that the account may use, for x86_64 or arm64, with its root disk on EBS.",
    "permissions": "Allow ec2:RunInstances, ec2:CreateTags and ec2:TerminateInstances: see the policy in the guide.",
    "refused": "Look at instanceType, iamInstanceProfile, kmsKeyID and volumeType.",
}
