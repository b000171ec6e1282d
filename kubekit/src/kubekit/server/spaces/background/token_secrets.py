"""Tokens that Secrets ask for."""

from __future__ import annotations

import base64
from contextlib import suppress

from kubekit.errors import NotFound
from kubekit.server.access.tokens import TokenIssuer
from kubekit.server.objects.request import DeleteOptions, Target, WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.pipeline import commit, deletion, writes
from kubekit.server.pipeline.space import Space
from kubekit.server.store.changes import Change
from kubekit.server.store.events import Event
from kubekit.server.store.rows import Row

from .worker import Worker

_USER = UserInfo("system:kube-controller-manager")
_TOKEN_SECRET = "kubernetes.io/service-account-token"  # noqa: S105 - the type's name
_ASKS_FOR_TOKEN = b'"kubernetes.io/service-account-token"'
_ACCOUNT_NAME = "kubernetes.io/service-account.name"
_ACCOUNT_UID = "kubernetes.io/service-account.uid"


class TokenSecrets:
    """Fills Secrets of type kubernetes.io/service-account-token, and removes them with their account."""

    def __init__(self, space: Space, issuer: TokenIssuer, authority: str) -> None:
        self._space, self._issuer, self._authority = space, issuer, authority
        self.worker: Worker[str] = Worker("token secrets", self._fill, space.clock)

    def load(self, row: Row) -> None:
        if _ASKS_FOR_TOKEN in row.value:
            self.worker.add(row.key)

    def see(self, event: Event) -> None:
        if event.change is not Change.DELETED and _ASKS_FOR_TOKEN in event.value:
            self.worker.add(event.key)

    def see_account(self, event: Event) -> None:
        """The tokens of an account that is gone go, too."""
        if event.change is not Change.DELETED:
            return
        bucket = self._space.bucket(self._kind("secrets"))
        for key in self._space.store.keys(bucket, f"{event.key.partition('/')[0]}/"):
            row = self._space.store.latest(bucket, key)
            if row is not None and _ASKS_FOR_TOKEN in row.value:
                self.worker.add(key)

    async def _fill(self, key: str) -> None:
        secrets, accounts = self._kind("secrets"), self._kind("serviceaccounts")
        namespace, _, name = key.partition("/")
        target = Target(secrets, namespace, name)
        row = self._space.latest(target)
        if row is None:
            return
        obj, old = row.decode(), row.decode()
        annotations = obj["metadata"].get("annotations") or {}
        account = self._space.find(accounts, namespace, annotations.get(_ACCOUNT_NAME, ""))
        if obj.get("type") != _TOKEN_SECRET:
            return
        if account is None or annotations.get(_ACCOUNT_UID, account["metadata"]["uid"]) != account["metadata"]["uid"]:
            with suppress(NotFound):
                await deletion.delete(self._space, target, DeleteOptions(), WriteOptions(_USER))
            return
        if (obj.get("data") or {}).get("token"):
            return
        content = {
            "token": self._issuer.legacy_token(account, obj),
            "namespace": namespace,
            "ca.crt": self._authority,
        }
        encoded = {one: base64.b64encode(text.encode()).decode() for one, text in content.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}
        obj["metadata"]["annotations"] = {**annotations, _ACCOUNT_UID: account["metadata"]["uid"]}
        writes.record(self._space, target, obj, old, "kube-controller-manager")
        await commit.stage(self._space, target, Change.MODIFIED, obj, row)

    def _kind(self, plural: str) -> Resource:
        found = self._space.kinds.at("", "v1", plural)
        assert found is not None
        return found
