"""ConfigMap and Secret: keys, sizes, types and immutability."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from kubekit.errors import FieldError
from kubekit.model.resource import Object
from kubekit.server.objects import name_rules
from kubekit.server.objects.go import json_text
from kubekit.server.objects.problems import Problems, bad, forbidden, refuse_each, required, too_long, unchanged
from kubekit.server.objects.schema.decoding import Malformed

from ..builtin.behaviour import BuiltIn

MOST_BYTES = 1024 * 1024
_FROZEN = "field is immutable when `immutable` is set"
_HIDDEN = "<secret contents redacted>"
_BASIC_AUTH = ("username", "password")


def _check_config_map(obj: Object) -> list[FieldError]:
    found: Problems = []
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    size = 0
    for key, value in data.items():
        if broken := name_rules.config_key(key):
            refuse_each(found, f"data[{key}]", key, broken)
        if key in binary:
            found.append(bad(f"data[{key}]", key, "duplicate of key present in binaryData"))
        size += len(value) if value.isascii() else len(value.encode())
    for key, value in binary.items():
        if broken := name_rules.config_key(key):
            refuse_each(found, f"binaryData[{key}]", key, broken)
        size += _decoded_size(value)
    if size > MOST_BYTES:
        # Kubernetes calls the whole object so.
        found.append(too_long("[]", MOST_BYTES))
    return found


def _decoded_size(text: str) -> int:
    return len(text) * 3 // 4 - text[-2:].count("=")


def _check_config_map_update(obj: Object, old: Object) -> list[FieldError]:
    return [*_thawed(obj, old, "data", "binaryData"), *_check_config_map(obj)]


def _thawed(obj: Object, old: Object, *names: str) -> Problems:
    """What an object that was made immutable may no longer change."""
    found: Problems = []
    if not old.get("immutable"):
        return found
    if not obj.get("immutable"):
        found.append(forbidden("immutable", _FROZEN))
    found.extend(forbidden(name, _FROZEN) for name in names if (obj.get(name) or {}) != (old.get(name) or {}))
    return found


def _fill_secret(obj: Object) -> None:
    if not obj.get("type"):
        obj["type"] = "Opaque"
    if "stringData" in obj:
        texts = obj.pop("stringData") or {}
        if texts:
            data = obj["data"] = dict(obj.get("data") or {})
            data.update((key, base64.b64encode(text.encode()).decode()) for key, text in texts.items())


def _keep_type(obj: Object, old: Object) -> None:
    if not obj.get("type"):
        obj["type"] = old.get("type", "Opaque")


def _check_secret(obj: Object) -> list[FieldError]:
    found: Problems = []
    data = obj.get("data") or {}
    size = 0
    for key, value in data.items():
        if broken := name_rules.config_key(key):
            refuse_each(found, f"data[{key}]", key, broken)
        size += _decoded_size(value or "")
    if size > MOST_BYTES:
        found.append(too_long("data", MOST_BYTES))
    if obj.get("type") != "Opaque":
        _check_type(found, obj, data)
    return found


def _check_type(found: Problems, obj: Object, data: dict[str, Any]) -> None:
    match obj.get("type"):
        case "kubernetes.io/service-account-token":
            key = "kubernetes.io/service-account.name"
            if not (obj["metadata"].get("annotations") or {}).get(key):
                found.append(required(f"metadata.annotations[{key}]"))
        case "kubernetes.io/dockercfg":
            _check_document(found, data, ".dockercfg")
        case "kubernetes.io/dockerconfigjson":
            _check_document(found, data, ".dockerconfigjson")
        case "kubernetes.io/basic-auth":
            if not any(key in data for key in _BASIC_AUTH):
                found.extend(required(f"data[{key}]") for key in _BASIC_AUTH)
        case "kubernetes.io/ssh-auth":
            if not data.get("ssh-privatekey"):
                found.append(required("data[ssh-privatekey]"))
        case "kubernetes.io/tls":
            found.extend(required(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data)


def _remark_on_secret(obj: Object) -> list[str]:
    """A certificate and key that cannot be used are stored all the same."""
    if obj.get("type") != "kubernetes.io/tls":
        return []
    for key, what in (("tls.crt", "certificate"), ("tls.key", "key")):
        if b"-----BEGIN " not in base64.b64decode((obj.get("data") or {}).get(key) or ""):
            return [f"tls: failed to find any PEM data in {what} input"]
    return []


def _check_document(found: Problems, data: dict[str, Any], key: str) -> None:
    if key not in data:
        found.append(required(f"data[{key}]"))
        return
    if problem := _document_problem(data[key]):
        found.append(bad(f"data[{key}]", _HIDDEN, problem))


def _document_problem(encoded: str | None) -> str:
    """Why base64 text is not a JSON object, in the words of Go's decoder for the common cases."""
    try:
        value = json_text.decode(base64.b64decode(encoded or ""))
    except (Malformed, binascii.Error) as error:
        return str(error) if isinstance(error, Malformed) else "unexpected end of JSON input"
    kinds = {list: "array", str: "string", bool: "bool", int: "number", float: "number"}
    if isinstance(value, dict) or value is None:
        return ""
    return f"json: cannot unmarshal {kinds[type(value)]} into Go value of type map[string]interface {{}}"


def _check_secret_update(obj: Object, old: Object) -> list[FieldError]:
    found: Problems = []
    unchanged(found, "type", obj.get("type"), old.get("type"))
    return [*found, *_thawed(obj, old, "data"), *_check_secret(obj)]


KINDS = {
    ("", "ConfigMap"): BuiltIn(check=_check_config_map, check_update=_check_config_map_update),
    ("", "Secret"): BuiltIn(
        fill=_fill_secret,
        carry=_keep_type,
        check=_check_secret,
        check_update=_check_secret_update,
        remarks=_remark_on_secret,
    ),
}
