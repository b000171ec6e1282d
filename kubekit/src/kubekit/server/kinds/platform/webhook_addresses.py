"""The URL of a webhook, whoever calls it."""

from __future__ import annotations

from urllib.parse import urlsplit

from kubekit.errors import FieldError
from kubekit.server.objects.cel.library import urls
from kubekit.server.objects.problems import bad, required

_FORM = "; desired format: https://host[/path]"


def url_problems(url: str, path: str) -> list[FieldError]:
    if problem := urls.problem(url):
        return [required(path, f"url must be a valid URL: {problem}{_FORM}")]
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    found = []
    if parts.scheme != "https":
        found.append(bad(path, parts.scheme, f"'https' is the only allowed URL scheme{_FORM}"))
    if not host:
        found.append(bad(path, host, f"host must be specified{_FORM}"))
    if at:
        found.append(bad(path, user, "user information is not permitted in the URL"))
    if parts.fragment:
        found.append(bad(path, parts.fragment, "fragments are not permitted in the URL"))
    if parts.query:
        found.append(bad(path, parts.query, "query parameters are not permitted in the URL"))
    return found
