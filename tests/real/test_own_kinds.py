"""Our kinds on an API server: it takes their definitions and every document people were given, without a warning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from butler.api import KINDS
from testbed.running.embedded import Kubectl, kubectl_for
from testbed.running.servers import Cluster
from tests.api import documents
from tests.api.test_samples import SAMPLES
from tests.api.test_seeds import DOCUMENTS, contains
from tests.real import managers

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

DEFINITIONS = Path(__file__).parent.parent.parent / "deploy" / "crds"
NAMES = [kind.address.name for kind in KINDS]
SECRETS = [(path.stem,) for path in sorted(documents.SEEDS.glob("secret-*.yaml"))]
GIVEN = [*DOCUMENTS, *SECRETS]


@pytest.fixture(scope="session")
def knows_our_kinds(kubernetes: Cluster) -> str:
    """A server that knows them; answers what it said to them."""
    kubectl = kubectl_for(kubernetes.kubeconfig)
    said = kubectl("apply", "--server-side", "--validate=strict", "-f", str(DEFINITIONS)).err
    kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", *NAMES, timeout=40)
    namespaces = [managers.namespace(name) for name in ("butler-system", "team-a")]
    kubectl("apply", "--server-side", "-f", "-", stdin=managers.listed(namespaces))
    return said


def test_the_definitions_are_taken_without_a_warning(knows_our_kinds: str, kubectl: Kubectl) -> None:
    assert knows_our_kinds == ""
    found = json.loads(kubectl("get", "crd", *NAMES, "-o", "json").out)["items"]
    conditions = [{one["type"]: one["status"] for one in crd["status"]["conditions"]} for crd in found]
    assert conditions == [{"NamesAccepted": "True", "Established": "True"}] * len(KINDS)


@pytest.mark.parametrize("names", GIVEN, ids=lambda names: "+".join(names).rpartition("/")[2])
def test_a_document_applies_as_it_is(names: tuple[str, ...], knows_our_kinds: str, kubectl: Kubectl) -> None:
    check_applies(documents.load(*names), kubectl)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["kind"])
def test_a_sample_applies_as_it_is(sample: dict[str, Any], knows_our_kinds: str, kubectl: Kubectl) -> None:
    check_applies(sample, kubectl)


def check_applies(given: dict[str, Any], kubectl: Kubectl) -> None:
    applied = kubectl("apply", "--server-side", "--validate=strict", "-o", "json", "-f", "-", stdin=json.dumps(given))
    assert applied.err == ""
    assert contains(json.loads(applied.out).get("spec"), given.get("spec"))


def test_an_unknown_field_is_refused(knows_our_kinds: str, kubectl: Kubectl) -> None:
    team = next(sample for sample in SAMPLES if sample["kind"] == "Team")
    wrong = json.dumps({**team, "spec": {**team["spec"], "colour": "red"}})
    said = kubectl("apply", "--server-side", "--validate=strict", "-f", "-", stdin=wrong, fails=True).err
    assert ".spec.colour: field not declared in schema" in said
