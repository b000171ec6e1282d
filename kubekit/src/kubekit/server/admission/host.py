"""An API as admission sees it: its contents, and what admission needs of the rooms beside and above it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kubekit.model.resource import Object
from kubekit.server.kinds.contents import Contents
from kubekit.server.objects.cel.rights import Asked, Decision
from kubekit.server.objects.request import Target
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.user import UserInfo
from kubekit.server.store.rows import Row


class Host(Contents, ABC):
    """What asks admission."""

    @abstractmethod
    def authorize(self, user: UserInfo, asked: Asked) -> Decision:
        """Whether a user has a right."""

    @abstractmethod
    def confirm_grant(self, user: UserInfo, target: Target, obj: Object, old: Object | None) -> None:
        """Raises when a role or a binding would grant what its writer does not hold."""

    @abstractmethod
    async def converted(self, source: Resource, target: Resource, obj: Object) -> Object:
        """An object of one version in another."""

    @abstractmethod
    async def shown(self, resource: Resource, row: Row) -> bytes:
        """A stored object in this version."""

    @abstractmethod
    def shape(self, resource: Resource, obj: Object) -> None:
        """Bring what a webhook has made into the shape of its kind, in place. Raises Malformed."""
