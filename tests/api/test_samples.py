"""An object written for another implementation of this API applies unchanged, whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import yaml

from butler.api import KINDS
from butler.api.model import Resource
from butler.api.normalise import normalise
from kubekit.model import crd

SAMPLES: list[dict[str, Any]] = list(
    yaml.safe_load_all((Path(__file__).parent.parent / "fixtures/samples.yaml").read_text())
)
BY_KIND = {kind.address.kind: kind for kind in KINDS}
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["kind"])


def read(sample: dict[str, Any]) -> Resource:
    return msgspec.json.decode(msgspec.json.encode(sample), type=BY_KIND[sample["kind"]])


def defaulted(schema: dict[str, Any], value: Any) -> Any:
    """What the API server makes of a value: defaults filled in wherever the object around them is present."""
    if "x-kubernetes-preserve-unknown-fields" in schema:
        return value
    if isinstance(value, list):
        return [defaulted(schema["items"], one) for one in value]
    if not isinstance(value, dict):
        return value
    if "properties" not in schema:
        return {name: defaulted(schema["additionalProperties"], one) for name, one in value.items()}
    properties = schema["properties"]
    filled = {name: node["default"] for name, node in properties.items() if "default" in node}
    return filled | {name: defaulted(properties[name], one) for name, one in value.items()}


def test_there_is_a_sample_of_every_kind() -> None:
    assert {sample["kind"] for sample in SAMPLES} == BY_KIND.keys()


@each_sample
def test_it_is_valid(sample: dict[str, Any]) -> None:
    jsonschema_rs.validate(crd.schema_of(BY_KIND[sample["kind"]]), sample)


@each_sample
def test_reading_and_writing_gives_what_the_api_server_stores(sample: dict[str, Any]) -> None:
    written = msgspec.json.decode(msgspec.json.encode(read(sample)))
    assert written["spec"] == defaulted(crd.schema_of(BY_KIND[sample["kind"]])["properties"]["spec"], sample["spec"])


@each_sample
def test_its_canonical_form_is_stable(sample: dict[str, Any]) -> None:
    canonical = normalise(read(sample))
    assert normalise(canonical) is canonical
