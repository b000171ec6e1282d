"""Watches: what they begin with, what they tell, and how they end."""

from __future__ import annotations

from tests.real.differential.differences import DESCRIPTIONS, HISTORY
from tests.real.differential.kinds import WIDGETS, widget
from tests.real.differential.steps import case, delete, get, patch, post, quietly, watch
from tests.real.differential.vocabulary import LEASES, MAPS, NAMESPACES, PARTIAL, TABLE, config_map, lease

_TEXTS = {"body.*.object.columnDefinitions": DESCRIPTIONS}
_T = "timeoutSeconds=2"
_LONG = "timeoutSeconds=20"
_TWO = quietly(post(LEASES, lease("a", {"labels": {"l": "x"}})), post(LEASES, lease("b", {"labels": {"l": "y"}})))
_NOW = get(LEASES, save="now", is_shown=False)
_FROM = "resourceVersion=${now.metadata.resourceVersion}"

CASES = (
    case("from the newest: what there is first", *_TWO, watch(f"{LEASES}?{_T}")),
    case("from any version", *_TWO, watch(f"{LEASES}?resourceVersion=0&{_LONG}", 2)),
    case(
        "from a version on",
        *_TWO,
        _NOW,
        *quietly(
            patch(f"{LEASES}/a", {"spec": {"holderIdentity": "x"}}), delete(f"{LEASES}/b"), post(LEASES, lease("c"))
        ),
        watch(f"{LEASES}?{_FROM}&{_LONG}", 3),
    ),
    case(
        "while it happens",
        _NOW,
        watch(
            f"{LEASES}?{_FROM}&{_LONG}",
            4,
            during=quietly(
                post(LEASES, lease("a")),
                patch(f"{LEASES}/a", {"metadata": {"labels": {"x": "y"}}}),
                patch(f"{LEASES}/a", {"metadata": {"labels": {"x": "y"}}}),
                delete(f"{LEASES}/a"),
                post(LEASES, lease("b")),
            ),
        ),
    ),
    case(
        "custom objects while it happens",
        get(WIDGETS, save="now", is_shown=False),
        watch(
            f"{WIDGETS}?{_FROM}&{_LONG}",
            5,
            during=quietly(
                post(WIDGETS, widget("a", {"finalizers": ["example.org/x"]})),
                patch(f"{WIDGETS}/a/status", {"status": {"phase": "x"}}),
                delete(f"{WIDGETS}/a"),
                patch(f"{WIDGETS}/a", {"metadata": {"finalizers": None}}),
                post(WIDGETS, widget("b")),
            ),
        ),
    ),
    case(
        "labels that come and go",
        *_TWO,
        _NOW,
        watch(
            f"{LEASES}?labelSelector=l%3Dx&{_FROM}&{_LONG}",
            5,
            during=quietly(
                patch(f"{LEASES}/b", {"metadata": {"labels": {"l": "x"}}}),
                patch(f"{LEASES}/b", {"spec": {"holderIdentity": "h"}}),
                patch(f"{LEASES}/a", {"metadata": {"labels": {"l": "z"}}}),
                patch(f"{LEASES}/a", {"spec": {"holderIdentity": "unseen"}}),
                patch(f"{LEASES}/b", {"metadata": {"labels": None}}),
                patch(f"{LEASES}/b", {"metadata": {"labels": {"l": "x"}}}),
            ),
        ),
    ),
    case(
        "one object by its name",
        *_TWO,
        _NOW,
        watch(
            f"{LEASES}?fieldSelector=metadata.name%3Da&{_FROM}&{_LONG}",
            2,
            during=quietly(
                patch(f"{LEASES}/b", {"spec": {"holderIdentity": "x"}}),
                patch(f"{LEASES}/a", {"spec": {"holderIdentity": "x"}}),
                delete(f"{LEASES}/a"),
            ),
        ),
    ),
    case(
        "a selectable field of a custom kind",
        *quietly(post(WIDGETS, widget("a", spec={"colour": "red"})), get(WIDGETS, save="now")),
        watch(
            f"{WIDGETS}?fieldSelector=spec.colour%3Dred&{_FROM}&{_LONG}",
            3,
            during=quietly(
                patch(f"{WIDGETS}/a", {"spec": {"colour": "blue"}}),
                patch(f"{WIDGETS}/a", {"spec": {"colour": "red"}}),
                delete(f"{WIDGETS}/a"),
            ),
        ),
    ),
    case(
        "a deleted object is shown as it last was",
        *_TWO,
        _NOW,
        watch(f"{LEASES}?labelSelector=l%3Dx&{_FROM}&{_LONG}", 1, during=quietly(delete(f"{LEASES}/a"))),
    ),
    case(
        "initial events and their end",
        *_TWO,
        watch(f"{LEASES}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&{_LONG}", 3),
    ),
    case(
        "initial events without bookmarks",
        *_TWO,
        watch(f"{LEASES}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&{_T}"),
    ),
    case(
        "initial events with a selector",
        *_TWO,
        watch(
            f"{LEASES}?labelSelector=l%3Dx&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0&{_LONG}",
            2,
        ),
    ),
    case(
        "no initial events",
        *_TWO,
        watch(f"{LEASES}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0&{_T}"),
        watch(f"{LEASES}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&{_T}"),
    ),
    case(
        "initial events of custom objects",
        *quietly(post(WIDGETS, widget("a"))),
        watch(
            f"{WIDGETS}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&{_LONG}", 2
        ),
    ),
    case(
        "options that make no sense",
        watch(f"{LEASES}?sendInitialEvents=true&{_T}"),
        watch(f"{LEASES}?resourceVersionMatch=NotOlderThan&{_T}"),
        watch(f"{LEASES}?sendInitialEvents=true&resourceVersionMatch=Exact&{_T}"),
        watch(f"{LEASES}?timeoutSeconds=x"),
        watch(f"{LEASES}?labelSelector=a+b&{_T}"),
        watch(f"{LEASES}?fieldSelector=spec.x%3Dy&{_T}"),
        watch(f"{WIDGETS}?sendInitialEvents=true&{_T}"),
    ),
    case(
        "a version that is too old",
        watch(f"{WIDGETS}?resourceVersion=1&{_T}", differs={"body": HISTORY}),
    ),
    case(
        "a version of the future",
        watch(f"{LEASES}?resourceVersion=999999999&{_T}", ignore=("body.*.object.message", "body.message")),
    ),
    case(
        "a watch as a table",
        *_TWO,
        watch(f"{LEASES}?{_T}", accept=TABLE, differs=_TEXTS),
        _NOW,
        watch(
            f"{LEASES}?{_FROM}&{_LONG}",
            2,
            accept=TABLE,
            differs=_TEXTS,
            during=quietly(post(LEASES, lease("c")), delete(f"{LEASES}/c")),
        ),
    ),
    case("a watch of the metadata", *_TWO, watch(f"{LEASES}?{_T}", accept=PARTIAL)),
    case("a watch in YAML", watch(f"{LEASES}?{_T}", accept="application/yaml")),
    case(
        "a watch by its own path",
        *_TWO,
        get(f"/apis/coordination.k8s.io/v1/watch/namespaces/$ns/leases?{_T}", events=2),
        get(f"/apis/coordination.k8s.io/v1/watch/namespaces/$ns/leases/a?{_T}", events=0),
        get(f"/apis/differential.example.org/v1/watch/namespaces/$ns/widgets?{_T}", is_shown=False),
    ),
    case(
        "a watch of one object",
        *quietly(post(MAPS, config_map("a"))),
        watch(f"{MAPS}/a?{_T}", is_shown=False),
        watch(f"{NAMESPACES}?fieldSelector=metadata.name%3D$ns&{_T}", is_shown=False),
    ),
    case("nothing to tell", watch(f"{LEASES}?timeoutSeconds=1"), watch(f"{WIDGETS}?timeoutSeconds=1")),
)
