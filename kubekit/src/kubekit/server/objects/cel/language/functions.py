"""Functions of CEL: their signatures for the check and their implementations for the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .typesystem import Type, is_free, written
from .values import CelError, Value, type_name

Implementation = Callable[..., Value]


@dataclass(frozen=True, slots=True, eq=False)
class Overload:
    """One signature of a function."""

    name: str
    params: tuple[Type, ...]
    result: Type
    run: Implementation
    is_member: bool = False

    def takes(self, args: Iterable[Value]) -> bool:
        """Whether the values fit the parameters, looking no deeper than the outermost type."""
        return all(map(_fits, self.params, args))


def _fits(param: Type, value: Value) -> bool:
    return param.is_variable or is_free(param) or param.name == type_name(value)


Signature = tuple[str, str, Implementation]
"""Name, `parameter, parameter -> result`, implementation."""


def functions(*signatures: Signature) -> list[Overload]:
    """Overloads called as `name(argument, ...)`."""
    return [_overload(*signature, is_member=False) for signature in signatures]


def members(*signatures: Signature) -> list[Overload]:
    """Overloads called as `receiver.name(argument, ...)`; the receiver is the first parameter."""
    return [_overload(*signature, is_member=True) for signature in signatures]


def _overload(name: str, signature: str, run: Implementation, *, is_member: bool) -> Overload:
    given, _, result = signature.partition("->")
    shape = written(f"function({given})") if given.strip() else Type("function")
    return Overload(name, shape.params, written(result.strip()), run, is_member)


def dispatch(overloads: tuple[Overload, ...]) -> Implementation:
    """One callable for several signatures, chosen among by the values of each call."""
    if len(overloads) == 1:
        overload = overloads[0]

        def run_one(*args: Value) -> Value:
            if overload.takes(args):
                return overload.run(*args)
            raise no_such_overload(overload.name, args)

        return run_one

    def run_any(*args: Value) -> Value:
        for overload in overloads:
            if len(overload.params) == len(args) and overload.takes(args):
                return overload.run(*args)
        raise no_such_overload(overloads[0].name, args)

    return run_any


_TERSE = ("contains", "endsWith", "startsWith", "matches", "find", "findAll")


def no_such_overload(name: str, args: Iterable[Value]) -> CelError:
    if name.startswith(("_", "!", "-", "@")) or name in _TERSE:
        return CelError("no such overload")
    if name == "size":
        return CelError("no such overload: size")
    return CelError(f"no such overload: {name}({', '.join(map(type_name, args))})")
