"""Whether whoever starts a platform on an existing cluster may do there what that takes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from butler.api import admission
from butler.api.addon import AddonDefinition
from butler.api.config import ButlerConfig
from butler.api.provider import ProviderConfig
from butler.api.shared import SYSTEM_NAMESPACE
from butler.cli.lazy import DENIED, Failure
from kubekit.client.protocol import Client
from kubekit.model.crd import DEFINITION
from kubekit.model.resource import Address
from kubekit.runtime.leader import LEASE
from kubekit.runtime.manager import Manager
from kubekit.runtime.permissions import rules_for
from kubekit.runtime.reconciler import Permission

from ..installation import NAMESPACE

_REVIEW = Address("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", False)
_APPLYING = ("get", "create", "patch")
INSTALLING = (
    Permission(DEFINITION, ("get", "list", "watch", "create", "patch")),
    *(Permission(kind, _APPLYING) for kind in (NAMESPACE, ButlerConfig, AddonDefinition, ProviderConfig)),
    *(Permission(kind, _APPLYING) for kind in (admission.POLICY, admission.BINDING)),
)
"""What a start writes before any controller runs."""

Attributes = dict[str, str]


async def require(client: Client, managers: Iterable[Manager], leases: Iterable[str]) -> None:
    """Raises Failure, which names each right that is missing to install a platform, to run these controllers, and to
    lead by these leases."""
    if await _may(client, {"verb": "*", "group": "*", "resource": "*"}):
        return
    wanted = list(_asked(managers, leases))
    allowed = await asyncio.gather(*(_may(client, one) for one in wanted))
    missing: dict[str, list[str]] = {}
    for one, is_allowed in zip(wanted, allowed, strict=True):
        if not is_allowed:
            missing.setdefault(_shown(one), []).append(one["verb"])
    if missing:
        listed = "\n".join(f"  {resource}: {', '.join(verbs)}" for resource, verbs in missing.items())
        raise Failure(f"you may not do there what a platform does, and nothing was changed; missing:\n{listed}", DENIED)


def _asked(managers: Iterable[Manager], leases: Iterable[str]) -> Iterator[Attributes]:
    reconcilers = [controller.reconciler for manager in managers for controller in manager.controllers]
    leading = [Permission(LEASE, ("get", "patch"), names=(name,)) for name in leases]
    also = [*INSTALLING, Permission(LEASE, ("create",)), *leading]
    for rule in rules_for(reconcilers, "platform", also=also)["rules"]:
        yield from _attributes(rule)


def _attributes(rule: dict[str, Any]) -> Iterator[Attributes]:
    """A rule, question by question."""
    (group,) = rule["apiGroups"]
    for whole in rule["resources"]:
        resource, _, part = whole.partition("/")
        where = {"namespace": SYSTEM_NAMESPACE} if resource == LEASE.plural else {}
        for name in rule.get("resourceNames") or [""]:
            for verb in rule["verbs"]:
                asked = {"group": group, "resource": resource, "subresource": part, "name": name, "verb": verb, **where}
                yield {key: value for key, value in asked.items() if value}


async def _may(client: Client, attributes: Attributes) -> bool:
    review = {
        "apiVersion": _REVIEW.api_version,
        "kind": _REVIEW.kind,
        "metadata": {},
        "spec": {"resourceAttributes": attributes},
    }
    answer = await client.create(review, _REVIEW)
    return bool(answer["status"].get("allowed"))


def _shown(one: Attributes) -> str:
    """A resource as `kubectl auth can-i` names it."""
    group = f".{one['group']}" if one.get("group") else ""
    part = f"/{one['subresource']}" if "subresource" in one else ""
    name = f" {one['name']}" if "name" in one else ""
    return f"{one['resource']}{group}{part}{name}" + (f" in {one['namespace']}" if "namespace" in one else "")
