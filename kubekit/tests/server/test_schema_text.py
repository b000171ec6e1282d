"""Regular expressions and formats mean what they mean in Go."""

from __future__ import annotations

import pytest

from kubekit.server.objects.go.regex import GoRegexError, check, matcher, rust_pattern
from kubekit.server.objects.schema.formats import string_check


@pytest.mark.parametrize(
    ("pattern", "found", "missed"),
    [
        ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "a-b", "a\n"),
        (r"^\d+$", "12", "٣"),
        (r"^\w+$", "ab_1", "é"),
        ("(?i)^foo$", "FoO", "fo"),
        ("^a{,3}$", "a{,3}", "aa"),
        (r"^\Qa.b\E$", "a.b", "axb"),
        ("^[[:alpha:]_-]+$", "a-_", "1"),
        (r"^\p{Greek}+$", "αβ", "ab"),
        ("(?s)^a.b$", "a\nb", "ab"),
        ("^a.b$", "a-b", "a\nb"),
        ("(?m)^b$", "a\nb", "ab"),
        (r"\bfoo\b", "éfoo", "afoo"),
        ("^(|a)$", "", "b"),
        (r"^[^\s]$", "\u00a0", " "),
    ],
)
def test_a_pattern_finds_what_go_finds(pattern: str, found: str, missed: str) -> None:
    assert matcher(pattern)(found)
    assert not matcher(pattern)(missed)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "missing closing ): `(`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{" + "9" * 9000 + "}", "invalid repeat count: `{" + "9" * 9000 + "}`"),
        ("\\y", "invalid escape sequence: `\\y`"),
    ],
)
def test_a_pattern_go_does_not_compile_is_refused_in_its_words(pattern: str, message: str) -> None:
    with pytest.raises(GoRegexError) as refusal:
        check(pattern)
    assert str(refusal.value) == f"error parsing regexp: {message}"


def test_a_pattern_made_to_be_slow_is_not() -> None:
    assert rust_pattern("^(a+)+$")
    assert not matcher("^(a+)+$")("a" * 50_000 + "b")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date-time", "2024-02-29t10:00:00.5z", "2023-02-29T10:00:00Z"),
        ("date", "2024-01-31", "2024-1-31"),
        ("duration", "1h30m", "5 parsecs"),
        ("duration", "3 days", "1"),
        ("ipv4", "010.1.2.3", "1.2.3"),
        ("ipv6", "::ffff:1.2.3.4", "fe80::1%eth0"),
        ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
        ("hostname", "example.com", "-a"),
        ("uri", "/absolute/path", "relative"),
        ("uri", "http://u:p@h:80/x?y#z", "http://a b"),
        ("email", "Ann <a@b.c>", "a@b,c@d"),
        ("mac", "0123.4567.89ab", "01:23:45-67:89:ab"),
        ("uuid", "550E8400E29B41D4A716446655440000", "550e8400"),
        ("byte", "YQ==", ""),
        ("k8s-short-name", "a-b", "a.b"),
        ("isbn", "978-0321751041", "978-0321751042"),
        ("creditcard", "4012-8888-8888-1881", "4012888888881882"),
    ],
)
def test_a_format_is_checked_as_kubernetes_does(name: str, good: str, bad: str) -> None:
    check_format = string_check(name)
    assert check_format
    assert (check_format(good), check_format(bad)) == (True, False)


@pytest.mark.parametrize("text", ["1" * 50_000, "0" * 50_000 + "x", "a." * 20_000 + "<", '"' * 50_000, "1 " * 20_000])
@pytest.mark.parametrize("name", ["duration", "email", "uri", "ipv4", "cidr", "date-time", "byte"])
def test_no_text_keeps_a_format_busy(name: str, text: str) -> None:
    check_format = string_check(name)
    assert check_format
    assert not check_format(text) or name == "byte"
