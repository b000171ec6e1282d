"""Where a pod may run: near which nodes and pods, and spread over what."""

from __future__ import annotations

from collections.abc import Iterable

from kubekit.errors import not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, duplicate, first_places, forbidden, refuse_each, required

from ..builtin.label_selectors import check_selector

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SPREAD_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_NODE_POLICIES = ("Honor", "Ignore")


def check_affinity(found: Problems, affinity: Object, path: str) -> None:
    node, place = affinity.get("nodeAffinity") or {}, f"{path}.nodeAffinity"
    if node.get(_REQUIRED) is not None:
        check_node_terms(found, node[_REQUIRED], f"{place}.{_REQUIRED}")
    for index, weighted in enumerate(node.get(_PREFERRED) or ()):
        here = f"{place}.{_PREFERRED}[{index}]"
        _check_weight(found, weighted, here)
        # A label that no node can have does no harm where it is only preferred.
        _check_node_term(found, weighted.get("preference") or {}, f"{here}.preference", any_value=True)
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        for index, term in enumerate(rules.get(_REQUIRED) or ()):
            _check_pod_term(found, term, f"{path}.{kind}.{_REQUIRED}[{index}]")
        for index, weighted in enumerate(rules.get(_PREFERRED) or ()):
            here = f"{path}.{kind}.{_PREFERRED}[{index}]"
            _check_weight(found, weighted, here)
            _check_pod_term(found, weighted.get("podAffinityTerm") or {}, f"{here}.podAffinityTerm")


def _check_weight(found: Problems, weighted: Object, path: str) -> None:
    weight = weighted.get("weight") or 0
    if not 1 <= weight <= 100:
        found.append(bad(f"{path}.weight", weight, "must be in the range 1-100"))


def check_node_terms(found: Problems, selector: Object, path: str) -> None:
    """Which nodes are meant: those that one of the terms describes."""
    place, terms = f"{path}.nodeSelectorTerms", selector.get("nodeSelectorTerms") or ()
    if not terms:
        found.append(required(place, "must have at least one node selector term"))
    for index, term in enumerate(terms):
        _check_node_term(found, term, f"{place}[{index}]", any_value=False)


def _check_node_term(found: Problems, term: Object, path: str, *, any_value: bool) -> None:
    for index, rule in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        _check_node_rule(found, rule, here)
        for number, value in enumerate(() if any_value else rule.get("values") or ()):
            refuse_each(found, f"{here}.values[{number}]", value, name_rules.label_value(value))
    for index, rule in enumerate(term.get("matchFields") or ()):
        _check_field_rule(found, rule, f"{path}.matchFields[{index}]")


def _check_field_rule(found: Problems, rule: Object, path: str) -> None:
    key, operator, values = rule.get("key") or "", rule.get("operator") or "", rule.get("values") or []
    if operator not in ("In", "NotIn"):
        found.append(bad(f"{path}.operator", operator, "not a valid selector operator"))
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        found.append(required(f"{path}.values", detail))
    if key != "metadata.name":
        found.append(bad(f"{path}.key", key, "not a valid field selector key"))
        return
    for index, name in enumerate(values):
        refuse_each(found, f"{path}.values[{index}]", name, name_rules.subdomain(name))


def _check_node_rule(found: Problems, rule: Object, path: str) -> None:
    operator, values = rule.get("operator") or "", rule.get("values") or ()
    match operator:
        case "In" | "NotIn":
            if not values:
                found.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        case "Exists" | "DoesNotExist":
            if values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                found.append(forbidden(f"{path}.values", detail))
        case "Gt" | "Lt":
            if len(values) != 1:
                detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                found.append(required(f"{path}.values", detail))
        case _:
            found.append(bad(f"{path}.operator", operator, "not a valid selector operator"))
    refuse_each(found, f"{path}.key", rule.get("key") or "", name_rules.qualified_name(rule.get("key") or ""))


def _check_pod_term(found: Problems, term: Object, path: str) -> None:
    check_selector(found, term.get("labelSelector"), f"{path}.labelSelector")
    check_selector(found, term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for namespace in term.get("namespaces") or ():
        refuse_each(found, f"{path}.namespace", namespace, name_rules.label(namespace))
    _check_own_labels(found, term, path)
    key = term.get("topologyKey") or ""
    if not key:
        found.append(required(f"{path}.topologyKey", "can not be empty"))
    refuse_each(found, f"{path}.topologyKey", key, name_rules.qualified_name(key))


def _check_own_labels(found: Problems, holder: Object, path: str) -> None:
    """Labels in which other pods must be like this one, or unlike it."""
    selector, like, unlike = (holder.get(n) for n in ("labelSelector", "matchLabelKeys", "mismatchLabelKeys"))
    for name, keys in (("matchLabelKeys", like or ()), ("mismatchLabelKeys", unlike or ())):
        if keys and selector is None:
            detail = "must not be specified when labelSelector is not set"
            found.append(forbidden(f"{path}.{name}", detail))
            continue
        for index, key in enumerate(keys):
            refuse_each(found, f"{path}.{name}[{index}]", key, name_rules.qualified_name(key))
    first, others = first_places(like or ()), set(unlike or ())
    for key in _selected_twice(selector or {}):
        if key in first:
            # Kubernetes leaves out the name of the field.
            found.append(bad(f"{path}[{first[key]}]", key, "exists in both matchLabelKeys and labelSelector"))
    for index, key in enumerate(like or ()):
        if key in others:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            found.append(bad(f"{path}.matchLabelKeys[{index}]", key, detail))


def _selected_twice(selector: Object) -> Iterable[str]:
    seen = set(selector.get("matchLabels") or ())
    for rule in selector.get("matchExpressions") or ():
        key = rule.get("key") or ""
        if key in seen:
            yield key
        seen.add(key)


def check_spreading(found: Problems, constraints: list[Object], path: str) -> None:
    last = {_kind_of_spread(constraint): index for index, constraint in enumerate(constraints)}
    for index, constraint in enumerate(constraints):
        _check_spread(found, constraint, f"{path}[{index}]", is_last=last[_kind_of_spread(constraint)] == index)


def _kind_of_spread(constraint: Object) -> tuple[str, str]:
    return constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""


def _check_spread(found: Problems, constraint: Object, path: str, *, is_last: bool) -> None:
    """`is_last` of its kind, as each should be."""
    key, action = _kind_of_spread(constraint)
    if (constraint.get("maxSkew") or 0) <= 0:
        found.append(bad(f"{path}.maxSkew", constraint.get("maxSkew") or 0, "must be greater than zero"))
    if not key:
        found.append(required(f"{path}.topologyKey", "can not be empty"))
    if action not in _SPREAD_ACTIONS:
        found.append(not_supported(f"{path}.whenUnsatisfiable", action, _SPREAD_ACTIONS))
    if not is_last:
        found.append(duplicate(f"{path}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
    domains = constraint.get("minDomains")
    if domains is not None and domains <= 0:
        found.append(bad(f"{path}.minDomains", domains, "must be greater than zero"))
    if domains is not None and action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        found.append(bad(f"{path}.minDomains", domains, detail))
    for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if constraint.get(name) is not None and constraint[name] not in _NODE_POLICIES:
            found.append(not_supported(f"{path}.{name}", constraint[name], _NODE_POLICIES))
    _check_own_labels(found, constraint, path)
    check_selector(found, constraint.get("labelSelector"), f"{path}.labelSelector")
