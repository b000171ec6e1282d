"""One isolated API, with everything a request needs on its way."""

from __future__ import annotations

from functools import cache
from typing import Any

from kubekit.clock import Chance, Clock
from kubekit.model.resource import Object
from kubekit.server.access.escalation import confirm_no_escalation
from kubekit.server.access.rbac import Attributes, Rbac, forbidden
from kubekit.server.admission.chain import Admission
from kubekit.server.admission.host import Host
from kubekit.server.admission.limit_ranges import Limits
from kubekit.server.admission.resource_quotas import Quotas
from kubekit.server.admission.webhook_client import WebhookClient
from kubekit.server.kinds.registry import Kinds
from kubekit.server.objects.cel.rights import Asked, Decision
from kubekit.server.objects.long_work import LARGE, Bench
from kubekit.server.objects.request import Target
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.decoding import Malformed
from kubekit.server.objects.user import AUTHENTICATED, UserInfo, service_account_groups, service_account_name
from kubekit.server.store.rows import Row
from kubekit.server.store.store import Store

from .checks import Checks
from .conversion import Converter
from .service_addresses import ServiceAddresses


@cache
def _built_in_checks(resource: Resource) -> Checks:
    """Those of a built-in kind are the same in every space."""
    return Checks(resource)


class Space(Host):
    """What every verb needs: contents, rights, admission, conversion, checks."""

    def __init__(self, name: str, store: Store, kinds: Kinds, clock: Clock, chance: Chance) -> None:
        super().__init__(name, store, kinds, clock, chance)
        self.webhook_client = WebhookClient(self)
        self.converter = Converter(self, self.webhook_client)
        self.limits = Limits()
        self.admission = Admission(self, self.webhook_client, self.limits)
        self.rbac = Rbac()
        self.addresses = ServiceAddresses()
        self.quotas = Quotas()
        self.bench = Bench()
        self._checks: dict[Resource, Checks] = {}

    def checks(self, resource: Resource) -> Checks:
        checks = self._checks.get(resource)
        if checks is None:
            checks = self._checks[resource] = Checks(resource) if resource.is_custom else _built_in_checks(resource)
        return checks

    def forget_checks(self, resource: Resource) -> None:
        self._checks.pop(resource, None)

    def authorize(self, user: UserInfo, asked: Asked) -> Decision:
        if asked.account is not None:
            groups = (*service_account_groups(asked.account[0]), AUTHENTICATED)
            user = UserInfo(service_account_name(*asked.account), groups=groups)
        wanted: dict[str, Any] = {"path": asked.path}
        if asked.path is None:
            parts = ("group", "resource", "subresource", "namespace", "name")
            wanted = {part: getattr(asked, part) for part in parts}
        answer = self.rbac.authorize(Attributes(user, asked.verb, **wanted))
        return Decision(answer.allowed, answer.reason)

    async def confirm_creation(self, user: UserInfo, target: Target) -> None:
        """Raises Forbidden when a user who may do something else at a place may not create there."""
        kind, part = target.resource, target.subresource
        wanted = Attributes(user, "create", kind.group, kind.version, kind.plural, part, target.namespace, target.name)
        decision = await self.bench.do(LARGE + 1 if self.rbac.is_long else 0, self.rbac.authorize, wanted)
        if not decision.allowed:
            raise forbidden(wanted, decision.reason)

    def confirm_grant(self, user: UserInfo, target: Target, obj: Object, old: Object | None) -> None:
        confirm_no_escalation(self.rbac, user, target.resource.kind, obj, old, target.name if old else "")

    async def converted(self, source: Resource, target: Resource, obj: Object) -> Object:
        return await self.converter.between(source, target, obj)

    async def shown(self, resource: Resource, row: Row) -> bytes:
        return await self.converter.value(resource, row)

    def undamaged(self, resource: Resource, row: Row) -> Object:
        """A stored object of a built-in kind, each field of which is what it should be. Raises Malformed."""
        obj = row.decode()
        metadata, name = obj.get("metadata"), row.key.rpartition("/")[2]
        if not isinstance(metadata, dict) or metadata.get("name") != name:
            raise Malformed(f"metadata.name is not {name}")
        self.checks(resource).decode(obj)
        return obj

    def shape(self, resource: Resource, obj: Object) -> None:
        checks = self.checks(resource)
        checks.decode(obj)
        checks.default(obj)
