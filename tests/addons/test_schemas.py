"""What is said of values that break the schema of a definition."""

from __future__ import annotations

import pytest

from butler.addons import schemas
from butler.addons.errors import InvalidValues

SCHEMA = {
    "required": ["domain"],
    "properties": {"replicas": {"minimum": 1}, "tls": {"required": ["issuer"]}},
}


def test_what_is_missing_is_named() -> None:
    assert schemas.problems("web", {"tls": {}}, SCHEMA) == ["values.domain is missing", "values.tls.issuer is missing"]


def test_what_is_wrong_is_told_without_its_value() -> None:
    with pytest.raises(InvalidValues, match=r"values\.replicas breaks properties/replicas/minimum$"):
        schemas.check("web", {"domain": "example.com", "replicas": -77}, SCHEMA)


def test_values_that_are_no_mapping_of_the_right_form() -> None:
    assert schemas.problems("web", {"a": 1}, {"maxProperties": 0}) == ["values breaks maxProperties"]
