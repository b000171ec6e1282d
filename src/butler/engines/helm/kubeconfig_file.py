"""A kubeconfig for Helm, written from what our own client was told.

It names no files and no programs, whatever the original did: those were read and asked by us."""

from __future__ import annotations

import base64

import msgspec

from kubekit.client.config import Config
from kubekit.client.credentials import credentials_for

_NAME = "cluster"


async def content(config: Config) -> bytes:
    """Raises Unauthorized, InvalidConfiguration."""
    credential = await credentials_for(config).current()
    user: dict[str, object] = {
        "client-certificate-data": _base64(credential.certificate),
        "client-key-data": _base64(credential.key),
    }
    scheme, _, secret = credential.authorization.partition(" ")
    if scheme == "Bearer":
        user["token"] = secret
    elif scheme == "Basic":
        user["username"], _, user["password"] = base64.b64decode(secret).decode().partition(":")
    other = config.user.impersonation
    user |= {"as": other.user, "as-uid": other.uid, "as-groups": list(other.groups)}
    user["as-user-extra"] = {name: list(values) for name, values in other.extra.items()}
    cluster = {
        "server": config.cluster.server,
        "certificate-authority-data": _base64(config.cluster.authority.read()),
        "insecure-skip-tls-verify": config.cluster.insecure,
        "tls-server-name": config.cluster.tls_server_name,
        "proxy-url": config.cluster.proxy_url,
    }
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": _NAME,
            "contexts": [{"name": _NAME, "context": {"cluster": _NAME, "user": _NAME}}],
            "clusters": [{"name": _NAME, "cluster": {name: value for name, value in cluster.items() if value}}],
            "users": [{"name": _NAME, "user": {name: value for name, value in user.items() if value}}],
        }
    )


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
