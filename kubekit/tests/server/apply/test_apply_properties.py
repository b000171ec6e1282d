"""What holds for any object, any configuration and any owner."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubekit.errors import Conflict
from kubekit.server.objects.apply import sets
from tests.server.apply.world import Object, applied, copied, created, entry, owned, updated, wide

words = st.sampled_from(["a", "b", "c"])
texts = st.dictionaries(words, words, max_size=3)
anything: st.SearchStrategy[Any] = st.recursive(
    st.one_of(words, st.booleans(), st.integers(0, 2)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(words, inner, max_size=2)),
    max_leaves=5,
)
items = st.lists(
    st.fixed_dictionaries({"name": words}, optional={"v": words, "tags": texts}),
    max_size=3,
    unique_by=lambda item: str(item["name"]),
)
specs = st.fixed_dictionaries(
    {"size": st.integers(0, 2)},
    optional={
        "title": words,
        "labels": texts,
        "box": st.fixed_dictionaries(
            {}, optional={"a": words, "deep": st.fixed_dictionaries({}, optional={"x": words})}
        ),
        "whole": texts,
        "list": st.lists(words, max_size=2),
        "set": st.lists(words, max_size=3, unique=True),
        "items": items,
        "free": st.dictionaries(words, anything, max_size=3),
    },
)


def leaves(value: Any) -> int:
    """How many fields an object of these specs has at its ends, as far as they are owned one by one."""
    return sum(1 for path in sets.each(value) if _is_end(value, path))


def _is_end(fields: Object, path: tuple[str, ...]) -> bool:
    for element in path:
        fields = fields[element]
    return not fields


def ends(spec: Object) -> int:
    """The same count, taken from the object."""
    count = 0
    for name, value in spec.items():
        if name in ("whole", "list") or not isinstance(value, dict | list) or not value:
            count += 1
        elif name == "items":
            count += sum(ends({k: v for k, v in item.items() if k != "items"}) for item in value)
        elif name == "set":
            count += len(value)
        else:
            count += _free_ends(value)
    return count


def _free_ends(value: Any) -> int:
    if not isinstance(value, dict) or not value:
        return 1
    return sum(map(_free_ends, value.values()))


def _free_fields(value: Object) -> Object:
    """The fields of a map without a schema, in Kubernetes' order."""
    below = {f"f:{name}": value[name] for name in sorted(value)}
    return {".": {}} | {path: _free_fields(one) if isinstance(one, dict) and one else {} for path, one in below.items()}


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(words, st.one_of(anything, st.dictionaries(words, anything)), min_size=1))
def test_where_nothing_is_said_of_the_fields_every_map_is_divided(free: Object) -> None:
    fields = owned(created("m", wide(free=free)), "m")["f:free"]
    assert json.dumps(fields) == json.dumps(_free_fields(free))


@settings(max_examples=50, deadline=None)
@given(specs)
def test_a_creator_owns_exactly_all_leaves(spec: Object) -> None:
    fields = owned(created("m", wide(**spec)), "m")
    assert leaves(fields) == ends(spec)


@settings(max_examples=50, deadline=None)
@given(specs, specs)
def test_applying_twice_is_applying_once(before: Object, spec: Object) -> None:
    once = applied(created("u", wide(**before)), "m", wide(**spec), force=True)
    assert applied(once, "m", wide(**spec), second=9) == once


@settings(max_examples=50, deadline=None)
@given(specs, specs)
def test_what_only_the_applier_owned_and_dropped_is_gone(first: Object, then: Object) -> None:
    obj = applied(applied(None, "m", wide(**first)), "m", wide(**then))
    fresh = applied(None, "m", wide(**then))
    assert owned(obj, "m") == owned(fresh, "m")
    assert _full(obj["spec"]) == _full(fresh["spec"])


def _full(value: Any) -> Any:
    """Without empty containers, which may outlive what was in them, and without the order of items."""
    if isinstance(value, dict):
        kept = {name: _full(member) for name, member in value.items()}
        return {name: member for name, member in kept.items() if member not in ({}, [], None)}
    if isinstance(value, list):
        return sorted((_full(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value


@settings(max_examples=50, deadline=None)
@given(specs, specs, specs)
def test_what_another_applier_owns_stays(shared: Object, first: Object, then: Object) -> None:
    live = applied(applied(None, "other", wide(**shared)), "m", wide(**first), force=True)
    theirs = owned(live, "other") if _has(live, "other") else {}
    obj = applied(live, "m", wide(**then), force=True)
    lost = sets.minus(theirs, owned(obj, "other") if _has(obj, "other") else {})
    mine = owned(obj, "m")
    assert all(sets.contains(mine, path) or _below_change(path, mine) for path in sets.each(lost))


def _below_change(path: tuple[str, ...], mine: Object) -> bool:
    """Was the path lost because the applier replaced something that contained it?"""
    return any(sets.contains(mine, path[:length]) for length in range(1, len(path)))


@settings(max_examples=50, deadline=None)
@given(specs, specs)
def test_a_conflict_is_raised_when_and_only_when_a_field_of_another_would_change(before: Object, spec: Object) -> None:
    live = created("u", wide(**before))
    forced = applied(live, "m", wide(**spec), force=True)
    lost = sets.minus(owned(live, "u"), owned(forced, "u") if _has(forced, "u") else {})
    if not lost:
        assert applied(live, "m", wide(**spec)) == forced
        return
    with pytest.raises(Conflict):
        applied(live, "m", wide(**spec))


def _has(obj: Object, manager: str) -> bool:
    return any(one["manager"] == manager for one in obj["metadata"].get("managedFields", ()))


@settings(max_examples=50, deadline=None)
@given(specs, specs)
def test_owners_never_claim_what_is_not_there(before: Object, after: Object) -> None:
    obj = updated(created("a", wide(**before)), "b", wide(**after))
    everything = entry(created("x", wide(**after)), "x")["fieldsV1"]
    for one in obj["metadata"]["managedFields"]:
        assert sets.common(one["fieldsV1"], everything) == one["fieldsV1"]


@settings(max_examples=50, deadline=None)
@given(specs, specs)
def test_after_an_update_every_field_has_an_owner(before: Object, after: Object) -> None:
    obj = updated(created("a", wide(**before)), "b", wide(**after))
    together: Object = {}
    for one in obj["metadata"]["managedFields"]:
        together = sets.plus(together, one["fieldsV1"])
    everything = owned(created("x", wide(**after)), "x")
    assert not sets.minus(_leaves_only(everything), together["f:spec"])


def _leaves_only(fields: Object) -> Object:
    return {element: _leaves_only(below) for element, below in fields.items() if element != "."}


@settings(max_examples=50, deadline=None)
@given(specs)
def test_an_update_with_an_equal_object_changes_nothing(spec: Object) -> None:
    old = created("a", wide(**spec))
    assert updated(old, "b", copied(wide(**spec))) == old
