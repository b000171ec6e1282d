"""Server-side apply: who owns which field, and what happens when two want the same."""

from __future__ import annotations

from typing import Any

from tests.real.differential.differences import EMPTY_LABELS
from tests.real.differential.kinds import GADGETS, OWN, TEXT, WIDGETS, gadget, own, structure, thing, widget
from tests.real.differential.steps import (
    JSON_PATCH,
    STRATEGIC_PATCH,
    Step,
    apply,
    case,
    delete,
    get,
    patch,
    post,
    put,
    quietly,
)
from tests.real.differential.vocabulary import (
    CORE,
    DEPLOYMENTS,
    MAPS,
    NAMESPACES,
    SERVICES,
    config_map,
    container,
    deployment,
    made,
    service,
    template,
)


def _map(manager: str = "one", options: str = "", meta: Any = None, **data: str) -> Step:
    return apply(f"{MAPS}/a", config_map("a", meta, data=data), manager, options)


def _widget(manager: str = "one", options: str = "", **spec: Any) -> Step:
    return apply(f"{WIDGETS}/a", widget("a", spec=spec), manager, options)


def _deployment(manager: str = "one", options: str = "", **spec: Any) -> Step:
    return apply(f"{DEPLOYMENTS}/a", deployment("a", **spec), manager, options)


def _port(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, **more}


_PORT_80 = {"containerPort": 80}


