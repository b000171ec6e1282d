"""Nobody grants what they do not hold: the extra question asked when roles and bindings are written."""

from __future__ import annotations

from collections.abc import Iterable

from kubekit.errors import BadRequest, Details, NotFound
from kubekit.model.resource import Object
from kubekit.server.objects.user import UserInfo

from .coverage import uncovered
from .rbac import GROUP, Attributes, Rbac, aggregate, forbidden_object
from .rules import EVERYTHING, Rule, compacted, go_list, rules_of

_PLURALS = {
    "ClusterRole": "clusterroles",
    "Role": "roles",
    "ClusterRoleBinding": "clusterrolebindings",
    "RoleBinding": "rolebindings",
}
_COLLECTOR_FIELDS = ("ownerReferences", "finalizers", "managedFields", "selfLink")


def confirm_no_escalation(
    rbac: Rbac, user: UserInfo, kind: str, obj: Object, old: Object | None = None, requested_name: str = ""
) -> None:
    """Raise what the real server answers when `user` may not write this role or binding; other kinds pass.

    `old` is the object an update replaces, `requested_name` the name in the request's path (empty for a POST).
    The object's namespace must be filled in.
    """
    if kind not in _PLURALS or user.is_master or _changes_only_collector_fields(obj, old):
        return
    writer = _Writer(rbac, user, kind, obj["metadata"].get("namespace", ""), obj["metadata"].get("name", ""))
    if kind in {"ClusterRole", "Role"}:
        writer.check_role(obj, old, requested_name)
    else:
        writer.check_binding(obj["roleRef"])


class _Writer:
    """A user who writes one object."""

    def __init__(self, rbac: Rbac, user: UserInfo, kind: str, namespace: str, name: str) -> None:
        self.rbac, self.user, self.kind, self.namespace, self.name = rbac, user, kind, namespace, name
        self.plural = _PLURALS[kind]

    def check_role(self, role: Object, old: Object | None, requested_name: str) -> None:
        if self._may("escalate", self.plural, requested_name):
            return
        self._require(rules_of(role))
        if _aggregates(role) or _aggregates(old):
            # Such a role can gather anything, so it takes the right to everything.
            owned, _ = self.rbac.rules_for(self.user, "")
            if uncovered(owned, EVERYTHING):
                why = "must have cluster-admin privileges to use the aggregationRule"
                raise forbidden_object(GROUP, self.plural, self.name, why)

    def check_binding(self, reference: Object) -> None:
        kind, role = reference.get("kind", ""), reference.get("name", "")
        if kind not in {"ClusterRole", "Role"} or self._may("bind", _PLURALS[kind], role):
            return
        if kind == "Role" and not self.namespace:
            raise BadRequest("Namespace parameter required.")
        rules = self.rbac.role_rules(kind, self.namespace, role)
        if rules is None:
            raise NotFound(f'{self.plural}.{GROUP} "{role}" not found', Details(role, GROUP, self.plural))
        self._require(rules)

    def _may(self, verb: str, plural: str, name: str) -> bool:
        wanted = Attributes(self.user, verb, GROUP, "*", plural, namespace=self.namespace, name=name)
        return self.rbac.authorize(wanted).allowed

    def _require(self, rules: Iterable[Rule]) -> None:
        owned, missing_roles = self.rbac.rules_for(self.user, self.namespace)
        missing = compacted(uncovered(owned, rules))
        if not missing:
            return
        listed = "\n".join(sorted({rule.text() for rule in missing}))
        why = (
            f'user "{self.user.name}" (groups={go_list(self.user.groups)}) is attempting to grant RBAC permissions '
            f"not currently held:\n{listed}"
        )
        if missing_roles:
            texts = [one.text(self.plural) for one in missing_roles]
            why += f"; resolution errors: [{aggregate(texts)}]"
        raise forbidden_object(GROUP, self.plural, self.name, why)


def _aggregates(role: Object | None) -> bool:
    return bool(((role or {}).get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _changes_only_collector_fields(obj: Object, old: Object | None) -> bool:
    """The garbage collector may finish its work on roles that grant more than it holds."""
    return old is not None and _without_collector_fields(obj) == _without_collector_fields(old)


def _without_collector_fields(obj: Object) -> Object:
    metadata = {key: value for key, value in obj["metadata"].items() if key not in _COLLECTOR_FIELDS}
    return {**obj, "metadata": metadata}
