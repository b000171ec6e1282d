"""kubectl in namespaces with LimitRanges."""

# ruff: noqa: E501 - a command is easier to read on one line

from __future__ import annotations

from tests.real.differential.commands import Command, script

_CREATE = "create -f -"
_CLAIM = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: %s}}}}"
_SHOWN = (
    "get pod %s -o jsonpath='{.metadata.annotations}{.spec.initContainers[*].resources}{.spec.containers[*].resources}'"
)
_OF_CONTAINERS = "{type: Container, max: {cpu: '1', memory: 1Gi}, min: {cpu: 10m}, default: {cpu: 500m}, defaultRequest: {cpu: 100m}, maxLimitRequestRatio: {cpu: '10'}}"
_OF_PODS = "{type: Pod, max: {cpu: '2'}, min: {cpu: 100m}, maxLimitRequestRatio: {memory: '2'}}"


def _range(name: str, limit: str) -> str:
    return f"{{apiVersion: v1, kind: LimitRange, metadata: {{name: {name}}}, spec: {{limits: [{limit}]}}}}"


def _pod(name: str, *containers: str, first: str = "") -> str:
    init = f"initContainers: [{first}], " if first else ""
    spec = f"{{{init}containers: [{', '.join(containers)}]}}"
    return f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {spec}}}"


def _container(name: str, requests: str = "", limits: str = "", more: str = "") -> str:
    return f"{{name: {name}, image: i, resources: {{requests: {{{requests}}}, limits: {{{limits}}}}}{more}}}"


_ENOUGH = _container("c", "cpu: '1', memory: 1Gi", "cpu: '1', memory: 1Gi")

SCRIPTS = (
    script(
        "containers",
        "wait --for=create serviceaccount/default --timeout=20s",
        Command(_CREATE, _range("a", _OF_CONTAINERS)),
        "get limitrange a -o yaml",
        Command(
            _CREATE, _pod("one", _container("c"), _container("d", "cpu: 50m"), first=_container("i", "", "cpu: 200m"))
        ),
        _SHOWN % "one",
        "get pod one -o yaml --show-managed-fields",
        *[
            Command(_CREATE, _pod("big", _container("c", *asked)))
            for asked in (
                ("cpu: '2'",),
                ("cpu: 5m", "cpu: '2'"),
                ("cpu: 20m", "cpu: 500m"),
                ("cpu: 1m", "cpu: 5m"),
                ("cpu: '0'", "cpu: 500m"),
                ("memory: 1.5Gi", "memory: 1.5Gi"),
            )
        ],
        Command(_CREATE, _pod("big", _container("c", "", "memory: 2Gi"), _container("d", "", "cpu: 1500m"))),
        Command(_CREATE, _pod("big", _container("c"), first=_container("i", "cpu: '3'", "cpu: '3'"))),
        "run quick --image=x --dry-run=server -o jsonpath={.spec.containers[0].resources}",
        Command("apply --server-side -f -", _pod("applied", _container("c", "cpu: 50m"))),
        "get pod applied -o yaml --show-managed-fields",
        "label pod one x=y",
        Command("apply -f -", _range("a", "{type: Container, max: {cpu: '2'}}")),
        Command(_CREATE, _pod("two", _container("c"))),
        _SHOWN % "two",
        "delete limitrange a",
        Command(_CREATE, _pod("three", _container("c", "cpu: '9'"))),
    ),
    script(
        "pods",
        "wait --for=create serviceaccount/default --timeout=20s",
        Command(_CREATE, _range("a", _OF_PODS)),
        Command(_CREATE, _pod("p", _container("c"))),
        Command(
            _CREATE, _pod("p", _container("c", "cpu: '1'", "cpu: '1'"), _container("d", "cpu: 1500m", "cpu: 1500m"))
        ),
        Command(_CREATE, _pod("p", _ENOUGH, _container("d", "cpu: '1', memory: 500Mi", "cpu: '1', memory: 1Gi"))),
        Command(_CREATE, _pod("q", _container("c", "cpu: 10m, memory: 1Gi", "cpu: 50m, memory: 3Gi"))),
        Command(_CREATE, _pod("q", _ENOUGH, first=_container("i", "cpu: '3', memory: 1Gi", "cpu: '3', memory: 1Gi"))),
        Command(
            _CREATE, _pod("q", _ENOUGH, first=_container("i", "cpu: 1500m", "cpu: 1500m", ", restartPolicy: Always"))
        ),
        Command(_CREATE, _pod("q", _container("c", "cpu: '1', memory: 100Mi", "cpu: '1', memory: 1Gi"))),
    ),
    script(
        "claims",
        Command(_CREATE, _range("d", "{type: PersistentVolumeClaim, max: {storage: 1Gi}, min: {storage: 1Mi}}")),
        Command(_CREATE, _CLAIM % "2Gi"),
        Command(_CREATE, _CLAIM % "1Ki"),
        Command(_CREATE, _CLAIM % "1Gi"),
        "label pvc c a=b",
        Command("apply -f -", _range("d", "{type: PersistentVolumeClaim, max: {storage: 1Mi}}")),
        "label pvc c a=c --overwrite",
        "delete pvc c --wait=false",
    ),
)
