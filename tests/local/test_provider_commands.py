"""butleradm provider, as people type it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

from tests.local.shells import Shell


def test_providers_are_listed_and_shown(started: Shell) -> None:
    (item,) = json.loads(started.butleradm("provider", "list", "-o", "json").out)
    assert (item["name"], item["namespace"], item["provider"], item["ready"]) == (
        "simulated", "butler-system", "simulated", "True",
    )  # fmt: skip
    assert "simulated   butler-system" in started.butleradm("provider", "ls").out
    shown = started.butleradm("provider", "get", "simulated").out
    assert "CredentialsValid   True" in shown
    assert json.loads(started.butleradm("provider", "get", "simulated", "-o", "json").out)["spec"]["provider"]


def test_a_provider_that_is_not_there_is_said_so(started: Shell) -> None:
    for verb in ("get", "validate", "audit"):
        ran = started.butleradm("provider", verb, "nowhere")
        assert ran.code == 3
        assert 'there is no provider "nowhere" in namespace butler-system' in ran.err


def test_a_provider_is_tried_from_here(started: Shell) -> None:
    ran = started.butleradm("provider", "validate", "simulated")
    assert ran.code == 0, ran.err
    assert "reachable" in ran.out


def test_an_audit_knows_the_workers_of_clusters_and_finds_what_nobody_asks_for(shell: Shell) -> None:
    shell.up("--empty")
    assert shell.butlerctl("cluster", "create", "shop", "--workers", "2", "--wait").code == 0
    clean = shell.butleradm("provider", "audit", "simulated")
    assert (clean.code, "2 things on simulated, all accounted for" in clean.out) == (0, True), clean.err
    with closing(sqlite3.connect(shell.data / "datacentre.db")) as records:
        records.execute("UPDATE vms SET token = 'nobody' WHERE number = 1")
        records.commit()
    found = shell.butleradm("provider", "audit", "simulated", "-o", "json")
    assert found.code == 1
    (orphan,) = json.loads(found.out)["leftBehind"]
    assert (orphan["kind"], orphan["token"]) == ("vm", "nobody")
    assert orphan["size"]


def test_a_provider_is_made_used_and_deleted(started: Shell) -> None:
    made = started.butleradm("provider", "create", "second", "--type", "simulated", "--capacity", "2", "--wait")
    assert (made.code, made.out.splitlines()[-1]) == (0, "✓ provider butler-system/second is ready"), made.err
    assert "ok      capacity   0 of 2 machines" in made.err
    assert started.butlerctl("cluster", "create", "shop", "--provider", "second", "--wait").code == 0
    refused = started.butleradm("provider", "delete", "second", "--yes")
    assert refused.code == 7
    assert "is used by TenantCluster butler-tenants/shop; it can go when" in refused.err
    assert started.butlerctl("cluster", "destroy", "shop", "--yes").code == 0
    gone = started.butleradm("provider", "delete", "second", "--yes")
    assert (gone.code, gone.out) == (0, "✓ provider butler-system/second is gone\n"), gone.err


def test_a_provider_that_does_not_come_to_be_ready_says_why(started: Shell) -> None:
    arguments = ("--type", "simulated", "--capacity", "0", "--no-check", "--wait", "--timeout", "2s")
    made = started.butleradm("provider", "create", "full", *arguments)
    assert made.code == 5
    assert "capacity: 0 of 0 machines Raise spec.simulated.capacity." in made.err
    assert started.butleradm("provider", "delete", "full", "--yes").code == 0
