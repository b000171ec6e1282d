"""Rules about who may write what, where a role alone cannot say it, and warnings: as policies of the API server."""

from __future__ import annotations

from kubekit.model.resource import Address, Object

from ..model import GROUP, PART_OF, VERSION
from .field_warnings import warning_policies

POLICY = Address(
    "admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", False
)
BINDING = Address(
    POLICY.group, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", False
)  # fmt: skip
REDIRECT = "redirect"
"""The verb on providerconfigs that lets someone choose where credentials are sent that they may not read."""

DESTINATION = {
    "harvester": ("endpoint", "insecure", "proxy"),
    "nutanix": ("endpoint", "port", "insecure", "prismCentral", "prismElement", "proxy"),
    "proxmox": ("endpoint", "insecure", "caBundle", "proxy"),
    "azure": ("environment", "endpoint", "authority", "tenantID", "caBundle", "proxy"),
    "aws": ("endpoint", "insecure", "proxy"),
    "gcp": ("endpoint", "resourceManagerEndpoint", "caBundle", "proxy"),
    "external": ("name", "settings"),
}
"""The fields of each section that say where its credentials go, and who is believed to be there."""
_REFERENCES = ("?credentialsRef", "?clusterCredentialsRef", *(f"?{section}.?credentialsRef" for section in DESTINATION))
_NAME = f"providerconfig-destination.{GROUP}"


def policies() -> tuple[tuple[Address, Object], ...]:
    """Everything to install, each with its kind: what refuses first, then what only warns."""
    warning = (one for name, spec in warning_policies() for one in _bound(name, spec, "Warn"))
    return (*_bound(_NAME, _destination(), "Deny"), *warning)


def _bound(name: str, spec: Object, action: str) -> tuple[tuple[Address, Object], ...]:
    """A policy, and what makes it hold everywhere."""
    head = {"name": name, "labels": dict(PART_OF)}
    policy = {"apiVersion": POLICY.api_version, "kind": POLICY.kind, "metadata": head, "spec": spec}
    where = {"policyName": name, "validationActions": [action]}
    binding = {"apiVersion": BINDING.api_version, "kind": BINDING.kind, "metadata": dict(head), "spec": where}
    return (POLICY, policy), (BINDING, binding)


def _destination() -> Object:
    """Where an account's credentials are sent is decided by those who may read them.

    Otherwise the right to write a ProviderConfig would be the right to have any Secret beside it sent to oneself."""
    rule = {
        "apiGroups": [GROUP],
        "apiVersions": [VERSION],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["providerconfigs"],
    }
    references = ", ".join(f"object.spec.{place}" for place in _REFERENCES)
    variables = {
        # Each of them, because which one counts is not for this rule to know.
        "secrets": f"[{references}].filter(one, one.hasValue()).map(one, one.value())",
        "stays": f"request.operation == 'UPDATE' && {_unchanged()}",
        "mayRead": (
            "variables.secrets.all(one, authorizer.group('').resource('secrets')"
            ".namespace(one.?namespace.orValue(object.metadata.namespace)).name(one.name).check('get').allowed())"
        ),
        "mayRedirect": (
            f"authorizer.group('{GROUP}').resource('providerconfigs').namespace(object.metadata.namespace)"
            f".name(object.metadata.name).check('{REDIRECT}').allowed()"
        ),
    }
    message = (
        "where the credentials of a ProviderConfig are sent is for those to say who may get the Secret they are in,"
        f" or {REDIRECT} the ProviderConfig"
    )
    return {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "variables": [{"name": name, "expression": expression} for name, expression in variables.items()],
        "validations": [
            {
                "expression": "variables.stays || variables.mayRead || variables.mayRedirect",
                "message": message,
                "reason": "Forbidden",
            }
        ],
    }


def _unchanged() -> str:
    fields = [f"?{section}.?{field}" for section, fields in DESTINATION.items() for field in fields]
    paths = ["?provider", "?type", *_REFERENCES, *fields]
    return " && ".join(f"object.spec.{path} == oldObject.spec.{path}" for path in paths)
