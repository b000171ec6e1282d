"""Random lives of one object: what several clients may do to it, one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import (
    JSON_PATCH,
    STRATEGIC_PATCH,
    Case,
    Step,
    apply,
    delete,
    get,
    patch,
    post,
    put,
    quietly,
)
from tests.real.differential.vocabulary import (
    DEPLOYMENTS,
    MAPS,
    Json,
    config_map,
    container,
    deployment,
    template,
)

LENGTH = 12
_MANAGERS = st.sampled_from(("anna", "bert", "carl"))
_FORCE = st.sampled_from(("", "", "force=true"))
_SMALL = st.integers(0, 3)
_WORDS = st.sampled_from(("x", "y", "z"))
_NAMES = st.sampled_from(("k", "l", "m"))
_ONE = "a"


def _some(**choices: SearchStrategy[Any]) -> SearchStrategy[Json]:
    """Some of these members."""
    return st.fixed_dictionaries({}, optional=choices)


_FINALIZERS = (["example.org/x"], ["example.org/x", "example.org/y"])


def _meta(*finalizers: list[str]) -> SearchStrategy[Json]:
    return _some(
        labels=st.dictionaries(_NAMES, _WORDS, min_size=1, max_size=2),
        annotations=st.dictionaries(_NAMES, _WORDS, min_size=1, max_size=2),
        finalizers=st.sampled_from(finalizers),
    )


_META = _meta([], *_FINALIZERS)
_CUSTOM_META = _meta(*_FINALIZERS)
"""Nothing empty, which counts as a change there when it goes."""
_PORTS = st.lists(_some(name=_WORDS, protocol=st.sampled_from(("TCP", "UDP")), number=_SMALL, note=_WORDS), max_size=2)
_WIDGET_SPEC = _some(
    size=st.integers(0, 3),
    colour=st.sampled_from(("red", "green", "pink")),
    ports=_PORTS,
    tags=st.lists(_WORDS, max_size=3),
    steps=st.lists(_some(do=_WORDS, times=_SMALL), max_size=2),
    labels=st.dictionaries(_NAMES, _WORDS, max_size=2),
    whole=_some(one=_WORDS, two=_WORDS),
    free=st.dictionaries(
        _NAMES, st.one_of(_SMALL, st.lists(_SMALL, max_size=2), _some(k=_SMALL, l=_WORDS)), max_size=2
    ),
    maybe=st.one_of(st.none(), _WORDS),
    nested=_some(mode=_WORDS, on=st.booleans()),
    unknown=_SMALL,
)
_CONTAINERS = st.lists(
    st.builds(
        lambda name, more: container(name, **more),
        _WORDS,
        _some(
            image=_WORDS,
            args=st.lists(_WORDS, max_size=2),
            env=st.lists(st.builds(lambda name, value: {"name": name, "value": value}, _NAMES, _WORDS), max_size=2),
            ports=st.lists(st.builds(lambda port: {"containerPort": port}, st.integers(80, 82)), max_size=2),
        ),
    ),
    min_size=1,
    max_size=2,
)
_DEPLOYMENT_SPEC = _some(
    replicas=_SMALL,
    paused=st.booleans(),
    minReadySeconds=_SMALL,
    template=st.builds(lambda containers: template(containers=containers), _CONTAINERS),
)
_DATA = st.dictionaries(_NAMES, _WORDS, max_size=3)


class Kind:
    """What may be done with objects of one kind."""

    def __init__(self, path: str, contents: SearchStrategy[Json], status: SearchStrategy[Json] | None = None) -> None:
        self.path, self.object = path, f"{path}/{_ONE}"
        self.contents = contents
        """The object without its name, but with metadata."""
        self.status = status

    def steps(self) -> SearchStrategy[tuple[Step, ...]]:
        """One thing that one client does."""
        kinds = [
            self._created(),
            self._updated(),
            self._merged(),
            self._applied(),
            self._applied(),
            self._applied(),
            self._labelled(),
            self._patched(),
            st.just((delete(self.object),)),
        ]
        if self.status is not None:
            kinds += [self._status_merged(self.status), self._status_applied(self.status)]
        if self.path != WIDGETS:
            kinds.append(self._merged(STRATEGIC_PATCH))
        return st.one_of(kinds)

    def _created(self) -> SearchStrategy[tuple[Step, ...]]:
        return st.builds(lambda body, by: (post(f"{self.path}?fieldManager={by}", body),), self.contents, _MANAGERS)

    def _updated(self) -> SearchStrategy[tuple[Step, ...]]:
        def steps(body: Json, by: str) -> tuple[Step, ...]:
            seen = {**body["metadata"], "resourceVersion": "${seen.metadata.resourceVersion}"}
            changed = put(f"{self.object}?fieldManager={by}", {**body, "metadata": seen})
            return (*quietly(get(self.object, save="seen")), changed)

        return st.builds(steps, self.contents, _MANAGERS)

    def _merged(self, kind: str = "application/merge-patch+json") -> SearchStrategy[tuple[Step, ...]]:
        def steps(body: Json, by: str) -> tuple[Step, ...]:
            change = {name: value for name, value in body.items() if name not in ("apiVersion", "kind")}
            return (patch(f"{self.object}?fieldManager={by}", change, kind),)

        return st.builds(steps, self.contents, _MANAGERS)

    def _applied(self) -> SearchStrategy[tuple[Step, ...]]:
        return st.builds(
            lambda body, by, force: (apply(self.object, body, by, force),), self.contents, _MANAGERS, _FORCE
        )

    def _labelled(self) -> SearchStrategy[tuple[Step, ...]]:
        def steps(name: str, value: str | None, by: str) -> tuple[Step, ...]:
            return (patch(f"{self.object}?fieldManager={by}", {"metadata": {"labels": {name: value}}}),)

        return st.builds(steps, _NAMES, st.one_of(st.none(), _WORDS), _MANAGERS)

    def _patched(self) -> SearchStrategy[tuple[Step, ...]]:
        def steps(op: str, name: str, value: str, by: str) -> tuple[Step, ...]:
            change = [{"op": op, "path": f"/metadata/annotations/{name}", "value": value}]
            return (patch(f"{self.object}?fieldManager={by}", change, JSON_PATCH),)

        return st.builds(steps, st.sampled_from(("add", "remove", "replace", "test")), _NAMES, _WORDS, _MANAGERS)

    def _status_merged(self, status: SearchStrategy[Json]) -> SearchStrategy[tuple[Step, ...]]:
        def steps(value: Json, by: str) -> tuple[Step, ...]:
            return (patch(f"{self.object}/status?fieldManager={by}", {"status": value}),)

        return st.builds(steps, status, _MANAGERS)

    def _status_applied(self, status: SearchStrategy[Json]) -> SearchStrategy[tuple[Step, ...]]:
        def steps(value: Json, by: str, force: str) -> tuple[Step, ...]:
            body = widget(_ONE, status=value) if self.path == WIDGETS else _deployment_status(value)
            return (apply(f"{self.object}/status", body, by, force),)

        return st.builds(steps, status, _MANAGERS, _FORCE)


def _deployment_status(value: Json) -> Json:
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": _ONE}, "status": value}


_CONDITIONS = st.lists(
    st.builds(
        lambda kind, status: {"type": kind, "status": status},
        st.sampled_from(("A", "B")),
        st.sampled_from(("True", "False")),
    ),
    max_size=2,
)
KINDS = {
    "ConfigMap": Kind(MAPS, st.builds(lambda meta, data: config_map(_ONE, meta, data=data), _META, _DATA)),
    "Deployment": Kind(
        DEPLOYMENTS,
        st.builds(lambda meta, spec: deployment(_ONE, meta, **spec), _META, _DEPLOYMENT_SPEC),
        _some(replicas=_SMALL, conditions=_CONDITIONS),
    ),
    "Widget": Kind(
        WIDGETS,
        st.builds(lambda meta, spec: widget(_ONE, meta, spec=spec), _CUSTOM_META, _WIDGET_SPEC),
        _some(phase=_WORDS, replicas=_SMALL, conditions=_CONDITIONS),
    ),
}


@st.composite
def lives(draw: st.DrawFn, kind: Kind) -> Case:
    """A sequence of steps, and a last look."""
    taken = draw(st.lists(kind.steps(), min_size=3, max_size=LENGTH))
    steps = [step for one in taken for step in one]
    # Steps of one case are told apart by their number only, so the same may happen twice.
    return Case("life", tuple(replace(step) for step in (*steps, get(kind.object))), "generated", is_generated=True)
