"""What clusters keep of releases may have been written by anybody."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from butler.engines.core import Secret
from butler.engines.helm.errors import RecordDamaged
from butler.engines.helm.objects import manifest, masking
from butler.engines.helm.records import decoded
from kubekit.model.resource import ObjectMeta

RELEASE: dict[str, Any] = {
    "name": "web",
    "namespace": "addons",
    "version": 3,
    "info": {"status": "deployed", "last_deployed": "2026-11-16T12:50:13.123456789+02:00", "description": "ok"},
    "chart": {"metadata": {"name": "web", "version": "1.0.0", "appVersion": "7"}, "templates": [{"name": "x"}]},
    "config": {"password": "hidden"},
    "manifest": "",
}


def secret(content: bytes) -> Secret:
    return Secret(metadata=ObjectMeta(name="r", namespace="addons"), data={"release": content})


def packed(content: bytes) -> bytes:
    return base64.b64encode(gzip.compress(content))


@pytest.mark.parametrize("pack", [packed, base64.b64encode])
def test_a_record_is_read_packed_or_not(pack: Any) -> None:
    found = decoded(secret(pack(json.dumps(RELEASE).encode())))
    assert (found.revision, found.status, found.chart_version, found.app_version) == (3, "deployed", "1.0.0", "7")
    assert found.begun_at == datetime(2026, 11, 16, 10, 50, 13, 123456, UTC)
    removing = {**RELEASE["info"], "deleted": "2026-11-17T00:00:00Z", "status": "uninstalling"}
    begun = decoded(secret(pack(json.dumps({**RELEASE, "info": removing}).encode()))).begun_at
    assert begun == datetime(2026, 11, 17, tzinfo=UTC)
    assert "hidden" not in f"{found!r} {found}"


@pytest.mark.parametrize(
    "content",
    [
        b"", b"%%%", base64.b64encode(b"no json"), packed(b"[]"), packed(b"{}"), packed(b"[" * 100_000),
        packed(json.dumps({**RELEASE, "info": {"status": "invented"}}).encode()), packed(b"{}")[:-12],
        packed(b" " * (65 * 1024 * 1024)),
    ],
    ids=["empty", "no base64", "no json", "list", "nothing", "deep", "status", "cut", "bomb"],
)  # fmt: skip
def test_a_record_that_is_none_is_refused(content: bytes) -> None:
    with pytest.raises(RecordDamaged, match="Secret addons/r"):
        decoded(secret(content))


LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("text", [LAUGHS, "&a [*a]", "[" * 10_000, "a: b: c", "{"])
def test_a_manifest_that_nobody_meant_is_refused(text: str) -> None:
    with pytest.raises(RecordDamaged, match="release x"):
        manifest.objects(text, "release x")


def test_objects_are_read_as_kubernetes_reads_them() -> None:
    text = """
---
# Source: web/templates/a.yaml
apiVersion: v1
kind: ConfigMap
metadata: {name: a, creationTimestamp: 2026-01-02, annotations: {on: "yes"}}
---
kind: List
apiVersion: v1
items: [{apiVersion: v1, kind: Secret, metadata: {name: b}}, null]
---
null
---
just text
"""
    found = manifest.objects(text, "x")
    assert [str(manifest.ref_of(one)) for one in found] == ["ConfigMap a", "Secret b"]
    assert found[0]["metadata"]["creationTimestamp"] == "2026-01-02"


def test_a_comparison_tells_that_a_secret_changes_and_not_how() -> None:
    before = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {x: one, y: same}"
    after = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {x: dHdv, y: c2FtZQ==}"
    old, new = (next(iter(one.values())) for one in masking.masked(before, after, "x"))
    assert (old.count("***"), new.count("***")) == (2, 2)
    assert "x: '*** (before)'" in old
    assert "x: '*** (after)'" in new
    assert not any(word in old + new for word in ("one", "dHdv", "same", "c2FtZQ"))
