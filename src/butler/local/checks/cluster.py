"""What should hold for a platform on a cluster, whichever computer its controllers run on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from butler import advice
from butler.api.cluster import TenantCluster
from butler.api.shared import SYSTEM_NAMESPACE
from kubekit.client.protocol import Client, Selection
from kubekit.clock import SystemClock
from kubekit.errors import NotFound
from kubekit.model.ages import human
from kubekit.runtime.leader import LEASE

from ..home import Home
from ..platform import CONTROLLERS
from .finding import Finding, failed, noted, passed

_SLACK = timedelta(seconds=15)
"""How much longer than a lease lasts it may take until somebody renews it."""
_START = advice.start()
"""Whoever knows by which kubeconfig the cluster is reached says that too."""


async def platform(place: Home, client: Client) -> Iterable[Finding]:
    """Definitions of Butler's, whatever their version."""
    try:
        await client.list(TenantCluster, Selection(SYSTEM_NAMESPACE))
    except NotFound:
        return [failed("platform", "there is none on this cluster yet", _START)]
    return [passed("platform", "is installed")]


async def leadership(place: Home, client: Client) -> Iterable[Finding]:
    """Controllers of which one leads at this moment."""
    try:
        lease = (await client.get(LEASE, CONTROLLERS, SYSTEM_NAMESPACE))["spec"]
    except NotFound:
        message = "nobody has ever led; those of a platform with an API of its own need not"
        return [noted("controllers", message)]
    holder, renewed = lease.get("holderIdentity"), lease.get("renewTime")
    if not holder or not renewed:
        return [failed("controllers", "none leads: they were stopped", _START)]
    since = SystemClock().now() - datetime.fromisoformat(renewed).astimezone(UTC)
    if since > timedelta(seconds=lease.get("leaseDurationSeconds") or 0) + _SLACK:
        ago = human(int(since.total_seconds()))
        return [failed("controllers", f"none leads: {holder} was last heard of {ago} ago", _START)]
    return [passed("controllers", f"{holder} leads")]
