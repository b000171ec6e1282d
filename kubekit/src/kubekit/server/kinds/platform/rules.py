"""The rules that webhooks and policies choose requests by."""

from __future__ import annotations

from kubekit.errors import not_supported
from kubekit.model.resource import Object
from kubekit.server.objects.problems import Problems, any_of, bad, required

FAILURE = ("Fail", "Ignore")
MATCH = ("Equivalent", "Exact")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES = ("*", "Cluster", "Namespaced")


def check_choice(found: Problems, holder: Object, path: str, name: str, choices: tuple[str, ...]) -> None:
    value = holder.get(name)
    if value is not None and value not in choices:
        found.append(not_supported(f"{path}.{name}", value, any_of(choices)))


def check_rule(found: Problems, rule: Object, path: str) -> None:
    operations = rule.get("operations") or []
    if not operations:
        found.append(required(f"{path}.operations"))
    if len(operations) > 1 and "*" in operations:
        detail = "if '*' is present, must not specify other operations"
        found.append(bad(f"{path}.operations", operations, detail))
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            found.append(not_supported(f"{path}.operations[{index}]", operation, _OPERATIONS))
    for name, words in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        listed = rule.get(name) or []
        if not listed:
            found.append(required(f"{path}.{name}"))
        if len(listed) > 1 and "*" in listed:
            found.append(bad(f"{path}.{name}", listed, f"if '*' is present, must not specify other {words}"))
    for index, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            found.append(required(f"{path}.apiVersions[{index}]"))
    _check_resources(found, rule.get("resources") or [], f"{path}.resources")
    check_choice(found, rule, path, "scope", _SCOPES)


def _check_resources(found: Problems, resources: list[str], path: str) -> None:
    if not resources:
        found.append(required(path))
    for index, resource in enumerate(resources):
        if not resource:
            found.append(required(f"{path}[{index}]"))
    if len(resources) > 1 and "*/*" in resources:
        found.append(bad(path, resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and any("/" not in one and one not in {"", "*"} for one in resources):
        detail = "if '*' is present, must not specify other resources without subresources"
        found.append(bad(path, resources, detail))
