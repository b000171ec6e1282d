"""Every error on one page.

    KubeError
    ├── ApiError                 an answer of a Kubernetes API that is not a success (code, reason, causes)
    │   ├── BadRequest           400  the request makes no sense
    │   ├── Unauthorized         401  who are you?
    │   ├── Forbidden            403  you may not
    │   ├── NotFound             404
    │   ├── MethodNotAllowed     405
    │   ├── NotAcceptable        406  no representation the client accepts
    │   ├── Conflict             409  someone else changed it, or owns the field
    │   ├── AlreadyExists        409
    │   ├── Expired              410  that version is gone; list again
    │   ├── Gone                 410  what the request is about was removed, and does not come back
    │   ├── TooLarge             413
    │   ├── UnsupportedMediaType 415
    │   ├── Invalid              422  the object is understood and refused, field by field
    │   ├── TooManyRequests      429  later (retry_after)
    │   ├── InternalError        500
    │   ├── Unclassified         400  Kubernetes has no reason word for it (and says 500, though the client is at fault)
    │   ├── ServiceUnavailable   503
    │   └── Timeout              504
    ├── InvalidConfiguration     an object that its author has to change: both spellings of a field, or neither
    ├── LeadershipLost           another replica may be leading by now, so this one writes nothing
    └── StorageError             the data directory cannot be used
        ├── DataInUse            another process holds it
        ├── DataDamaged          a file in it is not what was written
        └── DataVersion          it was written by a version this one does not understand

`retryable` is all a control loop asks; `reason` is the one word a user sees.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar


class KubeError(Exception):
    """The root of the tree."""

    retryable: ClassVar[bool] = True
    reason: ClassVar[str] = "Error"


class FieldProblem(StrEnum):
    """Why a field is refused, in the words of the Kubernetes API (`causes[].reason`)."""

    INVALID = "FieldValueInvalid"
    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    NOT_FOUND = "FieldValueNotFound"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    TYPE_INVALID = "FieldValueTypeInvalid"
    INTERNAL = "InternalError"


_PROBLEM_TEXT = {
    FieldProblem.INVALID: "Invalid value",
    FieldProblem.REQUIRED: "Required value",
    FieldProblem.DUPLICATE: "Duplicate value",
    FieldProblem.NOT_SUPPORTED: "Unsupported value",
    FieldProblem.FORBIDDEN: "Forbidden",
    FieldProblem.NOT_FOUND: "Not found",
    FieldProblem.TOO_LONG: "Too long",
    FieldProblem.TOO_MANY: "Too many",
    FieldProblem.TYPE_INVALID: "Invalid value",
    FieldProblem.INTERNAL: "Internal error",
}
_WITHOUT_VALUE = {FieldProblem.REQUIRED, FieldProblem.FORBIDDEN, FieldProblem.TOO_LONG, FieldProblem.INTERNAL}


OMITTED: Any = object()
"""The value of a FieldError that is too large to show."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that is refused: where, why, and which value."""

    problem: FieldProblem
    path: str
    detail: str = ""
    value: Any = None

    def body(self) -> str:
        """The text without the path, as it stands in `causes[].message`."""
        text = _PROBLEM_TEXT[self.problem]
        if self.problem not in _WITHOUT_VALUE and self.value is not OMITTED:
            text = f"{text}: {go_text(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.path}: {self.body()}"


def go_text(value: Any) -> str:
    """How Kubernetes shows a value inside an error message."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return go_quoted(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED_IN_JSON)


def go_quoted(text: str) -> str:
    """A text in Go's `%q`."""
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    return f'"{"".join(map(_go_letter, text))}"'


def _go_letter(letter: str) -> str:
    if letter.isprintable():
        return json.dumps(letter, ensure_ascii=False)[1:-1]
    if letter in _GO_ESCAPES:
        return _GO_ESCAPES[letter]
    code = ord(letter)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_GO_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


_ESCAPED_IN_JSON = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
"""Go writes these letters of a JSON document as escapes."""


def not_supported(path: str, value: Any, supported: Iterable[str]) -> FieldError:
    listed = ", ".join(json.dumps(one, ensure_ascii=False) for one in supported)
    return FieldError(FieldProblem.NOT_SUPPORTED, path, f"supported values: {listed}", value)


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of `details.causes`."""

    reason: str
    message: str
    field: str = ""

    def wire(self) -> dict[str, str]:
        shown = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in shown.items() if value}


@dataclass(frozen=True, slots=True)
class Details:
    """`Status.details`: what the error is about."""

    name: str = ""
    group: str = ""
    kind: str = ""
    uid: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after: int = 0

    def wire(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "name": self.name,
            "group": self.group,
            "kind": self.kind,
            "uid": self.uid,
            "causes": [cause.wire() for cause in self.causes],
            "retryAfterSeconds": self.retry_after,
        }
        return {key: value for key, value in shown.items() if value}


class ApiError(KubeError):
    """An unsuccessful answer of a Kubernetes API; the same class on both sides of the wire."""

    code: ClassVar[int] = 500
    retryable = False

    def __init__(self, message: str, details: Details | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def retry_after(self) -> int:
        """Seconds the server asks to wait; 0 when it does not say."""
        return self.details.retry_after if self.details else 0

    def status(self) -> dict[str, Any]:
        """The `Status` object that goes over the wire."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details.wire() if self.details else None,
            "code": self.code,
        }
        if not self.reason:
            del status["reason"]
        if self.details is None:
            del status["details"]
        return status


