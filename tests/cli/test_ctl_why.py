"""butlerctl cluster why: refusals first, whatever else a cluster might wait for."""

from __future__ import annotations

from tests.cli.conftest import User, condition


def refused(user: User) -> str:
    """A cluster that its controller cannot make, for a reason that only the controller knows."""
    name, said = user.cluster(), "spec.providerConfigRef.name: the Cluster API provider for aws is not installed here"
    conditions = [condition("Accepted", False, said, "ProviderNotInstalled")]
    user.status(name, phase="Failed", observedGeneration=1, conditions=conditions)
    return name


def test_what_the_controller_refuses_comes_before_what_would_be_waited_for(user: User) -> None:
    shown = user("cluster", "why", refused(user)).out
    assert "cannot be made as it is written" in shown
    assert "the Cluster API provider for aws is not installed here" in shown
    assert "Kamaji" not in shown
    assert "the platform's" in shown
    assert "whoever looks after the platform installs the Cluster API provider in the cluster it is on" in shown
    assert "\nNext:\n  butleradm provider list\n" in shown


def test_a_cluster_whose_change_is_refused_goes_on_as_it_was(user: User) -> None:
    name = user.cluster(kubernetesVersion="v1.34.1")
    runs = {"acceptedSpec": {"kubernetesVersion": "v1.32.2"}, "observedState": {"kubernetesVersion": "v1.32.2"}}
    user.status(name, phase="Running", observedGeneration=1, **runs)
    shown = user("cluster", "why", name).out
    assert shown.startswith(f"{name} goes on as it was: its change is refused\n")
    assert shown.count("no minor may be skipped") == 1


def test_a_refusal_of_what_was_asked_before_says_nothing_of_what_is_asked_now(user: User) -> None:
    name = refused(user)
    user("cluster", "scale", name, "--workers", "2")
    assert "cannot be made" not in user("cluster", "why", name).out


def test_a_name_may_say_its_namespace(user: User) -> None:
    name = user.cluster()
    shown = user("cluster", "why", f"butler-tenants/{name}", BUTLER_NAMESPACE="elsewhere").out
    assert shown.startswith(f"{name} waits for")
    assert shown.rstrip().endswith(f"{name} -n butler-tenants"), "the next command finds the same cluster"
    assert user("cluster", "get", f"butler-tenants/{name}", "-o", "name").out == f"{name}\n"


def test_a_namespace_that_is_said_twice_must_be_the_same(user: User) -> None:
    refused = user("cluster", "why", "team-a/shop", "-n", "team-b", fails=2).err
    assert "the name says namespace team-a, and -n says team-b" in refused
    for wrong in ("/shop", "team-a/", "a/b/c"):
        assert "neither NAME nor NAMESPACE/NAME" in user("cluster", "why", wrong, fails=2).err
