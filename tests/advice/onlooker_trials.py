"""Suggestions about what controllers say, on an API where a test says it."""

from __future__ import annotations

from butler import advice
from tests.advice.stages import TENANTS, User, shown_in, status_of
from tests.advice.trials import Trials

TRIALS = Trials()
MACHINE = {"providerRef": {"name": "lab"}, "role": "worker", "cpu": 1, "memoryMB": 1024, "diskGB": 10}


def a_request(user: User, name: str, reason: str) -> None:
    user.apply("MachineRequest", name, "default", {**MACHINE, "machineName": name})
    status_of(user, "machinerequest", name, "default", phase="Failed", failureReason=reason, failureMessage="it is so")


@TRIALS.of(advice.describe_request)
def a_machine_that_was_refused(user: User) -> None:
    a_request(user, "refused", "MachineRejected")
    shown = user.screen("butleradm doctor")
    assert "it is so" in user.does(shown_in(shown, advice.describe_request))
    user.kubectl_does("delete machinerequest refused -n default")


@TRIALS.of(advice.delete_request)
def a_machine_that_is_lost(user: User) -> None:
    a_request(user, "lost", "VMDeleted")
    user.does(shown_in(user.screen("butleradm doctor"), advice.delete_request))
    assert "lost" not in user.kubectl_does("get machinerequests -A")


@TRIALS.of(advice.platform_log)
def controllers_that_do_not_answer(user: User) -> None:
    (user.data / "log").write_text("what went wrong\n")
    assert "what went wrong" in user.does(shown_in(user.screen("butleradm doctor"), advice.platform_log))


def an_addon(user: User, name: str, **more: object) -> None:
    chart = {"repository": "https://charts.example.com", "name": name, "defaultVersion": "1.0.0"}
    spec = {"displayName": name, "description": "What it does.", "category": "other", "chart": chart, **more}
    user.apply("AddonDefinition", name, "", spec)


def a_host(user: User, name: str = "host") -> str:
    user.apply("TenantCluster", name, TENANTS, {"kubernetesVersion": "v1.32.2", "workers": {"replicas": 1}})
    return name


@TRIALS.of(advice.addon_catalogue)
def an_addon_that_nobody_knows(user: User) -> None:
    an_addon(user, "known")
    shown = user.screen(f"butlerctl addon install {a_host(user)} stranger")
    assert "known" in user.does(shown_in(shown, advice.addon_catalogue))


@TRIALS.of(advice.install_addon)
def an_addon_that_needs_another(user: User) -> None:
    an_addon(user, "ground")
    an_addon(user, "house", dependsOn=["ground"])
    install = f"butlerctl addon install {a_host(user)} house"
    user.does(shown_in(user.screen(install), advice.install_addon))
    user.does(install)


@TRIALS.of(advice.list_addons)
def an_addon_that_is_not_there(user: User) -> None:
    an_addon(user, "listed")
    user.typed(f"butlerctl addon install {a_host(user)} listed")
    shown = user.screen(f"butlerctl addon get {a_host(user)} nothing")
    assert "host-listed" in user.does(shown_in(shown, advice.list_addons))


@TRIALS.of(advice.get_addon)
def an_addon_that_is_asked_for(user: User) -> None:
    an_addon(user, "wanted")
    shown = user.does(f"butlerctl addon install {a_host(user)} wanted")
    assert "host-wanted" in user.does(shown_in(shown, advice.get_addon))
    again = user.screen(f"butlerctl addon install {a_host(user)} wanted")
    assert "host-wanted" in user.does(shown_in(again, advice.get_addon))


@TRIALS.of(advice.uninstall_addon)
def an_addon_beside_which_another_cannot_be(user: User) -> None:
    an_addon(user, "fire")
    an_addon(user, "water", conflicts=["fire"])
    user.does(f"butlerctl addon install {a_host(user)} fire")
    install = f"butlerctl addon install {a_host(user)} water"
    user.does(f"yes | {shown_in(user.screen(install), advice.uninstall_addon)}")
    user.does(install)


@TRIALS.of(advice.edit_cluster)
def an_addon_that_the_platform_keeps(user: User) -> None:
    an_addon(user, "front", category="ingress")
    name = a_host(user, "kept")
    seen = [{"name": "front", "version": "1", "status": "Healthy", "managedBy": "butler"}]
    status_of(user, "tenantcluster", name, TENANTS, observedState={"addons": seen})
    shown = user.screen(f"butlerctl addon uninstall {name} front --yes")
    user.does(shown_in(shown, advice.edit_cluster), EDITOR="true")


@TRIALS.of(advice.get_management_addon)
def an_addon_of_the_management_cluster(user: User) -> None:
    an_addon(user, "central")
    shown = user.does("butleradm addon install central")
    assert "central" in user.does(shown_in(shown, advice.get_management_addon))


@TRIALS.of(advice.list_management_addons)
def an_addon_that_the_management_cluster_lacks(user: User) -> None:
    user.does(shown_in(user.screen("butleradm addon get nothing"), advice.list_management_addons))
