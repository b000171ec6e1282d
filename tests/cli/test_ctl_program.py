"""butlerctl as a program: help, completion, versions, and how little it needs to start."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Iterator

import click
import pytest

from butler import __version__
from butler.cli.ctl import butlerctl
from testbed.running.embedded import BIN, PATIENCE
from tests.cli.conftest import User, condition, running

HEAVY = ("aiohttp", "asyncio", "rich", "cryptography", "jsonschema_rs", "butler.controllers", "http.client")


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield (*words, name), found
        if isinstance(found, click.Group):
            yield from commands(found, (*words, name))


@pytest.mark.parametrize(
    ("words", "command"), list(commands(butlerctl)), ids=lambda part: " ".join(part) if isinstance(part, tuple) else ""
)
def test_every_command_has_help_with_an_example_of_itself(words: tuple[str, ...], command: click.Command) -> None:
    text = command.help or ""
    assert "Example:" in text
    assert f"butlerctl {' '.join(words)}" in text
    described = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in described if not option.help] == []


def test_every_list_can_be_had_by_programs() -> None:
    for words, command in commands(butlerctl):
        if words[-1] in ("list", "get", "nodes", "events", "plan", "why", "version"):
            output = next(option for option in command.params if option.name == "output")
            assert isinstance(output.type, click.Choice)
            assert {"json", "yaml"} <= set(output.type.choices)


def test_help_is_shown_and_a_wrong_word_is_wrong_usage(user: User) -> None:
    assert "cluster" in user("--help").out
    assert "Stay and show the steps" in user("cluster", "create", "-h").out
    assert "No such command" in user("clutser", fails=2).err


@pytest.mark.parametrize("words", [["cluster", "list"], ["addon", "list", "-A"], ["addon", "catalog"]], ids=" ".join)
def test_a_list_imports_nothing_heavy(user: User, words: list[str]) -> None:
    """Checked by what is imported rather than by the time it takes, which depends on the computer."""
    script = (
        f"import os, sys; sys.argv = ['butlerctl', *{words!r}]; end = os._exit\n"
        f"os._exit = lambda code: (print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr), end(code))\n"
        "from butler.cli.ctl import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=user.environ, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]")


def test_the_version_is_that_of_the_program_and_of_the_api(user: User) -> None:
    assert user("--version").out == f"butlerctl, version {__version__}\n"
    shown = json.loads(user("version", "-o", "json").out)
    assert (shown["butlerctl"], shown["api"].startswith("v1.")) == (__version__, True)
    alone = user("version", KUBECONFIG="")
    assert alone.out.startswith(f"butlerctl {__version__}")
    assert "cannot be asked" in alone.err


def completed(user: User, *words: str, **environ: str) -> list[str]:
    """What pressing Tab after the last word offers, as bash asks for it."""
    asked = {"_BUTLERCTL_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["butlerctl", *words]), **environ}
    answered = user(**asked, COMP_CWORD=str(len(words)))
    assert answered.err == ""
    return [line.partition(",")[2] for line in answered.out.split()]


def test_commands_and_live_names_are_completed(user: User) -> None:
    assert completed(user, "clu") == ["cluster"]
    assert "create" in completed(user, "cluster", "")
    name = user.cluster(prefix=f"tab{uuid.uuid4().hex[:4]}", kubernetesVersion="v1.29.7")
    assert completed(user, "cluster", "get", name[:7]) == [name]
    assert completed(user, "cluster", "create", "x", "--provider", "sim") == ["simulated"]
    assert "v1.29.7" in completed(user, "cluster", "upgrade", name, "--version", "v1.29")
    assert completed(user, "cluster", "list", "-n", "butler-t") == ["butler-tenants"]
    assert completed(user, "cluster", "list", "--context", "but") == ["butler"]


def test_completion_is_silent_when_there_is_no_platform(user: User) -> None:
    assert completed(user, "cluster", "get", "", KUBECONFIG="/no/where") == []


@pytest.mark.parametrize(
    ("shell", "sign"), [("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete --no-files")]
)
def test_each_shell_gets_a_script(user: User, shell: str, sign: str) -> None:
    script = user("completion", shell).out
    assert sign in script
    assert "_BUTLERCTL_COMPLETE" in script


def test_administrators_get_completion_with_the_names_of_their_providers(user: User) -> None:
    script = user.adm("completion", "bash").out
    assert "_BUTLERADM_COMPLETE" in script
    asked = {"_BUTLERADM_COMPLETE": "bash_complete", "COMP_WORDS": "butleradm provider get sim", "COMP_CWORD": "3"}
    assert user.adm(**asked).out.split() == ["plain,simulated"]
    asked = {"_BUTLERADM_COMPLETE": "bash_complete", "COMP_WORDS": "butleradm provider update simulated --boot"}
    assert user.adm(**asked, COMP_CWORD="4").out.split() == ["plain,--boot-delay"]


def test_an_unknown_shell_is_wrong_usage(user: User) -> None:
    user("completion", "tcsh", fails=2)


def test_output_that_finds_no_room_is_one_line(user: User) -> None:
    user.cluster()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [str(BIN / "butlerctl"), "cluster", "list"],
            env=user.environ, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "butlerctl: No space left on device\n")


def test_output_cut_by_a_pipe_is_no_error_message(user: User) -> None:
    user.cluster()
    command = f"{BIN}/butlerctl cluster list -o yaml | head -c 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], env=user.environ, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stderr == ""


def test_a_plan_tells_objects_and_machines_and_changes_nothing(user: User) -> None:
    name = f"p-{uuid.uuid4().hex[:8]}"
    shown = user("cluster", "plan", name, "--workers", "2").out
    assert shown.startswith(f"cluster butler-tenants/{name}: ")
    assert "2 machines to create" in shown.splitlines()[0]
    assert f"+ TenantCluster butler-tenants/{name}" in shown
    assert not user.exists(name)
    plan = json.loads(user("cluster", "plan", name, "--workers", "2", "-o", "json").out)
    assert plan["changes"][0]["kind"] == "TenantCluster"
    assert sum(one["count"] for one in plan["machines"]) == 2


def test_a_plan_for_a_cluster_that_exists_begins_with_what_it_is(user: User) -> None:
    name = user.cluster()
    plan = json.loads(user("cluster", "plan", name, "--workers", "7", "-o", "json").out)
    assert sum(one["count"] for one in plan["machines"]) == 7
    assert user.read(name)["spec"]["workers"]["replicas"] == 3
    refused = user("cluster", "plan", name, "--k8s-version", "v1.99.0", fails=2).err
    assert "spec.kubernetesVersion (--k8s-version)" in refused
    nowhere = user("cluster", "plan", name, "--provider", "nowhere", fails=7).err
    assert "spec.providerConfigRef.name (--provider)" in nowhere
    gone = json.loads(user("cluster", "plan", name, "--delete", "-o", "json").out)
    assert {"TenantCluster"} <= {one["kind"] for one in gone["changes"] if one["action"] == "delete"}
    user("cluster", "plan", name, "--delete", "--workers", "3", fails=2)
    user("cluster", "plan", "--delete", fails=2)
    user("cluster", "plan", "nobody", "--delete", fails=3)


def test_why_says_what_is_waited_for_and_what_to_do(user: User) -> None:
    name = user.cluster()
    user.status(name, phase="Provisioning", conditions=[condition("Ready", False, "namespace: being made")])
    shown = user("cluster", "why", name).out
    assert name in shown.splitlines()[0]
    assert "  waiting for " in shown
    assert "\nNext:\n  butler" in shown
    answer = json.loads(user("cluster", "why", name, "-o", "json").out)
    assert set(answer) == {"summary", "waitingFor", "since", "whose", "nextCommand", "chain"}


def test_what_cannot_be_is_everyones_to_read(user: User) -> None:
    name = user.cluster(providerConfigRef={"name": "nope"})
    user.status(name, **running(phase="Failed"))
    assert json.loads(user("cluster", "why", name, "-o", "json").out)["whose"] == "yours"
