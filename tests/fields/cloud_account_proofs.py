"""The account for clusters that a ProviderConfig names is the one that their addons get."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from butler.addons.builtin import gcp
from butler.api import KINDS
from butler.api.shared import SecretRef
from butler.controllers.cluster.addons.cloud_account import with_account
from butler.engines.core import Secret
from kubekit.clock import SystemChance, SystemClock
from kubekit.model.resource import ObjectMeta
from kubekit.testing.memory import MemorySpace
from tests.addons.clusters import ACCOUNTS, provider
from tests.controllers.test_cloud_account import addon
from tests.fields.proof import Observe, Proof

_HOMES = ("butler-system", "elsewhere")


def _account(field: str) -> Observe:
    """Where there is a Secret `clusters` of the platform's own namespace, with the customary key and another."""

    async def observe(value: Any) -> object:
        space = MemorySpace(SystemClock(), SystemChance(), kinds=KINDS, namespaces=_HOMES)
        key = ACCOUNTS["gcp"]["serviceAccountKey"]
        data = {"serviceAccountKey": key.encode(), "other": key.replace("a@b", "c@d").encode()}
        client = space.client()
        await client.create(Secret(metadata=ObjectMeta(name="clusters", namespace=_HOMES[0]), data=data))
        config = provider("gcp", account=True)
        reference = structs.replace(SecretRef(name="clusters"), **{field: value})
        config = structs.replace(config, spec=structs.replace(config.spec, cluster_credentials_ref=reference))
        able, lacking = await with_account(client, config, [addon(gcp.CONTROLLER)])
        return [one.secrets for one in able], [one.message for one in lacking]

    return observe


_PATH = "ProviderConfig.spec.clusterCredentialsRef"
PROOFS = {
    f"{_PATH}.name": Proof(_account("name"), "clusters", "others"),
    f"{_PATH}.namespace": Proof(_account("namespace"), *_HOMES),
    f"{_PATH}.key": Proof(_account("key"), "serviceAccountKey", "other"),
}
