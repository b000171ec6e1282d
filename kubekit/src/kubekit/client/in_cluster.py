"""What a pod knows of the cluster it runs in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from .config import Cluster, Config, Material, User

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def config(environ: Mapping[str, str] = os.environ, directory: Path = SERVICE_ACCOUNT) -> Config | None:
    """How to reach the API as this pod's service account; None outside a cluster.

    The kubelet replaces the token and the authority now and then, so they stay files."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    token = directory / "token"
    if not host or not port or not token.exists():
        return None
    shown = f"[{host}]" if ":" in host else host
    authority = Material(file=directory / "ca.crt", subject="in-cluster", path="ca.crt")
    return Config(
        Cluster(f"https://{shown}:{port}", authority),
        User(token_file=token),
        _namespace(directory / "namespace"),
        "in-cluster",
        str(directory),
    )


def _namespace(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
