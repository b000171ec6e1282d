"""A kind → its CustomResourceDefinition."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, field

from kubekit.model import crd
from kubekit.model.resource import AGE, Column, Model, Resource, Rule, Scale, remark
from kubekit.model.status import Status


class Shape(StrEnum):
    ROUND = "Round"
    SQUARE = "Square"


class ToySpec(Model):
    """A toy that is wanted."""

    rules = (
        Rule("self.wheels != 13", "thirteen wheels bring bad luck"),
        Rule("has(self.maker)", "here or nowhere", missing=".maker"),
    )

    wheels: Annotated[int, Meta(ge=1)] = 4
    """How many wheels."""
    colour: str | None = None
    """Its colour."""
    shape: Shape = Shape.ROUND
    """Its shape."""
    weight: int = field(default=0)
    """What it weighs, if that is known."""
    maker: str
    """Who made it."""


class ToyStatus(Status):
    """What is known of a toy."""

    broken: bool = False
    """Whether it is."""


class Family(Resource, group="example.org", version="v1", labels={"example.org/part-of": "toys"}):
    """No kind: what its kinds have in common."""


class Toy(
    Family,
    plural="toys",
    short="ty",
    namespaced=False,
    columns=(Column("Maker", ".spec.maker"), AGE),
    scale=Scale(".spec.wheels", ".status.wheels"),
    labels={"example.org/contract": "v1"},
):
    """Something to play with.

    This is for readers of the code."""

    spec: ToySpec
    status: ToyStatus = ToyStatus()


class Catalogue(Family, plural="catalogues"):
    """A list of toys."""

    spec: ToySpec


def version() -> dict[str, Any]:
    (only,) = crd.definition(Toy)["spec"]["versions"]
    assert isinstance(only, dict)
    return only


def test_a_kind_is_one_class() -> None:
    definition = crd.definition(Toy)
    assert definition["metadata"]["name"] == "toys.example.org"
    assert definition["spec"]["scope"] == "Cluster"
    assert definition["spec"]["names"] == {
        "kind": "Toy", "listKind": "ToyList", "plural": "toys", "singular": "toy", "shortNames": ["ty"],
    }  # fmt: skip
    assert version()["schema"]["openAPIV3Schema"]["properties"]["spec"] == {
        "description": "A toy that is wanted.",
        "type": "object",
        "properties": {
            "wheels": {
                "description": "How many wheels.",
                "type": "integer",
                "format": "int32",
                "minimum": 1,
                "default": 4,
            },
            "colour": {"description": "Its colour.", "type": "string"},
            "shape": {
                "description": "Its shape.",
                "type": "string",
                "enum": ["Round", "Square"],
                "default": "Round",
            },
            "weight": {
                "description": "What it weighs, if that is known.",
                "type": "integer",
                "format": "int32",
            },
            "maker": {"description": "Who made it.", "type": "string"},
        },
        "required": ["maker"],
        "x-kubernetes-validations": [
            {"rule": "self.wheels != 13", "message": "thirteen wheels bring bad luck"},
            {
                "rule": "has(self.maker)",
                "message": "here or nowhere",
                "reason": "FieldValueRequired",
                "fieldPath": ".maker",
            },
        ],
    }


class Box(Resource, plural="boxes", group="example.com", version="v1"):
    """A box, which stays as it was made."""

    rules = (Rule("self.spec == oldSelf.spec", "a box stays as it is", forbidden=".spec"),)
    spec: ToySpec


def test_rules_may_be_about_a_whole_object_and_name_a_field_as_forbidden() -> None:
    (rule,) = crd.schema_of(Box)["x-kubernetes-validations"]
    assert rule == {
        "rule": "self.spec == oldSelf.spec",
        "message": "a box stays as it is",
        "reason": "FieldValueForbidden",
        "fieldPath": ".spec",
    }


def test_a_default_is_plain_text_also_where_it_is_a_choice() -> None:
    default = version()["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["shape"]["default"]
    assert type(default) is str


def test_the_first_paragraph_is_for_users() -> None:
    assert version()["schema"]["openAPIV3Schema"]["description"] == "Something to play with."


def test_labels_of_a_kind_and_its_family_stand_on_its_definition() -> None:
    labels = {"example.org/part-of": "toys", "example.org/contract": "v1"}
    assert crd.definition(Toy)["metadata"]["labels"] == labels


def test_status_is_a_part_of_its_own_and_has_no_defaults() -> None:
    status = version()["schema"]["openAPIV3Schema"]["properties"]["status"]
    assert version()["subresources"]["status"] == {}
    assert [name for name, node in status["properties"].items() if "default" in node] == []
    (alone,) = crd.definition(Catalogue)["spec"]["versions"]
    assert "subresources" not in alone


def test_conditions_are_told_apart_by_type() -> None:
    conditions = version()["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["conditions"]
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    assert set(conditions["items"]["required"]) == {"type", "status", "reason", "message", "lastTransitionTime"}


def test_a_kind_that_can_be_scaled_says_where() -> None:
    assert version()["subresources"]["scale"] == {
        "specReplicasPath": ".spec.wheels",
        "statusReplicasPath": ".status.wheels",
    }


def test_kubectl_is_told_which_columns_to_show() -> None:
    assert version()["additionalPrinterColumns"] == [
        {"name": "Maker", "type": "string", "jsonPath": ".spec.maker"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]


UNUSED = remark("Nobody reads it.")


class Inside(Model):
    """What is inside."""

    size: int = 1
    """How large."""


class RemarkedSpec(Model):
    """What is wanted."""

    plain: Inside | None = None
    """As it is."""
    unused: Annotated[Inside | None, UNUSED] = None
    """Not so."""
    several: Annotated[tuple[Inside, ...], UNUSED] = ()
    by_name: Annotated[Mapping[str, str], UNUSED] = {}
    """Names."""


class Remarked(Resource, plural="remarkeds", group="example.org", version="v1"):
    """Some of it is used."""

    spec: RemarkedSpec = RemarkedSpec()


class Ignored(Resource, plural="ignoreds", group="example.org", version="v1"):
    """None of it is used."""

    spec: Annotated[RemarkedSpec, UNUSED] = RemarkedSpec()


def test_a_remark_stands_behind_the_description_of_a_field_and_of_all_in_it() -> None:
    fields = crd.schema_of(Remarked)["properties"]["spec"]["properties"]
    assert fields["plain"]["description"] == "As it is."
    assert fields["plain"]["properties"]["size"]["description"] == "How large."
    assert fields["unused"]["description"] == "Not so. Nobody reads it."
    assert fields["unused"]["properties"]["size"]["description"] == "How large. Nobody reads it."
    assert fields["several"]["items"]["properties"]["size"]["description"] == "How large. Nobody reads it."
    assert fields["byName"]["description"] == "Names. Nobody reads it."
    assert fields["byName"]["additionalProperties"] == {"type": "string"}


def test_a_remark_on_the_spec_is_one_on_the_kind() -> None:
    schema = crd.schema_of(Ignored)
    assert schema["description"] == "None of it is used. Nobody reads it."
    fields = schema["properties"]["spec"]["properties"]
    assert fields["unused"]["properties"]["size"]["description"] == "How large. Nobody reads it."
