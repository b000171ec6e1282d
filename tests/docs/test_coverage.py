"""Every page that leads somewhere is walked by a test, but for the commands in this list."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs import test_first_paths, test_provider_guides
from tests.docs.pages import ELSEWHERE, GUIDES, ROOT, blocks, is_shown

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "tutorial").glob("*.md")),
    *sorted((ROOT / "docs" / "howto").rglob("*.md")),
]
TYPED = ("butleradm ", "butlerctl ", "kubectl ", "make ", "$ ")
NOT_TYPED = {
    "README.md: pipx install .": "fetches packages",
    "README.md: make check test": "is what runs this",
    "operate.md: git pull &&": "fetches a newer version",
    "aws.md: aws ec2 describe-subnets": "an account of AWS",
    "aws.md: curl -L https://factory.talos.dev/image/SCHEMATIC/v1.9.0/aws-amd64.raw.xz": "an account of AWS",
    "azure.md: az group create": "an account of Azure",
    "azure.md: az role definition": "an account of Azure",
    "gcp.md: gcloud storage cp": "an account of Google Cloud",
    "gcp.md: gcloud compute firewall-rules": "an account of Google Cloud",
    "gcp.md: gcloud iam service-accounts": "an account of Google Cloud",
    "gcp.md: gcloud iam roles": "an account of Google Cloud",
    "harvester.md: TOKEN=$(kubectl create token": "an administrator of Harvester",
    "nutanix.md: PRISM=https://prism-central.example.com:9440/api/nutanix/v3 # asks": "an administrator of Prism",
    "proxmox.md: # a disk": "a host of Proxmox VE",
    "proxmox.md: pveum role add": "a host of Proxmox VE",
}
"""What the pages mark as done elsewhere, and what it takes that is not here."""


def test_what_is_not_typed_here_is_listed_with_its_reason() -> None:
    marked = [block.title for page in PAGES for block in blocks(page) if block.mark == ELSEWHERE]
    assert sorted(marked) == sorted(NOT_TYPED)


def test_every_page_with_commands_is_walked() -> None:
    walked = {
        *(ROOT / page for page in (*test_first_paths.NEWCOMERS, *test_first_paths.OPERATORS, test_provider_guides.OWN)),
        *(GUIDES / f"{name}.md" for name in ("README", *test_provider_guides.GUIDED)),
    }
    assert {page for page in PAGES if any(block.language == "sh" for block in blocks(page))} == walked


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_are_marked_as_such(page: Path) -> None:
    """A fence without a language would hide them from those who walk."""
    plain = [block for block in blocks(page) if not block.language]
    assert [block.title for block in plain if block.text.startswith(TYPED)] == []


@pytest.mark.parametrize(
    ("page", "terminal", "same"),
    [
        ("demo  Running  2/2  25s", "demo   Running   2/2   1s\n", True),
        ("demo  Running  2/2  25s", "demo   Pending   0/2   1s\n", False),
        ("demo  Running  2/2  25s", "demo   Running   2/2   1s\nshop   Running   2/2   1s\n", False),
        ("…\ndone", "one\ntwo\ndone\n", True),
        ("…\ndone", "one\ntwo\n", False),
        ("API at …", "API at 127.0.0.1:7443\n", True),
        ("https://127.0.0.1:7443", "https://127.0.0.1:38997\n", True),
        ("https://127.0.0.1:7443", "https://127.0.0.2:7443\n", False),
        ("shop-workers-bzgmg-d2txx  Ready", "shop-workers-jv52x-4sgh6   Ready\n", True),
        ("shop-workers-bzgmg-d2txx  Ready", "shop-workers-jv52x-4sgh6   NotReady\n", False),
    ],
)
def test_what_is_compared(page: str, terminal: str, same: bool) -> None:
    assert is_shown(page, terminal) is same
