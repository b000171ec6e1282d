"""User and IdentityProvider: who people are."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from msgspec import Meta

from kubekit.model.resource import AGE, Column, Int64, Model, NotEmpty, Time, with_format
from kubekit.model.status import Condition, Status

from .model import NOT_YET, HttpUrl, Resource
from .shared import SecretRef
from .team import TeamRole

Email = Annotated[str, with_format("email")]


class UserPhase(StrEnum):
    """Where an account is in its life."""

    PENDING = "Pending"
    ACTIVE = "Active"
    DISABLED = "Disabled"
    LOCKED = "Locked"


class SshKey(Model):
    """An SSH public key."""

    name: Annotated[str, Meta(min_length=1, max_length=63)]
    """What the owner calls it."""
    public_key: NotEmpty
    """The key."""
    fingerprint: str | None = None
    """SHA-256 fingerprint."""
    added_at: Time | None = None
    """When it was added."""


class UserSpec(Model):
    """The account."""

    email: Email
    """E-mail address, by which teams name their members."""
    display_name: str | None = None
    """Name."""
    auth_type: Literal["sso", "internal"] = "internal"
    """Signs in with an identity provider, or with a password."""
    sso_provider: str | None = None
    """Identity provider."""
    sso_subject: str | None = None
    """Subject the identity provider knows them by."""
    platform_role: Literal["admin", "viewer", ""] | None = None
    """Rights on the whole platform; the higher of this and isPlatformAdmin counts."""
    is_platform_admin: bool = False
    """Older way to write platformRole: admin."""
    platform_admin: bool | None = None
    """Older way to write platformRole: admin."""
    disabled: bool = False
    """May not sign in."""
    avatar: str | None = None
    """Picture."""
    ssh_keys: tuple[SshKey, ...] = ()
    """SSH keys for workspaces."""
    password_secret_ref: SecretRef | None = None
    """Secret with the password's hash."""


class Membership(Model):
    """A team and the role in it."""

    name: str
    """Team."""
    role: str
    """Role."""


class UserStatus(Status):
    """The account as it is."""

    phase: UserPhase | None = None
    """Where it is in its life."""
    teams: tuple[Membership, ...] = ()
    """Teams."""
    teams_resolved_at: Time | None = None
    """When the teams were last worked out."""
    last_seen_groups: tuple[str, ...] = ()
    """Groups the identity provider last named."""
    last_login_time: Time | None = None
    """Last sign-in."""
    login_count: Int64 | None = None
    """Sign-ins."""
    failed_login_attempts: int | None = None
    """Failed sign-ins in a row."""
    locked_until: Time | None = None
    """Locked until then."""
    password_secret_ref: SecretRef | None = None
    """Secret with the password's hash."""
    password_changed_at: Time | None = None
    """When the password was set."""
    invite_token_hash: str | None = None
    """Hash of the invitation."""
    invite_sent_at: Time | None = None
    """When the invitation was made."""
    invite_expires_at: Time | None = None
    """When the invitation ends."""
    conditions: tuple[Condition, ...] = ()
    """What is known about the account, aspect by aspect."""


class User(
    Resource,
    plural="users",
    short="usr",
    namespaced=False,
    columns=(
        Column("Email", ".spec.email"),
        Column("Display Name", ".spec.displayName"),
        Column("Auth", ".spec.authType"),
        Column("Platform Admin", ".spec.isPlatformAdmin", "boolean"),
        Column("Phase", ".status.phase"),
        Column("Last Login", ".status.lastLoginTime", "date"),
        AGE,
    ),
):
    """A person's account."""

    spec: Annotated[UserSpec, NOT_YET]
    status: UserStatus = UserStatus()


class GoogleWorkspace(Model):
    """Looks groups up in Google Workspace."""

    service_account_secret_ref: SecretRef
    """Secret with service-account.json."""
    admin_email: Email
    """Administrator the service account acts for."""


class Oidc(Model):
    """OpenID Connect."""

    issuer_url: Annotated[str, Meta(pattern=r"^https://")]
    """Issuer."""
    client_id: NotEmpty
    """Client id."""
    client_secret_ref: SecretRef
    """Secret with the client secret, key client-secret unless said otherwise."""
    redirect_url: HttpUrl
    """Where the issuer sends people back to."""
    scopes: tuple[str, ...] = ()
    """Scopes; empty means openid, email, profile."""
    email_claim: str = "email"
    """Claim with the e-mail address."""
    groups_claim: str = "groups"
    """Claim with the groups; empty means no groups."""
    hosted_domain: str | None = None
    """Only people of this Google domain."""
    google_workspace: GoogleWorkspace | None = None
    insecure_skip_verify: bool = False
    """Do not verify the issuer's certificate."""


class PlatformRoleGroup(Model):
    """A group with rights on the whole platform."""

    name: NotEmpty
    """Group."""
    role: Literal["admin", "viewer"]
    """Rights."""


class GroupMapping(Model):
    """A group that is part of a team; access.groups of the Team is the better place."""

    idp_group: NotEmpty
    """Group."""
    team: NotEmpty
    """Team."""
    role: TeamRole = "viewer"
    """Role in the team."""


class IdentityProviderSpec(Model):
    """The identity provider."""

    type: Literal["oidc"]
    """Kind of provider."""
    display_name: str | None = None
    """What the sign-in button says."""
    oidc: Oidc | None = None
    """Needed for type oidc."""
    platform_role_groups: tuple[PlatformRoleGroup, ...] = ()
    """Groups with rights on the whole platform; the highest counts."""
    group_mapping: tuple[GroupMapping, ...] = ()
    """Groups that are part of a team."""


class DiscoveredEndpoints(Model):
    """What the issuer says about itself."""

    authorization_endpoint: str | None = None
    """Where people sign in."""
    token_endpoint: str | None = None
    """Where tokens come from."""
    user_info_endpoint: str | None = None
    """Where claims come from."""
    jwks_uri: str | None = None
    """Where its keys are."""


class IdentityProviderStatus(Status):
    """The identity provider as it is."""

    phase: Literal["Pending", "Ready", "Failed"] | None = None
    """Whether people can sign in with it."""
    message: str | None = None
    """What is going on."""
    discovered_endpoints: DiscoveredEndpoints | None = None
    last_validated_time: Time | None = None
    """Last time it was found good."""


class IdentityProvider(
    Resource,
    plural="identityproviders",
    short="idp",
    namespaced=False,
    columns=(
        Column("Type", ".spec.type"),
        Column("Issuer", ".spec.oidc.issuerURL"),
        Column("Phase", ".status.phase"),
        AGE,
    ),
):
    """Where people sign in."""

    spec: Annotated[IdentityProviderSpec, NOT_YET]
    status: IdentityProviderStatus = IdentityProviderStatus()
