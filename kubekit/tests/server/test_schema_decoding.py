"""Objects of built-in kinds are decoded as Go decodes them."""

from __future__ import annotations

from typing import Any

import pytest

from kubekit.server.kinds.builtin.catalogue import schema_of
from kubekit.server.objects.schema.decoding import Malformed
from kubekit.server.objects.schema.decoding import decode as decode_along


def decode(obj: dict[str, Any]) -> list[str]:
    group, _, version = obj["apiVersion"].rpartition("/")
    return decode_along(obj, schema_of(group, version, obj["kind"]))


def of(kind: str, **members: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "n"}, **members}


def service(**port: Any) -> dict[str, Any]:
    return of("Service", spec={"ports": [port]})


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (
            of("ConfigMap", data={"a": 1}),
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            of("ConfigMap", data=["a"]),
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            of("ConfigMap", immutable="x"),
            "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool",
        ),
        (
            {**of("ConfigMap"), "metadata": {"name": 5}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
        ),
        (
            {**of("ConfigMap"), "metadata": {"uid": 5}},
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID",
        ),
        (
            {**of("ConfigMap"), "metadata": {"creationTimestamp": "x"}},
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
        ),
        (
            {**of("ConfigMap"), "metadata": {"creationTimestamp": "\u00e9"}},
            'parsing time "\\xc3\\xa9" as "2006-01-02T15:04:05Z07:00": cannot parse "\\xc3\\xa9" as "2006"',
        ),
        (
            service(port="x"),
            "json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32",
        ),
        (
            service(port=80.0),
            "json: cannot unmarshal number 80.0 into Go struct field ServicePort.spec.ports.port of type int32",
        ),
        (
            service(port="x", targetPort=True),
            "json: cannot unmarshal bool into Go struct field ServicePort.spec.ports.targetPort of type int32",
        ),
        (
            of("Service", spec={"ports": {}}),
            "json: cannot unmarshal object into Go struct field ServiceSpec.spec.ports of type []v1.ServicePort",
        ),
        (
            of("Pod", spec={"volumes": [{"configMap": {"name": True}}]}),
            (
                "json: cannot unmarshal bool into Go struct field "
                "ConfigMapVolumeSource.spec.volumes.VolumeSource.configMap.LocalObjectReference.name of type string"
            ),
        ),
        (
            of("Pod", spec={"containers": [{"livenessProbe": {"httpGet": {"path": 5}}}]}),
            (
                "json: cannot unmarshal number into Go struct field "
                "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.path of type string"
            ),
        ),
        (
            of("PersistentVolume", spec={"storageClassName": "s", "nfs": {"path": 5}}),
            (
                "json: cannot unmarshal number into Go struct field "
                "NFSVolumeSource.spec.PersistentVolumeSource.nfs.path of type string"
            ),
        ),
        (of("Pod", spec=[]), "json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec"),
        (
            of("PersistentVolume", spec={"accessModes": [1]}),
            (
                "json: cannot unmarshal number into Go struct field PersistentVolumeSpec.spec.accessModes "
                "of type v1.PersistentVolumeAccessMode"
            ),
        ),
        (
            of("PersistentVolume", spec={"accessModes": "x"}),
            (
                "json: cannot unmarshal string into Go struct field PersistentVolumeSpec.spec.accessModes "
                "of type []v1.PersistentVolumeAccessMode"
            ),
        ),
        (
            of("Pod", spec={"volumes": [{"image": {"reference": 1}}]}),
            (
                "json: cannot unmarshal number into Go struct field "
                "ImageVolumeSource.spec.volumes.VolumeSource.image.reference of type string"
            ),
        ),
        (
            of("Secret", data={"a": [1, 300]}),
            "json: cannot unmarshal number 300 into Go struct field Secret.data of type uint8",
        ),
        (of("Secret", data={"a": "!!"}), "illegal base64 data at input byte 0"),
        (of("Secret", data={"a": "YQ="}), "illegal base64 data at input byte 3"),
    ],
)
def test_a_wrong_type_is_refused_in_the_words_of_go(obj: dict[str, Any], message: str) -> None:
    with pytest.raises(Malformed) as refusal:
        decode(obj)
    assert str(refusal.value) == message


def test_unknown_fields_leave_and_are_reported() -> None:
    obj = of("Pod", spec={"containers": [{"name": "a", "zz": 1, "env": [{"name": "q", "yy": {}}]}]}, foo=1)
    assert decode(obj) == ["spec.containers[0].zz", "spec.containers[0].env[0].yy", "foo"]
    assert obj == of("Pod", spec={"containers": [{"name": "a", "env": [{"name": "q"}]}]})


def test_null_is_absence_in_a_struct_and_the_zero_value_in_a_list_or_map() -> None:
    obj = {**of("ConfigMap", data={"a": None}, binaryData=None), "metadata": {"name": "n", "finalizers": [None]}}
    assert decode(obj) == []
    assert obj == {**of("ConfigMap", data={"a": ""}), "metadata": {"name": "n", "finalizers": [""]}}


def test_times_are_brought_to_utc() -> None:
    obj = {**of("ConfigMap"), "metadata": {"creationTimestamp": "2024-01-01T02:00:00.5+02:00"}}
    assert decode(obj) == []
    assert obj["metadata"]["creationTimestamp"] == "2024-01-01T00:00:00Z"


def test_a_micro_time_needs_its_six_digits() -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"renewTime": "2024-01-01T00:00:00Z"}}
    with pytest.raises(Malformed, match=r'cannot parse "Z" as "\.000000"'):
        decode(lease)


def test_free_content_is_not_looked_at() -> None:
    entry = {"manager": "m", "operation": "Update", "fieldsV1": {"f:data": {"f:a": {}}, "x": None}}
    obj = {**of("ConfigMap"), "metadata": {"name": "n", "managedFields": [entry], "zz": 1}}
    assert decode(obj) == ["metadata.zz"]
    assert obj["metadata"]["managedFields"] == [entry]


def test_bytes_may_be_given_one_by_one() -> None:
    obj = of("Secret", data={"a": [1, None, 255]})
    decode(obj)
    assert obj["data"] == {"a": "AQD/"}
