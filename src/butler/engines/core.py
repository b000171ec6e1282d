"""The kinds of Kubernetes itself as far as Butler writes and reads them."""

from __future__ import annotations

from collections.abc import Mapping

from kubekit.model.resource import Resource


class Secret(Resource, plural="secrets", group="", version="v1"):
    """Bytes that not everybody may read."""

    type: str = ""
    data: Mapping[str, bytes] = {}
