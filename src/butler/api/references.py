"""Who may use what is in another namespace: the rule for all references of Butler's kinds.

An object serves its own namespace. Others it serves when it says so itself, by an annotation that only those can set
who may change it; the one exception are ProviderConfigs of the platform, whose scope says whom they are for. Whoever
names something that does not serve them is told what they would be told if it were not there.
"""

from __future__ import annotations

from kubekit.model.resource import ObjectMeta

from .model import GROUP

ALLOWED_NAMESPACES = f"{GROUP}/allowed-namespaces"
"""On a Secret or a ProviderConfig: from where it may be used too, as names with commas between them, or `*`."""
EVERYWHERE = "*"


def serves(meta: ObjectMeta, namespace: str) -> bool:
    """Whether an object may be used from a namespace."""
    allowed = (one.strip() for one in meta.annotations.get(ALLOWED_NAMESPACES, "").split(","))
    return meta.namespace == namespace or any(one in (namespace, EVERYWHERE) for one in allowed if one)
