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


@pytest.mark.parametrize("version", ["v1.28.15", "v1.31.14", "v1.32.2", "v1.36.0"])
def test_a_release_can_be_asked_for(version: str) -> None:
    assert versions.unsupported(version) == ""


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("v1.99.0", "must be between v1.28 and v1.36"),
        ("v1.31.999", "there is no such release: the last is v1.31.14"),
        ("v1.33.999", "there is no such release"),
        ("1.32.2", "must look like v1.32.2"),
    ],
)
def test_what_was_never_released_is_refused(version: str, why: str) -> None:
    assert versions.unsupported(version) == why
