"""ControllerRevisions: the templates a StatefulSet or DaemonSet has had, for rollouts and for going back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from kubekit.errors import AlreadyExists, NotFound
from kubekit.runtime.objects import owner_reference

from ..context import Context
from ..kinds import ControllerRevision, Template
from .hashes import short_hash
from .ownership import Children

HASH = "controller-revision-hash"


class Revisions:
    """The revisions of the objects of one kind."""

    def __init__(self, site: Context, parent: type[Any]) -> None:
        self._site, self._parent = site, parent
        self._children: Children[ControllerRevision] = Children(site, ControllerRevision, parent)

    def of(self, owner: Any) -> list[ControllerRevision]:
        """Oldest first."""
        return sorted(self._children.of(owner), key=lambda each: (each.revision, each.metadata.name))

    async def current(self, owner: Any) -> ControllerRevision:
        """The revision of the owner's template as it is: found, made the newest again, or made."""
        data = _data(owner.spec.template)
        known = self.of(owner)
        newest = known[-1].revision if known else 0
        same = next((each for each in reversed(known) if each.data == data), None)
        if same is None:
            return await self._create(owner, data, newest + 1)
        if same.revision == newest:
            return same
        change = {"revision": newest + 1, "metadata": {"resourceVersion": same.metadata.resource_version}}
        return await self._site.client.patch(ControllerRevision, same.metadata.name, change, same.metadata.namespace)

    async def _create(self, owner: Any, data: Template, number: int) -> ControllerRevision:
        code, meta = short_hash(data), owner.metadata
        labels = (owner.spec.template.get("metadata") or {}).get("labels") or {}
        wire = {
            "metadata": {
                "name": f"{meta.name}-{code}",
                "namespace": meta.namespace,
                "labels": {**labels, HASH: code},
                "ownerReferences": [owner_reference(owner, self._parent)],
            },
            "data": data,
            "revision": number,
        }
        try:
            made = await self._site.client.create(wire, ControllerRevision.address)
        except AlreadyExists:
            # Made by an earlier visit whose answer was lost.
            return await self._site.client.get(ControllerRevision, f"{meta.name}-{code}", meta.namespace)
        return msgspec.convert(made, ControllerRevision)

    async def forget(self, owner: Any, needed: Iterable[str]) -> None:
        """Delete the oldest that no pod is of, beyond the limit the owner sets."""
        keep, limit = set(needed), owner.spec.revision_history_limit
        unused = [each for each in self.of(owner) if each.metadata.labels.get(HASH) not in keep]
        if limit is None:
            return
        for each in unused[: max(0, len(unused) - limit)]:
            try:
                await self._site.client.delete(ControllerRevision, each.metadata.name, each.metadata.namespace)
            except NotFound:
                continue


def code_of(revision: ControllerRevision) -> str:
    """What pods of a revision are labelled with, behind the name of their owner or alone."""
    return revision.metadata.labels.get(HASH, "")


def template_of(revision: ControllerRevision) -> Template:
    template: Template = revision.data["spec"]["template"]
    return {name: value for name, value in template.items() if name != "$patch"}


def _data(template: Template) -> Template:
    """As a patch that puts the template back, which is how kubectl goes back."""
    return {"spec": {"template": {**template, "$patch": "replace"}}}
