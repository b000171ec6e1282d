"""Kubernetes for Python: a client, a controller runtime, an API server, and the means to test on them.

What a controller's author needs can be imported from here. Each name is looked up in its module when it is first used,
so that importing kubekit costs nothing: a program that only wants a model never loads an HTTP client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubekit.version import __version__

if TYPE_CHECKING:
    from kubekit.client.config import Config
    from kubekit.client.http import HttpClient
    from kubekit.client.kubeconfig import load as load_config
    from kubekit.client.protocol import Client, Patch, Selection
    from kubekit.definitions import install as install_definitions
    from kubekit.errors import AlreadyExists, ApiError, Conflict, InvalidConfiguration, KubeError, NotFound
    from kubekit.model.crd import definition
    from kubekit.model.resource import (
        AGE,
        Address,
        Column,
        Model,
        Object,
        ObjectMeta,
        OwnerReference,
        Resource,
        Rule,
        Scale,
    )
    from kubekit.model.status import Condition, Status
    from kubekit.runtime.conditions import condition, condition_of, merged, status_with, without
    from kubekit.runtime.leader import Election
    from kubekit.runtime.manager import Manager, ManagerSettings
    from kubekit.runtime.objects import key_of, owner_reference
    from kubekit.runtime.permissions import rules_for
    from kubekit.runtime.program import run
    from kubekit.runtime.reconciler import Note, Outcome, Permission, Reconciler, Watch, children

__all__ = [
    "AGE",
    "Address",
    "AlreadyExists",
    "ApiError",
    "Client",
    "Column",
    "Condition",
    "Config",
    "Conflict",
    "Election",
    "HttpClient",
    "InvalidConfiguration",
    "KubeError",
    "Manager",
    "ManagerSettings",
    "Model",
    "NotFound",
    "Note",
    "Object",
    "ObjectMeta",
    "Outcome",
    "OwnerReference",
    "Patch",
    "Permission",
    "Reconciler",
    "Resource",
    "Rule",
    "Scale",
    "Selection",
    "Status",
    "Watch",
    "__version__",
    "children",
    "condition",
    "condition_of",
    "definition",
    "install_definitions",
    "key_of",
    "load_config",
    "merged",
    "owner_reference",
    "rules_for",
    "run",
    "status_with",
    "without",
]

_HOMES = {
    "client.config": ("Config",),
    "client.http": ("HttpClient",),
    "client.kubeconfig": ("load_config",),
    "client.protocol": ("Client", "Patch", "Selection"),
    "definitions": ("install_definitions",),
    "errors": ("AlreadyExists", "ApiError", "Conflict", "InvalidConfiguration", "KubeError", "NotFound"),
    "model.crd": ("definition",),
    "model.resource": (
        "AGE", "Address", "Column", "Model", "Object", "ObjectMeta", "OwnerReference", "Resource", "Rule", "Scale",
    ),
    "model.status": ("Condition", "Status"),
    "runtime.conditions": ("condition", "condition_of", "merged", "status_with", "without"),
    "runtime.leader": ("Election",),
    "runtime.manager": ("Manager", "ManagerSettings"),
    "runtime.objects": ("key_of", "owner_reference"),
    "runtime.permissions": ("rules_for",),
    "runtime.program": ("run",),
    "runtime.reconciler": ("Note", "Outcome", "Permission", "Reconciler", "Watch", "children"),
}  # fmt: skip
"""Where each name comes from; says the same as the imports above, which only type checkers and editors read."""
_THERE = {"install_definitions": "install", "load_config": "load"}
"""What a name is called in its module, where that is too short to stand alone."""
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # else every misspelt name would be Any

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module  # noqa: PLC0415 - only where something is looked up

        found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), _THERE.get(name, name))
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
