"""Everything that may be said about an object of one resource before it is stored, compiled once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from kubekit.clock import give_way
from kubekit.errors import FieldError, FieldProblem
from kubekit.model.resource import Object
from kubekit.server.kinds.builtin.behaviours import changes_generation, name_rule
from kubekit.server.kinds.builtin.widths import too_wide
from kubekit.server.objects import object_metadata
from kubekit.server.objects.cel import RuleSet, compile_rules
from kubekit.server.objects.long_work import aside
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema import decoding, defaults, pruning
from kubekit.server.objects.schema.validation import Validator
from kubekit.server.objects.schema.width import is_wide

from .scale_checks import scale_problems

_BLOCKING = frozenset(
    {
        FieldProblem.NOT_SUPPORTED,
        FieldProblem.REQUIRED,
        FieldProblem.TOO_LONG,
        FieldProblem.TOO_MANY,
        FieldProblem.TYPE_INVALID,
    }
)
_WITH_PLAIN_FINALIZERS = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "coordination.k8s.io",
        "policy",
    }
)
"""Groups whose finalizers need no domain, unlike those of the other built-in kinds."""
_NOT_JUDGED = FieldError(
    FieldProblem.INVALID,
    "<nil>",
    "some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)


class Checks:
    """Defaults, unknown fields and validation of one resource."""

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self._validator: Validator | None = None
        self._status_validator: Validator | None = None
        self._rules: RuleSet | None = None
        self._name_rule = "subdomain" if resource.is_custom else name_rule(resource.group, resource.kind)
        self._qualified = not resource.is_custom and resource.group not in _WITH_PLAIN_FINALIZERS

    @cached_property
    def is_long(self) -> bool:
        """Whether there is so much to say about any object of the kind that it is not said in a moment."""
        return self.resource.is_custom and is_wide(self.resource.schema.source)

    def decode(self, obj: Object, *, is_applied: bool = False) -> list[str]:
        """Bring a client's object into the shape of its kind, in place; answers the paths of unknown fields.

        Raises Malformed when a value cannot be what its field holds. A null that is applied is meant, and judged."""
        if self.resource.is_custom:
            unknown = object_metadata.coerce_metadata(obj)
            return unknown + pruning.prune(obj, self.resource.schema, keeps_nulls=is_applied)
        unknown = decoding.decode(obj, self.resource.schema)
        object_metadata.tidy(obj)
        return unknown

    def default(self, obj: Object) -> None:
        if self.resource.is_custom:
            defaults.apply_defaults(obj, self.resource.schema)
        elif self.resource.behaviour is not None:
            self.resource.behaviour.default(obj)

    def validate(self, obj: Object) -> list[FieldError]:
        """What is wrong with the object, but for the rules of its schema."""
        problems = object_metadata.validate_metadata(
            obj["metadata"], self.resource.namespaced, self._name_rule, built_in=self._qualified
        )
        if self.resource.is_custom:
            problems += self._custom().validate(obj)
            if self.resource.scale is not None:
                problems += scale_problems(self.resource.scale, obj)
        elif self.resource.behaviour is not None:
            wide = too_wide(self.resource.group, self.resource.kind, obj)
            problems += wide or self.resource.behaviour.validate(obj)
        return problems

    def validate_update(self, obj: Object, old: Object, *, part: str = "") -> list[FieldError]:
        """The same for a change. `part`: only the status was written."""
        problems = object_metadata.validate_metadata_update(obj["metadata"], old["metadata"], built_in=self._qualified)
        if self.resource.is_custom:
            problems += self._status_problems(obj, old) if part else self._custom().validate_update(obj, old)
            if self.resource.scale is not None:
                problems += scale_problems(self.resource.scale, obj)
        elif self.resource.behaviour is not None:
            wide = too_wide(self.resource.group, self.resource.kind, obj)
            problems += wide or self.resource.behaviour.validate_update(obj, old, part)
        return problems

    def counts(self, obj: Object, old: Object) -> bool:
        """Whether the change counts as a new generation."""
        resource = self.resource
        if not resource.is_custom:
            return changes_generation(resource.group, resource.kind, obj, old)
        ignored = {"metadata", "status"} if resource.status else {"metadata"}
        keys = (obj.keys() | old.keys()) - ignored
        return any(obj.get(key) != old.get(key) for key in keys)

    async def judge(
        self, obj: Object, old: Object | None, problems: list[FieldError], warn: Callable[[str], None] | None = None
    ) -> list[FieldError]:
        """What the rules of the schema say; they are not asked about an object that does not fit the schema.

        `warn` is told of rules that fail but did so before."""
        if self.resource.is_custom and self._rules is None:
            self._rules = await aside(self.resource.schema.source, compile_rules, self.resource.schema)
        rules = self._rules
        if not rules:
            return []
        if problems and any(problem.problem in _BLOCKING for problem in problems):
            return [_NOT_JUDGED]
        found: list[FieldError] = []
        for _ in rules.validation(found, obj, old, warn=warn):
            await give_way()
        return found

    def _status_problems(self, obj: Object, old: Object) -> list[FieldError]:
        schema = self.resource.schema.properties.get("status")
        if schema is None or "status" not in obj:
            return []
        if self._status_validator is None:
            self._status_validator = Validator(schema, root=False)
        return self._status_validator.validate_update(obj["status"], old.get("status"), "status")

    def _custom(self) -> Validator:
        if self._validator is None:
            self._validator = Validator(self.resource.schema)
        return self._validator
