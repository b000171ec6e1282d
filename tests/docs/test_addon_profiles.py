"""What the page about AddonProfiles shows is taken, and is the example."""

from __future__ import annotations

import yaml

from testbed.running.embedded import Kubectl
from tests.docs.pages import ROOT, objects, written

PAGE = ROOT / "docs" / "howto" / "addon-profiles.md"
EXAMPLE = ROOT / "examples" / "03-addon-profile.yaml"


def test_what_the_page_shows_is_the_example_and_is_taken(kubectl: Kubectl) -> None:
    (shown,) = objects(*written(PAGE, "yaml"))
    assert shown == yaml.safe_load(EXAMPLE.read_text())
    kubectl("apply", "--server-side", "-f", str(ROOT / "deploy" / "crds" / "addonprofiles.yaml"))
    kubectl("wait", "--for=condition=Established", "crd/addonprofiles.butler.butlerlabs.dev")
    kubectl("create", "--dry-run=server", "--validate=strict", "-f", "-", stdin=yaml.safe_dump(shown))
