"""The values of what the expressions of admission see."""

from __future__ import annotations

from kubekit.model.resource import Object
from kubekit.server.objects.cel.admission_types import Values
from kubekit.server.objects.cel.rights import Asked, Authorizer, Decision, ResourceCheck

from ..host import Host
from ..match import Question, request_of


def values_of(host: Host, question: Question, params: Object | None = None) -> Values:
    """The values of everything but the variables."""

    def decide(asked: Asked) -> Decision:
        return host.authorize(question.options.user, asked)

    return {
        "object": question.typed,
        "oldObject": question.typed_old,
        "namespaceObject": _namespace(host, question),
        "request": request_of(question),
        "params": params,
        "authorizer": Authorizer(decide),
        "authorizer.requestResource": ResourceCheck(decide, _asked_of(question)),
    }


def _namespace(host: Host, question: Question) -> Object | None:
    target = question.target
    found = host.namespace(target.namespace) if target.resource.namespaced else None
    if found is None:
        return None
    hidden = ("managedFields", "ownerReferences")
    meta = {key: value for key, value in found["metadata"].items() if key not in hidden}
    return {**found, "metadata": meta}


def _asked_of(question: Question) -> Asked:
    target = question.target
    return Asked(
        group=target.resource.group,
        resource=target.resource.plural,
        subresource=target.subresource,
        namespace=target.namespace,
        name=target.name,
    )
