"""The default policy of a running kube-apiserver → the data file of the roles of Kubernetes' own components.

    kubectl get clusterroles,clusterrolebindings,roles,rolebindings -A -o json | python scripts/extract_roles.py

Roles for people are left out: bootstrap_policy.py spells them out. Subjects are accounts in kube-system, or users.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kubekit.server.access.default_roles import for_people

Json = dict[str, Any]

TARGET = Path(__file__).resolve().parent.parent / "kubekit/src/kubekit/server/access/component_roles.json"
DEFAULTS = "kubernetes.io/bootstrapping"
RULE_KEYS = ("verbs", "apiGroups", "resources", "resourceNames")


def main() -> None:
    spelled_out = {_key(one) for one in for_people()}
    found = [one for one in json.load(sys.stdin)["items"] if DEFAULTS in (one["metadata"].get("labels") or {})]
    wanted = {_key(one): _words(one) for one in found if _key(one) not in spelled_out}
    TARGET.write_text(json.dumps(dict(sorted(wanted.items())), indent=0) + "\n")


def _key(obj: Json) -> str:
    metadata = obj["metadata"]
    return " ".join(filter(None, (obj["kind"], metadata.get("namespace"), metadata["name"])))


def _words(obj: Json) -> list[Any]:
    if "roleRef" not in obj:
        return [_rule(rule) for rule in obj["rules"]]
    assert obj["roleRef"]["name"] == obj["metadata"]["name"]
    return [_subject(subject) for subject in obj.get("subjects") or ()]


def _rule(rule: Json) -> str:
    """Each list as words separated by commas."""
    assert "nonResourceURLs" not in rule
    return " ".join(",".join(rule[key]) for key in RULE_KEYS if key in rule)


def _subject(subject: Json) -> str:
    assert subject["kind"] == "User" or subject["namespace"] == "kube-system"
    return f"{subject['kind']} {subject['name']}"


if __name__ == "__main__":
    main()
