"""A rule of a schema (`x-kubernetes-validations`), and where in the schema rules stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..schema.model import Schema
from .declared_types import Declarations
from .extents import Extent, extent_of
from .language.typesystem import BOOL, STRING, Type, optional_of
from .language.values import CompileError, InstantiationError

if TYPE_CHECKING:
    from .language.compilation import Compiled

EXTENSION = "x-kubernetes-validations"


class Rule:
    """One rule on one place; compiled when first asked for."""

    def __init__(
        self, source: Mapping[str, Any], declare: Callable[[], Type | None], extent: Extent | None = None
    ) -> None:
        """`extent` says how large the data may be, for estimates of what the rule costs."""
        self.source = source
        self.text = str(source.get("rule") or "")
        self.takes_optional_old = bool(source.get("optionalOldSelf"))
        self.error = ""
        """Why the rule cannot be used."""
        self.message_error = ""
        self._declare, self._extent = declare, extent
        self._message: Compiled | None = None

    @property
    def shown(self) -> str:
        """How error messages name the rule."""
        return str(self.source.get("message") or self.text).strip()

    @cached_property
    def program(self) -> Compiled | None:
        """What to evaluate; None when the rule is empty, about something rules cannot see, or cannot be used."""
        kind = self._declare()
        if kind is None or not self.text.strip():
            return None
        variables = {"self": kind, "oldSelf": optional_of(kind) if self.takes_optional_old else kind}
        program, self.error = _compiled(self.text, variables, BOOL, self._extent)
        expression = self.source.get("messageExpression")
        if expression and program:
            self._message, self.message_error = _compiled(expression, variables, STRING, self._extent)
        return program

    @property
    def is_compiled(self) -> bool:
        return "program" in self.__dict__

    @property
    def message(self) -> Compiled | None:
        """What to evaluate for the message when the rule fails."""
        return self._message if self.program else None

    @cached_property
    def uses_old(self) -> bool:
        return self.program is not None and "oldSelf" in self.program.names


_STAGES = {BOOL: ("", "program ", "cel expression"), STRING: ("messageExpression ",) * 2 + ("messageExpression",)}


def _compiled(
    text: str, variables: Mapping[str, Type], wanted: Type, extent: Extent | None
) -> tuple[Compiled | None, str]:
    """The program, or why there is none."""
    # The parser and the function library are loaded with the first rule: most servers start without one.
    from .language.compilation import compile_text  # noqa: PLC0415 - loads the parser, which most kinds never need

    compilation, instantiation, name = _STAGES[wanted]
    try:
        compiled = compile_text(text, variables, None if extent is None else extent.most_at)
    except InstantiationError as error:
        return None, f"{instantiation}instantiation failed: {error}"
    except CompileError as error:
        return None, f"{compilation}compilation failed: {error}"
    if compiled.type != wanted:
        return None, f"{name} must evaluate to a {wanted}"
    return compiled, ""


@dataclass(slots=True, eq=False)
class RuledNode:
    """A place of a schema that has rules, or below which there are some."""

    schema: Schema
    declare: Callable[[], Type | None]
    """The type of what stands here; None when rules cannot see it."""
    extent: Extent | None = None
    rules: list[Rule] = field(default_factory=list)
    properties: dict[str, RuledNode] = field(default_factory=dict)
    items: RuledNode | None = None
    additional: RuledNode | None = None


def places(schema: Schema, *, is_estimated: bool = False) -> RuledNode | None:
    """The places of a schema with rules; None when it has none."""
    return _Survey(is_estimated).place(schema, is_resource=True)


class _Survey:
    def __init__(self, is_estimated: bool) -> None:
        self._is_estimated = is_estimated
        self._declarations = Declarations()
        self._known: dict[int, bool] = {}

    def place(self, schema: Schema, *, is_resource: bool) -> RuledNode | None:
        if not self._has_rules(schema.source):
            return None

        def declare() -> Type | None:
            return self._declarations.of(schema, is_resource=is_resource)

        written = schema.source.get(EXTENSION) or ()
        extent = extent_of(schema, is_resource=is_resource) if written and self._is_estimated else None
        found = RuledNode(schema, declare, extent)
        found.rules = [Rule(rule, declare, extent) for rule in written]
        below = ((name, self._inner(inner)) for name, inner in schema.properties.items())
        found.properties = {name: inner for name, inner in below if inner is not None}
        found.items = self._inner(schema.items)
        found.additional = self._inner(schema.additional)
        return found

    def _inner(self, schema: Schema | None) -> RuledNode | None:
        return None if schema is None else self.place(schema, is_resource=schema.embedded)

    def _has_rules(self, source: Any) -> bool:
        """Looks at the source, because a schema of a built-in kind may contain itself."""
        if not isinstance(source, Mapping):
            return False
        known = self._known.get(id(source))
        if known is None:
            below = (
                source.get("items"),
                source.get("additionalProperties"),
                *(source.get("properties") or {}).values(),
            )
            known = bool(source.get(EXTENSION)) or any(map(self._has_rules, below))
            self._known[id(source)] = known
        return known
