"""Everything that may be said about an object of one resource before it is stored, compiled once."""

from __future__ import annotations

from butler.errors import FieldError

from . import objectmeta
from .builtins.behaviours import name_rule
from .cel import RuleSet, compile_rules
from .resources import Object, Resource
from .schema import decoding, defaulting, pruning
from .schema.validation import Validator


class Checks:
    """Defaults, unknown fields and validation of one resource."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self._validator: Validator | None = None
        self._rules: RuleSet | None = None
        self._name_rule = "subdomain" if resource.is_custom else name_rule(resource.group, resource.kind)

    def decode(self, obj: Object) -> list[str]:
        """Bring a client's object into the shape of its kind, in place; answers the paths of unknown fields.

        Raises BadRequest when a value cannot be what its field holds."""
        unknown = objectmeta.coerce_metadata(obj)
        if self.resource.is_custom:
            return unknown + pruning.prune(obj, self.resource.schema)
        return unknown + decoding.decode_check(obj, self.resource.schema, self.resource.kind, self.resource.api_version)

    def default(self, obj: Object) -> None:
        if self.resource.is_custom:
            defaulting.apply_defaults(obj, self.resource.schema)
        elif self.resource.behaviour is not None:
            self.resource.behaviour.default(obj)

    def validate(self, obj: Object) -> list[FieldError]:
        problems = objectmeta.validate_metadata(
            obj["metadata"], self.resource.namespaced, self._name_rule, built_in=not self.resource.is_custom
        )
        if self.resource.is_custom:
            problems += self._custom().validate(obj)
            if not problems:
                problems += self._custom_rules().validate(obj, None)
        elif self.resource.behaviour is not None:
            problems += self.resource.behaviour.validate(obj)
        return problems

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        problems = objectmeta.validate_metadata_update(
            obj["metadata"], old["metadata"], built_in=not self.resource.is_custom
        )
        if self.resource.is_custom:
            problems += self._custom().validate_update(obj, old)
            if not problems:
                problems += self._custom_rules().validate(obj, old)
        elif self.resource.behaviour is not None:
            problems += self.resource.behaviour.validate_update(obj, old)
        return problems

    def _custom(self) -> Validator:
        if self._validator is None:
            self._validator = Validator(self.resource.schema)
        return self._validator

    def _custom_rules(self) -> RuleSet:
        if self._rules is None:
            self._rules = compile_rules(self.resource.schema)
        return self._rules
