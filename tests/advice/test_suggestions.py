"""Every command that is suggested anywhere is shown on a screen, typed, and does what it says."""

from __future__ import annotations

import inspect

import pytest

from butler import advice
from tests.advice import lonely_trials, onlooker_trials, platform_trials
from tests.advice.stages import User

UNTRIED = {
    "own_directory": "it needs another user's files, and the right to take them",
    "set_clock": "it sets the clock of the computer",
    "reinstall": "it removes what these tests run with",
}


def test_every_suggestion_has_a_trial() -> None:
    """One that was added to `butler.advice` needs a situation in which it is shown and followed."""
    every = {name for name, one in inspect.getmembers(advice, inspect.isfunction) if one.__module__ == advice.__name__}
    stages = (lonely_trials, onlooker_trials, platform_trials)
    assert every == {*UNTRIED, *(name for stage in stages for name in stage.TRIALS.suggestions)}


@pytest.mark.timeout(600)
def test_suggestions_of_a_platform_work(user: User) -> None:
    problems = platform_trials.TRIALS.problems(user)
    assert not problems, "\n".join(problems)


@pytest.mark.timeout(400)
def test_suggestions_about_what_controllers_say_work(onlooker: User) -> None:
    problems = onlooker_trials.TRIALS.problems(onlooker)
    assert not problems, "\n".join(problems)


@pytest.mark.timeout(400)
def test_suggestions_without_a_platform_work(visitor: User) -> None:
    problems = lonely_trials.TRIALS.problems(visitor)
    assert not problems, "\n".join(problems)
