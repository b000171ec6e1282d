"""What the containers of a pod ask for together."""

from __future__ import annotations

from collections.abc import Mapping

from kubekit.model.quantity import Quantity
from kubekit.model.resource import Object

from ..builtin.quantities import amount

Amounts = dict[str, Quantity]


def amounts(listed: Mapping[str, str] | None) -> Amounts:
    return {name: amount(value) for name, value in (listed or {}).items()}


def total(spec: Object, part: str) -> Amounts:
    """The `requests` or `limits` of a pod: what runs at once is added up, what runs alone counts by its peak."""
    found = _of_containers(spec, part)
    of_pod = amounts((spec.get("resources") or {}).get(part))
    found |= {name: value for name, value in of_pod.items() if _is_for_pods(name)}
    for name, value in amounts(spec.get("overhead")).items():
        if part == "requests":
            found[name] = found[name] + value if name in found else value
        elif name in found and found[name].sign:
            found[name] = found[name] + value
    return found


def _of_containers(spec: Object, part: str) -> Amounts:
    running: Amounts = {}
    for container in spec.get("containers") or ():
        running = _sum(running, _asked(container, part))
    beside: Amounts = {}
    peak: Amounts = {}
    for container in spec.get("initContainers") or ():
        asked = _asked(container, part)
        if container.get("restartPolicy") == "Always":
            # It stays while all that follow run.
            running, beside = _sum(running, asked), _sum(beside, asked)
            asked = beside
        else:
            asked = _sum(asked, beside)
        peak = _peak(peak, asked)
    return _peak(running, peak)


def _asked(container: Object, part: str) -> Amounts:
    return amounts((container.get("resources") or {}).get(part))


def _sum(first: Amounts, second: Amounts) -> Amounts:
    return first | {name: first[name] + value if name in first else value for name, value in second.items()}


def _peak(first: Amounts, second: Amounts) -> Amounts:
    return first | {name: max(first[name], value) if name in first else value for name, value in second.items()}


def _is_for_pods(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith("hugepages-")
