"""How much work a write is, in bytes of an ordinary object: what is more than a moment's is done beside the loop."""

from __future__ import annotations

from kubekit.server.access.rbac import GROUP as RBAC
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.request import Target

_ABOUT_RIGHTS = frozenset({RBAC, "certificates.k8s.io"})
_WITH_EXPRESSIONS = frozenset({"admissionregistration.k8s.io", "apiextensions.k8s.io"})


def to_check(target: Target, size: int) -> int:
    """Expressions are compiled, which takes longer than to look at them."""
    return size * 16 if target.resource.group in _WITH_EXPRESSIONS else size


def to_admit(target: Target, size: int) -> int:
    """For a right that is granted or a certificate that is signed, all that its writer has is looked at."""
    return max(size, LARGE + 1) if target.resource.group in _ABOUT_RIGHTS else size
