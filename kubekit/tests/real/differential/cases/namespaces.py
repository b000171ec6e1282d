"""How namespaces end, and what they hold."""

from __future__ import annotations

from tests.real.differential.kinds import widget
from tests.real.differential.steps import (
    case,
    delete,
    get,
    gone,
    patch,
    post,
    quietly,
    status,
)
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    CORE,
    MAPS,
    NAMESPACES,
    config_map,
    made,
    secret,
)

_HELD = {"finalizers": ["example.org/hold"]}

_NAMESPACE = f"{NAMESPACES}/$ns-x"

_GONE_CONDITIONS = ("body.status.conditions",)


CASES = (
    case(
        "a namespace ends",
        *quietly(post(NAMESPACES, made("v1", "Namespace", "$ns-x")), post(f"{_NAMESPACE}/configmaps", config_map("a"))),
        delete(_NAMESPACE),
        get(_NAMESPACE, until=gone),
        get(f"{_NAMESPACE}/configmaps"),
        get(f"{_NAMESPACE}/configmaps/a"),
    ),
    case(
        "a namespace waits for what is held",
        *quietly(
            post(NAMESPACES, made("v1", "Namespace", "$ns-x")), post(f"{_NAMESPACE}/configmaps", config_map("a", _HELD))
        ),
        delete(_NAMESPACE),
        get(
            _NAMESPACE,
            until=lambda answer: any(
                one["type"] == "NamespaceFinalizersRemaining" and one["status"] == "True"
                for one in answer.at("status.conditions") or []
            ),
        ),
        get(f"{_NAMESPACE}/configmaps/a"),
        patch(f"{_NAMESPACE}/configmaps/a", {"metadata": {"finalizers": None}}),
        get(_NAMESPACE, until=gone),
    ),
    case(
        "nothing begins in a namespace that ends",
        *quietly(
            post(NAMESPACES, made("v1", "Namespace", "$ns-x")),
            post(f"{_NAMESPACE}/configmaps", config_map("a", _HELD)),
            delete(_NAMESPACE),
        ),
        post(f"{_NAMESPACE}/configmaps", config_map("b")),
        post(f"{_NAMESPACE}/secrets?dryRun=All", secret("b")),
        post("/apis/differential.example.org/v1/namespaces/$ns-x/widgets", widget("b")),
        patch(f"{_NAMESPACE}/configmaps/a", {"data": {"k": "v"}}, is_shown=False),
        post(NAMESPACES, made("v1", "Namespace", "$ns-x")),
        delete(_NAMESPACE, is_shown=False),
        patch(f"{_NAMESPACE}/configmaps/a", {"metadata": {"finalizers": None}}, is_shown=False),
        get(_NAMESPACE, until=gone),
    ),
    case(
        "namespaces that stay",
        delete(f"{NAMESPACES}/default"),
        delete(f"{NAMESPACES}/kube-system"),
        delete(f"{NAMESPACES}/kube-public"),
    ),
    case(
        "a namespace with finalizers of its own",
        *quietly(post(NAMESPACES, made("v1", "Namespace", "$ns-x", _HELD))),
        delete(_NAMESPACE),
        get(
            _NAMESPACE,
            until=lambda answer: answer.at("spec.finalizers") is None,
            ignore=(*_GONE_CONDITIONS, "body.metadata.managedFields"),
        ),
        patch(_NAMESPACE, {"metadata": {"finalizers": None}}, is_shown=False),
        get(_NAMESPACE, until=gone),
    ),
    case(
        "what every namespace has",
        get(f"{ACCOUNTS}/default", until=status(200)),
        get(f"{MAPS}/kube-root-ca.crt", until=status(200)),
        delete(f"{ACCOUNTS}/default", is_shown=False),
        get(f"{ACCOUNTS}/default", until=status(200)),
        get(f"{CORE}"),
    ),
)
