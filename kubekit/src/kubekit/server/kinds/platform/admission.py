"""Webhook configurations and admission policies."""

from __future__ import annotations

from functools import partial

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import Problems, bad, duplicate, first_places, refuse_each, required

from ..builtin.behaviour import BuiltIn
from ..builtin.label_selectors import check_selector
from .policies import check_binding, check_conditions, check_policy
from .rules import FAILURE, MATCH, check_choice, check_rule
from .webhook_addresses import url_problems

_GROUP = "admissionregistration.k8s.io"
_NO_SIDE_EFFECTS = ("None", "NoneOnDryRun")
_REINVOCATION = ("IfNeeded", "Never")
_REVIEW_VERSIONS = ("v1", "v1beta1")


def _fill_hooks(obj: Object, *, mutating: bool) -> None:
    for hook in obj.get("webhooks") or ():
        hook.setdefault("failurePolicy", "Fail")
        hook.setdefault("matchPolicy", "Equivalent")
        hook.setdefault("timeoutSeconds", 10)
        if mutating:
            hook.setdefault("reinvocationPolicy", "Never")
        _fill_selectors(hook)
        for rule in hook.get("rules", ()):
            rule.setdefault("scope", "*")
        if "service" in hook["clientConfig"]:
            hook["clientConfig"]["service"].setdefault("port", 443)


def _fill_selectors(holder: Object) -> None:
    holder.setdefault("namespaceSelector", {})
    holder.setdefault("objectSelector", {})


def _check_hooks(obj: Object, *, mutating: bool) -> list[FieldError]:
    found: Problems = []
    names: set[str] = set()
    for index, hook in enumerate(obj.get("webhooks") or ()):
        path, name = f"webhooks[{index}]", hook.get("name") or ""
        _check_hook(found, hook, path, mutating=mutating)
        _check_review_versions(found, hook.get("admissionReviewVersions") or [], f"{path}.admissionReviewVersions")
        if name and name in names:
            found.append(duplicate(f"{path}.name", name))
        names.add(name)
    return found


def _check_hook(found: Problems, hook: Object, path: str, *, mutating: bool) -> None:
    _check_full_name(found, hook.get("name") or "", f"{path}.name")
    for index, rule in enumerate(hook.get("rules") or ()):
        check_rule(found, rule, f"{path}.rules[{index}]")
    check_choice(found, hook, path, "failurePolicy", FAILURE)
    check_choice(found, hook, path, "matchPolicy", MATCH)
    effects = hook.get("sideEffects")
    if effects is None:
        found.append(required(f"{path}.sideEffects", f"must specify one of {', '.join(_NO_SIDE_EFFECTS)}"))
    check_choice(found, hook, path, "sideEffects", _NO_SIDE_EFFECTS)
    if not 1 <= hook["timeoutSeconds"] <= 30:
        detail = "the timeout value must be between 1 and 30 seconds"
        found.append(bad(f"{path}.timeoutSeconds", hook["timeoutSeconds"], detail))
    check_selector(found, hook["namespaceSelector"], f"{path}.namespaceSelector")
    check_selector(found, hook["objectSelector"], f"{path}.objectSelector")
    if mutating:
        check_choice(found, hook, path, "reinvocationPolicy", _REINVOCATION)
    _check_client(found, hook["clientConfig"], f"{path}.clientConfig")
    check_conditions(found, hook, f"{path}.matchConditions")


def _check_full_name(found: Problems, name: str, path: str) -> None:
    if not name:
        found.append(required(path))
    elif broken := name_rules.subdomain(name):
        found.append(bad(path, name, ",".join(broken)))
    elif name.count(".") < 2:
        found.append(bad(path, name, "should be a domain with at least three segments separated by dots"))


def _check_client(found: Problems, client: Object, path: str) -> None:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        found.append(required(path, "exactly one of url or service is required"))
    elif url is not None:
        found.extend(url_problems(url, f"{path}.url"))
    elif service is not None:
        check_service(found, service, f"{path}.service")


def check_service(found: Problems, service: Object, path: str) -> None:
    """The service of a webhook. The real server swaps name and namespace when it complains; so do we."""
    if not service.get("namespace"):
        found.append(required(f"{path}.name"))
    if not service.get("name"):
        found.append(required(f"{path}.namespace"))
    port, route = service["port"], service.get("path")
    if broken := name_rules.port(port):
        found.append(bad(f"{path}.port", port, f"port is not valid: {', '.join(broken)}"))
    if not route or route == "/":
        return
    if route == "//":
        found.append(bad(f"{path}.path", route, "segment[0] may not be empty"))
        return
    if not route.startswith("/"):
        found.append(bad(f"{path}.path", route, "must start with a '/'"))
    for index, step in enumerate(route[1:].removesuffix("/").split("/")):
        if not step:
            found.append(bad(f"{path}.path", route, f"segment[{index}] may not be empty"))
            continue
        refuse_each(found, f"{path}.path", route, (f"segment[{index}]: {rule}" for rule in name_rules.subdomain(step)))


def _check_review_versions(found: Problems, versions: list[str], path: str) -> None:
    accepted = ", ".join(_REVIEW_VERSIONS)
    if not versions:
        found.append(required(path, f"must specify one of {accepted}"))
        return
    first = first_places(versions)
    for index, version in enumerate(versions):
        if first[version] < index:
            found.append(bad(f"{path}[{index}]", version, "duplicate version"))
        else:
            refuse_each(found, f"{path}[{index}]", version, name_rules.label_1035(version))
    if not set(versions).intersection(_REVIEW_VERSIONS):
        found.append(bad(path, versions, f"must include at least one of {accepted}"))


def _fill_policy(obj: Object) -> None:
    obj["spec"].setdefault("failurePolicy", "Fail")
    _fill_match(obj["spec"].get("matchConstraints"))


def _fill_policy_binding(obj: Object) -> None:
    _fill_match(obj["spec"].get("matchResources"))


def _fill_match(match: Object | None) -> None:
    if match is None:
        return
    match.setdefault("matchPolicy", "Equivalent")
    _fill_selectors(match)
    for name in ("resourceRules", "excludeResourceRules"):
        for rule in match.get(name, ()):
            rule.setdefault("scope", "*")


def _hooks(*, mutating: bool) -> BuiltIn:
    return BuiltIn(
        fill=partial(_fill_hooks, mutating=mutating),
        check=partial(_check_hooks, mutating=mutating),
        generation=("webhooks",),
    )


KINDS = {
    (_GROUP, "ValidatingWebhookConfiguration"): _hooks(mutating=False),
    (_GROUP, "MutatingWebhookConfiguration"): _hooks(mutating=True),
    (_GROUP, "ValidatingAdmissionPolicy"): BuiltIn(
        fill=_fill_policy, check=check_policy, status=True, generation=("spec",)
    ),
    (_GROUP, "ValidatingAdmissionPolicyBinding"): BuiltIn(
        fill=_fill_policy_binding, check=check_binding, generation=("spec",)
    ),
}
