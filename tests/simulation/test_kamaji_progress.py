"""How a hosted control plane gets from one state to the next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from butler.engines.kamaji.kinds import (
    Hosting,
    HostingDeployment,
    HostingService,
    TenantControlPlane,
    TenantControlPlaneSpec,
    TenantControlPlaneStatus,
    TenantKubernetes,
)
from butler.simulation.delays import NONE, REALISTIC, Delays
from butler.simulation.kamaji.progress import Progress, progress, refusal
from kubekit.model.resource import ObjectMeta

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def plane(version: str = "v1.31.4", replicas: int = 2, was: Progress | None = None) -> TenantControlPlane:
    status = TenantControlPlaneStatus(kubernetes_resources=was.resources()) if was else TenantControlPlaneStatus()
    return TenantControlPlane(
        metadata=ObjectMeta(name="shop", namespace="ns", creation_timestamp=START),
        spec=TenantControlPlaneSpec(
            control_plane=Hosting(
                deployment=HostingDeployment(replicas=replicas), service=HostingService(service_type="LoadBalancer")
            ),
            kubernetes=TenantKubernetes(version=version),
        ),
        status=status,
    )


def after(seconds: float, version: str = "v1.31.4", replicas: int = 2, was: Progress | None = None) -> Progress:
    return progress(plane(version, replicas, was), REALISTIC, START + timedelta(seconds=seconds))


def running() -> Progress:
    return after(REALISTIC.control_plane)


def test_without_delays_a_control_plane_runs_at_once() -> None:
    now = progress(plane(), NONE, START)
    assert (now.version, now.state, now.deployment.ready_replicas, now.wait) == ("v1.31.4", "Ready", 2, 0)


def test_a_new_control_plane_takes_its_time() -> None:
    now = after(1)
    assert (now.version, now.state, now.deployment.ready_replicas) == ("", "Provisioning", 0)
    assert now.wait == REALISTIC.control_plane - 1


def test_a_new_control_plane_runs_when_its_time_is_over() -> None:
    assert (running().version, running().state) == ("v1.31.4", "Ready")


def test_a_control_plane_that_runs_stays_exactly_as_it_is() -> None:
    assert after(3600, was=running()).resources() == running().resources()


def test_what_is_no_version_never_runs() -> None:
    now = progress(plane("latest"), NONE, START)
    assert (now.version, now.state, now.wait) == ("", "Provisioning", 0)
    assert "latest" in now.refused


def test_an_upgrade_shows_the_old_version_until_it_is_done() -> None:
    now = after(100, "v1.32.0", was=running())
    assert (now.version, now.state, now.wait) == ("v1.31.4", "Upgrading", REALISTIC.upgrade)


def test_an_upgrade_is_done_when_its_time_is_over() -> None:
    begun = after(100, "v1.32.0", was=running())
    assert after(101, "v1.32.0", was=begun).state == "Upgrading"
    now = after(100 + REALISTIC.upgrade, "v1.32.0", was=begun)
    assert (now.version, now.state, now.wait) == ("v1.32.0", "Ready", 0)


def test_without_delays_an_upgrade_is_done_at_once() -> None:
    now = progress(plane("v1.32.0", was=running()), NONE, START)
    assert (now.version, now.state) == ("v1.32.0", "Ready")


def test_an_upgrade_that_is_taken_back_in_time_never_happened() -> None:
    begun = after(100, "v1.32.0", was=running())
    now = after(101, "v1.31.4", was=begun)
    assert (now.version, now.state, now.wait) == ("v1.31.4", "Ready", 0)


@pytest.mark.parametrize("version", ["v1.33.0", "v1.31.3", "v1.30.9", "v2.0.0", "latest"])
def test_a_version_that_cannot_be_reached_changes_nothing(version: str) -> None:
    now = after(100, version, was=running())
    assert (now.version, now.state, now.wait) == ("v1.31.4", "Ready", 0)
    assert version in now.refused


@pytest.mark.parametrize("version", ["v1.31.4", "v1.31.5", "v1.32.0", "v1.32.9"])
def test_a_patch_and_the_next_minor_can_be_reached(version: str) -> None:
    assert refusal("v1.31.4", version) == ""


def test_new_replicas_become_ready_after_a_while() -> None:
    begun = after(100, replicas=3, was=running())
    assert (begun.deployment.replicas, begun.deployment.ready_replicas, begun.wait) == (3, 2, REALISTIC.scale)
    done = after(100 + REALISTIC.scale, replicas=3, was=begun)
    assert (done.deployment.ready_replicas, done.deployment.unavailable_replicas, done.wait) == (3, None, 0)


def test_a_control_plane_without_replicas_sleeps() -> None:
    asleep = progress(plane(replicas=0, was=running()), NONE, START)
    assert (asleep.state, asleep.version, asleep.deployment.ready_replicas) == ("Sleeping", "v1.31.4", 0)


def test_an_upgrade_and_new_replicas_at_once_both_arrive() -> None:
    begun = after(100, "v1.32.0", 3, running())
    done = after(100 + max(REALISTIC.upgrade, REALISTIC.scale), "v1.32.0", 3, begun)
    assert (done.version, done.state, done.deployment.ready_replicas) == ("v1.32.0", "Ready", 3)


def test_the_two_sets_of_delays_differ_in_everything() -> None:
    assert Delays(**dict.fromkeys(Delays.__slots__, 0)) == NONE
    assert all(getattr(REALISTIC, name) > 0 for name in Delays.__slots__)
