"""Objects of custom kinds in the version a client asks for, and in the one they are stored in.

A stored object is in the oldest version its definition ever stored, unless it begins with its apiVersion. So nothing is
marked, and nothing converted, until a definition changes the version it stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from kubekit.errors import InternalError
from kubekit.model.resource import Object
from kubekit.server.admission.webhook_client import CallFailed, WebhookClient
from kubekit.server.kinds.contents import Contents
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema import defaults, pruning
from kubekit.server.store import json_values
from kubekit.server.store.rows import Row

_MARK = b'{"apiVersion":"'
_PATIENCE = 30.0
_NEWEST = 2**63 - 1
_REMEMBERED_BYTES = 16 * 1024 * 1024


class ConversionFailed(InternalError):
    """A webhook did not convert; Kubernetes has no reason word for that."""

    reason = ""


class Stored(Protocol):
    """One version of an object, as the store has it."""

    @property
    def revision(self) -> int: ...

    @property
    def value(self) -> bytes: ...


def is_ready(resource: Resource, stored: Stored) -> bool:
    """Whether stored bytes can be shown as they are: in this version, by today's schema, without a mark."""
    if not resource.is_custom:
        return _is_native(resource)
    return _is_native(resource) and stored.revision > resource.schema_since and not stored.value.startswith(_MARK)


def _is_native(resource: Resource) -> bool:
    """Whether an object that is stored without a mark is stored in this version."""
    if not resource.is_custom:
        return resource.translation is None
    return resource.oldest_version in ("", resource.version)


def _not_ready(resource: Resource, found: Sequence[Stored]) -> list[int]:
    """Where `is_ready` does not hold; said once more because it is asked for every object of every list."""
    if resource.translation is not None or resource.oldest_version not in ("", resource.version):
        return list(range(len(found)))
    since = resource.schema_since
    return [at for at, one in enumerate(found) if one.revision <= since or one.value.startswith(_MARK)]


def is_up_to_date(resource: Resource, stored: Stored) -> bool:
    """Whether an object is stored in the version in which it would be stored now."""
    wanted = resource.storage_version or resource.version
    return not resource.is_custom or _version_of(resource, stored.value) == wanted


def _version_of(resource: Resource, value: bytes) -> str:
    if not value.startswith(_MARK):
        return resource.oldest_version or resource.version
    return value[len(_MARK) : value.index(b'"', len(_MARK))].rpartition(b"/")[2].decode()


