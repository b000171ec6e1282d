"""Who may approve and sign requests for certificates, and whom such a certificate may not name."""

from __future__ import annotations

from kubekit.model.resource import Object
from kubekit.server.kinds.platform import certificate_requests
from kubekit.server.objects import refusals
from kubekit.server.objects.cel.rights import Asked
from kubekit.server.objects.request import Target
from kubekit.server.objects.user import MASTERS, UserInfo

from .host import Host

RESOURCE = "certificates.k8s.io/certificatesigningrequests"
_GROUP = "certificates.k8s.io"
_CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"


def check(host: Host, user: UserInfo, target: Target, obj: Object, old: Object | None) -> None:
    """Raises Forbidden."""
    if old is None:
        _check_subject(target, obj["spec"])
        return
    # By the stored name: no endpoint changes it, whatever is sent.
    signer = old["spec"].get("signerName") or ""
    if target.subresource == "approval" and not _may(host, user, "approve", signer):
        raise refusals.forbidden(target, f'user not permitted to approve requests with signerName "{signer}"')
    if target.subresource == "status" and _answer(obj) != _answer(old) and not _may(host, user, "sign", signer):
        raise refusals.forbidden(target, f'user not permitted to sign requests with signerName "{signer}"')


def _check_subject(target: Target, spec: Object) -> None:
    """The one signer that every cluster believes makes nobody an administrator."""
    if spec.get("signerName") == _CLIENT_SIGNER and MASTERS in certificate_requests.organizations(spec["request"]):
        raise refusals.forbidden(target, f"use of {_CLIENT_SIGNER} signer with {MASTERS} group is not allowed")


def _answer(obj: Object) -> tuple[str, list[Object]]:
    return (obj.get("status") or {}).get("certificate") or "", certificate_requests.conditions(obj)


def _may(host: Host, user: UserInfo, verb: str, signer: str) -> bool:
    """For one signer, or for all of its domain."""
    names = signer, f"{signer.partition('/')[0]}/*"
    asked = (Asked(verb=verb, group=_GROUP, resource="signers", name=name) for name in names)
    return any(host.authorize(user, one).is_allowed for one in asked)
