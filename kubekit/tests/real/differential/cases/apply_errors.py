"""Configurations that cannot be applied."""

from __future__ import annotations

from tests.real.differential.applied import PORT_80, applied_deployment, applied_map, applied_widget, port
from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import (
    APPLY,
    apply,
    blamed,
    case,
    patch,
    post,
    quietly,
)
from tests.real.differential.vocabulary import (
    MAPS,
    config_map,
    container,
    template,
)

CASES = (
    case(
        "an item twice",
        *blamed(applied_widget(ports=[port("x", number=1), port("x", number=2)]), applied_widget(tags=["a", "a"])),
    ),
    case(
        "ports twice in a container",
        *blamed(
            applied_deployment(template=template(containers=[container("x", ports=[PORT_80, PORT_80])])),
            applied_deployment(template=template(containers=[container("x"), container("x")])),
            applied_deployment(
                template=template(
                    containers=[container("x", env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])]
                )
            ),
        ),
    ),
    case(
        "values that no field of their type can hold",
        *blamed(
            apply(f"{MAPS}/a", config_map("a", binaryData={"k": "%"})),
            apply(f"{MAPS}/a", config_map("a", {"namespace": "$ns"}, binaryData={"k": "%"})),
            applied_deployment(replicas=1.5),
            applied_deployment(strategy={"rollingUpdate": {"maxSurge": 1.5}}),
            applied_deployment(
                template=template(containers=[container("x", resources={"limits": {"cpu": "much"}})]),
            ),
        ),
    ),
    case(
        "a version that is too old",
        *quietly(post(MAPS, config_map("a"), save="a"), patch(f"{MAPS}/a", {"data": {"x": "y"}})),
        apply(f"{MAPS}/a", config_map("a", {"resourceVersion": "${a.metadata.resourceVersion}"}, data={"k": "v"})),
        apply(f"{MAPS}/a", config_map("a", {"resourceVersion": "0"}, data={"k": "v"})),
        apply(f"{MAPS}/new", config_map("new", {"resourceVersion": "1"})),
    ),
    case(
        "a uid that does not fit",
        *quietly(post(MAPS, config_map("a"))),
        apply(f"{MAPS}/a", config_map("a", {"uid": "00000000-0000-0000-0000-000000000001"})),
        apply(f"{MAPS}/new", config_map("new", {"uid": "00000000-0000-0000-0000-000000000001"})),
    ),
    case(
        "managed fields may not be applied",
        apply(
            f"{MAPS}/a",
            config_map(
                "a",
                {
                    "managedFields": [
                        {
                            "manager": "x",
                            "operation": "Apply",
                            "apiVersion": "v1",
                            "fieldsType": "FieldsV1",
                            "fieldsV1": {},
                        }
                    ]
                },
            ),
        ),
        apply(f"{MAPS}/a", config_map("a", {"managedFields": []})),
        apply(f"{WIDGETS}/a", widget("a", {"managedFields": [{"manager": "x"}]})),
    ),
    case(
        "bodies that say too little",
        apply(f"{MAPS}/a", {}),
        apply(f"{MAPS}/a", {"apiVersion": "v1"}),
        apply(f"{MAPS}/a", {"apiVersion": "v1", "kind": "Secret"}),
        apply(f"{MAPS}/a", {"apiVersion": "v2", "kind": "ConfigMap", "metadata": {"name": "a"}}),
        apply(f"{MAPS}/a", config_map("b")),
        apply(f"{MAPS}/a", config_map("a", {"namespace": "other"})),
        apply(f"{MAPS}/a", {"apiVersion": "v1", "kind": "ConfigMap"}),
    ),
    case(
        "bodies of a custom kind that say too little",
        apply(f"{WIDGETS}/a", {}),
        apply(f"{WIDGETS}/a", {"apiVersion": "v1", "kind": "Widget"}),
        apply(f"{WIDGETS}/a", {**widget("a"), "kind": "Gadget"}),
        apply(f"{WIDGETS}/a", widget("b")),
        apply(f"{WIDGETS}/a", widget("a", {"namespace": "other"})),
        apply(f"{WIDGETS}/a", {**widget("a"), "metadata": {}}),
    ),
    case(
        "bodies that cannot be read",
        patch(f"{MAPS}/a?fieldManager=m", "a: b: c", APPLY),
        patch(f"{MAPS}/a?fieldManager=m", "", APPLY),
        patch(f"{MAPS}/a?fieldManager=m", "[]", APPLY),
        patch(f"{MAPS}/a?fieldManager=m", "text", APPLY),
        patch(f"{WIDGETS}/a?fieldManager=m", "a: b: c", APPLY),
    ),
    case(
        "values of another type",
        *blamed(
            apply(f"{MAPS}/a", config_map("a", data={"k": 1})),
            apply(f"{MAPS}/a", config_map("a", data="x")),
            applied_deployment(replicas="x"),
            applied_deployment(template=template(containers={})),
            applied_widget(size="x"),
            applied_widget(ports="x"),
        ),
        applied_widget(ports=[{"number": 1}]),
    ),
    case(
        "the result is invalid",
        applied_widget(colour="pink"),
        applied_widget(colour="red"),
        applied_widget(size=500),
        apply(f"{MAPS}/B_d", config_map("B_d")),
        applied_deployment(replicas=-1),
    ),
    case(
        "a manager with a long or an empty name",
        apply(f"{MAPS}/a", config_map("a"), "x" * 129),
        apply(f"{MAPS}/a", config_map("a"), ""),
        apply(f"{MAPS}/a", config_map("a"), "odd%20name%2F1"),
    ),
    case(
        "force must be a truth",
        applied_map(options="force=maybe", a="1"),
        applied_map(options="force=", a="1"),
        applied_map(options="force=1", a="1"),
    ),
)
