"""How Proxmox is reached and by whom: tickets, certificates, proxies, and answers of a format of its own."""

from __future__ import annotations

from typing import Any

import pytest

from butler.errors import CredentialsInvalid, MachineRejected, ProviderError, ProviderUnavailable
from butler.providers import registry
from butler.providers.contract import Machine, Provider, Surroundings
from butler.providers.proxmox.errors import Absent, AgentSilent, NoAgent, Off, Taken, explained, judged
from butler.providers.rest import Reply
from butler.providers.testing.web import serving
from kubekit.errors import InvalidConfiguration
from testbed.running import loopback_tls
from tests.providers.proxmox.fake import PASSWORD, TICKET_LIFE
from tests.providers.proxmox.harness import LOGIN, TOKEN, ProxmoxHarness, cluster, config, running

NOBODY = ("nobody", "33333333-3333-4333-8333-333333333333")


def logins(harness: ProxmoxHarness) -> int:
    return len([one for one in harness.pve.calls if one.route == "/access/ticket"])


async def test_one_ticket_serves_many_calls() -> None:
    async with running(LOGIN) as harness:
        provider = await harness.connect()
        for _ in range(3):
            assert await provider.find(*NOBODY) is None
        await provider.close()
    assert logins(harness) == 1


async def test_a_ticket_is_renewed_before_it_ends() -> None:
    async with running(LOGIN) as harness:
        provider = await harness.connect()
        await provider.find(*NOBODY)
        await harness.pass_time(TICKET_LIFE - 60)
        await provider.find(*NOBODY)
        await provider.close()
    assert logins(harness) == 2


async def test_a_ticket_that_ends_before_its_time_is_replaced_at_once() -> None:
    async with running(LOGIN) as harness:
        provider = await harness.connect()
        await provider.find(*NOBODY)
        harness.pve.tickets.clear()
        await harness.pass_time(1)
        assert await provider.find(*NOBODY) is None
        await provider.close()
    assert logins(harness) == 2


async def test_a_password_that_was_changed_is_said() -> None:
    async with running(LOGIN) as harness:
        provider = harness.connected({**LOGIN, "password": "other"})
        with pytest.raises(CredentialsInvalid, match="authentication failure"):
            await provider.find(*NOBODY)
        await provider.close()


async def test_a_second_factor_is_no_way_for_a_machine() -> None:
    async with running(LOGIN) as harness:
        harness.pve.needs_second_factor = True
        provider = await harness.connect()
        with pytest.raises(CredentialsInvalid, match="needs a second factor: use an API token") as raised:
            await provider.find(*NOBODY)
        await provider.close()
    assert PASSWORD not in str(raised.value)


async def _found(url: str, **section: Any) -> Machine | None:
    provider: Provider = registry.connect(config(url, **section), TOKEN, Surroundings(patience=10.0))
    try:
        return await provider.find(*NOBODY)
    finally:
        await provider.close()


async def test_a_certificate_of_its_own_has_to_be_trusted() -> None:
    async with serving(cluster().app(), loopback_tls.context()) as url:
        with pytest.raises(ProviderUnavailable, match=r"certificate of .* is not trusted"):
            await _found(url)
        assert await _found(url, ca_bundle=loopback_tls.authority()) is None
        assert await _found(url, insecure=True) is None


def test_a_certificate_that_is_none_is_said_at_once() -> None:
    with pytest.raises(InvalidConfiguration, match="is not a certificate in PEM form"):
        registry.connect(config("https://pve", ca_bundle="nonsense"), TOKEN, Surroundings())


async def test_a_proxy_is_used() -> None:
    """The fake plays the proxy: it is asked for an address that nobody has."""
    pve = cluster()
    async with serving(pve.app()) as url:
        assert await _found("http://pve.invalid:8006", proxy=url) is None
    assert len(pve.calls) == 1


@pytest.mark.parametrize(
    ("status", "reason", "kind"),
    [
        (500, "Configuration file 'nodes/pve1/qemu-server/100.conf' does not exist", Absent),
        (500, "unable to find configuration file for VM 100 on node 'pve1'", Absent),
        (500, "volume 'local:iso/x.iso' does not exist", Absent),
        (500, "unable to create VM 100: config file already exists", Taken),
        (500, "QEMU guest agent is not running", AgentSilent),
        (500, "VM 100 is not running", Off),
        (500, "No QEMU guest agent configured", NoAgent),
        (500, "VM is locked (clone)", ProviderUnavailable),
        (500, "can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout", ProviderUnavailable),
        (500, "cluster not ready - no quorum?", ProviderUnavailable),
        (500, "Linked clone feature is not supported for 'local-lvm:vm-1-disk-0' (scsi0)", MachineRejected),
        (500, "storage 'x' does not exist", MachineRejected),
        (500, "something nobody has thought of", None),
        (595, "No route to host", None),
        (403, "Permission check failed (/vms/100, VM.Allocate)", None),
    ],
)
def test_the_reason_phrase_says_what_is_meant(status: int, reason: str, kind: type[ProviderError] | None) -> None:
    assert judged(Reply(status, {"data": None}, reason=reason)) is kind


def test_refused_parameters_are_named_on_one_line() -> None:
    body = {"data": None, "errors": {"name": "invalid format\nno DNS name\n", "cores": "too few"}}
    reply = Reply(400, body, reason="Parameter verification failed.")
    assert explained(reply) == "Parameter verification failed., name: invalid format no DNS name; cores: too few"


def test_a_newer_answer_says_it_in_its_body() -> None:
    assert (
        explained(Reply(500, {"message": "VM is locked (backup)\n", "data": None}, reason="x"))
        == "VM is locked (backup)"
    )
