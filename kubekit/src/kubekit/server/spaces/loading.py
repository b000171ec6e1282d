"""How a space takes in what is stored when it wakes: some at a time, so that nobody else waits for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubekit.clock import give_way
from kubekit.model.resource import Object
from kubekit.server.objects.damage import passing_over, tell
from kubekit.server.objects.schema.decoding import Malformed
from kubekit.server.pipeline.space import Space
from kubekit.server.store.rows import Row


class Loading:
    """Work in steps that somebody may finish at once, at any time."""

    def __init__(self, begin: Callable[[], Iterator[None]] = lambda: iter(())) -> None:
        self._begin = begin
        self._steps = begin()
        self.is_done = False

    async def finish(self) -> None:
        """Others have a turn between two steps."""
        while not self.is_done:
            self._go_on()
            await give_way()

    def finish_at_once(self) -> None:
        while not self.is_done:
            self._go_on()

    def _go_on(self) -> None:
        try:
            next(self._steps)
        except StopIteration:
            self.is_done = True
        except Exception:
            # Whoever comes next begins anew.
            self._steps = self._begin()
            raise


def take_in(space: Space, resource: str, each: Callable[[Row], None]) -> Iterator[None]:
    """Take in every stored object of a built-in kind, in steps. One that was damaged is passed over."""
    for rows in space.stored(resource):
        for row in rows:
            with passing_over(resource, row.key):
                each(row)
        yield


def decoded(
    space: Space,
    resource: str,
    each: Callable[[str, Object], None],
    damaged: Callable[[str, Object, str], None] | None = None,
) -> Callable[[Row], None]:
    """How to take in a row that must be what its kind says. `damaged` is told of those that are not."""
    kind = space.kinds.stored_as(resource)
    assert kind is not None

    def take(row: Row) -> None:
        try:
            obj = space.undamaged(kind, row)
        except Malformed as error:
            if damaged is None:
                raise
            tell(resource, row.key, str(error))
            damaged(row.key, row.decode(), str(error))
        else:
            each(row.key, obj)

    return take
