"""Who makes a request, and as whom."""

from __future__ import annotations

import base64
import ssl
from pathlib import Path

import pytest
from multidict import CIMultiDict

from kubekit.clock import SeededChance
from kubekit.errors import BadRequest, Forbidden, Unauthorized
from kubekit.server.access.authentication import Authenticator, SpaceAccess, static_token_key
from kubekit.server.access.identities import KeyPair
from kubekit.server.access.impersonation import Impersonator, wanted_user
from kubekit.server.access.pki import ROOT, Pki, SpaceKeys, new_space_keys
from kubekit.server.access.rbac import Attributes
from kubekit.server.access.tokens import API_AUDIENCE, SigningKey, TokenIssuer, TokenVerifier
from kubekit.server.objects.user import NOBODY, UserInfo
from tests.server.auth.world import Shelf, TurnedClock, binding, rbac_of, role, rule, user

TENANT = "team-a/web"


class World:
    def __init__(self, directory: Path) -> None:
        self.clock, self.shelf = TurnedClock(), Shelf()
        self.pki = Pki(directory, self.clock)
        self.pki.open()
        self.access: dict[str, SpaceAccess] = {}
        self.keys: dict[str, SpaceKeys] = {ROOT: self.pki.keys}
        self.authenticator = Authenticator(self.opens, self.clock)

    def keys_of(self, space: str) -> SpaceKeys:
        if space not in self.keys:
            self.keys[space] = new_space_keys(space, self.clock.now())
        return self.keys[space]

    def certificate(self, name: str, groups: list[str], space: str = ROOT) -> KeyPair:
        return self.keys_of(space).authority.issue_client_certificate(name, groups, 1, self.clock.now())

    def opens(self, space: str) -> SpaceAccess:
        if space not in self.access:
            keys = self.keys_of(space)
            verifier = TokenVerifier(SigningKey(keys.signing_key), self.clock, self.shelf)
            robot = UserInfo("robot", groups=("robots",))
            self.access[space] = SpaceAccess(keys.authority, verifier, {static_token_key("s3cret"): robot})
        return self.access[space]

    def who(self, *headers: tuple[str, str], pair: KeyPair | None = None, space: str = ROOT) -> UserInfo:
        return self.authenticator.authenticate(CIMultiDict(headers), der(pair) if pair else None, space)

    def token(self, space: str) -> str:
        account = self.shelf.put("serviceaccounts", "default", "bob")
        issuer = TokenIssuer(SigningKey(self.keys_of(space).signing_key), self.clock, SeededChance(1))
        return issuer.issue(account, [API_AUDIENCE], 600)


def der(pair: KeyPair) -> bytes:
    text = pair.certificate.decode()
    return ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN") :])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("auth") / "pki")


def bearer(token: str) -> tuple[str, str]:
    return "Authorization", f"Bearer {token}"


def test_who_shows_nothing_is_anonymous(world: World) -> None:
    assert world.who() == NOBODY
    assert NOBODY.wire() == {"username": "system:anonymous", "groups": ["system:unauthenticated"]}


def test_a_certificate_names_a_user_and_groups(world: World) -> None:
    alice = world.who(pair=world.pki.issue_client_certificate("alice", ["dev", "ops"], 1))
    assert (alice.name, alice.groups) == ("alice", ("dev", "ops", "system:authenticated"))
    assert alice.extra["authentication.kubernetes.io/credential-id"][0].startswith("X509SHA256=")


def test_the_administrator_of_one_space_is_a_stranger_in_every_other(world: World) -> None:
    tenant = world.certificate("kubernetes-admin", ["system:masters"], TENANT)
    assert world.who(pair=tenant, space=TENANT).is_master
    for pair, space in ((tenant, ROOT), (world.pki.admin, TENANT), (tenant, "team-a/other")):
        with pytest.raises(Unauthorized):
            world.who(pair=pair, space=space)


def test_a_certificate_known_in_one_space_is_still_checked_in_another(world: World) -> None:
    world.who(pair=world.pki.admin)
    with pytest.raises(Unauthorized):
        world.who(pair=world.pki.admin, space=TENANT)
    assert world.who(pair=world.pki.admin).is_master


def test_a_certificate_of_a_removed_space_does_not_open_its_successor(tmp_path: Path) -> None:
    world = World(tmp_path / "pki")
    pair = world.certificate("eve", [], TENANT)
    assert world.who(pair=pair, space=TENANT).name == "eve"
    del world.keys[TENANT]
    world.access.clear()
    with pytest.raises(Unauthorized):
        world.who(pair=pair, space=TENANT)


def test_a_certificate_that_ended_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path / "pki")
    pair = world.pki.issue_client_certificate("alice", [], 1)
    world.who(pair=pair)
    world.clock.turn(days=2)
    with pytest.raises(Unauthorized):
        world.who(pair=pair)


def test_what_is_no_certificate_is_refused(world: World) -> None:
    with pytest.raises(Unauthorized):
        world.authenticator.authenticate(CIMultiDict(), b"nonsense", ROOT)


def test_a_token_opens_its_own_space_only(world: World) -> None:
    token = world.token(TENANT)
    assert world.who(bearer(token), space=TENANT).name == "system:serviceaccount:default:bob"
    with pytest.raises(Unauthorized):
        world.who(bearer(token))


def test_a_bad_token_is_never_anonymous(world: World) -> None:
    with pytest.raises(Unauthorized) as refused:
        world.who(bearer("nonsense"))
    assert refused.value.status()["message"] == "Unauthorized"


