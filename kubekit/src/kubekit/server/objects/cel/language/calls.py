"""Calls of functions."""

from __future__ import annotations

from collections.abc import Callable

from .budget import Frame, charge, exceeded
from .functions import Cost, Overload, call, choose
from .loops import Run
from .values import Value


def build(overload: Overload, args: list[Run]) -> Run:
    """A call whose implementation the types decide, in the quickest form for so many arguments."""
    if overload.cost is not None:
        return _priced(overload.run, overload.cost, args)
    return _metered(overload.run, args) if overload.is_metered else _plain(overload.run, args)


def choice(overloads: tuple[Overload, ...], args: list[Run]) -> Run:
    """A call whose implementation the types of the values decide, each time."""
    known: dict[tuple[type, ...], Overload] = {}

    def chosen(*values: Value) -> Overload:
        return known.setdefault(tuple(map(type, values)), choose(overloads, values))

    match args:
        case [first]:

            def run_one(frame: Frame) -> Value:
                one = first(frame)
                overload = known.get((type(one),)) or chosen(one)
                if overload.cost is not None:
                    charge(frame, overload.cost(one))
                return overload.run(frame, one) if overload.is_metered else overload.run(one)

            return run_one
        case [first, second]:

            def run_two(frame: Frame) -> Value:
                one, other = first(frame), second(frame)
                overload = known.get((type(one), type(other))) or chosen(one, other)
                if overload.cost is not None:
                    charge(frame, overload.cost(one, other))
                return overload.run(frame, one, other) if overload.is_metered else overload.run(one, other)

            return run_two

    return lambda frame: call(frame, overloads, *[arg(frame) for arg in args])


def _plain(run: Callable[..., Value], args: list[Run]) -> Run:
    match args:
        case []:
            return lambda frame: run()
        case [first]:
            return lambda frame: run(first(frame))
        case [first, second]:
            return lambda frame: run(first(frame), second(frame))
        case _:
            return lambda frame: run(*[arg(frame) for arg in args])


def _priced(run: Callable[..., Value], cost: Cost, args: list[Run]) -> Run:
    match args:
        case [first]:

            def run_one(frame: Frame) -> Value:
                one = first(frame)
                frame[0] -= cost(one)
                if frame[0] < 0:
                    raise exceeded()
                return run(one)

            return run_one
        case [first, second]:

            def run_two(frame: Frame) -> Value:
                one, other = first(frame), second(frame)
                frame[0] -= cost(one, other)
                if frame[0] < 0:
                    raise exceeded()
                return run(one, other)

            return run_two

    def run_all(frame: Frame) -> Value:
        values = [arg(frame) for arg in args]
        charge(frame, cost(*values))
        return run(*values)

    return run_all


def _metered(run: Callable[..., Value], args: list[Run]) -> Run:
    match args:
        case [first]:
            return lambda frame: run(frame, first(frame))
        case [first, second]:
            return lambda frame: run(frame, first(frame), second(frame))
        case _:
            return lambda frame: run(frame, *[arg(frame) for arg in args])
