"""Tokens of service accounts: who gets them, what they are good for, and when they end."""

from __future__ import annotations

from typing import Any

from tests.real.differential.steps import Step, case, delete, get, post, quietly, status
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    BINDINGS,
    MAPS,
    SECRETS,
    binding,
    made,
    secret,
)

_AUTHENTICATION = "/apis/authentication.k8s.io/v1"

_READY = get(f"{ACCOUNTS}/default", until=status(200), is_shown=False)


def _token(name: str = "default", save: str = "", **spec: Any) -> Step:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return post(f"{ACCOUNTS}/{name}/token", body, save=save, ignore=("body.status.token.alg", "body.status.token.aud"))


def _bearer(step: Step, token: str = "${token.status.token}") -> Step:
    return Step(
        step.method,
        step.path,
        step.body,
        {**step.headers, "Authorization": f"Bearer {token}"},
        is_anonymous=True,
        save=step.save,
        until=step.until,
        is_shown=step.is_shown,
        ignore=step.ignore,
    )


def _token_review(token: str, **spec: Any) -> Step:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token, **spec}}
    return post(f"{_AUTHENTICATION}/tokenreviews", body, ignore=("body.spec.token", "body.status.audiences"))


_SELF = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


CASES = (
    case(
        "a token and what it is good for",
        _READY,
        _token(save="token", expirationSeconds=600),
        _bearer(get(f"{MAPS}/none")),
        _bearer(post(f"{_AUTHENTICATION}/selfsubjectreviews", _SELF)),
        _token_review("${token.status.token}"),
        *quietly(
            post(
                BINDINGS,
                {
                    **binding("b", "view", "x", "ClusterRole"),
                    "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": "$ns"}],
                },
            )
        ),
        _bearer(get(f"{MAPS}/none", until=status(404))),
    ),
    case(
        "tokens bound to objects",
        _READY,
        *quietly(post(SECRETS, secret("s"), save="s")),
        _token(save="token", boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "s"}),
        _bearer(get(f"{MAPS}/none")),
        *quietly(delete(f"{SECRETS}/s")),
        _bearer(get(f"{MAPS}/none", until=status(401))),
        _token(boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "none"}),
        _token(boundObjectRef={"kind": "ConfigMap", "apiVersion": "v1", "name": "x"}),
        _token(
            boundObjectRef={
                "kind": "Secret",
                "apiVersion": "v1",
                "name": "s",
                "uid": "00000000-0000-0000-0000-000000000001",
            }
        ),
    ),
    case(
        "tokens of other audiences",
        _READY,
        _token(save="token", audiences=["elsewhere"]),
        _bearer(get(f"{MAPS}/none")),
        _token_review("${token.status.token}"),
        _token_review("${token.status.token}", audiences=["elsewhere", "x"]),
        _token_review("nonsense"),
        _token_review(""),
    ),
    case(
        "tokens end with their account",
        *quietly(post(ACCOUNTS, made("v1", "ServiceAccount", "a"))),
        _token("a", save="token"),
        _bearer(get(f"{MAPS}/none")),
        *quietly(delete(f"{ACCOUNTS}/a")),
        _bearer(get(f"{MAPS}/none", until=status(401))),
        *quietly(post(ACCOUNTS, made("v1", "ServiceAccount", "a"))),
        _bearer(get(f"{MAPS}/none")),
    ),
    case(
        "token requests that make no sense",
        _READY,
        _token(expirationSeconds=5),
        _token(expirationSeconds=2**33),
        _token("none"),
        post(f"{ACCOUNTS}/default/token", {"apiVersion": "v1", "kind": "Pod"}),
        post(
            f"{ACCOUNTS}/default/token",
            {
                "metadata": {"name": "other"},
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {},
            },
        ),
    ),
    case(
        "a token in a Secret",
        *quietly(
            post(ACCOUNTS, made("v1", "ServiceAccount", "a"), save="a"),
            post(
                SECRETS,
                secret(
                    "t",
                    {"annotations": {"kubernetes.io/service-account.name": "a"}},
                    type="kubernetes.io/service-account-token",
                ),
            ),
        ),
        get(f"{SECRETS}/t", until=lambda answer: "token" in (answer.at("data") or {}), ignore=("body.data",)),
        *quietly(delete(f"{ACCOUNTS}/a")),
        get(f"{SECRETS}/t", until=status(404)),
    ),
)
