"""Answers that are kept, and those that are not."""

from __future__ import annotations

from kubekit.server.objects.bounded_cache import Remembered, remember_short


def test_an_answer_about_a_short_text_is_given_again_and_one_about_a_long_text_is_found_anew() -> None:
    asked: list[object] = []

    @remember_short(2)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    assert [length("abc"), length("abc")] == [3, 3]
    assert asked == ["abc"]
    assert [length("x" * 1000), length("x" * 1000)] == [1000, 1000]
    assert len(asked) == 3


def test_equal_values_of_other_types_are_asked_for_by_themselves() -> None:
    @remember_short(8)
    def shown(value: object) -> str:
        return str(value)

    assert [shown(1), shown(True), shown(1.0)] == ["1", "True", "1.0"]


def test_small_questions_are_answered_once_and_large_ones_each_time() -> None:
    asked: list[tuple[str, ...]] = []

    def find(names: tuple[str, ...]) -> int:
        asked.append(names)
        return len(names)

    remembered = Remembered(find)
    small, large = ("a", "b"), ("a",) * 1000
    assert [remembered[small], remembered[small], remembered[large], remembered[large]] == [2, 2, 1000, 1000]
    assert asked == [small, large, large]


def test_all_is_forgotten_when_there_is_too_much() -> None:
    remembered = Remembered[tuple[str, ...], int](len)
    for index in range(2000):
        assert remembered[f"{index:05}", "x" * 10_000] == 2
    assert 0 < len(remembered) < 200
