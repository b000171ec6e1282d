"""kubectl with files: directories, kustomize, keys from files, apply sets."""

from __future__ import annotations

from tests.real.differential.commands import Command, script

_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, labels: {app: web}}\ndata: {k: v}\n"
_DIRECTORY = {
    "all/one.yaml": _MAP % "one",
    "all/two.json": '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"two"}}',
}
_DEEPER = {**_DIRECTORY, "all/deeper/three.yaml": _MAP % "three", "all/notes.txt": "nothing"}
_KUSTOMIZATION = """
resources: [map.yaml]
namePrefix: my-
labels: [{pairs: {team: a}, includeSelectors: true}]
configMapGenerator: [{name: made, literals: [a=b]}]
"""
_KUSTOMIZE = {"base/kustomization.yaml": _KUSTOMIZATION, "base/map.yaml": _MAP % "settings"}

SCRIPTS = (
    script(
        "directories",
        Command("create -f all", files=_DIRECTORY),
        "create -f all",
        Command("apply -f all -R", files=_DEEPER),
        "get -f all -R -o name",
        "get -f all/one.yaml",
        "label -f all/one.yaml x=y",
        "annotate -f all x=y --overwrite",
        Command("diff -f all/one.yaml", shown="^[+-] "),
        "describe -f all/one.yaml",
        "wait --for=jsonpath={.data.k}=v -f all/one.yaml --timeout=5s",
        """patch -f all/one.yaml -p '{"data":{"k":"w"}}'""",
        "replace -f all/one.yaml",
        "delete -f all -R",
        "get -f all/one.yaml",
    ),
    script(
        "values from files",
        Command(
            "create configmap a --from-file=colour.txt --from-file=k=size.txt",
            files={"colour.txt": "red", "size.txt": "1"},
        ),
        Command("create configmap b --from-env-file=some.env", files={"some.env": "A=b\n# no\nC=d\n"}),
        Command("create secret generic c --from-file=keys", files={"keys/one": "1", "keys/two": "2"}),
        Command("create configmap d --from-file=bad name.txt"),
        "get configmap a b -o yaml",
        "get secret c -o yaml",
        "create configmap e --from-file=none",
        "create secret tls t --cert=colour.txt --key=size.txt",
        Command("patch configmap a --patch-file=change.yaml", files={"change.yaml": "data: {k: new}"}),
        "get configmap a -o jsonpath={.data}",
        Command("create -f none.yaml"),
    ),
    script(
        "kustomize",
        Command("kustomize base", files=_KUSTOMIZE),
        "apply -k base --dry-run=server",
        "apply -k base",
        "apply -k base",
        "get -k base",
        "diff -k base",
        Command("apply -k base", files={"base/kustomization.yaml": _KUSTOMIZATION.replace("a=b", "a=c")}),
        "get configmaps -l team=a -o jsonpath={.items[*].data}",
        "apply -k base --server-side",
        "delete -k base",
        "get configmaps -l team=a",
    ),
    script(
        "apply sets",
        Command("apply --prune --applyset=mine -f -", _MAP % "one"),
        Command("apply --prune --applyset=mine -f -", _MAP % "two"),
        "get configmaps",
        "get secret mine -o yaml",
        Command("apply --prune --applyset=configmap/parent -f -", _MAP % "three"),
        "create configmap parent",
        Command("apply --prune --applyset=configmap/parent -f -", _MAP % "three"),
        Command("apply --prune --applyset=mine -f -", _MAP % "three"),
        "get configmaps --show-labels",
    ),
)