class Converter:
    """Converts the objects of one space, and remembers what it showed: a version of an object never changes."""

    def __init__(self, contents: Contents, client: WebhookClient) -> None:
        self._contents, self._client = contents, client
        self._remembered: dict[tuple[Resource, bytes], bytes] = {}
        self._size = 0

    async def shown(self, resource: Resource, found: Sequence[Stored]) -> list[bytes]:
        """Stored objects in this version. Raises ConversionFailed when a webhook does not convert them."""
        shown = [one.value for one in found]
        late = _not_ready(resource, found)
        if not late:
            return shown
        missing = []
        for index in late:
            known = self._remembered.get((resource, shown[index]))
            if known is None:
                missing.append(index)
            else:
                shown[index] = known
        sources = [shown[index] for index in missing]
        for index, obj in zip(missing, await self._fresh(resource, sources), strict=True):
            value = msgspec.json.encode(obj)
            self._remember(resource, shown[index], value)
            shown[index] = value
        return shown

    async def value(self, resource: Resource, stored: Stored) -> bytes:
        """One stored object in this version."""
        return stored.value if is_ready(resource, stored) else (await self.shown(resource, [stored]))[0]

    async def written(self, resource: Resource, value: bytes) -> bytes:
        """What was stored just now, in this version."""
        if _is_native(resource) and not value.startswith(_MARK):
            return value
        return (await self.shown(resource, [Row("", _NEWEST, value)]))[0]

    async def for_storage(self, resource: Resource, obj: Object) -> Object:
        """An object of this version as it is to be stored."""
        if resource.translation is not None:
            return self._filled(resource, resource.translation.stored(obj))
        version = resource.storage_version or resource.version
        if version == resource.version == resource.oldest_version or not resource.is_custom:
            return obj
        if version != resource.version:
            target = self._contents.kinds.at(resource.group, version, resource.plural)
            source = {"apiVersion": resource.api_version, "kind": resource.kind, **obj}
            obj = (await self._converted(resource, [source], f"{resource.group}/{version}"))[0]
            self._completed(target, obj)
        plain = _untyped(obj)
        return plain if version == resource.oldest_version else {"apiVersion": f"{resource.group}/{version}", **plain}

    async def between(self, source: Resource, target: Resource, obj: Object) -> Object:
        """An object of one version in another."""
        typed = {"apiVersion": source.api_version, "kind": source.kind, **obj}
        converted = (await self._converted(target, [typed], target.api_version))[0]
        return _untyped(self._completed(target, converted))

    async def _fresh(self, resource: Resource, values: list[bytes]) -> list[Object]:
        if resource.translation is not None:
            return [self._shaped(resource, resource.translation.shown(json_values.decode(value))) for value in values]
        if not values:
            return []
        sources = []
        for value in values:
            version = _version_of(resource, value)
            obj = json_values.decode(value)
            source = {**obj, "apiVersion": f"{resource.group}/{version}", "kind": resource.kind}
            sources.append(self._completed(self._contents.kinds.at(resource.group, version, resource.plural), source))
        converted = await self._converted(resource, sources, resource.api_version)
        for obj in converted:
            pruning.prune(obj, resource.schema)
        return [_untyped(obj) for obj in converted]

    def _filled(self, resource: Resource, obj: Object) -> Object:
        """An object in the form it is stored in, as if it had been written so."""
        stored = self._contents.kinds.stored_as(resource.storage_key)
        assert stored is not None
        return self._shaped(stored, obj)

    def _shaped(self, resource: Resource, obj: Object) -> Object:
        if resource.behaviour is not None:
            resource.behaviour.default(obj)
        return obj

    def _completed(self, resource: Resource | None, obj: Object) -> Object:
        """What is stored, as its own version sees it today."""
        if resource is not None and resource.is_custom:
            pruning.prune(obj, resource.schema)
            defaults.apply_defaults(obj, resource.schema)
        return obj

    async def _converted(self, resource: Resource, objects: list[Object], api_version: str) -> list[Object]:
        """Typed objects in another version: by a webhook, or the same but for their name."""
        foreign = [obj for obj in objects if obj["apiVersion"] != api_version]
        if resource.conversion is None or not foreign:
            return [{**obj, "apiVersion": api_version} for obj in objects]
        converted = iter(await self._asked(resource, foreign, api_version))
        return [obj if obj["apiVersion"] == api_version else next(converted) for obj in objects]

    async def _asked(self, resource: Resource, objects: list[Object], api_version: str) -> list[Object]:
        assert resource.conversion is not None
        uid = self._contents.new_uid()
        spoken = f"apiextensions.k8s.io/{resource.conversion.review_version}"
        request = {"uid": uid, "desiredAPIVersion": api_version, "objects": objects}
        review = {"kind": "ConversionReview", "apiVersion": spoken, "request": request}
        subject = f"conversion webhook for {objects[0]['apiVersion']}, Kind={resource.kind}"
        try:
            asked = await self._client.post(resource.conversion.client, review, _PATIENCE)
            answer = _checked(asked, uid, spoken)
        except CallFailed as error:
            raise ConversionFailed(f"{subject} failed: {error}") from error
        if problem := _problem(answer, objects, api_version):
            raise ConversionFailed(f"{subject} returned {problem}")
        return [_restored(new, old) for new, old in zip(answer, objects, strict=True)]

    def _remember(self, resource: Resource, source: bytes, shown: bytes) -> None:
        self._remembered[resource, source] = shown
        self._size += len(source) + len(shown)
        while self._size > _REMEMBERED_BYTES:
            oldest = next(iter(self._remembered))
            self._size -= len(oldest[1]) + len(self._remembered.pop(oldest))


def _untyped(obj: Object) -> Object:
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}


def _checked(review: Any, uid: str, api_version: str) -> list[Any]:
    """The converted objects of an answer. Raises CallFailed when it is not one."""
    kind = (review.get("apiVersion"), review.get("kind")) if isinstance(review, dict) else ("", "")
    if kind != (api_version, "ConversionReview"):
        raise CallFailed(
            f"expected webhook response of {api_version}, Kind=ConversionReview, got {kind[0]}, Kind={kind[1]}"
        )
    answer = review.get("response")
    if not isinstance(answer, dict):
        raise CallFailed("no response provided")
    if answer.get("uid", "") != uid:
        raise CallFailed(f'expected response.uid="{uid}", got "{answer.get("uid", "")}"')
    result = answer.get("result") or {}
    if result.get("status") != "Success":
        raise CallFailed(
            result.get("message") or f"response.result.status was '{result.get('status', '')}', not 'Success'"
        )
    return list(answer.get("convertedObjects") or ())


def _problem(made: list[Any], sources: list[Object], api_version: str) -> str:
    """What is wrong with converted objects; nothing when they are what was asked for."""
    if len(made) != len(sources):
        return f"{len(made)} objects, expected {len(sources)}"
    for index, (new, old) in enumerate(zip(made, sources, strict=True)):
        where = f"invalid converted object at index {index}"
        if new.get("apiVersion") != api_version:
            return f"{where}: invalid groupVersion (expected {api_version}, received {new.get('apiVersion', '')})"
        if new.get("kind") != old["kind"]:
            return f"{where}: invalid kind (expected {old['kind']}, received {new.get('kind', '')})"
        for name in ("name", "namespace", "uid"):
            given, kept = (new.get("metadata") or {}).get(name, ""), old["metadata"].get(name, "")
            if given != kept:
                return f"{where}: must have the same {name.replace('uid', 'UID')}: {kept} != {given}"
    return ""


def _restored(new: Object, old: Object) -> Object:
    """What was converted; of its metadata, a webhook may change labels and annotations only."""
    meta = {name: value for name, value in old["metadata"].items() if name not in ("labels", "annotations")}
    given = new.get("metadata") or {}
    changed = {name: given[name] for name in ("labels", "annotations") if given.get(name)}
    return {**new, "metadata": {**meta, **changed}}