class BadRequest(ApiError):
    code, reason = 400, "BadRequest"


class Unauthorized(ApiError):
    code, reason = 401, "Unauthorized"

    def __init__(self, message: str = "Unauthorized", details: Details | None = None) -> None:
        super().__init__(message, details)


class Forbidden(ApiError):
    code, reason = 403, "Forbidden"


class NotFound(ApiError):
    code, reason = 404, "NotFound"


class MethodNotAllowed(ApiError):
    code, reason = 405, "MethodNotAllowed"


class NotAcceptable(ApiError):
    code, reason = 406, "NotAcceptable"


class Conflict(ApiError):
    code, reason, retryable = 409, "Conflict", True


class AlreadyExists(ApiError):
    code, reason = 409, "AlreadyExists"


class Expired(ApiError):
    code, reason, retryable = 410, "Expired", True


class Gone(ApiError):
    code, reason = 410, "Gone"


class TooLarge(ApiError):
    code, reason = 413, "RequestEntityTooLarge"


class UnsupportedMediaType(ApiError):
    code, reason = 415, "UnsupportedMediaType"


class Invalid(ApiError):
    code, reason = 422, "Invalid"


class TooManyRequests(ApiError):
    code, reason, retryable = 429, "TooManyRequests", True


class InternalError(ApiError):
    code, reason, retryable = 500, "InternalError", True


class Unclassified(ApiError):
    code, reason = 400, ""


class ServiceUnavailable(ApiError):
    code, reason, retryable = 503, "ServiceUnavailable", True


class Timeout(ApiError):
    code, reason, retryable = 504, "Timeout", True


class InvalidConfiguration(KubeError):
    """An object says something that cannot be meant; `path` is the field its author has to look at."""

    retryable, reason = False, "InvalidConfiguration"

    def __init__(self, subject: str, path: str, message: str) -> None:
        super().__init__(f"{subject}: {path}: {message}")
        self.subject, self.path = subject, path


class InvalidConnection(InvalidConfiguration):
    """A kubeconfig, or a certificate it names, with which no API can be reached."""


class LeadershipLost(KubeError):
    """A write that was not sent because the lease behind it is, or may be, someone else's."""

    reason = "LeadershipLost"


class StorageError(KubeError):
    """The data directory cannot be used; the message says which file and what to do."""

    retryable, reason = False, "StorageError"


class DataInUse(StorageError):
    reason = "DataInUse"


class DataDamaged(StorageError):
    reason = "DataDamaged"


class DataVersion(StorageError):
    reason = "DataVersion"


def invalid(kind: str, group: str, name: str, problems: Iterable[FieldError]) -> Invalid:
    """The 422 that lists every refused field, or as many as anybody reads."""
    causes: list[Cause] = []
    texts: dict[str, None] = {}
    size = 0
    for problem in problems:
        body = problem.body()
        causes.append(Cause(problem.problem.value, body, problem.path))
        texts[f"{problem.path}: {body}"] = None
        size += len(body)
        if len(causes) >= _MOST_PROBLEMS or size > _LONGEST_LIST:
            break
    shown = next(iter(texts)) if len(texts) == 1 else f"[{', '.join(texts)}]"
    qualified = f"{kind}.{group}" if group else kind
    return Invalid(
        f"{qualified} {go_quoted(name)} is invalid: {shown}",
        Details(name=name, group=group, kind=kind, causes=tuple(causes)),
    )


_MOST_PROBLEMS = 100
_LONGEST_LIST = 256 * 1024
"""What a refusal lists at most: a small request may be wrong in more places than fit into any answer."""


_REASONS = {kind.reason: kind for kind in ApiError.__subclasses__() if kind.reason}
# Old servers say Gone of a version that is.
_REASONS |= {"Gone": Expired, "ServerTimeout": Timeout}
_CODES = {kind.code: kind for kind in ApiError.__subclasses__() if kind not in (AlreadyExists, Gone, Unclassified)}
_CODES |= {408: Timeout, 502: ServiceUnavailable}


def error_from_status(status: Mapping[str, Any], code: int) -> ApiError:
    """The error that a `Status` from the wire stands for: by its reason, else by the HTTP status code."""
    reason = str(status.get("reason") or "")
    kind = _REASONS.get(reason) or _CODES.get(code)
    if kind is None:
        kind = InternalError if code >= 500 else Unclassified
    message = str(status.get("message") or f"the server answered {code}{f' ({reason})' if reason else ''}")
    return kind(message, _details_from(status.get("details")))


def _details_from(given: Any) -> Details | None:
    """Whatever a server writes there; nothing in it may hide the error itself."""
    if not isinstance(given, Mapping):
        return None
    causes = given.get("causes") if isinstance(given.get("causes"), list) else []
    retry_after = given.get("retryAfterSeconds")
    return Details(
        **{name: str(given.get(name) or "") for name in ("name", "group", "kind", "uid")},
        causes=tuple(_cause_from(one) for one in causes or () if isinstance(one, Mapping)),
        retry_after=retry_after if isinstance(retry_after, int) else 0,
    )


def _cause_from(given: Mapping[str, Any]) -> Cause:
    return Cause(*(str(given.get(name) or "") for name in ("reason", "message", "field")))
