"""What opens private repositories: read from Secrets when a chart is needed, and kept nowhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from butler.engines.core import Secret
from butler.engines.helm.charts import Credentials
from kubekit.client.protocol import Client
from kubekit.errors import NotFound

from .errors import CredentialsMissing

ReadSecret = Callable[[str, str], Awaitable[Mapping[str, bytes]]]
"""The data of the Secret with this namespace and name. Raises NotFound."""


def secrets_of(client: Client) -> ReadSecret:
    """Those of a cluster."""

    async def read(namespace: str, name: str) -> Mapping[str, bytes]:
        return (await client.get(Secret, name, namespace)).data

    return read


async def credentials(read: ReadSecret, whose: str, ref: tuple[str, str]) -> Credentials:
    """Raises CredentialsMissing."""
    try:
        data = await read(*ref)
        return Credentials(
            data.get("username", b"").decode(), data.get("password", b"").decode(), data.get("ca.crt", b"")
        )
    except NotFound:
        raise CredentialsMissing(whose, f"Secret {'/'.join(ref)}, which opens its repository, is not there") from None
    except UnicodeDecodeError:
        message = f"Secret {'/'.join(ref)}: username and password have to be text"
        raise CredentialsMissing(whose, message) from None
