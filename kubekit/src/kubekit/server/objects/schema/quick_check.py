"""A schema of Kubernetes rewritten as JSON Schema, for the engine that says yes within microseconds.

A yes must be true. A no may be wrong, and is looked at again by the walker: so what is rare, or differs between Go
and JSON Schema in some corner, is simply refused here. Below `not` and `oneOf` a wrong no would become a wrong yes;
there only what is exact may stand, and a schema that has more gets no fast validator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jsonschema_rs

from ..go.regex import GoRegexError, matcher, rust_pattern
from .formats import enforced, string_check
from .numbers import is_integral
from .values import type_and_format
from .width import PATTERN

JsonSchema = dict[str, Any]

_SAFE_INTEGER = 2**53 - 1
_META = ("apiVersion", "kind", "metadata")
_MOST_TIMES = (
    "^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T"
    "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$"
)
_MOST_EFFORT = 15_000
"""How much may be compiled: nobody else has a turn meanwhile."""
_COPIED = ("required", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "enum")


class Unsupported(Exception):
    """The schema says something that only the walker can judge."""


def compiled(source: Mapping[str, Any], root: bool) -> Callable[[Any], bool] | None:
    """The fast check of a schema; None when there can be none. `root`: the value is a whole object."""
    rewriter = _Rewriter()
    try:
        rewritten = rewriter.schema(source, root=root)
        validator = jsonschema_rs.Draft7Validator(
            rewritten,
            formats=rewriter.formats,
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except (Unsupported, GoRegexError, ValueError, jsonschema_rs.ValidationError):
        return None
    is_valid: Callable[[Any], bool] = validator.is_valid
    return is_valid


class _Rewriter:
    def __init__(self) -> None:
        self.formats: dict[str, Callable[[str], bool]] = {}
        self._effort = 0

    def schema(self, source: Mapping[str, Any], root: bool = False, exact: bool = False) -> JsonSchema:
        self._effort += PATTERN if "pattern" in source else 1
        if self._effort > _MOST_EFFORT:
            raise Unsupported
        written: JsonSchema = {key: source[key] for key in _COPIED if source.get(key) is not None}
        if not written.get("enum", True):
            del written["enum"]
        if "enum" in written:
            # No value is ever found to be a null among the choices.
            written["enum"] = [one for one in written["enum"] if one is not None]
        if exact and any(type_and_format(one)[0] == "number" for one in written.get("enum", ())):
            raise Unsupported
        self._types(written, source)
        self._numbers(written, source, exact)
        self._strings(written, source)
        self._children(written, source, root, exact)
        return self._alternatives(written, source, exact)

    def _types(self, written: JsonSchema, source: Mapping[str, Any]) -> None:
        kinds = [source["type"]] if source.get("type") else []
        if source.get("x-kubernetes-int-or-string"):
            kinds = ["integer", "string"]
        elif not kinds and enforced(source):
            kinds = ["string", "array", "null"]
        if kinds and source.get("nullable"):
            kinds = [*kinds, "null"]
        if kinds:
            written["type"] = kinds[0] if len(kinds) == 1 else kinds
        if "integer" in kinds:
            limit = 2**31 - 1 if enforced(source) == "int32" else _SAFE_INTEGER
            written["minimum"], written["maximum"] = -limit, limit

    def _numbers(self, written: JsonSchema, source: Mapping[str, Any], exact: bool) -> None:
        for bound in ("minimum", "maximum", "multipleOf"):
            limit = source.get(bound)
            if limit is None:
                continue
            exclusive = bool(source.get(f"exclusive{bound.capitalize()}"))
            whole = is_integral(limit) and abs(limit) <= _SAFE_INTEGER
            if not whole and (exact or exclusive or bound == "multipleOf" or source.get("type") != "number"):
                raise Unsupported
            if bound == "multipleOf" and source.get("type") != "integer":
                # Of a large floating-point number, Go says that it is a multiple of nothing.
                raise Unsupported
            if exclusive:
                written[f"exclusive{bound.capitalize()}"] = limit
            elif bound == "multipleOf":
                written[bound] = limit
            else:
                tighter = max if bound == "minimum" else min
                written[bound] = tighter(limit, written.get(bound, limit))
        if source.get("uniqueItems") or (enforced(source) == "float" and exact):
            raise Unsupported
        if enforced(source) == "float":
            written.setdefault("minimum", -_SAFE_INTEGER)
            written.setdefault("maximum", _SAFE_INTEGER)

    def _strings(self, written: JsonSchema, source: Mapping[str, Any]) -> None:
        shape = enforced(source)
        if check := string_check(shape) if shape else None:
            name = f"kubernetes-{shape}"
            self.formats[name] = check
            if shape == "date-time":
                # The engine recognises nearly all times by itself; calling Python costs ten times as much.
                written["allOf"] = [{"anyOf": [{"pattern": _MOST_TIMES}, {"format": name}]}]
            else:
                written["format"] = name
        if not source.get("pattern"):
            return
        pattern = rust_pattern(source["pattern"])
        if pattern is not None:
            written["pattern"] = pattern
        else:
            name = f"pattern-{len(self.formats)}"
            self.formats[name] = matcher(source["pattern"])
            written["allOf"] = [*written.get("allOf", ()), {"format": name}]

    def _children(self, written: JsonSchema, source: Mapping[str, Any], root: bool, exact: bool) -> None:
        if isinstance(source.get("items"), Mapping):
            written["items"] = self.schema(source["items"], exact=exact)
        properties = source.get("properties")
        if properties:
            written["properties"] = {name: self.schema(below, exact=exact) for name, below in properties.items()}
        additional = source.get("additionalProperties")
        if isinstance(additional, Mapping):
            written["additionalProperties"] = self.schema(additional, exact=exact)
        elif additional is False:
            written["additionalProperties"] = False
        elif properties and additional is None and not exact and _is_closed(source):
            # Pruned objects have nothing else, and the engine is twice as fast when it may count on that.
            written["additionalProperties"] = False
            if root or source.get("x-kubernetes-embedded-resource"):
                for name in _META:
                    written["properties"].setdefault(name, {})

    def _alternatives(self, written: JsonSchema, source: Mapping[str, Any], exact: bool) -> JsonSchema:
        """Alternatives do not look at null, so it is let through beside them."""
        found: list[JsonSchema] = []
        if source.get("anyOf"):
            found.append({"anyOf": [self.schema(one, exact=True) for one in source["anyOf"]]})
        if source.get("oneOf"):
            found.append({"oneOf": [self.schema(one, exact=True) for one in source["oneOf"]]})
        found += [self.schema(one, exact=True) for one in source.get("allOf") or ()]
        if "not" in source:
            found.append({"not": self.schema(source["not"], exact=True)})
        if not found:
            return written
        may_be_null = exact or bool(source.get("nullable")) or "type" not in written
        beside = [{"anyOf": [{"type": "null"}, {"allOf": found}]}] if may_be_null else found
        return {**written, "allOf": [*written.get("allOf", ()), *beside]}


def _is_closed(source: Mapping[str, Any]) -> bool:
    return source.get("type") == "object" and not source.get("x-kubernetes-preserve-unknown-fields")
