"""Server-side apply: who owns which field, and what happens when two want the same."""

from __future__ import annotations

from tests.real.differential.applied import PORT_80, applied_deployment, applied_map, applied_widget, port
from tests.real.differential.differences import NO_CHANGE
from tests.real.differential.kinds import GADGETS, OWN, TEXT, WIDGETS, gadget, own, structure, thing, widget
from tests.real.differential.steps import (
    JSON_PATCH,
    STRATEGIC_PATCH,
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
    made,
    service,
    template,
)

CASES = (
    case("create and change", applied_map(k="v"), applied_map(k="w"), applied_map(k="w"), applied_map(l="x")),
    case("removal of a field that nobody else owns", applied_map(a="1", b="2"), applied_map(a="1"), applied_map()),
    case(
        "removal of a field that another owns too",
        applied_map(a="1", b="2"),
        applied_map("two", b="2"),
        applied_map(a="1"),
        get(f"{MAPS}/a"),
        apply(f"{MAPS}/a", config_map("a"), "two"),
    ),
    case(
        "a conflict with another manager",
        applied_map(a="1"),
        applied_map("two", a="2"),
        applied_map("two", "force=true", a="2"),
        applied_map(a="3"),
        applied_map(b="4"),
    ),
    case(
        "conflicts with several managers",
        applied_map(a="1", b="1"),
        applied_map("two", c="1"),
        applied_map("three", a="2", b="2", c="2"),
    ),
    case(
        "a conflict with an update",
        post(f"{MAPS}?fieldManager=updater", config_map("a", data={"a": "1"})),
        applied_map(a="2"),
        applied_map(a="1"),
        applied_map("two", "force=true", a="3"),
    ),
    case(
        "conflicts with an update of a part",
        *quietly(post(f"{WIDGETS}?fieldManager=maker", widget("a", spec={"colour": "red"}))),
        patch(f"{WIDGETS}/a/status?fieldManager=controller", {"status": {"phase": "x"}}),
        applied_widget(colour="blue"),
        apply(f"{WIDGETS}/a/status", widget("a", status={"phase": "y"}), "three"),
    ),
    case(
        "the same value is shared",
        applied_map(a="1"),
        applied_map("two", a="1"),
        applied_map("two", b="1"),
        get(f"{MAPS}/a"),
    ),
    case(
        "labels, annotations, finalizers and owners",
        applied_map(meta={"labels": {"a": "1"}, "annotations": {"b": "2"}, "finalizers": ["example.org/x"]}),
        applied_map("two", meta={"labels": {"c": "3"}, "finalizers": ["example.org/y"]}),
        applied_map(meta={"labels": {"d": "4"}}),
        patch(f"{MAPS}/a", {"metadata": {"finalizers": None}}),
    ),
    case(
        "a patch takes over what it changes",
        applied_map(a="1", b="2"),
        patch(f"{MAPS}/a?fieldManager=patcher", {"data": {"a": "3"}}),
        patch(f"{MAPS}/a?fieldManager=patcher", [{"op": "remove", "path": "/data/b"}], JSON_PATCH),
        get(f"{MAPS}/a"),
    ),
    case(
        "an update that removes what was applied",
        applied_map(a="1", b="2"),
        put(f"{MAPS}/a?fieldManager=updater", config_map("a", data={"a": "1"})),
        put(f"{MAPS}/a?fieldManager=updater", config_map("a")),
    ),
    case(
        "a list that is a map",
        applied_widget(ports=[port("x", number=1), port("y", number=2)]),
        applied_widget("two", ports=[port("z", number=3)]),
        applied_widget(ports=[port("x", number=1)]),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "a key of which a part has a default",
        applied_widget(ports=[port("x", number=1), port("x", protocol="UDP", number=2)]),
        applied_widget("two", ports=[port("x", protocol="TCP", note="n")]),
        applied_widget(ports=[port("x", protocol="UDP", number=2)]),
    ),
    case(
        "a conflict inside an item",
        applied_widget(ports=[port("x", number=1)]),
        applied_widget("two", ports=[port("x", number=2)]),
        applied_widget("two", "force=true", ports=[port("x", number=2)]),
    ),
    case(
        "a list that is a set",
        applied_widget(tags=["a", "b"]),
        applied_widget("two", tags=["b", "c"]),
        applied_widget(tags=["a"]),
        applied_widget("two", tags=["d"]),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "a list as a whole",
        applied_widget(fixed=["a"], steps=[{"do": "x"}]),
        applied_widget("two", fixed=["b"]),
        applied_widget("two", "force=true", fixed=["b"]),
        applied_widget("two", steps=[{"do": "y"}]),
    ),
    case(
        "a map as a whole",
        applied_widget(whole={"one": "1"}),
        applied_widget("two", whole={"two": "2"}),
        applied_widget("two", "force=true", whole={"two": "2"}),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "maps and free fields",
        applied_widget(labels={"a": "1"}, free={"x": {"y": 1, "l": [1, 2]}}),
        applied_widget("two", labels={"b": "2"}, free={"x": {"z": 2}}),
        applied_widget("two", free={"x": {"l": [3]}}),
        applied_widget(),
        get(f"{WIDGETS}/a"),
    ),
    case(
        "null and empty values",
        applied_widget(maybe=None),
        applied_widget(labels={}),
        applied_widget(ports=[]),
        applied_widget(nested=None),
        applied_widget(labels=None),
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
        applied_deployment(template=template(containers=[container("x", ports=[PORT_80]), container("y")])),
        applied_deployment("two", template=template(containers=[container("z")])),
        applied_deployment(template=template(containers=[container("x", ports=[PORT_80])])),
        get(f"{DEPLOYMENTS}/a"),
    ),
    case(
        "a conflict in a Deployment",
        applied_deployment(
            replicas=2, template=template(containers=[container("x", env=[{"name": "A", "value": "1"}])])
        ),
        applied_deployment(
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
        applied_widget(colour="red"),
        apply(
            f"{WIDGETS}/a/status",
            widget(
                "a", spec={"colour": "blue"}, status={"phase": "x", "conditions": [{"type": "A", "status": "True"}]}
            ),
            "two",
        ),
        apply(f"{WIDGETS}/a/status", widget("a", status={"conditions": [{"type": "B", "status": "True"}]}), "three"),
        apply(f"{WIDGETS}/a/status", widget("a", status={"phase": "y"}), "three"),
        applied_widget(colour="green"),
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
        applied_map(options="dryRun=All", a="1"),
        get(f"{MAPS}/a"),
        applied_map(a="1"),
        applied_map("two", "dryRun=All&force=true", a="2"),
        applied_map("two", "dryRun=All", a="2"),
        get(f"{MAPS}/a"),
    ),
    case(
        "managed fields can be given up",
        applied_map(a="1"),
        patch(f"{MAPS}/a", {"metadata": {"managedFields": [{}]}}),
        get(f"{MAPS}/a"),
        applied_map("two", a="2"),
        patch(f"{MAPS}/a", [{"op": "replace", "path": "/metadata/managedFields", "value": []}], JSON_PATCH),
    ),
    case(
        "an object from before apply",
        *quietly(
            post(f"{MAPS}?fieldManager=old", config_map("a", data={"a": "1"})),
            patch(f"{MAPS}/a", {"metadata": {"managedFields": [{}]}}),
        ),
        patch(f"{MAPS}/a?fieldManager=new", {"data": {"b": "2"}}),
        applied_map(c="3"),
        applied_map(a="2"),
    ),
    case(
        "an object that is being deleted",
        *quietly(post(MAPS, config_map("a", {"finalizers": ["example.org/x"]})), delete(f"{MAPS}/a")),
        applied_map(a="1"),
        applied_map(meta={"finalizers": ["example.org/x", "example.org/new"]}),
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
        applied_map(a="1"),
        post(MAPS, config_map("b", data={"a": "1"})),
        apply(f"{MAPS}/b", config_map("b", data={"a": "1"})),
        patch(f"{MAPS}/b", {"data": {"a": None}}),
        get(f"{MAPS}/b"),
    ),
    case(
        "times change only with the fields",
        applied_map(a="1"),
        applied_map(a="1"),
        applied_map("two", b="1"),
        get(f"{MAPS}/a"),
    ),
    case(
        "by way of a strategic patch",
        applied_deployment(replicas=2),
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
        applied_deployment(replicas=2),
        applied_deployment("one", "force=true", replicas=2),
    ),
    case(
        "scaling takes the replicas",
        applied_deployment(replicas=2),
        patch(
            f"{DEPLOYMENTS}/a/scale?fieldManager=scaler",
            {"spec": {"replicas": 5}},
            ignore=("body.metadata.resourceVersion",),
        ),
        get(f"{DEPLOYMENTS}/a"),
        applied_deployment(replicas=2),
        applied_deployment(),
    ),
    case(
        "scaling a custom object takes the replicas",
        applied_widget(replicas=2),
        patch(f"{WIDGETS}/a/scale?fieldManager=scaler", {"spec": {"replicas": 5}}),
        get(f"{WIDGETS}/a"),
        applied_widget(replicas=2),
        applied_widget(),
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
            differs={"body.metadata.resourceVersion": NO_CHANGE},
        ),
    ),
)
