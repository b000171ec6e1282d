from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubekit.model.quantity import Format, Quantity, is_quantity, parse


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("0Gi", "0"),
        ("1.5", "1500m"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1000m", "1"),
        ("1000k", "1M"),
        ("5000", "5k"),
        ("1025", "1025"),
        ("1024Ki", "1Mi"),
        ("1.5Gi", "1536Mi"),
        ("0.1Ki", "102400m"),
        ("1100Mi", "1100Mi"),
        ("1024", "1024"),
        ("2e3", "2e3"),
        ("1e1", "10"),
        ("1E", "1E"),
        ("-1Gi", "-1Gi"),
        ("3e-10", "1e-9"),
        ("0.0000000001", "1n"),
        ("16Ei", "9223372036854775807"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
    ],
)
def test_a_quantity_is_written_as_kubernetes_writes_it(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


def test_a_canonical_text_stays_as_it_was_given() -> None:
    assert str(parse("+5")) == "+5"
    assert str(parse("1.500")) == "1.500"


@pytest.mark.parametrize("text", ["", "abc", "1,3G", "1 Gi", "1.2.3", "٣"])
def test_a_text_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="quantities must match the regular expression"):
        parse(text)


@pytest.mark.parametrize("text", ["200K", "--1", "5Mib", "1ee3", "1e", "1i", "1e99999"])
def test_an_unknown_suffix_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unable to parse quantity's suffix|quantities must match"):
        parse(text)


def test_a_suffix_alone_counts_as_zero_as_it_does_in_kubernetes() -> None:
    assert is_quantity("Mi")
    with pytest.raises(ValueError, match="unable to parse numeric part of quantity"):
        parse("Ei")


def test_quantities_of_different_writing_are_compared_by_size() -> None:
    assert parse("200M") == parse("0.2G")
    assert parse("50M") < parse("50Mi")
    assert parse("1") > parse("999m")
    assert parse("1k").compare(parse("1000")) == 0
    assert len({parse("1k"), parse("1000"), parse("1000000m")}) == 1


def test_a_sum_keeps_the_writing_of_its_first_part() -> None:
    assert str(parse("50k") + parse("20")) == "50020"
    assert str(parse("1Gi") + parse("1Mi")) == "1025Mi"
    assert str(parse("0") + parse("1Gi")) == "1Gi"
    assert str(parse("50k") - parse("20k")) == "30k"
    assert (parse("1") - parse("2")).sign == -1


@pytest.mark.parametrize(
    ("text", "whole"),
    [("50k", 50000), ("1Ki", 1024), ("1000m", None), ("1.5", None), ("1e30", None), ("1Ei", None)],
)
def test_only_small_whole_numbers_are_integers(text: str, whole: int | None) -> None:
    assert parse(text).exact_int == whole


def test_a_part_of_a_whole_is_rounded_away_from_zero() -> None:
    assert parse("1500m").as_int() == 2
    assert parse("-1500m").as_int() == -2
    assert parse("2Ki").as_int() == 2048


def test_a_float_comes_as_near_as_floats_can() -> None:
    assert parse("100m").as_float() == 0.1
    assert parse("1e500").as_float() == float("inf")


@given(st.integers(-(10**30), 10**30), st.integers(-9, 18), st.sampled_from(Format))
def test_what_is_written_reads_back_as_the_same_number(digits: int, exponent: int, kind: Format) -> None:
    quantity = Quantity(digits, exponent, kind)
    text = str(quantity)
    if not text.endswith(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")) or abs(quantity.as_int()) < 2**63:
        assert parse(text) == quantity
