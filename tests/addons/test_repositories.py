"""Tenants name where charts come from, and nothing inside is reached that way."""

from __future__ import annotations

import pytest

from butler.addons import repositories
from butler.addons.errors import RepositoryRefused
from butler.api.config import Charts

ALLOWED = Charts(
    allowed_repositories=("https://charts.example.com/stable", "oci://10.0.0.5:5000/team", "https://Other.example.com/")
)


@pytest.mark.parametrize(
    "repository",
    [
        "https://charts.jetstack.io",
        "https://example.com:8443/charts/",
        "http://charts.example.com",
        "oci://ghcr.io/team/charts",
        "https://gitlab.com/api/v4/projects/a%2Fb/packages/helm/stable",
        "https://8.8.8.8/charts",
        "oci://[2606:4700:4700::1111]/charts",
    ],
)
def test_the_internet_is_for_all(repository: str) -> None:
    repositories.check("web", repository, Charts())


@pytest.mark.parametrize(
    "repository",
    [
        "",
        "charts.example.com",
        "file:///etc",
        "file://localhost/etc",
        "FILE:///etc",
        "builtin://cilium",
        "ftp://charts.example.com",
        "git+https://example.com",
        "https://",
        "https:///charts",
        "https://robot:open-sesame@charts.example.com",
        "https://charts.example.com:open-sesame/x",
        "https://localhost/charts",
        "https://LocalHost./charts",
        "https://api.localhost",
        "https://registry",
        "https://metadata.google.internal",
        "https://kubernetes.default.svc",
        "https://kubernetes.default.svc.cluster.local",
        "http://127.0.0.1:8080",
        "http://127.1",
        "http://2130706433",
        "http://0x7f.0.0.1",
        "http://0x7f000001",
        "http://0177.0.0.1",
        "http://0.0.0.0",
        "http://10.0.0.1",
        "http://172.16.0.1",
        "http://192.168.1.1",
        "http://169.254.169.254/latest",
        "http://100.64.0.1",
        "http://224.0.0.1",
        "http://[::1]",
        "http://[::]",
        "http://[fe80::1%25eth0]",
        "http://[fd00::1]",
        "http://[::ffff:127.0.0.1]",
        "http://[::ffff:169.254.169.254]",
        "http://[64:ff9b::a9fe:a9fe]",
        "http://[2002:7f00:1::]",
        "http://１２７.0.0.1",
        "https://charts.example.com\\@localhost",
        "https://charts.example.com/a b",
        "https://charts.example.com/?x=1",
        "https://charts.example.com/#x",
        "https://charts.example.com/a/../b",
        "https://charts.example.com/a/%2e%2e/b",
        "https://charts.example.com/a\n",
    ],
)
def test_nothing_else_is(repository: str) -> None:
    with pytest.raises(RepositoryRefused, match="web: charts may not come from this repository: ") as caught:
        repositories.check("web", repository, Charts())
    assert "open-sesame" not in str(caught.value)


def test_who_may_allow_a_repository_inside_is_told() -> None:
    with pytest.raises(RepositoryRefused, match=r"charts\.allowedRepositories of the ButlerConfig may allow it"):
        repositories.check("web", "http://127.0.0.1:8080", Charts())


@pytest.mark.parametrize(
    "repository",
    [
        "https://charts.example.com/stable",
        "https://CHARTS.example.com:443/stable/",
        "https://charts.example.com/stable/more",
        "oci://10.0.0.5:5000/team/charts",
        "https://other.example.com/anything",
    ],
)
def test_what_is_allowed_may_be_anywhere(repository: str) -> None:
    repositories.check("web", repository, ALLOWED)


@pytest.mark.parametrize(
    "repository",
    [
        "https://charts.example.com",
        "https://charts.example.com/stable2",
        "https://charts.example.com/stable/../incubator",
        "https://charts.example.com/stable%2f..%2fincubator",
        "https://charts.example.com/stable\\..\\incubator",
        "http://charts.example.com/stable",
        "oci://charts.example.com/stable",
        "https://charts.example.com:8443/stable",
        "https://charts.example.com.evil.org/stable",
        "https://charts.example.com@evil.org/stable",
        "https://evil.org/https://charts.example.com/stable",
        "oci://10.0.0.5:5001/team",
        "oci://10.0.0.5/team",
        "https://charts.jetstack.io",
    ],
)
def test_where_some_are_allowed_others_are_not(repository: str) -> None:
    with pytest.raises(RepositoryRefused):
        repositories.check("web", repository, ALLOWED)


def test_an_allowed_beginning_that_makes_no_sense_allows_nothing() -> None:
    for nonsense in ("", "https://", "*", "https://robot:x@charts.example.com"):
        with pytest.raises(RepositoryRefused):
            repositories.check("web", "https://charts.example.com", Charts(allowed_repositories=(nonsense,)))
