"""Service-account tokens: what they say, and when they stop being worth anything."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from kubekit.clock import SeededChance
from kubekit.errors import ApiError, DataDamaged
from kubekit.model.resource import Object
from kubekit.server.access import token_requests
from kubekit.server.access.certificates import new_key
from kubekit.server.access.tokens import (
    API_AUDIENCE,
    Bound,
    SigningKey,
    TokenIssuer,
    TokenRefused,
    TokenVerifier,
    openid_configuration,
)
from tests.server.auth.world import Shelf, TurnedClock

KEY = SigningKey(new_key())


class World:
    def __init__(self) -> None:
        self.clock, self.shelf = TurnedClock(), Shelf()
        self.account = self.shelf.put("serviceaccounts", "default", "bob")
        self.issuer = TokenIssuer(KEY, self.clock, SeededChance(1))
        self.verifier = TokenVerifier(KEY, self.clock, self.shelf)

    def issue(self, seconds: int = 3600, *bound: Bound) -> str:
        return self.issuer.issue(self.account, [API_AUDIENCE], seconds, bound)

    def ask(self, **spec: Any) -> Object:
        return self.answer({"spec": spec})

    def answer(self, request: Object, name: str = "bob") -> Object:
        return token_requests.answer(request, "default", name, self.shelf, self.issuer, self.clock)


@pytest.fixture
def world() -> World:
    return World()


def claims(token: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    return payload


def test_a_token_says_what_one_of_kubernetes_says(world: World) -> None:
    said = claims(world.issue(600))
    assert len(said.pop("jti")) == 36
    assert said == {
        "aud": ["https://kubernetes.default.svc"],
        "exp": 1767269400,
        "iat": 1767268800,
        "iss": "https://kubernetes.default.svc",
        "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "bob", "uid": "serviceaccounts-bob"}},
        "nbf": 1767268800,
        "sub": "system:serviceaccount:default:bob",
    }


def test_the_holder_of_a_token_is_the_service_account(world: World) -> None:
    token = world.issue()
    verified = world.verifier.verify(token)
    assert verified.audiences == (API_AUDIENCE,)
    assert verified.user.wire() == {
        "username": "system:serviceaccount:default:bob",
        "uid": "serviceaccounts-bob",
        "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
        "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={claims(token)['jti']}"]},
    }


def test_a_token_for_others_is_not_for_the_api(world: World) -> None:
    token = world.issuer.issue(world.account, ["vault", "b"], 600)
    with pytest.raises(TokenRefused) as refused:
        world.verifier.verify(token)
    assert str(refused.value) == (
        'token audiences ["vault" "b"] is invalid for the target audiences ["https://kubernetes.default.svc"]'
    )
    assert world.verifier.verify(token, ["vault"]).audiences == ("vault",)


def test_a_token_known_for_one_audience_is_still_refused_for_another(world: World) -> None:
    token = world.issue()
    world.verifier.verify(token)
    with pytest.raises(TokenRefused, match="audiences"):
        world.verifier.verify(token, ["vault"])


def test_a_token_ends_even_when_it_was_seen_before(world: World) -> None:
    token = world.issue(600)
    world.verifier.verify(token)
    world.clock.turn(seconds=661)
    with pytest.raises(TokenRefused, match="service account token has expired"):
        world.verifier.verify(token)


def test_a_token_of_another_space_proves_nothing(world: World) -> None:
    other = TokenIssuer(SigningKey(new_key()), world.clock, SeededChance(1))
    with pytest.raises(TokenRefused, match="no keys found"):
        world.verifier.verify(other.issue(world.account, [API_AUDIENCE], 600))


def test_a_token_that_claims_our_key_but_is_not_signed_by_it_is_refused(world: World) -> None:
    header, payload, _ = world.issue().split(".")
    forged = base64.urlsafe_b64encode(bytes(64)).rstrip(b"=").decode()
    with pytest.raises(TokenRefused, match="invalid signature"):
        world.verifier.verify(f"{header}.{payload}.{forged}")


def test_an_unsigned_token_is_refused(world: World) -> None:
    header = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    _, payload, _ = world.issue().split(".")
    with pytest.raises(TokenRefused, match="invalid signature"):
        world.verifier.verify(f"{header}.{payload}.")


DEEP = base64.urlsafe_b64encode(b"[" * 100_000).decode()


@pytest.mark.parametrize("text", ["x", "a.b.c", "é.é.é", "..", "W10.W10.W10", f"{DEEP}.{DEEP}.x"], ids=range(6))
def test_what_is_no_token_is_refused_without_a_word(world: World, text: str) -> None:
    with pytest.raises(TokenRefused) as refused:
        world.verifier.verify(text)
    assert str(refused.value) == ""


def test_a_token_goes_with_its_service_account_within_ten_seconds(world: World) -> None:
    token = world.issue()
    world.verifier.verify(token)
    world.shelf.drop("serviceaccounts", "default", "bob")
    world.clock.turn(seconds=9)
    world.verifier.verify(token)
    world.clock.turn(seconds=1)
    with pytest.raises(TokenRefused, match='serviceaccounts "bob" not found'):
        world.verifier.verify(token)


def test_a_namesake_does_not_inherit_the_token(world: World) -> None:
    token = world.issue()
    world.account["metadata"]["uid"] = "another"
    with pytest.raises(TokenRefused, match=r"service account UID \(another\) does not match claim"):
        world.verifier.verify(token)


@pytest.mark.parametrize("kind", ["pod", "secret", "node"])
def test_a_token_goes_with_what_it_is_bound_to(world: World, kind: str) -> None:
    home = "" if kind == "node" else "default"
    world.shelf.put(f"{kind}s", home, "x")
    token = world.issue(3600, Bound(kind, "x", f"{kind}s-x"))
    world.verifier.verify(token)
    world.shelf.drop(f"{kind}s", home, "x")
    world.clock.turn(seconds=11)
    with pytest.raises(TokenRefused, match="service account token has been invalidated"):
        world.verifier.verify(token)


def test_a_pod_that_is_being_stopped_keeps_its_token_for_a_minute(world: World) -> None:
    pod = world.shelf.put("pods", "default", "x")
    token = world.issue(3600, Bound("pod", "x", "pods-x"))
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z"
    world.clock.turn(seconds=60)
    world.verifier.verify(token)
    world.clock.turn(seconds=11)
    with pytest.raises(TokenRefused, match="invalidated"):
        world.verifier.verify(token)


def test_the_cache_is_bounded(world: World) -> None:
    world.verifier.capacity = 2
    for _ in range(5):
        world.verifier.verify(world.issue())
    assert len(world.verifier._known) == 2


def test_a_legacy_token_holds_as_long_as_its_secret_holds_it(world: World) -> None:
    secret = world.shelf.put("secrets", "default", "s")
    token = world.issuer.legacy_token(world.account, secret)
    with pytest.raises(TokenRefused, match="Token does not match server's copy"):
        world.verifier.verify(token)
    secret["data"] = {"token": base64.b64encode(token.encode()).decode()}
    world.clock.turn(days=1000)
    assert world.verifier.verify(token).user.extra == {}
    world.shelf.drop("secrets", "default", "s")
    world.clock.turn(seconds=10)
    with pytest.raises(TokenRefused, match="Token has been invalidated"):
        world.verifier.verify(token)


def test_the_public_key_can_be_published(world: World) -> None:
    [shown] = KEY.key_set()["keys"]
    assert shown.keys() == {"use", "kty", "kid", "crv", "alg", "x", "y"}
    assert openid_configuration("https://h:1")["jwks_uri"] == "https://h:1/openid/v1/jwks"


def test_a_damaged_signing_key_is_reported() -> None:
    with pytest.raises(DataDamaged, match=r"sa\.key"):
        SigningKey(b"-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n").key_set()


def test_a_request_without_wishes_gets_an_hour_for_the_api(world: World) -> None:
    answered = world.answer({})
    token = answered["status"].pop("token")
    assert claims(token)["exp"] - claims(token)["iat"] == 3600
    assert answered == {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": "bob",
            "namespace": "default",
            "uid": "serviceaccounts-bob",
            "creationTimestamp": "2026-01-01T12:00:00Z",
        },
        "spec": {"audiences": [API_AUDIENCE], "expirationSeconds": 3600, "boundObjectRef": None},
        "status": {"expirationTimestamp": "2026-01-01T13:00:00Z"},
    }


def test_a_token_bound_to_a_pod_names_its_node(world: World) -> None:
    world.shelf.put("pods", "default", "p", spec={"serviceAccountName": "bob", "nodeName": "n"})
    answered = world.ask(boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "p"})
    said = claims(answered["status"]["token"])["kubernetes.io"]
    assert (said["pod"], said["node"]) == ({"name": "p", "uid": "pods-p"}, {"name": "n"})
    extra = world.verifier.verify(answered["status"]["token"]).user.extra
    assert extra["authentication.kubernetes.io/pod-name"] == ("p",)
    assert extra["authentication.kubernetes.io/node-name"] == ("n",)


REFUSED = [
    (
        {"spec": {"expirationSeconds": 5}},
        422,
        (
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 5: '
            "may not specify a duration less than 10 minutes"
        ),
    ),
    (
        {"spec": {"expirationSeconds": 1 << 33}},
        422,
        (
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 8589934592: '
            "may not specify a duration larger than 2^32 seconds"
        ),
    ),
    (
        {"spec": {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "nope"}}},
        404,
        'pods "nope" not found',
    ),
    (
        {"spec": {"boundObjectRef": {"kind": "Foo", "apiVersion": "x/v1", "name": "nope"}}},
        400,
        "cannot bind token to object of type x/v1, Kind=Foo",
    ),
    ({"spec": {"boundObjectRef": {}}}, 400, "cannot bind token to object of type /, Kind="),
    (
        {"metadata": {"name": "x"}},
        422,
        (
            'TokenRequest.authentication.k8s.io "bob" is invalid: metadata.name: Invalid value: "x": '
            "must match the service account name if specified"
        ),
    ),
    (
        {"metadata": {"namespace": "x"}},
        400,
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
    (
        {"metadata": {"uid": "x"}},
        409,
        (
            'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "bob": the UID in the token request '
            "(x) does not match the UID of the service account (serviceaccounts-bob)"
        ),
    ),
]


@pytest.mark.parametrize(("request_body", "code", "message"), REFUSED)
def test_a_wrong_request_is_refused_in_the_words_of_kubernetes(
    world: World, request_body: Object, code: int, message: str
) -> None:
    with pytest.raises(ApiError) as refused:
        world.answer(request_body)
    assert (refused.value.code, refused.value.message) == (code, message)


def test_only_a_pod_of_the_account_can_be_bound(world: World) -> None:
    world.shelf.put("pods", "default", "p", spec={"serviceAccountName": "alice"})
    with pytest.raises(ApiError, match='cannot bind token for serviceaccount "bob" to pod running with different'):
        world.ask(boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "p"})


def test_there_is_no_token_for_nobody(world: World) -> None:
    with pytest.raises(ApiError, match='serviceaccounts "nobody" not found'):
        world.answer({}, "nobody")
