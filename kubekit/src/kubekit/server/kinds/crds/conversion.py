"""How a CustomResourceDefinition says that its versions are converted into each other."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from kubekit.errors import FieldError, not_supported
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.problems import bad, first_places, forbidden, required
from kubekit.server.objects.resource import Conversion

from ..platform.webhook_addresses import url_problems

_REVIEW_VERSIONS = ("v1", "v1beta1")
_CLIENT_CONFIG = "spec.conversion.webhookClientConfig"
_REVIEW_PATH = "spec.conversion.conversionReviewVersions"


def client_config(spec: Object) -> Object:
    """How to reach the conversion webhook; empty when there is none."""
    return (spec.get("conversion", {}).get("webhook") or {}).get("clientConfig") or {}


def conversion_of(spec: Object) -> Conversion | None:
    """The webhook that converts, None for the strategy `None`."""
    if (spec.get("conversion") or {}).get("strategy") != "Webhook":
        return None
    offered = (spec["conversion"].get("webhook") or {}).get("conversionReviewVersions") or ()
    understood = next((version for version in offered if version in _REVIEW_VERSIONS), _REVIEW_VERSIONS[0])
    return Conversion(client_config(spec), understood)


def is_bundle(encoded: Any) -> bool:
    """Whether a `caBundle` can be used: empty, or at least one PEM certificate in base64."""
    if not encoded:
        return True
    try:
        from cryptography import x509  # noqa: PLC0415 - a tenth of the whole start, for what is rarely asked

        return bool(x509.load_pem_x509_certificates(base64.b64decode(encoded, validate=True)))
    except (ValueError, binascii.Error):
        return False


def validate_conversion(spec: Object, old: Object | None, trusts_any_bundle: bool) -> Iterator[FieldError]:
    """What is wrong with `spec.conversion`; a bundle nobody relies on yet may be anything."""
    conversion = spec.get("conversion")
    if conversion is None:
        return
    strategy = conversion.get("strategy", "")
    if strategy != "None" and spec.get("preserveUnknownFields"):
        yield bad("spec.conversion.strategy", strategy, "must be None if spec.preserveUnknownFields is true")
    if not strategy:
        yield required("spec.conversion.strategy")
    elif strategy not in ("None", "Webhook"):
        yield not_supported("spec.conversion.strategy", strategy, ("None", "Webhook"))
    webhook = conversion.get("webhook") or {}
    if strategy == "Webhook":
        yield from _client_config(webhook.get("clientConfig"), trusts_any_bundle)
        yield from _review_versions(webhook.get("conversionReviewVersions") or [], old)
        return
    if webhook.get("clientConfig") is not None:
        yield forbidden(_CLIENT_CONFIG, "should not be set when strategy is not set to Webhook")
    if webhook.get("conversionReviewVersions"):
        yield forbidden(_REVIEW_PATH, "should not be set when strategy is not set to Webhook")


def _client_config(config: Object | None, trusts_any_bundle: bool) -> Iterator[FieldError]:
    if config is None:
        yield required(_CLIENT_CONFIG, "required when strategy is set to Webhook")
        return
    url, service = config.get("url"), config.get("service")
    if (url is None) == (service is None):
        yield required(_CLIENT_CONFIG, "exactly one of url or service is required")
    elif url is not None:
        yield from url_problems(url, f"{_CLIENT_CONFIG}.url")
    elif service is not None:
        yield from _service(service, f"{_CLIENT_CONFIG}.service")
    bundle = config.get("caBundle")
    if not trusts_any_bundle and not is_bundle(bundle):
        detail = "unable to load root certificates: unable to parse bytes as PEM block"
        yield bad(f"{_CLIENT_CONFIG}.caBundle", bundle, detail)


def _service(service: Object, path: str) -> Iterator[FieldError]:
    for name in ("name", "namespace"):
        if not service.get(name):
            yield required(f"{path}.{name}")
    port = service.get("port", 443)
    if broken := name_rules.port(port):
        yield bad(f"{path}.port", port, f"port is not valid: {', '.join(broken)}")
    url_path = service.get("path")
    if url_path and url_path != "/":
        yield from _url_path(url_path, f"{path}.path")


def _url_path(url_path: str, path: str) -> Iterator[FieldError]:
    if not url_path.startswith("/"):
        yield bad(path, url_path, "must start with a '/'")
    for index, segment in enumerate(url_path[1:].removesuffix("/").split("/")):
        if not segment:
            yield bad(path, url_path, f"segment[{index}] may not be empty")
            continue
        for broken in name_rules.subdomain(segment):
            yield bad(path, url_path, f"segment[{index}]: {broken}")


def _review_versions(versions: list[str], old: Object | None) -> Iterator[FieldError]:
    if not versions:
        yield required(_REVIEW_PATH)
        return
    first = first_places(versions)
    for index, version in enumerate(versions):
        if first[version] < index:
            yield bad(f"{_REVIEW_PATH}[{index}]", version, "duplicate version")
            continue
        for broken in name_rules.label_1035(version):
            yield bad(f"{_REVIEW_PATH}[{index}]", version, broken)
    if not _recognised(versions) and (old is None or _had_recognised(old)):
        yield bad(_REVIEW_PATH, versions, f"must include at least one of {', '.join(_REVIEW_VERSIONS)}")


def _recognised(versions: list[str]) -> bool:
    return any(version in _REVIEW_VERSIONS for version in versions)


def _had_recognised(old: Object) -> bool:
    webhook = (old.get("conversion") or {}).get("webhook") or {}
    versions = webhook.get("conversionReviewVersions")
    return not versions or _recognised(versions)
