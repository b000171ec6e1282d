"""The order of API versions."""

from __future__ import annotations

from kubekit.model import api_versions


def test_stable_versions_come_before_beta_before_alpha_before_the_rest() -> None:
    offered = ["foo1", "v1alpha1", "v1", "v11beta2", "v2", "v10", "v1beta1", "v3beta1", "bar", "v11alpha2", "v01"]
    shown = ["v10", "v2", "v1", "v11beta2", "v3beta1", "v1beta1", "v11alpha2", "v1alpha1", "bar", "foo1", "v01"]
    assert sorted(offered, key=api_versions.rank) == shown
