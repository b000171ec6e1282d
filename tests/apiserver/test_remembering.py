"""Answers that are kept, and those that are not."""

from __future__ import annotations

from butler.apiserver.remembering import remember_short


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
