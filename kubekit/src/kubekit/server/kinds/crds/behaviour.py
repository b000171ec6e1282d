"""What the kind CustomResourceDefinition does beyond its schema."""

from __future__ import annotations

from kubekit.errors import FieldError, go_quoted
from kubekit.model.resource import Object

from ..builtin.go_shape import shape_of
from . import life, schemas, validation

_DEFINITION = "apiextensions.v1.CustomResourceDefinition"


class CrdBehaviour:
    """The Behaviour of CustomResourceDefinition."""

    def default(self, obj: Object) -> None:
        shape_of(_DEFINITION).apply(obj)
        life.default_crd(obj)

    def prepare_create(self, obj: Object) -> None:
        life.prepare_create(obj)

    def prepare_update(self, obj: Object, old: Object) -> None:
        life.prepare_update(obj, old)

    def settle(self, obj: Object) -> bool:
        return shape_of(_DEFINITION).settle(obj)

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        odd = schemas.odd_formats(obj["spec"]) if old is None else ()
        return [f"unrecognized format {go_quoted(one)}" for one in odd]

    def validate(self, obj: Object) -> list[FieldError]:
        return validation.validate_crd(obj)

    def validate_update(self, obj: Object, old: Object, part: str = "") -> list[FieldError]:
        return validation.validate_crd_update(obj, old)
