"""What an `Accept` header asks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

from kubekit.errors import Details, NotAcceptable

_OFFERED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_OFFERED_STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_HUMAN_CLIENTS = ("curl", "Wget", "Mozilla/5.0")
_META_VERSIONS = ("v1", "v1beta1")


class Form(Enum):
    """The shape an answer takes."""

    FULL = ""
    TABLE = "Table"
    PARTIAL = "PartialObjectMetadata"
    PARTIAL_LIST = "PartialObjectMetadataList"
    DISCOVERY = "APIGroupDiscoveryList"


@dataclass(frozen=True, slots=True)
class Representation:
    """What the client gets: which shape, in which version of `meta.k8s.io`, as JSON, YAML or protobuf."""

    form: Form = Form.FULL
    version: str = ""
    is_yaml: bool = False
    pretty: bool = False
    is_protobuf: bool = False

    @property
    def content_type(self) -> str:
        plain = "application/yaml" if self.is_yaml else "application/json"
        if self.form is Form.DISCOVERY:
            return f"{plain};g=apidiscovery.k8s.io;v={self.version};as={self.form.value}"
        return plain


@dataclass(frozen=True, slots=True)
class _Clause:
    type: str
    parameters: dict[str, str]
    quality: float

    @property
    def rank(self) -> tuple[float, bool, bool]:
        """Sorts the most wanted first, and the more specific before the less."""
        main, _, sub = self.type.partition("/")
        return (-self.quality, main == "*", sub == "*")


@lru_cache(maxsize=512)
def negotiate(
    accept: str | None, is_custom: bool = False, is_collection: bool = False, *, has_table: bool = True
) -> Representation:
    """The best offer for an API resource; custom resources accept `application/*` too. Raises NotAcceptable."""
    if not accept:
        return Representation()
    clauses = _clauses(accept)
    if not is_custom and not any(clause.type in _BUILT_IN_TYPES for clause in clauses):
        raise no_such_type(f"{_OFFERED}, {_OFFERED_STREAMS}" if is_collection else _OFFERED)
    last_resort: Representation | None = None
    for clause in clauses:
        if clause.type == _PROTOBUF and (offered := _offer_protobuf(clause.parameters)) is not None:
            if offered.form is not Form.FULL:
                return offered
            last_resort = None if is_custom else offered
        for is_yaml in _OFFERS.get(clause.type, ()):
            representation = _offer(clause.parameters, is_yaml)
            if representation is not None and (has_table or representation.form is not Form.TABLE):
                return representation
    if last_resort is not None:
        return last_resort
    raise NotAcceptable(f"only the following media types are accepted: {_OFFERED}")


def negotiate_document(accept: str | None) -> Representation:
    """The best offer for a document that has only one form. Raises NotAcceptable."""
    representation = negotiate(accept)
    if representation.form is not Form.FULL or representation.is_protobuf:
        raise NotAcceptable(f"only the following media types are accepted: {_OFFERED}")
    return representation


@lru_cache(maxsize=64)
def negotiate_discovery(accept: str | None) -> Representation:
    """The best offer for `/api` and `/apis`: a list of names, or everything in one document. Raises NotAcceptable."""
    if not accept:
        return Representation()
    for clause in _clauses(accept):
        target = tuple(clause.parameters.get(name, "") for name in ("g", "v", "as"))
        for is_yaml in _OFFERS.get(clause.type, ()):
            if target == ("", "", ""):
                return Representation(is_yaml=is_yaml, pretty=clause.parameters.get("pretty") == "1")
            if target == ("apidiscovery.k8s.io", "v2", Form.DISCOVERY.value):
                return Representation(Form.DISCOVERY, "v2", is_yaml)
    raise NotAcceptable(f"only the following media types are accepted: {_OFFERED}")


def wants_pretty(query: str | None, user_agent: str | None) -> bool:
    """Whether `?pretty=` or the name of the client asks for indented output."""
    if query:
        return query in ("1", "t", "T", "true", "TRUE", "True")
    return (user_agent or "").startswith(_HUMAN_CLIENTS)


_OFFERS = {
    "application/json": (False,),
    "application/yaml": (True,),
    "application/*": (False, True),
    "*/*": (False, True),
}
_BUILT_IN_TYPES = {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "*/*"}


def no_such_type(offered: str) -> NotAcceptable:
    return NotAcceptable(f"406: Not Acceptable\n\nAvailable representations: {offered}", Details())


def check_type(accept: str | None) -> None:
    """Raises NotAcceptable when no type is asked for that built-in resources come in, whatever its parameters."""
    if accept and not any(clause.type in _BUILT_IN_TYPES for clause in _parse(accept)):
        raise no_such_type(_OFFERED)


def not_streamed() -> NotAcceptable:
    return NotAcceptable(f"only the following media types are accepted: {_OFFERED_STREAMS}")


def accepts_json(accept: str | None) -> bool:
    """Whether a client takes JSON, for documents that are nothing else."""
    return not accept or any(clause.type in ("application/json", "*/*") for clause in _parse(accept))


def _offer(parameters: dict[str, str], is_yaml: bool) -> Representation | None:
    target = parameters.get("as", "")
    version, group = parameters.get("v", ""), parameters.get("g", "")
    pretty = parameters.get("pretty") == "1"
    if parameters.get("stream", "watch") not in ("", "watch") or parameters.get("sv", "v1") not in ("", "v1"):
        return None
    if not (target or version or group):
        return Representation(Form.FULL, "", is_yaml, pretty)
    if group != "meta.k8s.io" or version not in _META_VERSIONS or target not in _TRANSFORMATIONS:
        return None
    return Representation(_TRANSFORMATIONS[target], version, is_yaml, pretty)


def _offer_protobuf(parameters: dict[str, str]) -> Representation | None:
    """Whole objects are stored as JSON, which is therefore the better answer to everyone who takes it. Metadata has
    to be taken out of them anyway; and client-go compares what it lists with what it watches, which are alike only in
    protobuf."""
    found = _offer(parameters, is_yaml=False)
    if found is None or found.form is Form.TABLE or found.version not in ("", "v1"):
        return None
    return replace(found, is_protobuf=True)


_TRANSFORMATIONS = {form.value: form for form in (Form.TABLE, Form.PARTIAL, Form.PARTIAL_LIST)}


def _clauses(accept: str) -> list[_Clause]:
    return sorted(_parse(accept), key=lambda clause: clause.rank)


def _parse(accept: str) -> Iterator[_Clause]:
    for written in accept.split(","):
        media_type, *settings = (part.strip() for part in written.split(";"))
        if media_type == "*":
            media_type = "*/*"
        if media_type.count("/") != 1:
            continue
        parameters = {name.strip(): value.strip() for name, _, value in (part.partition("=") for part in settings)}
        yield _Clause(media_type, parameters, _quality(parameters.pop("q", "1")))


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
