"""Suggestions about what controllers say, on an API where a test says it."""

from __future__ import annotations

from butler import advice
from tests.advice.stages import User, shown_in, status_of
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
