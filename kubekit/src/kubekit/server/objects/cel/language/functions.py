"""Functions of CEL: their signatures for the check and their implementations for the evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from .budget import Frame, charge
from .typesystem import Type, is_free, written
from .values import CelError, Value, type_name

Implementation = Callable[..., Value]
Cost = Callable[..., int]
"""What a call costs beside its fixed price, of the values of its arguments."""


@dataclass(frozen=True, slots=True, eq=False)
class Overload:
    """One signature of a function."""

    name: str
    params: tuple[Type, ...]
    result: Type
    run: Implementation
    is_member: bool = False
    is_metered: bool = False
    """Whether the implementation takes the frame before its arguments, and charges for what it does."""
    cost: Cost | None = None
    """What a call costs beside its fixed price, if that is known beforehand."""

    def takes(self, args: Iterable[Value]) -> bool:
        """Whether the values fit the parameters, looking no deeper than the outermost type."""
        return all(map(_fits, self.params, args))


def _fits(param: Type, value: Value) -> bool:
    return param.is_variable or is_free(param) or param.name == type_name(value)


@dataclass(frozen=True, slots=True)
class Metered:
    """An implementation that takes the frame before its arguments, and charges for what it does."""

    run: Implementation


@dataclass(frozen=True, slots=True)
class Priced:
    """An implementation whose cost is known before it is called."""

    cost: Cost
    run: Implementation


Signature = tuple[str, str, Implementation | Metered | Priced]
"""Name, `parameter, parameter -> result`, implementation."""


def functions(*signatures: Signature) -> list[Overload]:
    """Overloads called as `name(argument, ...)`."""
    return [_overload(*signature, is_member=False) for signature in signatures]


def members(*signatures: Signature) -> list[Overload]:
    """Overloads called as `receiver.name(argument, ...)`; the receiver is the first parameter."""
    return [_overload(*signature, is_member=True) for signature in signatures]


def _overload(name: str, signature: str, run: Implementation | Metered | Priced, *, is_member: bool) -> Overload:
    given, _, result = signature.partition("->")
    shape = written(f"function({given})") if given.strip() else Type("function")
    if isinstance(run, Metered):
        return Overload(name, shape.params, written(result.strip()), run.run, is_member, is_metered=True)
    if isinstance(run, Priced):
        return Overload(name, shape.params, written(result.strip()), run.run, is_member, cost=run.cost)
    return Overload(name, shape.params, written(result.strip()), run, is_member)


def choose(overloads: tuple[Overload, ...], args: Sequence[Value]) -> Overload:
    """The one of several signatures that fits the values of a call. Raises CelError."""
    for overload in overloads:
        if len(overload.params) == len(args) and overload.takes(args):
            return overload
    raise no_such_overload(overloads[0].name, args)


def call(frame: Frame, overloads: tuple[Overload, ...], *args: Value) -> Value:
    """What the signature that fits makes of the arguments. Raises CelError and CostExceeded."""
    overload = choose(overloads, args)
    if overload.cost is not None:
        charge(frame, overload.cost(*args))
    return overload.run(frame, *args) if overload.is_metered else overload.run(*args)


_TERSE = ("contains", "endsWith", "startsWith", "matches", "find", "findAll")


def no_such_overload(name: str, args: Iterable[Value]) -> CelError:
    if name.startswith(("_", "!", "-", "@")) or name in _TERSE:
        return CelError("no such overload")
    if name == "size":
        return CelError("no such overload: size")
    return CelError(f"no such overload: {name}({', '.join(map(type_name, args))})")