CASES = (
    case("create and change", _map(k="v"), _map(k="w"), _map(k="w"), _map(l="x")),
    case("removal of a field that nobody else owns", _map(a="1", b="2"), _map(a="1"), _map()),
    case(
        "removal of a field that another owns too",
        _map(a="1", b="2"),
        _map("two", b="2"),
        _map(a="1"),
        get(f"{MAPS}/a"),
        apply(f"{MAPS}/a", config_map("a"), "two"),
    ),
    case(
        "a conflict with another manager",
        _map(a="1"),
        _map("two", a="2"),
        _map("two", "force=true", a="2"),
        _map(a="3"),
        _map(b="4"),
    ),
    case("conflicts with several managers", _map(a="1", b="1"), _map("two", c="1"), _map("three", a="2", b="2", c="2")),
    case(
        "a conflict with an update",
        post(f"{MAPS}?fieldManager=updater", config_map("a", data={"a": "1"})),
        _map(a="2"),
        _map(a="1"),
        _map("two", "force=true", a="3"),
    ),
    case(
        "conflicts with an update of a part",
        *quietly(post(f"{WIDGETS}?fieldManager=maker", widget("a", spec={"colour": "red"}))),
        patch(f"{WIDGETS}/a/status?fieldManager=controller", {"status": {"phase": "x"}}),
        _widget(colour="blue"),
        apply(f"{WIDGETS}/a/status", widget("a", status={"phase": "y"}), "three"),
    ),
    case("the same value is shared", _map(a="1"), _map("two", a="1"), _map("two", b="1"), get(f"{MAPS}/a")),
    case(
        "labels, annotations, finalizers and owners",
        _map(meta={"labels": {"a": "1"}, "annotations": {"b": "2"}, "finalizers": ["example.org/x"]}),
        _map("two", meta={"labels": {"c": "3"}, "finalizers": ["example.org/y"]}),
        _map(meta={"labels": {"d": "4"}}),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": None}}),
    ),
    case(
        "a patch takes over what it changes",
        _map(a="1", b="2"),
        patch(f"{MAPS}/a?fieldManager=patcher", {"data": {"a": "3"}}),
        patch(f"{MAPS}/a?fieldManager=patcher", [{"op": "remove", "path": "/data/b"}], JSON_PATCH),
        get(f"{MAPS}/a"),
    ),
    case(
        "an update that removes what was applied",
        _map(a="1", b="2"),
        put(f"{MAPS}/a?fieldManager=updater", config_map("a", data={"a": "1"})),
        put(f"{MAPS}/a?fieldManager=updater", config_map("a")),
    ),
    case(
        "a list that is a map",
        _widget(ports=[_port("x", number=1), _port("y", number=2)]),
        _widget("two", ports=[_port("z", number=3)]),
        _widget(ports=[_port("x", number=1)]),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "a key of which a part has a default",
        _widget(ports=[_port("x", number=1), _port("x", protocol="UDP", number=2)]),
        _widget("two", ports=[_port("x", protocol="TCP", note="n")]),
        _widget(ports=[_port("x", protocol="UDP", number=2)]),
    ),
    case(
        "a conflict inside an item",
        _widget(ports=[_port("x", number=1)]),
        _widget("two", ports=[_port("x", number=2)]),
        _widget("two", "force=true", ports=[_port("x", number=2)]),
    ),
    case(
        "a list that is a set",
        _widget(tags=["a", "b"]),
        _widget("two", tags=["b", "c"]),
        _widget(tags=["a"]),
        _widget("two", tags=["d"]),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "a list as a whole",
        _widget(fixed=["a"], steps=[{"do": "x"}]),
        _widget("two", fixed=["b"]),
        _widget("two", "force=true", fixed=["b"]),
        _widget("two", steps=[{"do": "y"}]),
    ),
    case(
        "a map as a whole",
        _widget(whole={"one": "1"}),
        _widget("two", whole={"two": "2"}),
        _widget("two", "force=true", whole={"two": "2"}),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "maps and free fields",
        _widget(labels={"a": "1"}, free={"x": {"y": 1, "l": [1, 2]}}),
        _widget("two", labels={"b": "2"}, free={"x": {"z": 2}}),
        _widget("two", free={"x": {"l": [3]}}),
        _widget(),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "null and empty values",
        _widget(maybe=None),
        _widget(labels={}),
        _widget(ports=[]),
        _widget(nested=None),
        _widget(labels=None),
    ),
    case(
        "without a schema",
        apply(f"{GADGETS}/a", gadget("a", spec={"l": [{"a": 1}], "m": {"x": 1}})),
        apply(f"{GADGETS}/a", gadget("a", spec={"l": [{"a": 2}]}), "two"),
        apply(f"{GADGETS}/a", gadget("a", spec={"m": {"y": 1}}), "two"),
        apply(f"{GADGETS}/a", gadget("a", spec={"m": {"x": 1}})),
    ),
    case(
        "containers and ports of a Deployment",
        _deployment(template=template(containers=[container("x", ports=[_PORT_80]), container("y")])),
        _deployment("two", template=template(containers=[container("z")])),
        _deployment(template=template(containers=[container("x", ports=[_PORT_80])])),
        get(f"{DEPLOYMENTS}/a"),
    ),
    case(
        "a conflict in a Deployment",
        _deployment(replicas=2, template=template(containers=[container("x", env=[{"name": "A", "value": "1"}])])),
        _deployment(
            "two",
            replicas=3,
            template=template(containers=[container("x", image="other", env=[{"name": "A", "value": "2"}])]),
        ),
    ),
    case(
        "ports of a Service",
        apply(f"{SERVICES}/a", service("a", ports=[{"port": 80, "name": "x"}])),
        apply(f"{SERVICES}/a", service("a", ports=[{"port": 81, "name": "y"}]), "two"),
        apply(f"{SERVICES}/a", service("a", ports=[{"port": 80, "protocol": "UDP", "name": "z"}])),
        get(f"{SERVICES}/a"),
    ),
    case(
        "the status has its own owners",
        _widget(colour="red"),
        apply(
            f"{WIDGETS}/a/status",
            widget(
                "a", spec={"colour": "blue"}, status={"phase": "x", "conditions": [{"type": "A", "status": "True"}]}
            ),
            "two",
        ),
        apply(f"{WIDGETS}/a/status", widget("a", status={"conditions": [{"type": "B", "status": "True"}]}), "three"),
        apply(f"{WIDGETS}/a/status", widget("a", status={"phase": "y"}), "three"),
        _widget(colour="green"),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "a status that is applied with the rest",
        apply(f"{WIDGETS}/a", widget("a", spec={"colour": "red"}, status={"phase": "x"})),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "the status of an object that is not there",
        apply(f"{WIDGETS}/none/status", widget("none", status={"phase": "x"})),
    ),
    case(
        "dry run",
        _map(options="dryRun=All", a="1"),
        get(f"{MAPS}/a"),
        _map(a="1"),
        _map("two", "dryRun=All&force=true", a="2"),
        _map("two", "dryRun=All", a="2"),
        get(f"{MAPS}/a"),
    ),
    case(
        "managed fields can be given up",
        _map(a="1"),
        patch(f"{MAPS}/a", {"metadata": {"managedFields": [{}]}}),
        get(f"{MAPS}/a"),
        _map("two", a="2"),
        patch(f"{MAPS}/a", [{"op": "replace", "path": "/metadata/managedFields", "value": []}], JSON_PATCH),
    ),
    case(
        "an object from before apply",
        *quietly(
            post(f"{MAPS}?fieldManager=old", config_map("a", data={"a": "1"})),
            patch(f"{MAPS}/a", {"metadata": {"managedFields": [{}]}}),
        ),
        patch(f"{MAPS}/a?fieldManager=new", {"data": {"b": "2"}}),
        _map(c="3"),
        _map(a="2"),
    ),
    case(
        "an object that is being deleted",
        *quietly(post(MAPS, config_map("a", {"finalizers": ["example.org/x"]})), delete(f"{MAPS}/a")),
        _map(a="1"),
        _map(meta={"finalizers": ["example.org/x", "example.org/new"]}),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": None}}),
        get(f"{MAPS}/a"),
    ),
    case(
        "a namespace",
        apply(f"{NAMESPACES}/$ns", made("v1", "Namespace", "$ns", {"labels": {"team": "a"}})),
        apply(f"{NAMESPACES}/$ns", made("v1", "Namespace", "$ns", {"labels": {"other": "b"}})),
    ),
    case(
        "a field changes its owner without a change",
        _map(a="1"),
        post(MAPS, config_map("b", data={"a": "1"})),
        apply(f"{MAPS}/b", config_map("b", data={"a": "1"})),
        patch(f"{MAPS}/b", {"data": {"a": None}}),
        get(f"{MAPS}/b"),
    ),
    case("times change only with the fields", _map(a="1"), _map(a="1"), _map("two", b="1"), get(f"{MAPS}/a")),
    case(
        "by way of a strategic patch",
        _deployment(replicas=2),
        patch(
            f"{DEPLOYMENTS}/a?fieldManager=edit",
            {
                "spec": {
                    "template": {
                        "spec": {"containers": [{"name": "main", "image": "b"}, {"name": "side", "image": "c"}]}
                    }
                }
            },
            STRATEGIC_PATCH,
        ),
        _deployment(replicas=2),
        _deployment("one", "force=true", replicas=2),
    ),
    case(
        "scaling takes the replicas",
        _deployment(replicas=2),
        patch(
            f"{DEPLOYMENTS}/a/scale?fieldManager=scaler",
            {"spec": {"replicas": 5}},
            ignore=("body.metadata.resourceVersion",),
        ),
        get(f"{DEPLOYMENTS}/a"),
        _deployment(replicas=2),
        _deployment(),
    ),
    case(
        "scaling a custom object takes the replicas",
        _widget(replicas=2),
        patch(f"{WIDGETS}/a/scale?fieldManager=scaler", {"spec": {"replicas": 5}}),
        get(f"{WIDGETS}/a"),
        _widget(replicas=2),
        _widget(),
    ),
    case(
        "lists and maps of values in a schema",
        *own(
            structure(
                spec=structure(
                    g={"type": "object", "x-kubernetes-map-type": "granular", "additionalProperties": TEXT},
                    a={"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": TEXT},
                    n={"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
                    d={
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["k"],
                        "items": structure(("k",), k={"type": "integer"}, v=structure(x=TEXT, y=TEXT)),
                    },
                )
            )
        ),
        apply(
            f"{OWN}/a",
            thing("a", spec={"g": {"x": "1"}, "a": {"x": "1"}, "n": [2, 1], "d": [{"k": 1, "v": {"x": "1"}}]}),
        ),
        apply(
            f"{OWN}/a", thing("a", spec={"g": {"y": "1"}, "n": [3], "d": [{"k": 1, "v": {"y": "1"}}, {"k": 2}]}), "two"
        ),
        apply(f"{OWN}/a", thing("a", spec={"a": {"y": "2"}, "d": [{"k": 1, "v": {"x": "2"}}]}), "two"),
        apply(f"{OWN}/a", thing("a", spec={"d": [{"k": 2}]})),
        get(f"{OWN}/a"),
    ),
    case(
        "a quota and what the server adds",
        apply(
            f"{CORE}/resourcequotas/a", made("v1", "ResourceQuota", "a", spec={"hard": {"cpu": "1", "memory": 1024}})
        ),
        apply(f"{CORE}/resourcequotas/a", made("v1", "ResourceQuota", "a", spec={"hard": {"cpu": "1000m"}}), "two"),
        apply(f"{CORE}/resourcequotas/a", made("v1", "ResourceQuota", "a", spec={"hard": {"cpu": "2"}}), "two"),
    ),
    case(
        "empty labels",
        post(f"{WIDGETS}?fieldManager=one", widget("a", spec={})),
        apply(f"{WIDGETS}/a", widget("a", {"labels": {}}, spec={}), save="seen"),
        put(
            f"{WIDGETS}/a?fieldManager=one",
            widget("a", {"resourceVersion": "${seen.metadata.resourceVersion}"}, spec={}),
            differs={"body.metadata.resourceVersion": EMPTY_LABELS},
        ),
    ),
)
