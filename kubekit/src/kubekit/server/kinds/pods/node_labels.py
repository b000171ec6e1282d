"""Labels of nodes that have another name by now, and who still asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubekit.model.resource import Object
from kubekit.server.objects import name_rules

OLD_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def remarks_on_terms(terms: Iterable[Object], path: str) -> Iterator[str]:
    """What is old in the terms of a node selector."""
    for index, term in enumerate(terms):
        yield from remarks_on_term(term, f"{path}[{index}]")


def remarks_on_term(term: Object, path: str, *, with_values: bool = False) -> Iterator[str]:
    """`with_values`: also what is no value of a label, which those who only prefer a node may say."""
    for index, rule in enumerate(term.get("matchExpressions") or ()):
        place, key = f"{path}.matchExpressions[{index}]", rule.get("key", "")
        if key in OLD_LABELS:
            yield f"{place}.key: {key} is {OLD_LABELS[key]}"
        for number, value in enumerate(rule.get("values") or () if with_values else ()):
            for broken in name_rules.label_value(value):
                yield f"{place}.values[{number}]: {value} is invalid, {broken}"
