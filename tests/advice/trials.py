"""What a trial is: a situation in which a suggestion is shown, and what happens when somebody follows it."""

from __future__ import annotations

from collections.abc import Callable

from tests.advice.stages import User

Suggestion = Callable[..., str]
Trial = Callable[[User], None]


class Trials:
    """The trials of one stage, with the suggestions they follow."""

    def __init__(self) -> None:
        self._all: list[tuple[Suggestion, Trial]] = []

    def of(self, suggestion: Suggestion) -> Callable[[Trial], Trial]:
        """Let a function be one."""

        def register(trial: Trial) -> Trial:
            self._all.append((suggestion, trial))
            return trial

        return register

    @property
    def suggestions(self) -> set[str]:
        return {suggestion.__name__ for suggestion, _ in self._all}

    def problems(self, user: User) -> list[str]:
        """What did not work, after trying everything."""
        found = []
        for suggestion, trial in self._all:
            try:
                trial(user)
            except Exception as error:
                found.append(f"{suggestion.__name__}, {trial.__name__}: {error!r}")
        return found
