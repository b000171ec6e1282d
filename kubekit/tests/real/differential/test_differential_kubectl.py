"""kubectl says the same, whichever server it talks to."""

from __future__ import annotations

import pytest

from tests.real.differential.commands import Runs, Script
from tests.real.differential.scripts import SCRIPTS
from tests.real.differential.verdicts import Tally

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.title)
def test_kubectl_prints_the_same(script: Script, runs: Runs, tally: Tally) -> None:
    found = runs.differences(script.title)
    tally.add_script(len(script.commands), is_open=bool(found))
    if found:
        pytest.fail("\n".join(found), pytrace=False)
