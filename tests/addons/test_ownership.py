"""Whose a release is, is told by a label, whatever the addon is called."""

from __future__ import annotations

import re

from butler.addons.installation import ownership
from butler.addons.model import Addon
from butler.engines.helm.charts import Chart
from butler.engines.helm.protocol import Place, Release
from butler.engines.helm.records import Record, ReleaseStatus


def label(name: str) -> str:
    release = Release(Place("web", "addons"), Chart("https://charts.example.com", "web", "1.0.0"))
    return ownership.owned(Addon(name, release), release).labels[ownership.LABEL]


def test_long_names_stay_apart_and_are_labels() -> None:
    names = ["web", "a" * 63, "a" * 64, "a" * 65, "a" * 49 + "." + "b" * 30]
    labels = [label(name) for name in names]
    assert len(set(labels)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?", one) for one in labels)
    for name, text in zip(names, labels, strict=True):
        record = Record(
            "web", "addons", 1, ReleaseStatus.DEPLOYED, "", None, "", "", "", {}, "", {ownership.LABEL: text}
        )
        assert ownership.is_ours(record, name)
        assert ownership.is_ours(record)
        assert not ownership.is_ours(record, "somebody")
