"""Values of parameters and headers that make no sense, or too much."""

from __future__ import annotations

import base64
import json

MAPS = "/api/v1/namespaces/default/configmaps"
ONE = f"{MAPS}/a"
DIGITS = "9" * 400


def token(**members: object) -> str:
    """A continue token as the server makes them."""
    return encoded(members)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


NUMBERS = (
    *(
        "0",
        "-1",
        "1",
        "+1",
        "-0",
        "",
        " ",
        "1 ",
        "1_0",
        "0x10",
        "1e3",
        "1.5",
        "%D9%A3",
        "%C2%B2",
        "NaN",
        "Infinity",
        "%00",
        "1%00",
    ),
    *(str(2**31), str(2**32), str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1), str(2**64), DIGITS),
    *(f"-{DIGITS}", "0" * 400 + "1", "9" * 5000),
)
DURATIONS = (
    "1s",
    "0",
    "-1s",
    "1",
    "s",
    "1h1",
    f"{DIGITS}s",
    f"{DIGITS}h",
    f"1.{DIGITS}s",
    "9" * 5000 + "s",
    "%D9%A3s",
)
TEXTS = (
    "",
    "a",
    "%00",
    "%FF%FE",
    "%ED%A0%80",
    "%F4%90%80%80",
    "%",
    "%2",
    "%zz",
    "+",
    "a" * 5000,
    "%0d%0aX:%20y",
    "%D9%A3",
    ";",
    "'\"<>",
)
ODD_REVISIONS: tuple[object, ...] = (-1, 0, 1, 1.5, 2**63 - 1, 2**63, -(2**63), 10**400, None, [])
ODD_STARTS: tuple[object, ...] = (1, None, [], {}, "../a", "\x00", "\ud800", "a" * 5000)
TOKENS = (
    *("x", "====", "e30", token(), token(v=1), token(v="meta.k8s.io/v1"), token(v="meta.k8s.io/v1", rv="1", start="a")),
    *(token(v="meta.k8s.io/v1", rv=rv, start="a") for rv in ODD_REVISIONS),
    *(token(v="meta.k8s.io/v1", rv=1, start=start) for start in ODD_STARTS),
    *(
        token(v="meta.k8s.io/v1", rv=-1, start=start)
        for start in ("other/a\x00", "kube-system/", "default/\x00", "/", "é")
    ),
    base64.urlsafe_b64encode(b"[" * 3000).decode(),
    base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    "A" * 6000,
)
SELECTORS = (
    *(
        "a",
        "a=b",
        "=",
        "==",
        "!=",
        "!",
        ",",
        "(",
        "a in",
        "a in (",
        "a in (b,",
        "a>1",
        f"a>{DIGITS}",
        "a<x",
        "a=%00",
        "\\",
    ),
    *(
        "metadata.name=a\\",
        "metadata.name=\\x",
        "metadata.name=%00",
        "metadata.name=a=b",
        "spec.x=1",
        "a" * 5000,
        "a,b" * 900,
    ),
)
QUERIES = {
    "limit": NUMBERS,
    "timeoutSeconds": NUMBERS,
    "gracePeriodSeconds": NUMBERS,
    "resourceVersion": NUMBERS,
    "timeout": (*DURATIONS, *TEXTS),
    "continue": (*TOKENS, *TEXTS),
    "labelSelector": (*SELECTORS, *TEXTS),
    "fieldSelector": (*SELECTORS, *TEXTS),
    "resourceVersionMatch": TEXTS,
    "sendInitialEvents": TEXTS,
    "allowWatchBookmarks": TEXTS,
    "dryRun": TEXTS,
    "fieldManager": TEXTS,
    "fieldValidation": TEXTS,
    "force": TEXTS,
    "pretty": TEXTS,
    "includeObject": TEXTS,
    "propagationPolicy": TEXTS,
    "orphanDependents": TEXTS,
    "watch": TEXTS,
}
MEDIA_TYPES = (
    *(
        "",
        "*/*",
        "*",
        "/",
        "a",
        "application/json",
        "application/json;",
        "application/json;q=x",
        "application/json;q=-1",
    ),
    *(
        "application/json; charset=nonsense",
        "application/json;charset=utf-16",
        "application/json;as=Table",
        "text/html",
    ),
    *("application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=;g=", "application/json;as=\xff"),
    *("application/json;stream=watch", "application/json;as=", ";;;", ",,,", "a/b;" * 500, "application/yaml,*/*;q=0"),
    *(
        "application/vnd.kubernetes.protobuf",
        "application/vnd.kubernetes.protobuf;type=",
        "application/cbor",
        "\x80",
        '"',
    ),
    *(
        "application/merge-patch+json",
        "application/merge-patch+json; charset=x",
        "APPLICATION/JSON",
        "multipart/form-data",
    ),
)
HEADERS = {
    "Accept": MEDIA_TYPES,
    "Content-Type": MEDIA_TYPES,
    "Accept-Encoding": ("gzip", "gzip;q=x", "identity;q=0, *;q=0", "\xff", "," * 500),
    "Content-Encoding": ("gzip", "deflate", "br", "zstd", "nonsense", "\xff"),
    "If-None-Match": ("*", '"', "\xff", "W/" * 500),
    "User-Agent": ("", "/", "\xff", "é/1", "kubectl/v1.33 (x)", "a" * 5000, "\x01", "curl/1"),
    "Host": ("", "\xff", "a b", "[::1", "x:99999999", "evil.example.org", "a" * 5000),
    "Authorization": (
        *(
            "",
            " ",
            "Bearer",
            "Bearer ",
            "Bearer  x",
            "bearer \xff\xfe",
            "Basic eDp5",
            "Bearer a.b.c",
            "Bearer \x80.\x80.\x80",
        ),
        *("Bearer eyJhbGciOiJub25lIn0.e30.", f"Bearer {'.' * 3000}", f"Bearer {'A' * 6000}.B.C", "Bearer W10.W10.W10"),
        "Bearer " + base64.urlsafe_b64encode(b"[" * 2000).decode() + ".e30.e30",
        "Bearer " + base64.urlsafe_b64encode(b'{"alg":"ES256","kid":[]}').decode() + ".e30.e30",
        "Bearer eyJhbGciOiJFUzI1NiJ9." + base64.urlsafe_b64encode(b'{"iss":[]}').decode() + ".AA",
        "Bearer eyJhbGciOiJFUzI1NiJ9."
        + base64.urlsafe_b64encode(b'{"iss":"https://kubernetes.default.svc"}').decode()
        + ".AA",
        "Bearer \xed\xa0\x80",
    ),
    "Sec-WebSocket-Protocol": (
        *("base64url.bearer.authorization.k8s.io.", "base64url.bearer.authorization.k8s.io.\xff", ", ,"),
        *("base64url.bearer.authorization.k8s.io.____", "base64url.bearer.authorization.k8s.io.A"),
        "base64url.bearer.authorization.k8s.io.7aCA",
    ),
    "Impersonate-User": ("", "\xff", "a\x01", "system:serviceaccount:", "system:serviceaccount:a:b:c", "é", "a" * 5000),
    "Impersonate-Group": ("", "\xff", "system:masters", "é"),
    "Impersonate-Uid": ("", "\xff", "x"),
    "Impersonate-Extra-": ("", "x"),
    "Impersonate-Extra-%": ("x",),
    "Impersonate-Extra-%ff%fe": ("x",),
    "Impersonate-Extra-%00": ("x",),
    "X-Remote-User": ("admin",),
    "Transfer-Encoding": ("identity", "nonsense", "chunked, chunked"),
    "Content-Length": ("-1", "x", "+1", "1, 2", "0x1", "1.0", "%C2%B2", "\xb2"),
    "Expect": ("100-continue", "nonsense"),
    "Upgrade": ("websocket", "h2c", "SPDY/3.1"),
    "Connection": ("close", "upgrade", "\xff"),
    "Range": ("bytes=0-", "x"),
}
PATHS = (
    *(
        "/",
        "//",
        "///api//v1",
        "/api/",
        "/api/v1/",
        "/.",
        "/..",
        "/%",
        "/%2",
        "/%zz",
        "/%00",
        "/%ff",
        "/\xff",
        "/api/v1/%00",
    ),
    *(
        f"{MAPS}/%00",
        f"{MAPS}/%ff%fe",
        f"{MAPS}/%ED%A0%80",
        f"{MAPS}/..%2f..",
        f"{MAPS}/a%2Fb%2Fc",
        f"{MAPS}/{'a' * 6000}",
    ),
    *(
        "/api/v1" + "/a" * 2000,
        "/apis/" + "a" * 6000,
        "/clusters/",
        "/clusters//api",
        "/clusters/%00/api",
        "/clusters/x/%",
    ),
    *(
        "/clusters/%ff/version",
        "/clusters/../api",
        "/clusters/" + "a" * 6000,
        "*",
        "http://evil.example.org/api",
        "?x",
        "/?" * 900,
    ),
    *(
        "/openapi/v3/%00",
        "/openapi/v3/../v2",
        "/openapi/v3/api/v1?hash=%ff",
        "/openapi/v2?x",
        "/metrics?%00",
        "/readyz/%00",
    ),
    *(
        "/healthz/%ff",
        "/apis/%ff/v1/x",
        "/api/v1/namespaces/%00/pods",
        "/api/v1/watch",
        "/api/v1/proxy",
        "/api/v1/watch/%00",
    ),
    *("/api/v1/namespaces/default/pods/a/log?tailLines=9999999999999999999999", "/api/v1/nodes/a/proxy/%00"),
    *("/api/v1/namespaces/default/pods/a/log?sinceTime=%00&limitBytes=-1&sinceSeconds=" + DIGITS,),
)
VERBS = (
    ("GET", MAPS, b""),
    ("GET", ONE, b""),
    ("GET", f"{MAPS}?watch=1&timeoutSeconds=1", b""),
    ("POST", f"{MAPS}?dryRun=All", b'{"metadata":{"name":"b"}}'),
    ("PUT", f"{ONE}?dryRun=All", b'{"metadata":{"name":"a"}}'),
    ("PATCH", f"{ONE}?dryRun=All", b"{}"),
    ("DELETE", f"{ONE}?dryRun=All", b""),
    ("DELETE", f"{MAPS}?dryRun=All", b""),
    ("GET", "/apis", b""),
    ("GET", "/openapi/v3", b""),
)
NEVER_TWICE = ("Content-Length", "Transfer-Encoding", "Host")
