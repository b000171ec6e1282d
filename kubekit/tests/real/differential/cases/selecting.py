"""Lists: selectors, pages, versions, and the forms in which they come."""

from __future__ import annotations

from tests.real.differential.differences import JSON_ONLY, TEXTS
from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import PROTOBUF, YAML, Step, blamed, case, delete, get, patch, post, quietly, status
from tests.real.differential.vocabulary import (
    ACCOUNTS,
    CORE,
    DEPLOYMENTS,
    LEASES,
    MAPS,
    NAMESPACES,
    NODES,
    PARTIAL,
    PARTIAL_LIST,
    PODS,
    RBAC,
    SECRETS,
    SERVICES,
    TABLE,
    config_map,
    deployment,
    lease,
    made,
    pod,
    secret,
    service,
)

_LABELLED = quietly(
    post(LEASES, lease("a", {"labels": {"app": "x", "tier": "front"}})),
    post(LEASES, lease("b", {"labels": {"app": "y", "tier": "back"}})),
    post(LEASES, lease("c", {"labels": {"app": "x"}})),
    post(LEASES, lease("d")),
)
_FIVE = quietly(*[post(LEASES, lease(name)) for name in "abcde"])
_READY = get(f"{ACCOUNTS}/default", until=status(200), is_shown=False)
_COLOURED = quietly(
    *[
        post(WIDGETS, widget(name, spec={"colour": colour}))
        for name, colour in (("a", "red"), ("b", "blue"), ("c", "red"))
    ]
)
_NO_METADATA = ("body.rows.*.object.metadata.managedFields",)


def _labels(*selectors: str) -> list[Step]:
    return [get(f"{LEASES}?labelSelector={one}", accept=PARTIAL_LIST) for one in selectors]


def _fields(path: str, *selectors: str) -> list[Step]:
    return [get(f"{path}?fieldSelector={one}", accept=PARTIAL_LIST) for one in selectors]


