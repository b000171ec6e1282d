"""What nobody comes to own by writing it, because it is ignored."""

from __future__ import annotations

import pytest

from kubekit.server.objects.request import Target
from kubekit.server.pipeline.ignored_fields import ownerless
from tests.server.builtin_golden import RESOURCES


@pytest.mark.parametrize(
    ("api_version", "kind", "subresource", "ignored"),
    [
        ("v1", "ConfigMap", "", ()),
        ("v1", "Pod", "", ("status",)),
        ("v1", "Pod", "status", ("spec", "metadata.deletionTimestamp", "metadata.ownerReferences")),
        ("apps/v1", "Deployment", "status", ("spec", "metadata.labels")),
        ("apps/v1", "StatefulSet", "status", ("spec",)),
        ("certificates.k8s.io/v1", "CertificateSigningRequest", "", ("spec", "status")),
    ],
)
def test_what_an_endpoint_ignores_has_no_owner(
    api_version: str, kind: str, subresource: str, ignored: tuple[str, ...]
) -> None:
    assert ownerless(Target(RESOURCES[api_version, kind], "", "", subresource)) == ignored
