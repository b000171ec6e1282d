"""Instances that take their time, on top of those of moto, which do not."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.providers.aws import answers
from tests.providers.aws.answers import Denied
from tests.providers.aws.moto_account import MotoAccount, Told
from tests.providers.clocks import HandClock

LATE, BOOT, REMOVAL, REMEMBERED = 4.0, 14.0, 8.0, 600.0
"""Seconds until an instance shows, until it runs, until it is gone, and until nobody remembers it."""
USER_DATA_LIMIT = 16384
VOLUME_TYPES = ("gp2", "gp3", "io1", "io2", "st1", "sc1", "standard")
Forward = Callable[[], Told]


@dataclass
class Held:
    """An instance of moto, and what moto does not know of it."""

    instance: Any
    reservation: Any
    made_at: float
    gone_at: float | None = None
    end: str = ""
    """Why it ends before it ever runs, as StateReason says it."""

    @property
    def tags(self) -> dict[str, str]:
        return {tag["key"]: tag["value"] for tag in self.instance.get_tags()}


@dataclass
class Instances:
    """All instances of an account."""

    account: MotoAccount
    clock: HandClock
    held: dict[str, Held] = field(default_factory=dict)
    full: set[str] = field(default_factory=set)
    """Subnets without room."""
    quota_code: str = ""
    """What RunInstances says when the account may have no more."""
    unsupported: str = ""
    """A type that no zone has."""
    end: str = ""
    """Why the next instance is to end before it runs."""
    _orders: dict[str, tuple[dict[str, str], str, str]] = field(default_factory=dict)
    """What was asked under a key, which instance it became, and what was answered."""

    def living(self) -> list[Held]:
        self.tick()
        return [one for one in self.held.values() if one.instance._state.name != "terminated"]

    def of_token(self, mark: str, token: str) -> Held:
        return next(one for one in self.living() if one.tags.get(mark) == token)

    def tick(self) -> None:
        """What has become of them by now."""
        now = self.clock.monotonic()
        for key, one in list(self.held.items()):
            if now >= one.made_at + LATE:
                self.account.ec2.reservations[one.reservation.id] = one.reservation
            if one.gone_at is not None and now >= one.gone_at:
                self._end(one)
            elif one.instance._state.name == "pending" and now >= one.made_at + BOOT:
                if one.end:
                    self._end(one, one.end)
                else:
                    _state(one, "running", 16)
            if one.gone_at is not None and now >= one.gone_at + REMEMBERED:
                self.account.ec2.reservations.pop(one.reservation.id, None)
                del self.held[key]

    def run(self, form: dict[str, str], forward: Forward) -> web.Response:
        key = form.get("ClientToken", "")
        asked = {name: value for name, value in form.items() if name != "ClientToken"}
        if "DryRun" not in form and key in self._orders:
            return self._again(key, asked)
        self._check(form)
        answer = forward()
        text = answer.text
        if answer.status == 200:
            instance = str(next(iter(re.findall(r"<instanceId>(i-[0-9a-f]+)<", text))))
            self._hold(instance, form)
            self._orders[key] = (asked, instance, text)
        return web.Response(text=text, status=answer.status, content_type="text/xml")

    def terminate(self, form: dict[str, str]) -> web.Response:
        wanted = [value for name, value in form.items() if name.startswith("InstanceId.")]
        for one in wanted:
            if one not in self.held or self.held[one].reservation.id not in self.account.ec2.reservations:
                raise Denied("InvalidInstanceID.NotFound", f"The instance ID '{one}' does not exist")
        if form.get("DryRun") == "true":
            raise Denied("DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412)
        items = []
        for one in wanted:
            held = self.held[one]
            before = {"code": held.instance._state.code, "name": held.instance._state.name}
            if before["name"] not in ("shutting-down", "terminated"):
                held.gone_at = self.clock.monotonic() + REMOVAL
                _state(held, "shutting-down", 32)
            after = {"code": held.instance._state.code, "name": held.instance._state.name}
            items.append({"instanceId": one, "currentState": after, "previousState": before})
        return answers.ec2("TerminateInstances", {"instancesSet": items})

    def lose(self, held: Held) -> None:
        """It ends, and someone saw to it that its root disk stays."""
        disk = held.instance.block_device_mapping[held.instance.root_device_name or "/dev/xvda"]
        disk.delete_on_termination = False
        self._end(held)

    def disks(self, held: Held) -> dict[str, int]:
        mapping = held.instance.block_device_mapping
        return {name: self.account.ec2.volumes[disk.volume_id].size for name, disk in mapping.items()}

    def user_data(self, held: Held) -> str:
        given = held.instance.user_data
        return base64.b64decode(str(given)).decode() if given else ""

    def _again(self, key: str, asked: dict[str, str]) -> web.Response:
        before, instance, text = self._orders[key]
        if before != asked:
            raise Denied("IdempotentParameterMismatch", "Arguments on this idempotent request are inconsistent")
        if instance not in self.held or self.held[instance].instance._state.name == "terminated":
            raise Denied("IdempotentInstanceTerminated", "The client token belongs to a terminated instance")
        return web.Response(text=text, content_type="text/xml")

    def _check(self, form: dict[str, str]) -> None:
        """What moto does not mind and EC2 does. As some services do, it repeats what it was sent."""
        backend, image = self.account.ec2, self.account.ec2.amis.get(form["ImageId"])
        raw = base64.b64decode(form.get("UserData", ""))
        if len(raw) > USER_DATA_LIMIT:
            raise Denied("InvalidParameterValue", "User data is limited to 16384 bytes")
        kind = self.account.types().get(form["InstanceType"])
        if kind is None:
            raise Denied("InvalidParameterValue", f"Invalid value '{form['InstanceType']}' for InstanceType.")
        if image is not None and image.architecture not in kind["ProcessorInfo"]["SupportedArchitectures"]:
            raise Denied("InvalidParameterValue", "The architecture of the type does not match that of the AMI.")
        for name, value in form.items():
            if name.endswith(".Ebs.VolumeType") and value not in VOLUME_TYPES:
                raise Denied("InvalidParameterValue", f"{name}: no type {value!r}; you sent {form} and {raw.decode()}")
            if name == "BlockDeviceMapping.1.Ebs.VolumeSize" and image and int(value) < 15:
                raise Denied("InvalidBlockDeviceMapping", f"Volume of size {value}GB is smaller than snapshot")
        subnet = form["NetworkInterface.1.SubnetId"]
        if not any(subnet in zone for zone in backend.subnets.values()):
            raise Denied("InvalidSubnetID.NotFound", f"The subnet ID '{subnet}' does not exist")
        if self.quota_code:
            raise Denied(self.quota_code, "You have requested more vCPU capacity than your current limit")
        if form["InstanceType"] == self.unsupported:
            raise Denied("Unsupported", "Your requested instance type is not supported in your zone.")
        if subnet in self.full and "DryRun" not in form:
            message = f"We currently do not have sufficient {form['InstanceType']} capacity in the zone"
            raise Denied("InsufficientInstanceCapacity", message, 500)

    def _hold(self, instance: str, form: dict[str, str]) -> None:
        reservations = self.account.ec2.reservations
        reservation = next(one for one in reservations.values() if one.instances[0].id == instance)
        held = Held(reservation.instances[0], reservation, self.clock.monotonic(), end=self.end)
        self.end = ""
        _state(held, "pending", 0)
        for card in held.instance.nics.values():
            card.add_tags(tags_in(form, "network-interface"))
        del reservations[reservation.id]
        self.held[instance] = held

    def _end(self, held: Held, reason: str = "") -> None:
        if held.instance._state.name == "terminated":
            return
        held.gone_at = self.clock.monotonic()
        held.instance.terminate()
        for card in held.instance.nics.values():
            if not card.delete_on_termination:
                # As when it is detached, which moto does not survive: it looks for the first card of what has ended.
                card.instance, card.attachment_id, card.status = None, None, "available"
        if reason:
            held.instance.state_reason.code, held.instance.state_reason.message = reason, f"{reason}: it was not to be"


def _state(held: Held, name: str, code: int) -> None:
    held.instance._state.name, held.instance._state.code = name, code


def tags_in(form: dict[str, str], kind: str) -> dict[str, str]:
    """Those of one TagSpecification."""
    found = {}
    for number in range(1, 10):
        if form.get(f"TagSpecification.{number}.ResourceType") != kind:
            continue
        for tag in range(1, 51):
            if key := form.get(f"TagSpecification.{number}.Tag.{tag}.Key"):
                found[key] = form[f"TagSpecification.{number}.Tag.{tag}.Value"]
    return found
