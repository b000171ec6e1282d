"""A tenant's own pods: as many as its cluster may have, and the cost of each is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from butler.product import PRODUCT
from kubekit.errors import Forbidden
from kubekit.model.resource import Object
from kubekit.server.client import POD, DirectClient
from kubekit.server.serve.server import Server


def pod(number: int) -> Object:
    container = {"name": "a", "image": "b"}
    return {"metadata": {"name": f"p{number}", "namespace": "default"}, "spec": {"containers": [container]}}


@pytest.mark.timeout(60)
async def test_a_tenant_posts_no_more_pods_than_it_may_have(tmp_path: Path) -> None:
    most = PRODUCT.most_pods
    async with Server(tmp_path / "data", product=PRODUCT) as server:
        await server.add_space("tenant")
        tenant, platform = DirectClient(server.spaces["tenant"]), DirectClient(server.root)
        for number in range(most):
            await tenant.create(pod(number), POD)
        with pytest.raises(Forbidden) as refused:
            await tenant.create(pod(most), POD)
        used = f"requested: pods=1, used: pods={most}, limited: pods={most}"
        assert refused.value.message == f'pods "p{most}" is forbidden: exceeded quota: pods-of-the-cluster, {used}'
        await tenant.delete(POD, "p1", "default", grace=0)
        await tenant.create(pod(most), POD)
        await platform.create(pod(most), POD)
