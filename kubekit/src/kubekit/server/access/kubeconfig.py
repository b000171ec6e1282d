"""A kubeconfig for one user of one API, with everything it needs inside."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from .identities import KeyPair


@dataclass(frozen=True, slots=True)
class Access:
    """Where an API is, how to recognise it, and who comes."""

    server: str
    server_authority: bytes
    user: str
    credentials: KeyPair
    context: str
    namespace: str = ""


def render(access: Access) -> bytes:
    """The kubeconfig as YAML."""
    import yaml  # noqa: PLC0415 - a start that need not write one does without it

    context = {"cluster": access.context, "user": access.user}
    if access.namespace:
        context["namespace"] = access.namespace
    cluster = {"server": access.server, "certificate-authority-data": _data(access.server_authority)}
    user = {
        "client-certificate-data": _data(access.credentials.certificate),
        "client-key-data": _data(access.credentials.key),
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": access.context, "cluster": cluster}],
        "users": [{"name": access.user, "user": user}],
        "contexts": [{"name": access.context, "context": context}],
        "current-context": access.context,
    }
    # The dumper in C writes the same, in a tenth of the time: every tenant's API has a kubeconfig.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return bytes(yaml.dump(config, Dumper=dumper, sort_keys=False, width=1_000_000, encoding="utf-8"))


def _data(content: bytes) -> str:
    # Text above the PEM block is our own note; not every client skips it.
    return base64.b64encode(content[content.index(b"-----BEGIN") :]).decode()
