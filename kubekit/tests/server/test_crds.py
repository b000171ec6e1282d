"""The life of a CustomResourceDefinition."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kubekit.server.kinds import crds
from kubekit.server.kinds.builtin import catalogue
from kubekit.server.kinds.crds import TakenNames
from kubekit.server.objects.resource import Scale

NOW, LATER = "2026-11-15T12:00:00Z", "2026-11-15T13:00:00Z"
LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def schema(**spec: Any) -> dict[str, Any]:
    return {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}}


def version(name: str = "v1", **more: Any) -> dict[str, Any]:
    return {"name": name, "served": True, "storage": name == "v1", "schema": schema(), **more}


def definition(*versions: dict[str, Any], group: str = "example.com", **spec: Any) -> dict[str, Any]:
    """A completed definition that nobody has looked at yet."""
    names = {"plural": "widgets", "kind": "Widget", **spec.pop("names", {})}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": names,
            "versions": list(versions or [version()]),
            **spec,
        },
    }
    crds.default_crd(crd)
    crds.prepare_create(crd)
    return crd


def established(*versions: dict[str, Any], **spec: Any) -> dict[str, Any]:
    crd = definition(*versions, **spec)
    crd["status"] = crds.established_status(crd, TakenNames(), NOW)
    return crd


def problems(crd: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in crds.validate_crd(crd)]


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {one["type"]: (one["status"], one["reason"], one["message"]) for one in status["conditions"]}


def test_names_and_conversion_are_filled_in() -> None:
    spec = definition()["spec"]
    assert spec["names"] == {"plural": "widgets", "kind": "Widget", "singular": "widget", "listKind": "WidgetList"}
    assert spec["conversion"] == {"strategy": "None"}


def test_a_webhook_service_gets_its_port() -> None:
    config = {"service": {"namespace": "a", "name": "b"}}
    crd = definition(conversion={"strategy": "Webhook", "webhook": {"clientConfig": config}})
    assert crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"] == 443


def test_a_plain_definition_is_fine() -> None:
    assert problems(definition()) == []


def test_a_new_definition_begins_with_the_version_it_stores() -> None:
    assert definition()["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }


def test_the_name_is_made_of_plural_and_group() -> None:
    crd = definition()
    crd["metadata"]["name"] = "other.example.com"
    wanted = 'metadata.name: Invalid value: "other.example.com": must be spec.names.plural+"."+spec.group'
    assert problems(crd) == [wanted]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"scope": ""}, ["spec.scope: Required value"]),
        (
            {"scope": "Galaxy"},
            ['spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'],
        ),
        ({"names": {"kind": "Th_ing", "singular": "x", "listKind": "X"}}, [
            f'spec.names.kind: Invalid value: "Th_ing": may have mixed case, but should otherwise match: {LABEL}'
        ]),
        ({"names": {"listKind": "Widget"}}, [
            'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'
        ]),
        ({"names": {"shortNames": ["OK", "ok"]}}, [f'spec.names.shortNames[0]: Invalid value: "OK": {LABEL}']),
        ({"preserveUnknownFields": True}, [
            ("spec.preserveUnknownFields: Invalid value: true: cannot set to true, "
            "set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
        ]),
        ({"conversion": {"strategy": "Foo"}}, [
            'spec.conversion.strategy: Unsupported value: "Foo": supported values: "None", "Webhook"'
        ]),
        ({"conversion": {"strategy": "Webhook"}}, [
            "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
            "spec.conversion.conversionReviewVersions: Required value",
        ]),
    ],
)  # fmt: skip
def test_what_is_refused_in_a_definition(changes: dict[str, Any], expected: list[str]) -> None:
    assert problems(definition(**changes)) == expected


def test_a_group_is_a_domain() -> None:
    assert problems(definition(group="foo")) == [
        'spec.group: Invalid value: "foo": should be a domain with at least one dot'
    ]


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ["Required value: exactly one of url or service is required"]),
        ({"url": "http://foo?x=1#y"}, [
            "url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
            'url: Invalid value: "y": fragments are not permitted in the URL',
            'url: Invalid value: "x=1": query parameters are not permitted in the URL',
        ]),
        ({"url": "https://u:p@h/"}, ['url: Invalid value: "u:p": user information is not permitted in the URL']),
        ({"service": {"name": "a", "namespace": "b", "path": "/a//b", "port": 70000}}, [
            "service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive",
            'service.path: Invalid value: "/a//b": segment[1] may not be empty',
        ]),
    ],
)  # fmt: skip
def test_what_is_refused_in_a_conversion_webhook(config: dict[str, Any], expected: list[str]) -> None:
    webhook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
    found = problems(definition(conversion={"strategy": "Webhook", "webhook": webhook}))
    prefix = "spec.conversion.webhookClientConfig"
    assert [one.removeprefix(prefix).lstrip(".: ") for one in found] == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"schema": None}, ["spec.versions[0].schema.openAPIV3Schema: Required value"]),
        ({"name": "V_1"}, [
            f'spec.versions[0].name: Invalid value: "V_1": {LABEL}',
            f'spec.version: Invalid value: "V_1": {LABEL}',
        ]),
        ({"deprecationWarning": "x"}, [
            'spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'
        ]),
        ({"subresources": {"scale": {}}}, [
            "spec.subresources.scale.specReplicasPath: Required value",
            "spec.subresources.scale.statusReplicasPath: Required value",
        ]),
        ({"subresources": {"scale": {"specReplicasPath": ".x", "statusReplicasPath": "status.x"}}}, [
            'spec.subresources.scale.specReplicasPath: Invalid value: ".x": should be a json path under .spec',
            ('spec.subresources.scale.statusReplicasPath: Invalid value: "status.x": '
            "must be a simple json path starting with ."),
        ]),
        ({"additionalPrinterColumns": [{"name": "a", "type": "foo", "jsonPath": "x", "format": "bar"}]}, [
            ('spec.additionalPrinterColumns[0].type: Invalid value: "foo": '
            "must be one of boolean,date,integer,number,string"),
            ('spec.additionalPrinterColumns[0].format: Invalid value: "bar": '
            "must be one of byte,date,date-time,double,float,int32,int64,password"),
            'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "x": must be a simple json path starting with .',
        ]),
    ],
)  # fmt: skip
def test_what_is_refused_in_a_version(changes: dict[str, Any], expected: list[str]) -> None:
    assert problems(definition(version(**{"storage": True, **changes}))) == expected


def test_what_versions_do_not_share_is_refused_where_it_stands() -> None:
    crd = definition(version(subresources={"scale": {}}), version("v2"))
    assert problems(crd) == [
        "spec.versions[0].subresources.scale.specReplicasPath: Required value",
        "spec.versions[0].subresources.scale.statusReplicasPath: Required value",
    ]


def test_exactly_one_version_is_stored() -> None:
    found = problems(definition(version(storage=False)))
    assert found[0].endswith("must have exactly one version marked as storage version")
    assert found[1] == "status.storedVersions: Invalid value: null: must have at least one stored version"


def test_versions_have_different_names() -> None:
    found = problems(definition(version(), version(storage=False)))
    assert [one.rpartition(": ")[2] for one in found] == ["must contain unique version names"]


def test_selectable_fields_are_declared_scalars() -> None:
    fields = [".spec.a", ".spec.a", ".spec.o", ".spec.zz", "spec.a", ".spec.a[0]"]
    declared = schema(a={"type": "string"}, o={"type": "object"})
    crd = definition(version(schema=declared, selectableFields=[{"jsonPath": path} for path in fields]))
    assert problems(crd) == [
        'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
        (
            'spec.selectableFields[2].jsonPath: Invalid value: ".spec.o": must point to a field of type string, '
            "boolean or integer. Enum string fields and strings with formats are allowed."
        ),
        (
            'spec.selectableFields[3].jsonPath: Invalid value: ".spec.zz": is an invalid path: '
            "does not refer to a valid field"
        ),
        'spec.selectableFields[4].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec',
        (
            'spec.selectableFields[5].jsonPath: Invalid value: ".spec.a[0]": is an invalid path: '
            "array notation is not allowed"
        ),
    ]


def test_the_root_of_a_schema_with_a_status_is_restricted() -> None:
    found = schema()
    found["openAPIV3Schema"]["x-kubernetes-map-type"] = "atomic"
    (problem,) = problems(definition(version(schema=found, subresources={"status": {}})))
    assert problem.endswith("fields are allowed at the root of the schema if the status subresource is enabled")


@pytest.mark.parametrize(
    ("annotation", "problem", "condition"),
    [
        ("", "Required value", ("False", "MissingAnnotation")),
        ("foo", "Invalid value", ("False", "InvalidAnnotation")),
        ("unapproved, for a test", "", ("False", "UnapprovedAnnotation")),
        ("https://example.com/approval", "", ("True", "ApprovedAnnotation")),
    ],
)
def test_a_protected_group_needs_an_approval(annotation: str, problem: str, condition: tuple[str, str]) -> None:
    crd = definition(group="widgets.k8s.io")
    crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    found = problems(crd)
    assert [one.split(": ")[1] for one in found] == ([problem] if problem else [])
    status = crds.established_status(crd, TakenNames(), NOW)
    assert conditions(status)["KubernetesAPIApprovalPolicyConformant"][:2] == condition


@pytest.mark.parametrize(
    ("field", "value"),
    [("scope", "Cluster"), ("group", "example.org"), ("names.kind", "Other"), ("names.plural", "others")],
)
def test_what_objects_are_stored_under_cannot_change(field: str, value: str) -> None:
    old = established()
    new = copy.deepcopy(old)
    *outer, last = field.split(".")
    (new["spec"][outer[0]] if outer else new["spec"])[last] = value
    found = [str(one) for one in crds.validate_crd_update(new, old)]
    assert found == [f'spec.{field}: Invalid value: "{value}": field is immutable']


def test_the_scope_may_change_until_the_definition_serves() -> None:
    old = definition()
    new = copy.deepcopy(old)
    new["spec"]["scope"] = "Cluster"
    assert crds.validate_crd_update(new, old) == []


def test_a_version_that_was_stored_stays() -> None:
    old = established()
    new = copy.deepcopy(old)
    new["spec"]["versions"][0]["name"] = "v2"
    crds.prepare_update(new, old)
    assert new["status"]["storedVersions"] == ["v1", "v2"]
    (problem,) = crds.validate_crd_update(new, old)
    assert str(problem).startswith(
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version'
    )


def test_free_names_are_accepted_and_the_definition_serves() -> None:
    status = established(names={"shortNames": ["wid"], "categories": ["all"]})["status"]
    assert conditions(status) == {
        "NamesAccepted": ("True", "NoConflicts", "no conflicts found"),
        "Established": ("True", "InitialNamesAccepted", "the initial names have been accepted"),
    }
    assert status["acceptedNames"] == {
        "plural": "widgets",
        "kind": "Widget",
        "singular": "widget",
        "shortNames": ["wid"],
        "listKind": "WidgetList",
        "categories": ["all"],
    }


@pytest.mark.parametrize(
    ("names", "reason", "message"),
    [
        ({"plural": "gizmos", "kind": "Gizmo", "singular": "widget"}, "SingularConflict", '"widget" is already in use'),
        ({"plural": "gizmos", "kind": "Gizmo", "shortNames": ["wid"]}, "ShortNamesConflict", '"wid" is already in use'),
        (
            {"plural": "gizmos", "kind": "Gizmo", "shortNames": ["wid", "w"]},
            "ShortNamesConflict",
            '["wid" is already in use, "w" is already in use]',
        ),
        (
            {"plural": "gizmos", "kind": "Widget", "singular": "gizmo", "listKind": "Gizmos"},
            "KindConflict",
            '"Widget" is already in use',
        ),
        (
            {"plural": "gizmos", "kind": "Gizmo", "listKind": "WidgetList"},
            "ListKindConflict",
            '"WidgetList" is already in use',
        ),
    ],
)
def test_a_name_in_use_keeps_the_definition_from_serving(names: dict[str, Any], reason: str, message: str) -> None:
    first = established(names={"shortNames": ["wid", "w"]})
    second = definition(names=names)
    taken = crds.taken_names("example.com", [first, second])
    second["status"] = crds.established_status(second, taken, NOW)
    assert conditions(second["status"]) == {
        "NamesAccepted": ("False", reason, message),
        "Established": ("False", "NotAccepted", "not all names are accepted"),
    }
    assert crds.resources_of(second) == []


def test_names_of_other_groups_and_own_names_are_free() -> None:
    first = established()
    assert crds.taken_names("example.org", [first]) == TakenNames()
    again = crds.established_status(first, crds.taken_names("example.com", [first]), LATER)
    assert again == first["status"]


def test_built_in_names_are_taken() -> None:
    taken = crds.taken_names("networking.k8s.io", [], catalogue.resources())
    assert {"ingresses", "ingress", "ing"} <= taken.resources
    assert {"Ingress", "IngressList"} <= taken.kinds


def test_a_serving_definition_goes_on_when_a_new_name_is_taken() -> None:
    first = established(names={"plural": "gizmos", "kind": "Gizmo", "shortNames": ["g"]})
    second = established()
    second["spec"]["names"]["shortNames"] = ["g"]
    status = crds.established_status(second, crds.taken_names("example.com", [first, second]), LATER)
    assert conditions(status)["NamesAccepted"][:2] == ("False", "ShortNamesConflict")
    assert conditions(status)["Established"][0] == "True"
    assert "shortNames" not in status["acceptedNames"]


def test_an_unusable_bundle_keeps_the_definition_from_serving() -> None:
    config = {"url": "https://x/", "caBundle": "Zm9v"}
    webhook = {"clientConfig": config, "conversionReviewVersions": ["v1"]}
    status = established(conversion={"strategy": "Webhook", "webhook": webhook})["status"]
    assert conditions(status)["Established"][:2] == ("False", "InvalidCABundle")


def test_a_definition_offers_its_served_versions() -> None:
    columns = [{"name": "Phase", "type": "string", "jsonPath": ".status.phase", "priority": 1}]
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}
    crd = established(
        version(additionalPrinterColumns=columns, subresources={"status": {}, "scale": scale}),
        version("v1beta1", deprecated=True, selectableFields=[{"jsonPath": ".spec.a"}]),
        version("v1alpha1", served=False),
        scope="Cluster",
    )
    first, second = crds.resources_of(crd)
    assert (first.version, second.version) == ("v1", "v1beta1")
    assert not first.namespaced
    assert first.status
    assert first.scale == Scale(".spec.n", ".status.n", ".status.s")
    assert (first.columns[0].name, first.columns[0].priority) == ("Phase", 1)
    assert second.selectable_fields == ("spec.a",)
    assert (first.storage_version, second.storage_version) == ("v1", "v1")
    assert second.deprecation == "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"
    assert first.deprecation == ""


def test_a_definition_that_is_going_takes_no_new_objects() -> None:
    crd = established()
    crd["status"] = crds.terminating_status(crd, False, LATER)
    assert conditions(crd["status"])["Terminating"] == (
        "True",
        "InstanceDeletionInProgress",
        "CustomResource deletion is in progress",
    )
    (resource,) = crds.resources_of(crd)
    assert "create" not in resource.verbs
    crd["status"] = crds.terminating_status(crd, True, LATER)
    assert conditions(crd["status"])["Terminating"][:2] == ("False", "InstanceDeletionCompleted")


def test_the_schema_knows_what_every_object_has() -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True}
    (resource,) = crds.resources_of(established(version(schema=schema(a={"type": "string"}, template=inner))))
    root = resource.schema
    assert list(root.properties) == ["apiVersion", "kind", "metadata", "spec"]
    assert root.properties["metadata"].properties["labels"].additional is not None
    assert root.properties["spec"].properties["a"].type == "string"
    assert "ownerReferences" in root.properties["spec"].properties["template"].properties["metadata"].properties


def test_restrictions_on_the_name_stay() -> None:
    declared = schema()
    name = {"type": "string", "maxLength": 5}
    declared["openAPIV3Schema"]["properties"]["metadata"] = {"type": "object", "properties": {"name": name}}
    (resource,) = crds.resources_of(established(version(schema=declared)))
    metadata = resource.schema.properties["metadata"]
    assert metadata.properties["name"].source == name
    assert "labels" in metadata.properties


def test_a_kind_knows_the_webhook_that_converts_it() -> None:
    client = {"url": "https://localhost/convert"}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v9", "v1beta1"]}
    assert crds.conversion_of({"conversion": {"strategy": "None"}}) is None
    found = crds.conversion_of({"conversion": {"strategy": "Webhook", "webhook": webhook}})
    assert found is not None
    assert (found.client, found.review_version) == (client, "v1beta1")
