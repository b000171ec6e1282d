"""Strategic merge patch: lists of built-in kinds are merged item by item where their schema says so."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from kubekit.errors import BadRequest, Details, Invalid, Unclassified
from kubekit.model.resource import Object

from ..schema.decoding import go_kind
from ..schema.model import Schema
from ..schema.values import copy_json
from .go_values import go_text, go_type_name
from .json_patch import REJECTED
from .list_order import in_order, mark

DIRECTIVE = "$patch"
RETAIN_KEYS = "$retainKeys"
DELETE_FROM = "$deleteFromPrimitiveList"
SET_ORDER = "$setElementOrder"


def apply_strategic_patch(obj: Object, patch: Any, schema: Schema) -> Object:
    """The object after the change. Raises BadRequest, Invalid and Unclassified, as kube-apiserver answers."""
    if patch is None:
        return obj
    if not isinstance(patch, dict):
        raise BadRequest(f"json: cannot unmarshal {go_kind(patch)} into Go value of type map[string]interface {{}}")
    return _merged_map(obj, patch, schema)


def _merged_map(old: dict[str, Any], patch: dict[str, Any], schema: Schema | None) -> dict[str, Any]:
    if DIRECTIVE in patch:
        return _replaced_map(patch)
    merged, changes = dict(old), dict(patch)
    _retain_keys(merged, changes)
    for key in [key for key in changes if key.startswith(SET_ORDER)]:
        _merge_ordered(merged, changes, key, schema)
    for key, change in changes.items():
        if key.startswith(DELETE_FROM):
            _delete_from(merged, _directed_key(key, DELETE_FROM), change)
        elif change is None:
            merged.pop(key, None)
        else:
            _merge_member(merged, key, change, schema)
    return merged


def _replaced_map(patch: dict[str, Any]) -> dict[str, Any]:
    directive = patch[DIRECTIVE]
    if directive == "replace":
        return {key: copy_json(value) for key, value in patch.items() if key != DIRECTIVE}
    if directive == "delete":
        return {}
    raise Unclassified(f"unknown patch type: {go_text(directive)} in map: {go_text(patch)}")


def _retain_keys(merged: dict[str, Any], changes: dict[str, Any]) -> None:
    if RETAIN_KEYS not in changes:
        return
    retained = changes.pop(RETAIN_KEYS)
    named = [
        key for key, value in changes.items() if value is not None and not key.startswith((DELETE_FROM, SET_ORDER))
    ]
    kept = {key for key in retained if isinstance(key, str)} if isinstance(retained, list) else set()
    if not isinstance(retained, list) or not kept.issuperset(named):
        raise BadRequest("invalid patch format of retainKeys")
    for key in merged.keys() - kept:
        del merged[key]


def _directed_key(key: str, directive: str) -> str:
    """The field that a directive such as `$setElementOrder/containers` is about."""
    prefix, slash, field = key.partition("/")
    if prefix != directive or not slash:
        form = "primitive list" if directive == DELETE_FROM else "setElementOrder list"
        raise BadRequest(f"invalid patch format of {form}")
    return field


def _delete_from(merged: dict[str, Any], key: str, unwanted: Any) -> None:
    if isinstance(merged.get(key), list) and isinstance(unwanted, list):
        marks = set(map(mark, unwanted))
        merged[key] = [item for item in merged[key] if mark(item) not in marks]


def _merge_member(merged: dict[str, Any], key: str, change: Any, schema: Schema | None) -> None:
    below = schema.child(key) if schema is not None else None
    current = merged.get(key)
    if isinstance(current, dict) and isinstance(change, dict):
        merged[key] = copy_json(change) if _strategy(below) == "replace" else _merged_map(current, change, below)
    elif isinstance(current, list) and isinstance(change, list):
        merged[key] = merge_lists(current, change, below)
    elif isinstance(change, dict) and DIRECTIVE in change:
        merged.pop(key, None)
    else:
        merged[key] = _without_directives(change)


def _strategy(schema: Schema | None) -> str:
    """merge, replace or nothing; retainKeys is only a hint for those who write patches."""
    found = [one for one in schema.patch_strategies if one != "retainKeys"] if schema is not None else []
    return found[0] if found else ""


def merge_lists(old: list[Any], change: list[Any], schema: Schema | None) -> list[Any]:
    """A list with the items of a patch merged into it, if the schema says so, or else the list of the patch."""
    if _strategy(schema) != "merge" or schema is None:
        replacement: list[Any] = copy_json(change)
        return replacement
    if not old and not change:
        return old
    if not _holds_maps(old, change):
        added = {mark(item): item for item in reversed(change)}
        kept = [item for item in old if mark(item) not in added]
        return in_order(kept, list(reversed(added.values())), change, old, "")
    if not schema.patch_key:
        raise Unclassified("cannot merge lists without merge key for struct")
    old, change = _special_items(old, change, schema.patch_key)
    merged = _merged_items(old, change, schema)
    changed = {_key_of(item, schema.patch_key) for item in change}
    mine = [item for item in merged if _key_of(item, schema.patch_key) in changed]
    others = [item for item in merged if _key_of(item, schema.patch_key) not in changed]
    return in_order(others, mine, change, old, schema.patch_key)


def _holds_maps(old: list[Any], change: list[Any]) -> bool:
    kinds = {type(item) for item in (*old, *change)}
    if list in kinds and isinstance((old or change)[0], list):
        raise Invalid(REJECTED, Details())
    if len(kinds) > 1:
        raise Unclassified(f"list element types are not identical: {go_text([old, change])}")
    return dict in kinds


def _key_of(item: Any, key: str) -> Any:
    if not isinstance(item, dict):
        raise Unclassified(f"expected a map[string]interface {{}}, but received a {go_type_name(item)}")
    if key not in item or isinstance(item[key], (dict, list)):
        raise Unclassified(f"map: {go_text(item)} does not contain declared merge key: {key}")
    return item[key]


def _special_items(old: list[Any], change: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """Both lists after the items of the patch that say what to do rather than what there is."""
    plain = [item for item in change if DIRECTIVE not in item]
    replaces, unwanted = False, set[Hashable]()
    for item in change:
        match item.get(DIRECTIVE, ""):
            case "":
                continue
            case "delete":
                unwanted.add(mark(_key_of(item, key)))
            case "replace":
                replaces = True
            case "merge":
                raise Unclassified("merging lists cannot yet be specified in the patch")
            case other:
                raise Unclassified(f"unknown patch type: {go_text(other)} in map: {go_text(item)}")
    if replaces:
        return copy_json(plain), []
    return [one for one in old if mark(one.get(key)) not in unwanted] if unwanted else old, plain


def _merged_items(old: list[Any], change: list[Any], schema: Schema) -> list[Any]:
    merged = list(old)
    places = {mark(one.get(schema.patch_key)): index for index, one in reversed(list(enumerate(merged)))}
    for item in change:
        place = places.setdefault(mark(_key_of(item, schema.patch_key)), len(merged))
        if place == len(merged):
            merged.append(copy_json(item))
        else:
            merged[place] = _merged_map(merged[place], item, schema.items)
    return merged


def _merge_ordered(merged: dict[str, Any], changes: dict[str, Any], directive: str, schema: Schema | None) -> None:
    """Merge a list whose order the patch gives beside it."""
    order = changes.pop(directive)
    if not isinstance(order, list):
        raise Unclassified(f"expected a []interface {{}}, but received a {go_type_name(order)}")
    key = _directed_key(directive, SET_ORDER)
    below = schema.child(key) if schema is not None else None
    merge_key = below.patch_key if below is not None else ""
    old, change = merged.get(key), changes.pop(key, None)
    for found in (old, change):
        if found is not None and not isinstance(found, list):
            raise Unclassified(f"expected a []interface {{}}, but received a {go_type_name(found)}")
    _check_order(change or [], order, merge_key)
    if old is None and change is None:
        return
    if old is not None and change is not None:
        items = merge_lists(old, change, below)
    else:
        items = list(old) if old is not None else _without_directives(change)
    listed = set(map(mark, _listed(order, merge_key)))
    marks = [mark(_key_of(item, merge_key) if merge_key else item) for item in items]
    mine = [item for item, one in zip(items, marks, strict=True) if one in listed]
    others = [item for item, one in zip(items, marks, strict=True) if one not in listed]
    merged[key] = in_order(others, mine, order, old or [], merge_key)


def _listed(order: list[Any], merge_key: str) -> list[Any]:
    """What identifies the items of an order."""
    for index, item in enumerate(order):
        if merge_key and not isinstance(item, dict):
            raise Unclassified(f"value for key {index} is not a map")
    return [_key_of(item, merge_key) for item in order] if merge_key else order


def _check_order(change: list[Any], order: list[Any], merge_key: str) -> None:
    """The items of the patch must stand in the order it gives."""
    if not change or not order:
        return
    wanted = [item for item in change if not (isinstance(item, dict) and DIRECTIVE in item)]
    given = iter(_listed(order, merge_key))
    if not all((_key_of(item, merge_key) if merge_key else item) in given for item in wanted):
        raise Unclassified(
            f"The order in patch list:\n{go_text(change)}\n doesn't match {SET_ORDER} list:\n{go_text(order)}\n"
        )


def _without_directives(value: Any) -> Any:
    """A new value without nulls, and without the maps that only say what to do."""
    if isinstance(value, dict):
        return {
            key: _without_directives(member)
            for key, member in value.items()
            if member is not None and not _is_directive(member)
        }
    if isinstance(value, list):
        return [_without_directives(item) for item in value if not _is_directive(item)]
    return value


def _is_directive(value: Any) -> bool:
    return isinstance(value, dict) and DIRECTIVE in value