def test_a_good_certificate_wins_over_a_bad_token(world: World) -> None:
    assert world.who(bearer("nonsense"), pair=world.pki.admin).name == "kubernetes-admin"


def test_a_good_token_wins_over_a_foreign_certificate(world: World) -> None:
    assert world.who(bearer("s3cret"), pair=world.pki.admin, space=TENANT).name == "robot"


def test_a_static_token_names_its_user(world: World) -> None:
    assert world.who(bearer("s3cret")).groups == ("robots", "system:authenticated")


@pytest.mark.parametrize("value", ["Basic Zm9v", "Bearer", "Bearer  x", "bearer", ""])
def test_other_credentials_are_no_token(world: World, value: str) -> None:
    assert world.who(("Authorization", value)) == NOBODY


def test_a_browser_may_send_its_token_as_a_websocket_protocol(world: World) -> None:
    encoded = base64.urlsafe_b64encode(b"s3cret").rstrip(b"=").decode()
    offered = f"v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.{encoded}"
    assert world.who(("Sec-WebSocket-Protocol", offered)).name == "robot"


BOB = UserInfo("bob", groups=("system:authenticated",))
MASTER = UserInfo("root", groups=("system:masters", "system:authenticated"))
LIST_PODS = {"verb": "list", "resource": "pods", "namespace": "default"}


def act_as(requester: UserInfo, *headers: tuple[str, str], rules: tuple[dict[str, object], ...] = ()) -> UserInfo:
    rbac = rbac_of(role("r", *rules), binding("b", "r", user("bob")))
    wanted = wanted_user(CIMultiDict(headers))
    assert wanted is not None
    return Impersonator(rbac.authorize).act_as(wanted, Attributes(requester, **LIST_PODS))


def test_without_the_headers_nobody_is_impersonated() -> None:
    assert wanted_user(CIMultiDict({"Accept": "*/*"})) is None


AS = {
    "a user": ([("Impersonate-User", "alice")], ("system:authenticated",)),
    "a group": (
        [("Impersonate-User", "alice"), ("Impersonate-Group", "g1"), ("Impersonate-Group", "system:masters")],
        ("g1", "system:masters", "system:authenticated"),
    ),
    "a service account": (
        [("Impersonate-User", "system:serviceaccount:a:b")],
        ("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"),
    ),
    "a node": ([("Impersonate-User", "system:node:a")], ("system:nodes", "system:authenticated")),
    "nobody": ([("Impersonate-User", "system:anonymous")], ("system:unauthenticated",)),
}


@pytest.mark.parametrize(("headers", "groups"), AS.values(), ids=AS)
def test_an_administrator_can_act_as(headers: list[tuple[str, str]], groups: tuple[str, ...]) -> None:
    assert act_as(MASTER, *headers).groups == groups


def test_extra_fields_and_uid_are_taken_over() -> None:
    headers = [("Impersonate-User", "a"), ("Impersonate-Uid", "7"), ("Impersonate-Extra-Acme%2ecom%2fProject", "x")]
    assert act_as(MASTER, *headers) == UserInfo("a", "7", ("system:authenticated",), {"acme.com/project": ("x",)})


def test_who_has_no_right_is_told_the_narrow_one() -> None:
    with pytest.raises(Forbidden) as refused:
        act_as(BOB, ("Impersonate-User", "alice"))
    assert refused.value.message == (
        'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" '
        'in the namespace "default"'
    )


def test_the_old_right_is_enough() -> None:
    right = rule("impersonate", "users", names="alice")
    assert act_as(BOB, ("Impersonate-User", "alice"), rules=(right,)).name == "alice"


def test_who_used_the_old_right_is_told_about_the_old_right() -> None:
    rbac = rbac_of(role("r", rule("impersonate", "users", names="alice")), binding("b", "r", user("bob")))
    impersonator = Impersonator(rbac.authorize)
    impersonator.act_as(UserInfo("alice"), Attributes(BOB, **LIST_PODS))
    with pytest.raises(Forbidden) as refused:
        impersonator.act_as(UserInfo("carol"), Attributes(BOB, **LIST_PODS))
    assert refused.value.message == (
        'users "carol" is forbidden: User "bob" cannot impersonate resource "users" in API group "" '
        "at the cluster scope"
    )


def test_the_narrow_right_holds_for_its_requests_only() -> None:
    rules = (
        rule("impersonate:user-info", "users", "authentication.k8s.io"),
        rule("impersonate-on:user-info:get", "pods"),
    )
    with pytest.raises(Forbidden, match="impersonate-on:user-info:list"):
        act_as(BOB, ("Impersonate-User", "alice"), rules=rules)
    more = rule("impersonate-on:user-info:list", "pods")
    assert act_as(BOB, ("Impersonate-User", "alice"), rules=(*rules, more)).name == "alice"


def test_no_narrow_right_makes_an_administrator() -> None:
    rules = (
        rule("impersonate:user-info", "*", "authentication.k8s.io"),
        rule("impersonate-on:user-info:list", "pods"),
    )
    with pytest.raises(Forbidden, match="impersonating the system:masters group is not allowed"):
        act_as(BOB, ("Impersonate-User", "alice"), ("Impersonate-Group", "system:masters"), rules=rules)


def test_a_group_without_a_user_makes_no_sense() -> None:
    with pytest.raises(BadRequest) as refused:
        wanted_user(CIMultiDict([("Impersonate-Group", "g1"), ("Impersonate-Extra-Foo", "x")]))
    assert refused.value.message == (
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"g1"}, '
        'Extra:map[string][]string{"foo":[]string{"x"}}} without impersonating a user name'
    )
