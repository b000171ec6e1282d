"""The providers behind ProviderConfigs: connected once, shared by all who use them, and made anew when they change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar

from butler import advice
from butler.api.credentials import canonical_keys
from butler.api.normalise import normalise
from butler.api.provider import ProviderConfig
from butler.api.references import ALLOWED_NAMESPACES, serves
from butler.engines.core import Secret
from butler.errors import CredentialsInvalid, RateLimited
from butler.providers import registry
from butler.providers.contract import Connect, Provider, Surroundings
from kubekit.client.protocol import Client, Selection
from kubekit.errors import KubeError, NotFound
from kubekit.model.resource import Address, Model, ObjectMeta
from kubekit.runtime.informer import Informer
from kubekit.runtime.manager import Manager
from kubekit.runtime.objects import key
from kubekit.runtime.reconciler import Permission

from .call_gate import Busy, Gate, Wake

__all__ = ["AT_ONCE", "NEEDED", "Account", "Accounts", "Busy", "ProviderConfigMissing"]

AT_ONCE = 8
"""So many calls at a time on one account."""
NEEDED = (Permission(Secret, ("get", "list", "watch")),)
"""What whoever uses accounts may do."""
_BREATHER = timedelta(seconds=1)
"""How long to leave an infrastructure alone that asks for it without saying how long."""


class ProviderConfigMissing(KubeError):
    """There is no such ProviderConfig."""

    reason, retryable = "ProviderConfigError", False


def missing(name: str, namespace: str) -> ProviderConfigMissing:
    """There is none, or none that may be used from there: whoever may not use it does not learn of it."""
    if name.startswith(f"{namespace}/"):
        return ProviderConfigMissing(f"there is no ProviderConfig {name}; create it")
    advice = f"use one of namespace {namespace}, or have that one allow it by the annotation {ALLOWED_NAMESPACES}"
    return ProviderConfigMissing(f"there is no ProviderConfig {name} that serves namespace {namespace}; {advice}")


class SecretHead(Model):
    """That there is a Secret, and nothing of what is in it."""

    address: ClassVar[Address] = Secret.address
    metadata: ObjectMeta


@dataclass(slots=True)
class Account:
    """A connection, as long as its ProviderConfig and its Secret are as they were."""

    name: str
    config: ProviderConfig
    """Normalised."""
    provider: Provider
    gate: Gate
    stamp: tuple[object, ...]
    """What it was made from."""
    visitors: int = 0
    is_outdated: bool = False

    @property
    def infrastructure(self) -> str:
        return self.config.spec.infrastructure


@dataclass(slots=True)
class _Watched:
    """A Secret that is followed, and the ProviderConfigs that have their credentials there."""

    informer: Informer[SecretHead]
    names: set[str] = field(default_factory=set)


class Accounts:
    """Accounts by the key of their ProviderConfig."""

    def __init__(
        self,
        manager: Manager,
        surroundings: Surroundings,
        connect: Connect = registry.connect,
        at_once: int = AT_ONCE,
    ) -> None:
        self.surroundings, self._connect, self._at_once = surroundings, connect, at_once
        self._client, self._informers = manager.client, manager.informers
        self._configs: Informer[ProviderConfig] = manager.informers.of(ProviderConfig)
        self._accounts: dict[str, Account] = {}
        self._gates: dict[str, Gate] = {}
        self._secrets: dict[str, _Watched] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._opening: dict[str, asyncio.Lock] = {}
        manager.accompany(self._keep)

    def config(self, name: str) -> ProviderConfig | None:
        return self._configs.get(name)

    def listen(self, listener: Callable[[str], None]) -> None:
        """Tell of every ProviderConfig whose Secret changed, came or went."""
        self._listeners.append(listener)

    @asynccontextmanager
    async def visit(self, name: str, visitor: str, wake: Wake) -> AsyncIterator[Account]:
        """An account to make calls on, if it is the visitor's turn.

        Raises Busy, ProviderConfigMissing, CredentialsInvalid and InvalidConfiguration."""
        account = await self._open(name, visitor.partition("/")[0])
        account.gate.enter(visitor, wake)
        account.visitors += 1
        try:
            yield account
        except RateLimited as error:
            account.gate.close(visitor, pause_after(error))
            raise
        finally:
            account.visitors -= 1
            account.gate.leave()
            await self._close_if_done(account)

    async def _open(self, name: str, namespace: str) -> Account:
        async with self._opening.setdefault(name, asyncio.Lock()):
            config = self._configs.get(name)
            if config is None:
                raise missing(name, namespace)
            known = self._accounts.get(name)
            if known is not None and known.stamp == self._stamp(config):
                return known
            return await self._made(name, config)

    async def _made(self, name: str, config: ProviderConfig) -> Account:
        normal = normalise(config)
        if (ref := normal.spec.credentials_ref) is not None:
            self._follow(ref.namespace or config.metadata.namespace, ref.name, config.key)
        secret = await _secret(self._client, normal)
        provider = self._connect(normal, _credentials(normal, secret), self.surroundings)
        gate = self._gates.setdefault(name, Gate(self._at_once, self.surroundings.clock))
        version = secret.metadata.resource_version if secret else ""
        account = Account(name, normal, provider, gate, _stamp(config, version))
        await self._retire(self._accounts.get(name))
        self._accounts[name] = account
        return account

    def _follow(self, namespace: str, name: str, config: str) -> None:
        place = key(namespace, name)
        watched = self._secrets.get(place)
        if watched is None:
            selection = Selection(namespace=namespace, fields=f"metadata.name={name}")
            informer = self._informers.of(SecretHead, selection)
            watched = self._secrets[place] = _Watched(informer)
            informer.handle(lambda old, new, news: self._tell(place, old, new))
        watched.names.add(config)

    def _tell(self, place: str, old: SecretHead | None, new: SecretHead | None) -> None:
        for name in sorted(self._secrets[place].names):
            account = self._accounts.get(name)
            # The first look at a Secret says what the connection was made with: nobody has to know.
            if old is None and new is not None and account is not None and account.stamp[-1] == _version(new):
                continue
            for listener in self._listeners:
                listener(name)

    def _stamp(self, config: ProviderConfig) -> tuple[object, ...]:
        """What an account would be made from now."""
        known = self._accounts.get(config.key)
        ref = known.config.spec.credentials_ref if known is not None else None
        if known is None or ref is None:
            return _stamp(config, "")
        place = key(ref.namespace or config.metadata.namespace, ref.name)
        watched = self._secrets.get(place)
        if watched is None or not watched.informer.synced:
            return _stamp(config, str(known.stamp[-1]))
        head = watched.informer.get(place)
        return _stamp(config, _version(head) if head is not None else "")

    async def _retire(self, account: Account | None) -> None:
        if account is not None:
            account.is_outdated = True
            await self._close_if_done(account)

    async def _close_if_done(self, account: Account) -> None:
        if account.is_outdated and not account.visitors:
            await account.provider.close()

    async def _keep(self) -> None:
        """Close everything at the end."""
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            accounts, self._accounts = list(self._accounts.values()), {}
            for account in accounts:
                await account.provider.close()


async def connect_alone(client: Client, config: ProviderConfig, surroundings: Surroundings) -> Provider:
    """A connection for one command; whoever has it closes it. Raises CredentialsInvalid, InvalidConfiguration."""
    normal = normalise(config)
    secret = await _secret(client, normal)
    return registry.connect(normal, _credentials(normal, secret), surroundings)


async def _secret(client: Client, normal: ProviderConfig) -> Secret | None:
    ref, own = normal.spec.credentials_ref, normal.metadata.namespace
    if ref is None:
        return None
    try:
        found: Secret = await client.get(Secret, ref.name, ref.namespace or own)
    except NotFound:
        found = _NO_SECRET
    if serves(found.metadata, own):
        return found
    # The same for both reasons: who may not read a Secret does not learn whether there is one.
    told = f"there is no Secret {ref.name} in namespace {ref.namespace}"
    remedy = "create it"
    if ref.namespace != own:
        told += f" that serves namespace {own}"
        allowing = advice.allow_secret(ref.name, ref.namespace or own, f"{ALLOWED_NAMESPACES}={own}")
        remedy += f", or allow it: `{allowing}`"
    raise CredentialsInvalid(normal.spec.infrastructure, "", f"{told}; {remedy}")


_NO_SECRET = Secret(metadata=ObjectMeta(name=""))


def _credentials(normal: ProviderConfig, secret: Secret | None) -> dict[str, str]:
    kind, ref = normal.spec.provider, normal.spec.credentials_ref
    assert kind is not None, "normalise() fills it in"
    data = {entry: value.decode(errors="replace") for entry, value in secret.data.items()} if secret else {}
    return canonical_keys(kind, data, ref.key if ref else None)


def pause_after(error: RateLimited) -> timedelta:
    """How long to leave an infrastructure alone that asked for it."""
    return timedelta(seconds=error.retry_after) or _BREATHER


def _version(head: SecretHead) -> str:
    return head.metadata.resource_version


def _stamp(config: ProviderConfig, secret: str) -> tuple[object, ...]:
    return (config.metadata.uid, config.metadata.generation, secret)
