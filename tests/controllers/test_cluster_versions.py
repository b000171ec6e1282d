"""Which step from one Kubernetes version to another is allowed."""

from __future__ import annotations

import pytest

from butler.controllers.cluster import versions


@pytest.mark.parametrize(
    ("old", "new"), [("v1.30.2", "v1.30.2"), ("v1.30.2", "v1.30.9"), ("v1.30.2", "v1.31.0"), ("1.30.2", "v1.31.7")]
)
def test_a_patch_or_the_next_minor_is_allowed(old: str, new: str) -> None:
    assert versions.forbidden_step(old, new) == ""


def test_a_minor_is_never_skipped() -> None:
    assert versions.forbidden_step("v1.30.2", "v1.32.0") == (
        "the cluster runs v1.30.2, and no minor may be skipped: go to v1.31 first"
    )


@pytest.mark.parametrize("new", ["v1.29.9", "v1.30.1"])
def test_nothing_goes_back(new: str) -> None:
    assert versions.forbidden_step("v1.30.2", new) == "the cluster runs v1.30.2, and Kubernetes cannot go back"
