"""Which program is behind a Service."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.admission import service_backends
from kubekit.server.serve.server import Server
from tests.http_api import Api

HOOK = {"namespace": "default", "name": "hook", "port": 443, "path": "/x"}
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


@pytest.fixture
async def service(api: Api) -> None:
    spec = {"ports": [{"name": "https", "port": 443, "targetPort": 9443}]}
    await api("POST", "/api/v1/namespaces/default/services", {"metadata": {"name": "hook"}, "spec": spec})


async def add_slice(api: Api, name: str, *endpoints: dict[str, Any], kind: str = "IPv4", of: str = "hook") -> None:
    made = {
        "metadata": {"name": name, "labels": {"kubernetes.io/service-name": of}},
        "addressType": kind,
        "endpoints": list(endpoints),
        "ports": [{"name": "metrics", "port": 8080}, {"name": "https", "port": 9443}],
    }
    answer = await api("POST", SLICES, made)
    assert answer.status == 201, answer.body


@pytest.mark.usefixtures("service")
async def test_a_backend_is_found_by_the_slices_of_its_service(api: Api, server: Server) -> None:
    """Endpoints are deprecated: who runs a webhook outside a cluster writes a slice."""
    await add_slice(api, "other", {"addresses": ["192.0.2.9"]}, of="other")
    await add_slice(api, "mine", {"addresses": ["192.0.2.1"]})
    assert service_backends.url_behind(server.root, HOOK) == "https://192.0.2.1:9443/x"


@pytest.mark.usefixtures("service")
async def test_a_backend_that_is_not_ready_is_passed_over(api: Api, server: Server) -> None:
    away, here = {"addresses": ["192.0.2.1"], "conditions": {"ready": False}}, {"addresses": ["2001:db8::1"]}
    await add_slice(api, "a", away)
    with pytest.raises(service_backends.NoBackend, match='no endpoints available for service "hook"'):
        service_backends.url_behind(server.root, HOOK)
    await add_slice(api, "b", here, kind="IPv6")
    assert service_backends.url_behind(server.root, HOOK) == "https://[2001:db8::1]:9443/x"


@pytest.mark.usefixtures("service")
async def test_a_backend_is_found_by_the_endpoints_of_its_service(api: Api, server: Server) -> None:
    subset = {"addresses": [{"ip": "192.0.2.1"}], "ports": [{"name": "https", "port": 9443}]}
    await api("POST", "/api/v1/namespaces/default/endpoints", {"metadata": {"name": "hook"}, "subsets": [subset]})
    assert service_backends.url_behind(server.root, HOOK) == "https://192.0.2.1:9443/x"
