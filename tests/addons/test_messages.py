"""What people read of an addon is short, says why and where, and holds no values."""

from __future__ import annotations

import pytest

from butler.addons.installation import states
from butler.addons.installation.messages import told
from butler.addons.model import Addon, AddonState
from butler.engines.helm.charts import Chart
from butler.engines.helm.protocol import Difference, Place, Release, Unready
from kubekit.errors import Conflict, FieldError, FieldProblem, Forbidden, KubeError, ServiceUnavailable, invalid

ADDON = Addon("web", Release(Place("web", "addons"), Chart("https://charts.example.com", "web", "1.0.0")))
REFUSED = invalid("Secret", "", "web", [FieldError(FieldProblem.INVALID, "data[token]", "is bad", "open-sesame")])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (REFUSED, "the API server says Invalid about data[token]"),
        (Forbidden("a webhook says open-sesame"), "the API server says Forbidden"),
        (Conflict("open-sesame"), "the API server says Conflict"),
        (ServiceUnavailable("no answer from https://10.0.0.1"), "no answer from https://10.0.0.1"),
    ],
)
def test_why_and_where_is_told_and_not_what(error: KubeError, expected: str) -> None:
    assert told(error) == expected


@pytest.mark.parametrize("for_nodes", [False, True])
@pytest.mark.parametrize("is_new", [False, True])
def test_states(for_nodes: bool, is_new: bool) -> None:
    addon = Addon("web", ADDON.release, for_nodes=for_nodes)
    nodeless = Unready("DaemonSet a/b", "no node is fit for it", nodeless=True)
    waiting, broken = Unready("Deployment a/b", "0 of 1 ready"), Unready("Job a/b", "failed", failed=True)
    late = AddonState.INSTALLING if is_new else AddonState.DEGRADED

    def state(*unready: Unready) -> AddonState:
        return states.judged(addon, unready, is_new=is_new).state

    assert state() is AddonState.HEALTHY
    assert state(waiting) is late
    assert state(waiting, broken) is (late if for_nodes else AddonState.FAILED)
    assert state(nodeless) is (AddonState.HEALTHY if for_nodes else late)
    assert state(nodeless, waiting) is (AddonState.INSTALLING if for_nodes else late)


def test_what_others_named_does_not_fill_a_status() -> None:
    found = [Difference(f"ConfigMap a/{number}", ("x" * 10_000,)) for number in range(9)]
    listed = states.listed(found)
    assert len(listed) < 1500
    assert listed.endswith(", and 6 more")
