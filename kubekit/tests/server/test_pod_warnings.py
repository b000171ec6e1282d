"""Warnings about pods and templates that are valid but odd."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.kinds.builtin.warnings import (
    remarks_on_account,
    remarks_on_claim,
    remarks_on_cron_job,
    remarks_on_node,
    remarks_on_runtime_class,
    remarks_on_storage_class,
    remarks_on_volume,
)
from kubekit.server.kinds.pods.warnings import Remarks, remarks_on_pod, remarks_on_template
from tests.http_api import Api
from tests.server.wire import MERGE_PATCH, warnings

OLD_ARCH = 'deprecated since v1.14; use "kubernetes.io/arch" instead'
NO_POD = "a null labelSelector results in matching no pod"
NOTES = "metadata.annotations"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ARCH = {"key": "beta.kubernetes.io/arch", "operator": "Exists"}


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"nodeSelector": {"beta.kubernetes.io/arch": "a"}},
            [f"spec.nodeSelector[beta.kubernetes.io/arch]: {OLD_ARCH}"],
        ),
        (
            {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [ARCH]}]}}}},
            [
                (
                    f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].key: "
                    f"beta.kubernetes.io/arch is {OLD_ARCH}"
                )
            ],
        ),
        (
            {"topologySpreadConstraints": [{"topologyKey": "zone"}]},
            [f"spec.topologySpreadConstraints[0].labelSelector: {NO_POD}"],
        ),
        (
            {"affinity": {"podAffinity": {REQUIRED: [{}]}, "podAntiAffinity": {PREFERRED: [{"podAffinityTerm": {}}]}}},
            [
                f"spec.affinity.podAffinity.{REQUIRED}[0].labelSelector: {NO_POD}",
                f"spec.affinity.podAntiAffinity.{PREFERRED}[0].podAffinityTerm.labelSelector: {NO_POD}",
            ],
        ),
        (
            {"hostAliases": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.4"}]},
            ['spec.hostAliases[1].ip: duplicate ip "1.2.3.4"'],
        ),
        (
            {"imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}]},
            [
                'spec.imagePullSecrets[1].name: duplicate name "a"',
                'spec.imagePullSecrets[2].name: invalid empty name ""',
            ],
        ),
        (
            {"dnsConfig": {"nameservers": ["fd00:0::1", "1.2.3.4"]}},
            [
                (
                    'spec.dnsConfig.nameservers[0]: IPv6 address "fd00:0::1" should be in RFC 5952 canonical format '
                    '("fd00::1")'
                )
            ],
        ),
        ({"affinity": {"podAffinity": {REQUIRED: [{"labelSelector": {}}]}}}, []),
    ],
)
def test_a_pod_says_what_it_may_not_mean(spec: dict[str, Any], told: list[str]) -> None:
    assert remarks_on_pod({"metadata": {}, "spec": spec}) == told


@pytest.mark.parametrize(
    ("container", "told"),
    [
        (
            {"env": [{"name": "A", "value": "b"}, {"name": "A", "value": "c"}]},
            ['.env[1]: hides previous definition of "A", which may be dropped when using apply'],
        ),
        ({"env": [{"name": "A", "value": "b"}, {"name": "A", "value": "$(A)c"}]}, []),
        (
            {"ports": [{"containerPort": 80}, {"containerPort": 80}]},
            [".ports[1]: duplicate port definition with spec.containers[0].ports[0]"],
        ),
        (
            {"ports": [{"containerPort": 80, "hostPort": 1}, {"containerPort": 80}]},
            [".ports[1]: overlapping port definition with spec.containers[0].ports[0]"],
        ),
        (
            {"ports": [{"containerPort": 8, "hostPort": 1, "hostIP": "1.2.3.4"}, {"containerPort": 8, "hostPort": 1}]},
            [".ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]"],
        ),
        ({"ports": [{"containerPort": 80, "hostPort": 1}, {"containerPort": 80, "hostPort": 2}]}, []),
        (
            {"ports": [{"containerPort": 80, "protocol": "TCP", "hostIP": "1.2.3.4"}]},
            [
                (
                    ".ports[0]: hostIP set without hostPort: "
                    "{Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}"
                )
            ],
        ),
        ({"resources": {"limits": {"memory": "100m"}}}, [
            '.resources.limits[memory]: fractional byte value "100m" is invalid, must be an integer',
        ]),
    ],
)  # fmt: skip
def test_a_container_says_what_is_hidden(container: dict[str, Any], told: list[str]) -> None:
    found = remarks_on_pod({"metadata": {}, "spec": {"containers": [container]}})
    assert found == [f"spec.containers[0]{one}" for one in told]


def test_annotations_that_became_fields_are_named() -> None:
    keys = ["scheduler.alpha.kubernetes.io/critical-pod", "container.seccomp.security.alpha.kubernetes.io/c"]
    spec = {"containers": [{"name": "c"}]}
    found = remarks_on_template("spec")({"spec": {"metadata": {"annotations": dict.fromkeys(keys, "")}, "spec": spec}})
    assert [one.partition(":")[0] for one in found] == [f"spec.{NOTES}[{key}]" for key in keys]


OLD_CLASS = {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}
SECRETS_ONLY = {"annotations": {"kubernetes.io/enforce-mountable-secrets": "true"}}
HUGE = {"completionMode": "Indexed", "completions": 200_000, "parallelism": 20_000}


@pytest.mark.parametrize(
    ("remarks", "obj", "place"),
    [
        (remarks_on_claim, {"metadata": OLD_CLASS, "spec": {}}, f"{NOTES}[volume.beta.kubernetes.io/storage-class]"),
        (
            remarks_on_volume,
            {"metadata": OLD_CLASS, "spec": {"persistentVolumeReclaimPolicy": "Retain"}},
            f"{NOTES}[volume.beta.kubernetes.io/storage-class]",
        ),
        (remarks_on_node, {"spec": {"externalID": "x"}}, "spec.externalID"),
        (remarks_on_runtime_class, {"scheduling": {"nodeSelector": {ARCH["key"]: "a"}}}, "scheduling.nodeSelector"),
        (
            remarks_on_storage_class,
            {"allowedTopologies": [{"matchLabelExpressions": [ARCH]}]},
            "allowedTopologies[0].matchLabelExpressions[0].key",
        ),
        (remarks_on_account, {"metadata": SECRETS_ONLY}, f"{NOTES}[kubernetes.io/enforce-mountable-secrets]"),
        (remarks_on_cron_job, {"spec": {"jobTemplate": {"spec": HUGE}}}, "spec.jobTemplate.spec"),
    ],
)
def test_other_kinds_say_what_is_old(remarks: Remarks, obj: dict[str, Any], place: str) -> None:
    assert [one.partition(": ")[0] for one in remarks(obj)] == [place]


async def test_the_old_class_of_an_ingress_is_spoken_of_once(api: Api) -> None:
    path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"
    meta = {"name": "i", "annotations": {"kubernetes.io/ingress.class": "nginx"}}
    made = await api(
        "POST", path, {"metadata": meta, "spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}}
    )
    changed = await api("PATCH", f"{path}/i", {"spec": {"ingressClassName": "other"}}, MERGE_PATCH)
    told = "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"
    assert (warnings(made), warnings(changed)) == ([told], [])


async def test_files_of_a_projected_volume_do_not_hide_each_other(api: Api) -> None:
    item = {"items": [{"key": "k", "path": "p"}]}
    sources = [{"configMap": {"name": "a", **item}}, {"secret": {"name": "s", **item}}]
    spec = {
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "projected": {"sources": sources}}],
    }
    refused = await api("POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": "p"}, "spec": spec})
    assert refused.body["message"].endswith(
        'spec.volumes[0].projected: Invalid value: "s": conflicting duplicate paths'
    )
