"""One platform and one bare API for all suggestions."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml

from butler.api import KINDS
from butler.engines.capi.kinds import Machine
from kubekit.model import crd
from kubekit.model.resource import Resource
from testbed.running.embedded import BUTLER, kubectl_for, start_server, stop_server
from tests.advice.stages import SYSTEM, TENANTS, User, announce


@pytest.fixture(scope="session")
def user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user whose platform runs."""
    one = User(tmp_path_factory.mktemp("advice") / "home")
    started = one.up("--empty")
    one.first_screen = started.out + started.err
    yield one
    one.stop()


@pytest.fixture(scope="session")
def onlooker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user of an API that knows all kinds, passes for a platform, and on which nobody acts."""
    directory = tmp_path_factory.mktemp("bare")
    server = start_server(directory / "data", program=BUTLER)
    namespaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in (SYSTEM, TENANTS)]
    kinds: list[type[Resource]] = [*KINDS, Machine]
    definitions = [crd.definition(kind) for kind in kinds]
    kubectl_for(server.kubeconfig)("create", "-f", "-", stdin=yaml.safe_dump_all([*definitions, *namespaces]))
    one = User(directory / "home")
    announce(one, server)
    assert json.loads((one.home / "local.json").read_text())["discovery"]
    yield one
    stop_server(server)


@pytest.fixture
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    """A user with nothing yet."""
    one = User(tmp_path_factory.mktemp("visitor") / "home")
    one.remember_free_port()
    yield one
    one.stop()
