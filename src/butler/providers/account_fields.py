"""What a provider reads from its ProviderConfig and its Secret, with errors that name the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from butler.api.provider import ProviderConfig
from butler.errors import CredentialsInvalid
from kubekit.errors import InvalidConfiguration

S = TypeVar("S", bound=msgspec.Struct)


def settings(config: ProviderConfig, kind: type[S]) -> S:
    """`spec.external.settings` as a Struct of the provider's own. Raises InvalidConfiguration."""
    given = config.spec.external.settings if config.spec.external is not None else None
    try:
        return msgspec.convert(dict(given or {}), kind)
    except msgspec.ValidationError as error:
        # "Expected `str`, got `int` - at `$.endpoint`"
        what, _, where = str(error).partition(" - at `$")
        path = f"spec.external.settings{where.rstrip('`')}"
        raise InvalidConfiguration(f"ProviderConfig {config.key}", path, what) from None


def needed(config: ProviderConfig, credentials: Mapping[str, str], *names: str) -> tuple[str, ...]:
    """Entries of the Secret, without the newline that a file ends with. Raises CredentialsInvalid when one is missing
    or empty."""
    found = tuple(credentials.get(name, "").strip() for name in names)
    missing = [name for name, value in zip(names, found, strict=True) if not value]
    if missing:
        ref = config.spec.credentials_ref
        secret = f"Secret {ref.name}" if ref is not None else "a Secret that spec.credentialsRef names"
        raise CredentialsInvalid(config.spec.infrastructure, "", f"{secret} needs the key {missing[0]}")
    return found
