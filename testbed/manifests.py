"""Take CRDs and other manifests out of a downloaded module, with the labels that its release would have added."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from testbed.go import run_go
from testbed.parts import Manifests
from testbed.places import HERE, version_of

_METADATA = re.compile(r"^metadata:\n", re.MULTILINE)
_LABELS = re.compile(r"^  labels:\n", re.MULTILINE)


def extract(manifests: Manifests, into: Path) -> None:
    """Fill an empty folder. Raises BuildFailed when the module cannot be had."""
    source = _downloaded(manifests) if manifests.module else HERE / manifests.folder
    labels = "".join(f"    cluster.x-k8s.io/{contract}: {kinds}\n" for contract, kinds in manifests.contracts.items())
    for name, path in manifests.paths.items():
        if (source / path).is_file():
            shutil.copyfile(source / path, into / name)
            continue
        (into / name).mkdir(parents=True)
        # Folders of a release also hold kustomize's own files, which no API server understands.
        for file in sorted((source / path).glob("*.yaml")):
            if file.name != "kustomization.yaml":
                (into / name / file.name).write_text(labelled(file.read_text(), labels))


def _downloaded(manifests: Manifests) -> Path:
    wanted = f"{manifests.module}@{version_of(manifests.folder, manifests.module)}"
    return Path(json.loads(run_go(manifests.folder, "mod", "download", "-json", wanted))["Dir"])


def labelled(definition: str, labels: str) -> str:
    """A CRD as controller-gen writes it, with these lines under its labels.

    It is text throughout, so that the testbed can be built without anything installed."""
    if not labels:
        return definition
    if _LABELS.search(definition):
        return _LABELS.sub(lambda found: found[0] + labels, definition, count=1)
    return _METADATA.sub(lambda found: f"{found[0]}  labels:\n{labels}", definition, count=1)
