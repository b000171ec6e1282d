"""A platform that others reach: where it listens, what certificates and kubeconfigs say, and what is told."""

from __future__ import annotations

import pytest

from tests.local.shells import Shell


@pytest.mark.timeout(150)
def test_a_platform_is_found_at_the_address_it_was_given(shell: Shell) -> None:
    shell.up("--empty", "--host", "127.0.0.2")
    url = shell.announcement()["url"]
    assert url.startswith("https://127.0.0.2:")
    assert shell.kubectl("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}").out == url
    assert shell.kubectl("get", "namespaces").code == 0, "the certificate is for that address"
    shell.butleradm("down")
    shell.up()
    assert shell.announcement()["url"] == url, "it is where it was"
    shell.butleradm("down")
    told = shell.up("--host", "0.0.0.0").err
    known = shell.announcement()["url"]
    assert "0.0.0.0" not in known
    assert f"Other computers reach it at {known}: the platform's API and those of all its clusters." in told
    assert shell.kubectl("get", "namespaces").code == 0


def test_an_address_of_another_computer_is_refused(shell: Shell) -> None:
    refused = shell.butleradm("up", "--detach", "--empty", "--port", "0", "--host", "203.0.113.9")
    assert (refused.code, "203.0.113.9 is no address of this computer" in refused.err) == (1, True)
    unknown = shell.butleradm("up", "--detach", "--empty", "--port", "0", "--host", "no.such.host.invalid")
    assert (unknown.code, "no.such.host.invalid is not known" in unknown.err) == (1, True)
    assert shell.butleradm("status").code == 1