CASES = (
    case(
        "equality of labels",
        *_LABELLED,
        *_labels("app%3Dx", "app%3D%3Dx", "app!%3Dx", "app%3Dx,tier%3Dfront", "app", "!app", "app%3D"),
    ),
    case(
        "sets of labels",
        *_LABELLED,
        *_labels(
            "app+in+(x,y)", "app+notin+(x)", "app+in+(x),tier", "tier+notin+(front,back)", "app+in+()", "app+in+(x,)"
        ),
    ),
    case(
        "label selectors that make no sense",
        *_labels(
            "app+in+x",
            "app+in+(x",
            "%3Dx",
            "app%3Dx%3Dy",
            "app+within+(x)",
            "a+b",
            "-a%3Db",
            "app%3Da+b",
            "!",
            ",",
            "app%3E1",
            "app%3Ex",
            "app+in+(x+y)",
            "(a)",
            f"{'a' * 64}%3Db",
        ),
    ),
    case(
        "label selectors of custom objects",
        *_COLOURED,
        get(f"{WIDGETS}?labelSelector=app%3Dx"),
        get(f"{WIDGETS}?labelSelector=a+b"),
    ),
    case(
        "comparison of labels",
        *quietly(
            post(LEASES, lease("a", {"labels": {"n": "5"}})),
            post(LEASES, lease("b", {"labels": {"n": "15"}})),
            post(LEASES, lease("c", {"labels": {"n": "x"}})),
        ),
        *_labels("n%3E10", "n%3C10", "n%3E3,n%3C20"),
    ),
    case(
        "names and namespaces",
        *_FIVE,
        *_fields(
            LEASES,
            "metadata.name%3Da",
            "metadata.name!%3Da",
            "metadata.namespace%3D$ns",
            "metadata.name%3Da,metadata.name%3Db",
            "metadata.name%3D%3Dc",
            "metadata.name%3Dnone",
            "",
        ),
    ),
    case(
        "field selectors that make no sense",
        *_fields(
            LEASES,
            "spec.holderIdentity%3Dx",
            "metadata.labels%3Dx",
            "nonsense",
            "%3Dx",
            "metadata.name",
            "metadata.name%3Ea",
            "metadata.uid%3Dx",
        ),
        *_fields(MAPS, "data.k%3Dv"),
        *_fields(WIDGETS, "spec.size%3D3", "nonsense"),
    ),
    case(
        "selectable fields of built-in kinds",
        *_fields(SECRETS, "type%3DOpaque", "type!%3DOpaque"),
        *_fields(SERVICES, "spec.type%3DClusterIP", "spec.clusterIP%3DNone"),
        *_fields(NAMESPACES, "status.phase%3DNothing", "metadata.name%3D$ns"),
        *_fields(f"{CORE}/events", "involvedObject.name%3Dx", "reason%3Dy", "type%3DWarning", "source%3Dz"),
        *_fields(NODES, "spec.unschedulable%3Dtrue"),
        *_fields(f"{CORE}/replicationcontrollers", "status.replicas%3D0"),
    ),
    case(
        "selectable fields of pods",
        _READY,
        *quietly(post(PODS, pod("a", nodeName="n")), post(PODS, pod("b", restartPolicy="Never"))),
        *_fields(
            PODS,
            "spec.nodeName%3Dn",
            "spec.nodeName%3D",
            "status.phase%3DPending",
            "spec.restartPolicy%3DNever",
            "spec.serviceAccountName%3Ddefault",
            "spec.schedulerName!%3Dx",
            "status.podIP%3D1.2.3.4",
            "spec.hostNetwork%3Dfalse",
            "status.nominatedNodeName%3D",
            "spec.nothing%3Dx",
        ),
    ),
    case(
        "selectable fields of custom objects",
        *_COLOURED,
        *_fields(
            WIDGETS,
            "spec.colour%3Dred",
            "spec.colour!%3Dred",
            "spec.colour%3Dred,metadata.name%3Da",
            "metadata.name%3Db",
        ),
    ),
    case(
        "pages",
        *_FIVE,
        get(f"{LEASES}?limit=2", save="one", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=2&continue=${{one.metadata.continue}}", save="two", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=2&continue=${{two.metadata.continue}}", accept=PARTIAL_LIST),
    ),
    case(
        "pages as of their beginning",
        *_FIVE,
        get(f"{LEASES}?limit=2", save="one", is_shown=False),
        *quietly(delete(f"{LEASES}/d"), post(LEASES, lease("cc"))),
        get(f"{LEASES}?limit=5&continue=${{one.metadata.continue}}", accept=PARTIAL_LIST),
    ),
    case(
        "pages with a selector",
        *_LABELLED,
        get(f"{LEASES}?limit=1&labelSelector=app%3Dx", save="one", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=1&labelSelector=app%3Dx&continue=${{one.metadata.continue}}", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=1&fieldSelector=metadata.name%3Dd", accept=PARTIAL_LIST),
    ),
    case(
        "pages of all sizes",
        *_FIVE,
        get(f"{LEASES}?limit=0", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=5", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=6", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=-1", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=2&resourceVersion=0", accept=PARTIAL_LIST),
    ),
    case(
        "pages of custom objects",
        *_COLOURED,
        get(f"{WIDGETS}?limit=2", save="one", accept=PARTIAL_LIST),
        get(f"{WIDGETS}?limit=2&continue=${{one.metadata.continue}}", accept=PARTIAL_LIST),
    ),
    case(
        "continue tokens that make no sense",
        get(f"{LEASES}?continue=nonsense"),
        get(f"{LEASES}?continue=e30"),
        get(f"{LEASES}?continue=%25"),
        get(f"{LEASES}?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi94In0"),
        get(f"{LEASES}?continue=eyJ2IjoidjkiLCJydiI6MSwic3RhcnQiOiJhIn0"),
        get(f"{WIDGETS}?continue=nonsense"),
    ),
    case(
        "a continue token with a version",
        *_FIVE,
        get(f"{LEASES}?limit=2", save="one", is_shown=False),
        get(f"{LEASES}?limit=2&continue=${{one.metadata.continue}}&resourceVersion=5"),
        get(f"{LEASES}?limit=2&continue=${{one.metadata.continue}}&resourceVersion=0", accept=PARTIAL_LIST),
        get(f"{LEASES}?limit=2&continue=${{one.metadata.continue}}&resourceVersionMatch=Exact&resourceVersion=1"),
    ),
    case(
        "versions of a list",
        *_FIVE,
        get(LEASES, save="all", is_shown=False),
        *quietly(delete(f"{LEASES}/a")),
        get(
            f"{LEASES}?resourceVersion=${{all.metadata.resourceVersion}}&resourceVersionMatch=Exact",
            accept=PARTIAL_LIST,
        ),
        get(
            f"{LEASES}?resourceVersion=${{all.metadata.resourceVersion}}&resourceVersionMatch=NotOlderThan",
            accept=PARTIAL_LIST,
        ),
        get(f"{LEASES}?resourceVersion=${{all.metadata.resourceVersion}}", accept=PARTIAL_LIST),
        get(f"{LEASES}?resourceVersion=${{all.metadata.resourceVersion}}&limit=2", accept=PARTIAL_LIST),
    ),
    case(
        "versions of a list that make no sense",
        get(f"{LEASES}?resourceVersion=x"),
        get(f"{LEASES}?resourceVersion=0&resourceVersionMatch=Exact"),
        get(f"{LEASES}?resourceVersionMatch=Exact"),
        get(f"{LEASES}?resourceVersion=1&resourceVersionMatch=Some"),
        get(f"{LEASES}?resourceVersion=-1"),
        get(f"{LEASES}?sendInitialEvents=true"),
        get(f"{WIDGETS}?resourceVersion=x"),
    ),
    case(
        "versions of the future",
        get(f"{LEASES}?resourceVersion=999999999&resourceVersionMatch=Exact", ignore=("body.message",)),
        *blamed(get(f"{MAPS}/a?resourceVersion=x"), get(f"{WIDGETS}/a?resourceVersion=x")),
    ),
    case(
        "one object as a table",
        *quietly(post(MAPS, config_map("a", data={"k": "v"}))),
        get(f"{MAPS}/a", accept=TABLE, differs=TEXTS),
        get(f"{MAPS}/a?includeObject=Object", accept=TABLE, differs=TEXTS),
        get(f"{MAPS}/a?includeObject=None", accept=TABLE, differs=TEXTS),
        get(f"{MAPS}/a?includeObject=Some", accept=TABLE),
    ),
    case(
        "tables of many kinds",
        *quietly(
            post(SERVICES, service("a")),
            post(SECRETS, secret("a", stringData={"k": "v"})),
            post(DEPLOYMENTS, deployment("a")),
            post(LEASES, lease("a", holderIdentity="me")),
        ),
        *[get(f"{path}/a", accept=TABLE, differs=TEXTS) for path in (SERVICES, SECRETS, DEPLOYMENTS, LEASES)],
        get(f"{NAMESPACES}/$ns", accept=TABLE, differs=TEXTS),
        get(
            f"{RBAC}/clusterroles/view",
            accept=TABLE,
            differs=TEXTS,
            ignore=("body.rows.0.cells.1", "body.rows.0.object.metadata.managedFields"),
        ),
        get(
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.differential.example.org",
            accept=TABLE,
            differs=TEXTS,
        ),
    ),
    case(
        "a table of pods",
        _READY,
        *quietly(post(PODS, pod("a", nodeName="n"))),
        get(PODS, accept=TABLE, differs=TEXTS),
        get(f"{PODS}/a", accept=TABLE, differs=TEXTS),
    ),
    case(
        "a table of custom objects",
        *_COLOURED,
        *quietly(patch(f"{WIDGETS}/a/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})),
        get(WIDGETS, accept=TABLE, differs=TEXTS),
        get(f"{WIDGETS}/b", accept=TABLE, differs=TEXTS),
        get(f"{WIDGETS}?limit=1", accept=TABLE, differs=TEXTS),
    ),
    case(
        "tables of other versions and of an error",
        get(MAPS, accept="application/json;as=Table;v=v1beta1;g=meta.k8s.io", differs=TEXTS, ignore=("body.rows",)),
        get(f"{MAPS}/none", accept=TABLE),
        get(f"{MAPS}?limit=x", accept=TABLE),
        get(LEASES, accept=f"{TABLE},application/json", differs=TEXTS),
    ),
    case(
        "only the metadata",
        *quietly(post(MAPS, config_map("a", data={"k": "v"})), post(WIDGETS, widget("a", spec={"colour": "red"}))),
        get(f"{MAPS}/a", accept=PARTIAL),
        get(f"{WIDGETS}/a", accept=PARTIAL),
        get(WIDGETS, accept=PARTIAL_LIST),
        get(MAPS, accept=PARTIAL),
        get(f"{MAPS}/a", accept=PARTIAL_LIST),
        post(MAPS, config_map("b"), accept=PARTIAL),
        patch(f"{MAPS}/b", {"data": {"x": "y"}}, accept=PARTIAL),
        delete(f"{MAPS}/b", accept=PARTIAL),
    ),
    case(
        "in YAML",
        *quietly(
            post(MAPS, config_map("a", {"labels": {"yes": "no"}}, data={"k": "v\nw\n", "n": "1", "t": "true", "e": ""}))
        ),
        get(f"{MAPS}/a", accept=YAML),
        get(f"{MAPS}/none", accept=YAML),
        get(f"{LEASES}", accept=YAML),
        post(MAPS, config_map("b"), accept=YAML),
    ),
    case("indented", *quietly(post(MAPS, config_map("a"))), get(f"{MAPS}/a?pretty=true"), get(f"{MAPS}/none?pretty=1")),
    case(
        "protobuf where it is understood",
        get(
            f"{WIDGETS}/none",
            accept=f"{PROTOBUF},application/json",
            differs={"body": JSON_ONLY, "headers.Content-Type": JSON_ONLY},
        ),
        post(
            MAPS,
            b'k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\x13\n\x05\n\x01a\x12\x00\x12\n\n\x03key\x12\x03val\x1a\x00"\x00',
            content_type=PROTOBUF,
            accept="application/json",
        ),
        post(MAPS, b"nonsense", content_type=PROTOBUF, accept="application/json"),
        post(MAPS, b"k8s\x00\xff", content_type=PROTOBUF, accept="application/json", ignore=("body.message",)),
    ),
    case(
        "lists over all namespaces",
        *_FIVE,
        get("/apis/coordination.k8s.io/v1/leases?fieldSelector=metadata.namespace%3D$ns", accept=PARTIAL_LIST),
        get("/apis/differential.example.org/v1/widgets?fieldSelector=metadata.namespace%3D$ns"),
    ),
    case(
        "lists in a namespace that is not there",
        get(f"{NAMESPACES}/nowhere/configmaps"),
        get("/apis/differential.example.org/v1/namespaces/nowhere/widgets"),
    ),
    case("an empty list", get(LEASES), get(WIDGETS), get(SECRETS), get(DEPLOYMENTS)),
    case(
        "made by the list's own kind",
        post(LEASES, {"apiVersion": "v1", "kind": "List", "items": []}),
        post(MAPS, {"apiVersion": "v1", "kind": "ConfigMapList", "items": []}),
        post(WIDGETS, {"apiVersion": "differential.example.org/v1", "kind": "WidgetList", "items": []}),
        post(MAPS, made("v1", "PartialObjectMetadata", "a")),
    ),
)
