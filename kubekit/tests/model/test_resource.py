"""What the base classes promise to every kind."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
import pytest

from kubekit.model.resource import Address, Model, ObjectMeta, Resource, wire_name
from kubekit.model.status import Condition, Status


class Mood(StrEnum):
    CALM = "Calm"
    WILD = "Wild"


class DogSpec(Model):
    """A dog."""

    barks: bool = True
    mood: Mood = Mood.CALM
    legs: int = 4
    name: str = ""


class DogStatus(Status):
    """What is known of a dog."""

    fleas: int | None = None
    mood: Mood | None = None


class Dog(Resource, plural="dogs", group="pets.example.com", version="v1"):
    """A pet."""

    spec: DogSpec = DogSpec()
    status: DogStatus = DogStatus()


class Cat(Resource, plural="cats", group="pets.example.com", version="v1", namespaced=False):
    """Another."""


def written(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("pod_cidr", "podCIDR"),
        ("available_ips", "availableIPs"),
        ("memory_mb", "memoryMB"),
        ("metal_lb_pool", "metalLBPool"),
        ("lb_pool_size", "lbPoolSize"),
        ("ip_address", "ipAddress"),
        ("default_cpu_per_node", "defaultCPUPerNode"),
    ],
)
def test_names_on_the_wire_follow_kubernetes(name: str, wire: str) -> None:
    assert wire_name(name) == wire


def test_an_object_always_says_what_it_is() -> None:
    assert written(Cat(metadata=ObjectMeta(name="a"))) == {
        "kind": "Cat", "apiVersion": "pets.example.com/v1", "metadata": {"name": "a"},
    }  # fmt: skip


def test_an_object_of_another_kind_is_not_read_by_mistake() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"kind":"Cat","metadata":{"name":"a"}}', type=Dog)


def test_an_object_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Dog().metadata = ObjectMeta(name="other")  # type: ignore[misc]


def test_a_class_knows_its_address() -> None:
    assert Dog.address == Address("pets.example.com", "v1", "Dog", "dogs", True)
    assert (Dog.address.api_version, Dog.address.name) == ("pets.example.com/v1", "dogs.pets.example.com")


def test_a_kind_without_a_group_is_refused() -> None:
    with pytest.raises(TypeError, match="a kind needs a group and a version"):

        class Stray(Resource, plural="strays"):
            """Nobody's."""


def test_the_key_of_an_object_is_its_namespace_and_name() -> None:
    assert Dog(metadata=ObjectMeta(name="a", namespace="b")).key == "b/a"
    assert Cat(metadata=ObjectMeta(name="a")).key == "a"


def test_an_explicit_false_survives_a_default_of_true() -> None:
    assert written(msgspec.json.decode(b'{"barks":false}', type=DogSpec))["barks"] is False


def test_a_default_is_written_and_an_absence_is_not() -> None:
    assert written(DogSpec()) == {"barks": True, "mood": "Calm", "legs": 4}
    assert msgspec.json.encode(DogStatus()) == b"{}"


def test_a_count_of_zero_is_written() -> None:
    assert msgspec.json.encode(DogStatus(fleas=0)) == b'{"fleas":0}'


def test_an_empty_condition_message_is_written_because_the_schema_requires_it() -> None:
    condition = Condition(type="Ready", status="True", reason="Ready")
    assert b'"message":""' in msgspec.json.encode(condition)


def test_a_choice_is_its_text() -> None:
    read = msgspec.json.decode(b'{"mood":"Wild"}', type=DogStatus)
    assert read.mood == "Wild"
    assert read.mood is Mood.WILD
    assert (f"{read.mood}", written(read)) == ("Wild", {"mood": "Wild"})
