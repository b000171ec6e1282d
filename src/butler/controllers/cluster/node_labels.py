"""Which labels and taints a kubelet takes for its node: with any other it does not start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from butler.api.cluster import Taint

_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME, _LONGEST_DOMAIN = 63, 253
_RESERVED = ("kubernetes.io", "k8s.io")
_OPEN_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
_KNOWN = frozenset(
    {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
"""What a node may say of itself although Kubernetes keeps the domain for itself."""


def label_problems(key: str, value: str) -> Iterator[str]:
    """Why no node can have this label."""
    yield from _key_problems(key)
    yield from _value_problems(value)
    domain = key.rpartition("/")[0]
    is_reserved = any(_is_within(domain, one) for one in _RESERVED)
    if is_reserved and key not in _KNOWN and not any(_is_within(domain, one) for one in _OPEN_DOMAINS):
        yield f"{domain} belongs to Kubernetes, and a kubelet with it does not start: use a domain of your own"


def taint_problems(taint: Taint) -> Iterator[str]:
    """Why no node can have this taint."""
    yield from _key_problems(taint.key)
    yield from _value_problems(taint.value or "")


def _key_problems(key: str) -> Iterator[str]:
    domain, slash, name = key.rpartition("/")
    if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
        yield f"must be a name of at most {_LONGEST_NAME} letters, digits, '-', '_' and '.', such as example.com/tier"
    if slash and (len(domain) > _LONGEST_DOMAIN or not _DOMAIN.fullmatch(domain)):
        yield "must have a domain such as example.com before the slash"


def _value_problems(value: str) -> Iterator[str]:
    if value and (len(value) > _LONGEST_NAME or not _NAME.fullmatch(value)):
        yield f"must be empty or at most {_LONGEST_NAME} letters, digits, '-', '_' and '.', such as gold"


def _is_within(domain: str, other: str) -> bool:
    return domain == other or domain.endswith(f".{other}")
