"""What happened to a stored object, as those are told who listen."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from kubekit.model.resource import Object

from . import json_values
from .changes import Change


class Event:
    """Something that happened to one object. Decoded forms are made once and shared: treat them as read-only."""

    __slots__ = (
        "_frames",
        "_object",
        "_previous_object",
        "bucket",
        "change",
        "key",
        "owners",
        "previous_value",
        "revision",
        "value",
    )

    def __init__(
        self,
        revision: int,
        bucket: int,
        key: str,
        change: Change,
        value: bytes,
        previous_value: bytes | None,
        owners: Sequence[str] = (),
    ) -> None:
        """`owners` are those the write named; they are not known of an event that is read again."""
        self.revision, self.bucket, self.key, self.change = revision, bucket, key, change
        self.value, self.previous_value, self.owners = value, previous_value, owners
        self._object: Object | None = None
        self._previous_object: Object | None = None
        self._frames: dict[tuple[str, bytes], bytes] | None = None

    @property
    def object(self) -> Object:
        if self._object is None:
            self._object = json_values.decode(self.value)
        return self._object

    @property
    def previous(self) -> Object | None:
        if self._previous_object is None and self.previous_value is not None:
            self._previous_object = json_values.decode(self.previous_value)
        return self._previous_object

    def frame(self, kind: str, prefix: bytes) -> bytes:
        """This event as a line of a watch; the same bytes for everyone who asks."""
        if self._frames is None:
            self._frames = {}
        found = self._frames.get((kind, prefix))
        if found is None:
            found = self._frames[kind, prefix] = frame(kind, prefix, self.value)
        return found

    def as_it_was(self) -> bytes:
        """The object before the change, at the change's revision: for those who no longer see it."""
        before: Object = json_values.decode(self.previous_value or b"{}")
        before["metadata"]["resourceVersion"] = str(self.revision)
        return msgspec.json.encode(before)


def frame(kind: str, prefix: bytes, value: bytes) -> bytes:
    """One line of a watch, `prefix` holding the object's apiVersion and kind."""
    return b'{"type":"%b","object":%b%b}\n' % (kind.encode(), prefix, value[1:])
