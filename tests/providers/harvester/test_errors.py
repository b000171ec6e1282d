"""What Harvester's refusals mean, and what network data says."""

from __future__ import annotations

import pytest

from butler.errors import (
    CapacityExhausted,
    CredentialsInvalid,
    MachineRejected,
    ProviderError,
    ProviderUnavailable,
    RateLimited,
)
from butler.providers.harvester.errors import in_the_way, translated
from butler.providers.harvester.network_data import static_addresses
from kubekit.errors import (
    ApiError,
    Conflict,
    Details,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
    ServiceUnavailable,
    TooManyRequests,
    Unauthorized,
)

BOTH = ("10.0.0.5", "2001:db8::5")
HOOK = 'admission webhook "validator.harvesterhci.io" denied the request: '


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Unauthorized(), CredentialsInvalid),
        (Forbidden('virtualmachines is forbidden: User "u" cannot create'), CredentialsInvalid),
        (Forbidden("virtualmachines is forbidden: exceeded quota: small"), CapacityExhausted),
        (Forbidden(HOOK + "not like this"), MachineRejected),
        (Invalid(HOOK + "too many disks"), MachineRejected),
        (InternalError(HOOK + 'network-attachment-definitions.k8s.cni.cncf.io "x" not found'), MachineRejected),
        (InternalError(HOOK + "cache not synced"), ProviderUnavailable),
        (InternalError('failed calling webhook "x": connection refused'), ProviderUnavailable),
        (NotFound('namespaces "x" not found'), MachineRejected),
        (Conflict("the object has been modified"), ProviderUnavailable),
        (TooManyRequests("later", Details(retry_after=7)), RateLimited),
        (ServiceUnavailable("later", Details(retry_after=7)), RateLimited),
        (ServiceUnavailable("the connection was cut"), ProviderUnavailable),
    ],
)
def test_an_answer_is_judged_by_what_it_means(answer: ApiError, kind: type[ProviderError]) -> None:
    error = translated(answer, "web", "create VirtualMachine", ())
    assert type(error) is kind
    assert str(error).startswith("harvester: machine 'web': create VirtualMachine: ")
    assert not isinstance(error, RateLimited) or error.retry_after == 7


def test_what_cannot_be_deleted_now_is_tried_again() -> None:
    refused = Invalid(HOOK + "can not delete the volume x which is currently attached to VMs: y")
    assert type(in_the_way(refused, "web", "delete", ())) is ProviderUnavailable
    assert type(in_the_way(Forbidden("you may not"), "web", "delete", ())) is CredentialsInvalid


def test_secrets_are_left_out() -> None:
    error = translated(Invalid('Invalid value: "password: hunter22"'), "web", "apply Secret", ("password: hunter22\n",))
    assert "hunter22" not in str(error)


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("", ()),
        ("{", ()),
        ("just words", ()),
        (
            "network: {version: 2, ethernets: {eth0: {addresses: [10.0.0.5/24, 2001:db8::5/64]}}}",
            ("10.0.0.5", "2001:db8::5"),
        ),
        ("version: 2\nethernets: {eth0: {dhcp4: true}}", ()),
        ("version: 1\nconfig:\n- {type: physical, subnets: [{type: static, address: 10.0.0.6/24}]}", ("10.0.0.6",)),
        ("version: 2\nethernets: {eth0: {addresses: [nonsense, 7]}}", ()),
        ("version: 1\nconfig: [7, {subnets: [7]}]\nethernets: [7]", ()),
    ],
)
def test_configured_addresses_are_read_from_network_data(text: str, addresses: tuple[str, ...]) -> None:
    assert static_addresses(text) == addresses
