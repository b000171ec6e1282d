"""URLs, read as Go's net/url reads them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from ..language.budget import LETTERS
from ..language.functions import Overload, Priced, functions, members
from ..language.values import CelError, name_type

NAME = "kubernetes.URL"

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_BAD_IN_HOST = re.compile(r"[\x00-\x20\x7f\\^`{|}/?#@]")
_BAD_IN_USER = re.compile(r"[^A-Za-z0-9\-._:~!$&'()*+,;=%@]")
_RELATIVE, _EMPTY = "invalid URI for request", "empty url"


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL that rules may ask for."""

    text: str
    scheme: str
    host: str
    path: str
    query: str

    @property
    def hostname(self) -> str:
        if self.host.startswith("["):
            return self.host[1 : self.host.find("]")]
        return self.host.partition(":")[0]

    @property
    def port(self) -> str:
        behind = self.host.rpartition("]")[2] if "]" in self.host else self.host
        return behind.rpartition(":")[2] if ":" in behind else ""

    @property
    def escaped_path(self) -> str:
        if re.fullmatch(r"(?:[A-Za-z0-9/!$&'()*+,;=:@\[\]\-._~]|%[0-9A-Fa-f]{2})*", self.path):
            return self.path
        return quote(unquote(self.path), safe="/$&+,:;=@-._~")

    def parameters(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for part in self.query.split("&"):
            key, _, value = part.partition("=")
            if part and ";" not in part and not _BAD_ESCAPE.search(part):
                found.setdefault(_unescaped(key), []).append(_unescaped(value))
        return found


name_type(Url, NAME)


def _unescaped(text: str) -> str:
    return unquote(text.replace("+", " "))


def parse(text: str) -> Url:
    """An absolute URL, or an absolute path. Raises ValueError with the words of Go."""
    try:
        return _parse(text)
    except ValueError as error:
        raise ValueError(f"parse {json.dumps(text, ensure_ascii=False)}: {error}") from None


def problem(text: str) -> str:
    """What is wrong with a URL, which may be relative, in the words of Go; empty when nothing is."""
    try:
        parse(text)
    except ValueError as error:
        if not str(error).endswith((_RELATIVE, _EMPTY)):
            return str(error)
    else:
        return ""
    path, shown = re.split("[?#]", text)[0], json.dumps(text, ensure_ascii=False)
    if ":" in path.partition("/")[0]:
        return f"parse {shown}: first path segment in URL cannot contain colon"
    escape = _BAD_ESCAPE.search(path)
    return f"parse {shown}: invalid URL escape {json.dumps(escape[0], ensure_ascii=False)}" if escape else ""


def _parse(text: str) -> Url:
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise ValueError("net/url: invalid control character in URL")
    if not text:
        raise ValueError(_EMPTY)
    scheme, rest = _scheme(text)
    if text == "*":
        return Url(text, "", "", "*", "")
    rest = rest.partition("#")[0]
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if not scheme:
            raise ValueError(_RELATIVE)
        return Url(text, scheme, "", "", query)
    host = ""
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        host, rest = _host(authority), slash + path
    _check_escapes(rest)
    return Url(text, scheme, host, rest, query)


def _scheme(text: str) -> tuple[str, str]:
    if text.startswith(":"):
        raise ValueError("missing protocol scheme")
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", text)
    return (found[1].lower(), text[found.end() :]) if found else ("", text)


def _check_escapes(text: str) -> None:
    bad = _BAD_ESCAPE.search(text)
    if bad:
        raise ValueError(f"invalid URL escape {json.dumps(bad[0], ensure_ascii=False)}")


def _host(authority: str) -> str:
    user, at, host = authority.rpartition("@")
    if at and _BAD_IN_USER.search(user):
        raise ValueError("net/url: invalid userinfo")
    if host.startswith("["):
        if "]" not in host:
            raise ValueError("missing ']' in host")
        _check_port(host.rpartition("]")[2])
        return host
    _check_port(host[host.index(":") :] if ":" in host else "")
    bad = _BAD_IN_HOST.search(host)
    if bad:
        raise ValueError(f"invalid character {json.dumps(bad[0])} in host name")
    escape = re.search(r"%.{0,2}", host)
    if escape and not re.match(r"%[89A-Fa-f]", escape[0]):
        raise ValueError(f"invalid URL escape {json.dumps(escape[0])}")
    return unquote(host)


def _check_port(port: str) -> None:
    if not re.fullmatch(r"(?::[0-9]*)?", port):
        raise ValueError(f"invalid port {json.dumps(port, ensure_ascii=False)} after host")


def _url(text: str) -> Url:
    try:
        return parse(text)
    except ValueError as error:
        raise CelError(f"URL parse error during conversion from string: {error}") from None


def _is_url(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _reading(text: str) -> int:
    return 120 + len(text)


def _reading_host(url: Url) -> int:
    return len(url.host) // LETTERS


def _showing(url: Url) -> int:
    return 20 + 4 * len(url.text)


def overloads() -> list[Overload]:
    return [
        *functions(
            ("url", f"string -> {NAME}", Priced(_reading, _url)), ("isURL", "string -> bool", Priced(_reading, _is_url))
        ),
        *members(
            ("getScheme", f"{NAME} -> string", lambda one: one.scheme),
            ("getHost", f"{NAME} -> string", lambda one: one.host),
            ("getHostname", f"{NAME} -> string", Priced(_reading_host, lambda one: one.hostname)),
            ("getPort", f"{NAME} -> string", Priced(_reading_host, lambda one: one.port)),
            ("getEscapedPath", f"{NAME} -> string", Priced(_showing, lambda one: one.escaped_path)),
            ("getQuery", f"{NAME} -> map(string, list(string))", Priced(_showing, Url.parameters)),
        ),
    ]
