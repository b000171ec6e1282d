"""Values against the schema of a definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import jsonschema_rs
import msgspec

from .errors import InvalidValues

_MOST = 3
_MISSING = " is missing"


def check(addon: str, values: Mapping[str, Any], schema: Mapping[str, Any] | None) -> None:
    """Raises InvalidValues, which says where and which rule, and not what was there: it may be a secret."""
    refuse(addon, problems(addon, values, schema))


def refuse(addon: str, found: Sequence[str]) -> None:
    """Raises InvalidValues if there are problems."""
    if found:
        more = f", and {len(found) - _MOST} more" if len(found) > _MOST else ""
        raise InvalidValues(addon, f"its values do not fit its definition: {'; '.join(found[:_MOST])}{more}")


def problems(addon: str, values: Mapping[str, Any], schema: Mapping[str, Any] | None) -> list[str]:
    """What is wrong with values, without any of them. Raises InvalidValues where the schema is none."""
    if not schema:
        return []
    try:
        validator = _compiled(msgspec.json.encode(schema))
    except jsonschema_rs.ValidationError as error:
        where = ".".join(str(part) for part in ("valuesSchema", *error.instance_path))
        raise InvalidValues(addon, f"the schema of its definition is none: {where}: {error.message}") from None
    except ValueError as error:
        raise InvalidValues(addon, f"the schema of its definition is none: {error}") from None
    return [_told(error) for error in validator.iter_errors(_without_nulls(values))]


@lru_cache(128)
def _compiled(schema: bytes) -> jsonschema_rs.Validator:
    # No backtracking: whoever writes values chooses what is matched.
    return jsonschema_rs.validator_for(msgspec.json.decode(schema), pattern_options=jsonschema_rs.RegexOptions())


def is_about_a_gap(problem: str) -> bool:
    """Whether it would be none if more values were given."""
    return problem.endswith(_MISSING)


def _told(error: jsonschema_rs.ValidationError) -> str:
    where = ".".join(str(part) for part in ("values", *error.instance_path))
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
        return f"{where}.{error.kind.property}{_MISSING}"
    return f"{where} breaks {'/'.join(str(part) for part in error.schema_path)}"


def _without_nulls(values: Any) -> Any:
    """A null takes a default away, so there is nothing to judge."""
    if isinstance(values, Mapping):
        return {name: _without_nulls(one) for name, one in values.items() if one is not None}
    if isinstance(values, list | tuple):
        return [_without_nulls(one) for one in values]
    return values
