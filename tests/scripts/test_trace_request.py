"""The traces: that each request gets to its end, by the way the documentation shows."""

from __future__ import annotations

import importlib
import re
from functools import cache

import pytest

from scripts.trace_request import DOCUMENT, TRACES, Traced, documented, trace_create

LANDMARKS = {
    "post": ("kubekit.client.http", "kubekit.server.serve.handler", "kubekit.server.store.writer"),
    "reconcile": ("kubekit.runtime.controller", "butler.controllers.cluster.steps.workers"),
    "machine": ("kubekit.runtime.controller", "butler.providers.proxmox.provider"),
    "create": ("butler.cli.cluster.create", "butler.controllers.cluster.acceptance"),
}
MOST_MODULES, MOST_REQUESTS = 14, 3
"""Of Butler, for `butlerctl cluster create`."""


@cache
def traced(name: str) -> Traced:
    return TRACES[name]()


def written(name: str) -> list[tuple[str, str]]:
    """The modules and functions of a trace in the document."""
    found = re.search(rf"<!-- trace: {name} -->\n```\n(.*?)\n```", DOCUMENT.read_text(), re.DOTALL)
    assert found is not None
    return [(line.split()[0], line.split()[1]) for line in found[1].splitlines()]


@pytest.mark.parametrize("name", TRACES)
def test_a_request_goes_by_its_landmarks_in_their_order(name: str) -> None:
    modules = [*traced(name).trace.modules]
    assert sorted(map(modules.index, LANDMARKS[name])) == [modules.index(one) for one in LANDMARKS[name]]


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--provider", "simulated", "--workers", "3", "--cpu", "8"),
        (
            "--workers",
            "3",
            "--memory",
            "16Gi",
            "--disk",
            "100",
            "--k8s-version",
            "v1.32.2",
            "--pod-cidr",
            "10.9.0.0/16",
        ),
    ],
)
def test_a_create_asks_little_and_goes_through_few_modules(flags: tuple[str, ...]) -> None:
    made = trace_create(*flags)
    assert made.requests <= MOST_REQUESTS
    assert len(made.trace.modules) <= MOST_MODULES, made.trace.report()


@pytest.mark.parametrize("name", TRACES)
def test_the_document_shows_where_a_request_goes(name: str) -> None:
    for module, function in written(name):
        assert importlib.import_module(module).__name__ == module, function
    gone = {module for module, _ in written(name)} - traced(name).trace.modules.keys()
    assert not gone, f"renew it with `python -m scripts.trace_request --write {name}`"


def test_a_trace_is_written_between_its_marks() -> None:
    text = "a\n<!-- trace: post -->\n```\nold\nlines\n```\n<!-- trace: create -->\n```\nkept\n```\n"
    assert documented(text, "post", "new") == text.replace("old\nlines", "new")
