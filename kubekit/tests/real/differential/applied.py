"""Configurations that the cases of server-side apply send."""

from __future__ import annotations

from typing import Any

from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import Step, apply
from tests.real.differential.vocabulary import DEPLOYMENTS, MAPS, config_map, deployment


def applied_map(manager: str = "one", options: str = "", meta: Any = None, **data: str) -> Step:
    return apply(f"{MAPS}/a", config_map("a", meta, data=data), manager, options)


def applied_widget(manager: str = "one", options: str = "", **spec: Any) -> Step:
    return apply(f"{WIDGETS}/a", widget("a", spec=spec), manager, options)


def applied_deployment(manager: str = "one", options: str = "", **spec: Any) -> Step:
    return apply(f"{DEPLOYMENTS}/a", deployment("a", **spec), manager, options)


def port(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, **more}


PORT_80 = {"containerPort": 80}
