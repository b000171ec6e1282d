"""What the embedded server answers otherwise: on purpose, or not yet as it should.

Those on purpose are rows of docs/reference/api-server.md, each under its title; a test keeps the two in step. A case
marks the places in which it meets one, and fails when they no longer differ."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """On purpose: the first column of its row, and the reason in a few words."""

    title: str
    reason: str


@dataclass(frozen=True)
class Unfinished:
    """Not on purpose: what is missing."""

    what: str


CLIENTS_FAULT = Difference(
    "mistakes of a client for which Kubernetes has no word", "500 says that the server is at fault, and it is not"
)
TAINT = Difference(
    "new PersistentVolumes, PersistentVolumeClaims and Nodes", "only controllers that do not run here would take it off"
)
OPENAPI = Difference("descriptions in OpenAPI of built-in kinds", "100 kB instead of 3 MB")
DESCRIPTIONS = Difference("descriptions of the columns of a table", "the same")
HEALTH = Difference("checks of `/healthz?verbose`", "they are of other parts")
NETWORK = Difference("the network of Services", "it is fixed when the API is made")
DEEP = Difference("nesting of a body", "no schema goes that deep")
LONG_EXPRESSION = Difference("length of a CEL expression", "it is compiled where others wait")
TEXTS = {"body.columnDefinitions": DESCRIPTIONS}
"""Where a table has them."""
FIELD_ORDER = Difference("a whole object inside a message", "it can be compared with what was sent")
SHOWN = {"body.message": FIELD_ORDER, "body.details.causes.0.message": FIELD_ORDER}
"""Where a refusal of a patch has it."""
VERSIONS_APART = Difference(
    "owners of fields that exist in one version of a custom kind only", "Kubernetes loses all owners, or fails"
)
FEWER_KINDS = Difference("groups and kinds", "what nothing here acts on is not offered")
HISTORY = Difference("how far back a watch reaches", "time that is said, instead of a cache of unknown size")
JSON_ONLY = Difference("CBOR, HTTP/2, WebSocket watches", "every client falls back to JSON")
SIGNING = Difference("signing algorithm of tokens", "smaller and faster; announced in the key set")
NO_CHANGE = Difference("empty metadata of a custom object that somebody then leaves out", "nothing has changed")
TOO_LARGE = Difference("an applied number that is too large for its field", "it is not what was applied")
FREE_FORM = Difference(
    "an unchanged patch of an object with free-form data that may not change (ControllerRevision, ResourceClaim)",
    "nothing changed",
)
