"""What the body of a request is meant to be: an object, a patch, or options."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from kubekit.errors import BadRequest
from kubekit.model.resource import Object
from kubekit.server.kinds.builtin import catalogue, definitions
from kubekit.server.objects import duplicate_keys
from kubekit.server.objects.go import json_text, yaml_text
from kubekit.server.objects.long_work import LARGE
from kubekit.server.objects.request import WriteOptions
from kubekit.server.objects.resource import Resource
from kubekit.server.objects.schema.decoding import Malformed
from kubekit.server.pipeline import body_decoding, patches

from . import bodies, queries
from .call import Call

_DELETE_OPTIONS = "DeleteOptions"


async def read_object(call: Call, options: WriteOptions, resource: Resource | None = None) -> Any:
    """An object of the resource the request speaks of, or of another one. Raises BadRequest, UnsupportedMediaType."""
    resource = resource or call.target.resource
    content = await _read(call, options)
    return await call.space.bench.do(options.size, _object, content, call.media_type, resource, options)


async def _read(call: Call, options: WriteOptions) -> bytes:
    content = await bodies.read(call.request)
    options.size = len(content)
    if call.space.checks(call.target.resource).is_long:
        options.size = max(options.size, LARGE + 1)
    return content


def _object(content: bytes, media_type: str, resource: Resource, options: WriteOptions) -> Any:
    value = bodies.decode_object(content, media_type, resource)
    if options.field_validation == "Ignore" or media_type == bodies.PROTOBUF:
        return value
    if media_type == bodies.YAML:
        options.remarks = _yaml_remarks(content)
    elif duplicate_keys.may_repeat(content, value):
        options.remarks = duplicate_keys.in_parts(content) if resource.is_custom else duplicate_keys.in_object(content)
    return value


async def read_kind(call: Call, options: WriteOptions, api_version: str, kind: str) -> Object:
    """An object of a built-in kind that is not stored by itself, such as a Scale; without its type."""
    resource = kind_of(api_version, kind)
    value = await read_object(call, options, resource)
    if isinstance(value, dict) and (value.get("apiVersion"), kind) == ("policy/v1beta1", "Eviction"):
        # The older version has the same fields, and some clients still send it.
        value = {**value, "apiVersion": api_version}
    return await call.space.bench.do(options.size, body_decoding.understood, call.space, resource, value, options)


@cache
def kind_of(api_version: str, kind: str) -> Resource:
    """A built-in kind, as if it were a resource."""
    group, _, version = api_version.rpartition("/")
    if kind == _DELETE_OPTIONS:
        schema = catalogue.definition(definitions.full_name(f"meta.v1.{kind}"))
    else:
        schema = catalogue.schema_of(group, version, kind)
    return Resource(group, version, kind, kind.lower(), schema)


def patch_kind(call: Call) -> str:
    """What the options of a patch are checked as. Raises UnsupportedMediaType."""
    accepted = patches.accepted_types(call.target)
    if call.media_type not in accepted:
        raise bodies.unsupported_patch(call.target.resource, accepted)
    return queries.APPLY if call.media_type == patches.APPLY_PATCH else "PatchOptions"


async def read_patch(call: Call, options: WriteOptions) -> Any:
    """The body of a PATCH; sets what only an apply may carry. Raises BadRequest."""
    content = await _read(call, options)
    options.force = queries.is_true(call.query, "force")
    return await call.space.bench.do(options.size, _patch, call, content, options)


def _patch(call: Call, content: bytes, options: WriteOptions) -> Any:
    media_type = call.media_type
    if media_type == patches.APPLY_PATCH:
        return _configuration(content, options)
    change = _change(call, content)
    is_patch = media_type == patches.JSON_PATCH
    if options.field_validation != "Ignore" and (
        duplicate_keys.may_repeat(content, change) or (is_patch and duplicate_keys.has_unknown_members(change))
    ):
        options.remarks = duplicate_keys.in_parts(content, is_patch=is_patch)
    return change


def _change(call: Call, content: bytes) -> Any:
    try:
        return json_text.decode(content)
    except Malformed as error:
        # Whether there is anything to change matters more.
        call.space.existing(call.target)
        start = "" if call.media_type == patches.STRATEGIC_PATCH else "error decoding patch: "
        raise BadRequest(f"{start}{error}") from error


def _configuration(content: bytes, options: WriteOptions) -> Any:
    value = bodies.decode_configuration(content)
    if options.field_validation == "Ignore" or not duplicate_keys.may_repeat(content, value):
        return value
    # Said only of what can be applied at all.
    options.remarks = lambda _: yaml_text.repeated_keys(content)
    return value


def _yaml_remarks(content: bytes) -> duplicate_keys.Remarks:
    def remarks(unknown: list[str]) -> Iterable[str]:
        repeated = yaml_text.repeated_keys(content)
        shown = ["\n  ".join(["yaml: unmarshal errors:", *repeated])] if repeated else []
        return [*shown, *body_decoding.unknown_fields(unknown)]

    return remarks


async def read_delete_options(call: Call, options: WriteOptions) -> Object | None:
    """The options in the body of a DELETE, if there is one. Raises BadRequest, UnsupportedMediaType."""
    content = await _read(call, options)
    if not content:
        return None
    options.field_validation = "Ignore"
    return await call.space.bench.do(options.size, _delete_options, call, content, options)


def _delete_options(call: Call, content: bytes, options: WriteOptions) -> Object:
    resource = kind_of("v1", _DELETE_OPTIONS)
    try:
        value = bodies.decode(content, call.media_type, resource)
        if value.get("kind", _DELETE_OPTIONS) != _DELETE_OPTIONS:
            version = value.get("apiVersion") or "meta.k8s.io/v1"
            raise Malformed(body_decoding.not_registered(value["kind"], version))
        # Every group has them.
        return body_decoding.decoded(call.space, resource, {**value, "apiVersion": "v1"}, options)
    except Malformed as error:
        raise BadRequest(str(error)) from error
