"""What went wrong in a visit, in the terms a controller's loop needs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from kubekit.errors import KubeError


class Gone(Exception):
    """The object disappeared during the visit; there is nothing left to do."""


class Interrupted(Exception):
    """Something inside the visit was cancelled although the visit was not."""


def cause_of(error: BaseException) -> Exception:
    """The one error that decides. Of several at once, one that a repetition may mend, because then it may mend all.

    Raises the error again if it is the cancellation of the whole visit."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise error
        return Interrupted("a part of the work was cancelled")
    if isinstance(error, ExceptionGroup):
        leaves = list(_leaves(error))
        return next((one for one in leaves if getattr(one, "retryable", True)), leaves[0])
    assert isinstance(error, Exception)
    return error


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error


def reason_of(error: Exception) -> str:
    """The one word for users."""
    if isinstance(error, KubeError):
        return error.reason or "Error"
    return "Timeout" if isinstance(error, TimeoutError) else "InternalError"


def message_of(error: Exception) -> str:
    """One line for users. What an unexpected error says of itself is for the log alone: it may hold anything."""
    if isinstance(error, KubeError):
        return str(error)
    return "took too long" if isinstance(error, TimeoutError) else f"unexpected {type(error).__name__}"


def requested_delay(error: Exception) -> float:
    """Seconds the API or the infrastructure asked to wait; 0 when it did not."""
    return float(getattr(error, "retry_after", 0))
