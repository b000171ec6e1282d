"""What stands between the description of a provider and its existence: credentials, checks, and two writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from butler import advice
from butler.api.credentials import canonical_keys
from butler.api.provider import ProviderConfig
from butler.api.shared import ProviderType
from butler.errors import ProviderError
from kubekit.errors import AlreadyExists, Invalid, InvalidConfiguration, NotFound
from kubekit.model.resource import Address

from .. import object_draft
from ..lazy import MISSING, REFUSED, UNREACHABLE, USAGE, Failure
from ..object_draft import Draft
from ..output import say
from ..session import Session
from . import credentials, provider_draft
from .account import surroundings, where

if TYPE_CHECKING:
    from butler.providers.contract import Check, Provider, Surroundings

SECRETS = Address("", "v1", "Secret", "secrets", True)
_GIVEN = ("pairs", "files", "env_file")
_NOTHING = "nothing was written; --no-check writes it all the same"


def place_credentials(draft: Draft, given: Mapping[str, Any]) -> bool:
    """Let the draft say where the credentials are, or will be; answers whether they have to be written there.

    Raises UsageError."""
    spec, kind = draft["spec"], _kind(draft)
    named = spec.get("credentialsRef") or (spec.get(kind.value) or {}).get("credentialsRef") if kind else None
    has_given = any(given[name] for name in _GIVEN)
    if given["secret"]:
        if has_given:
            raise click.UsageError("--secret names credentials that are there already; leave the other ones out")
        spec["credentialsRef"] = {"name": given["secret"]}
        return False
    if not has_given and (named is not None or kind is None or kind in provider_draft.WITHOUT_CREDENTIALS):
        return False
    spec.setdefault("credentialsRef", named or {"name": f"{draft['metadata']['name']}-credentials"})
    return True


def secret_for(draft: Draft, given: Mapping[str, Any]) -> Draft:
    """The Secret to write; what is missing for it is asked for. Raises Failure, UsageError."""
    kind, ref = _kind(draft), draft["spec"]["credentialsRef"]
    assert kind is not None, "a draft without it was refused"
    entries = credentials.gathered(kind, draft["spec"].get(kind.value) or {}, given)
    namespace = ref.get("namespace") or draft["metadata"]["namespace"]
    return {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {"name": ref["name"], "namespace": namespace},
        "type": "Opaque",
        "stringData": entries,
    }


def _kind(draft: Draft) -> ProviderType | None:
    given = draft["spec"].get("provider") or draft["spec"].get("type")
    return ProviderType(given) if given in [one.value for one in ProviderType] else None


async def ask_platform(session: Session, draft: Draft, what: str) -> None:
    """Whether the platform would take the ProviderConfig. Raises Failure."""
    await _sent(session, draft, ProviderConfig.address, what, dry_run=True)


async def write(
    session: Session, draft: Draft, secret: Draft | None, what: str, tell: Callable[[str], None]
) -> ProviderConfig:
    """The Secret, then the ProviderConfig. Raises Failure, which tells what stays."""
    if secret is not None:
        await _sent(session, secret, SECRETS, what)
        tell(f"Secret {_key(secret)} created")
    try:
        await _sent(session, draft, ProviderConfig.address, what)
    except Failure as failure:
        if secret is None:
            raise
        again = f"Secret {_key(secret)} stays, and --secret {secret['metadata']['name']} uses it"
        raise Failure(f"{failure.message}\n{again}", failure.code) from failure
    tell(f"provider {_key(draft)} created")
    meta = draft["metadata"]
    stored: ProviderConfig = await session.client.get(ProviderConfig, meta["name"], meta["namespace"])
    return stored


async def _sent(session: Session, draft: Draft, address: Address, what: str, *, dry_run: bool = False) -> None:
    try:
        await session.client.create(draft, address, manager="butleradm", dry_run=dry_run)
    except AlreadyExists as error:
        raise Failure(f"{what}: {_exists(session, draft)}", REFUSED) from error
    except Invalid as error:
        raise object_draft.invalid(what, error, provider_draft.flag_for) from error
    except NotFound as error:
        is_kind = error.details is None or not error.details.name
        if is_kind:
            raise Failure(session.not_a_platform("ProviderConfigs"), UNREACHABLE) from error
        raise Failure(f"{what}: {error}", MISSING) from error


def _exists(session: Session, draft: Draft) -> str:
    name = draft["metadata"]["name"]
    if draft["kind"] == SECRETS.kind:
        return f"there is a Secret {_key(draft)} already; --secret {name} uses it"
    return f"there is one already; `{advice.get_provider(name, where(session))}` shows it"


def _key(draft: Draft) -> str:
    return f"{draft['metadata']['namespace']}/{draft['metadata']['name']}"


async def try_account(session: Session, config: ProviderConfig, secret: Draft | None, what: str) -> None:
    """Connect from here, and show what is well and what is not. Raises Failure."""
    say(f"Trying {config.spec.infrastructure} from here:")
    try:
        with surroundings(session) as around:
            provider = await _connected(session, config, secret, around)
            try:
                checks = await provider.check()
            finally:
                await provider.close()
    except InvalidConfiguration as error:
        refused = object_draft.refused(what, [provider_draft.problem_of(error)], provider_draft.flag_for, USAGE)
        raise Failure(f"{refused.message}\nnothing was written", refused.code) from error
    except ProviderError as error:
        raise Failure(f"{what}: {error}; {_NOTHING}") from error
    for line in told(checks):
        say(line)
    if not all(one.passed for one in checks):
        raise Failure(f"{what}: not every check passed; {_NOTHING}")


async def _connected(session: Session, config: ProviderConfig, secret: Draft | None, around: Surroundings) -> Provider:
    from butler.controllers.accounts import connect_alone
    from butler.providers import registry

    if secret is None:
        return await connect_alone(session.client, config, around)
    kind, ref = config.spec.provider, config.spec.credentials_ref
    assert kind is not None, "normalise() fills it in"
    return registry.connect(config, canonical_keys(kind, secret["stringData"], ref.key if ref else None), around)


def message_of(check: Check) -> str:
    """What it says, with what was found if that is not said already."""
    return check.message if check.value in check.message else f"{check.message} ({check.value})"


def told(checks: Iterable[Check]) -> list[str]:
    """A line for each, and below it what to do where one does not hold."""
    checks = list(checks)
    width = max((len(one.name) for one in checks), default=0)
    lines = []
    for one in checks:
        lines.append(f"  {'ok    ' if one.passed else 'FAILED'}  {one.name.ljust(width)}  {message_of(one)}")
        if not one.passed and one.remedy:
            lines.append(f"          {' ' * width}  {one.remedy}")
    return lines
