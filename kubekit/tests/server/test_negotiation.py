"""What an Accept header gets."""

from __future__ import annotations

import pytest

from kubekit.errors import NotAcceptable
from kubekit.server.kinds.documents.negotiation import (
    Form,
    Representation,
    negotiate,
    negotiate_discovery,
    wants_pretty,
)

TABLES = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)


@pytest.mark.parametrize(
    ("accept", "representation"),
    [
        (None, Representation()),
        ("", Representation()),
        ("*/*", Representation()),
        ("application/json", Representation()),
        ("application/json; charset=utf-8", Representation()),
        ("application/vnd.kubernetes.protobuf,application/json", Representation()),
        ("application/vnd.kubernetes.protobuf, */*", Representation()),
        ("text/html,*/*;q=0.8", Representation()),
        ("application/yaml", Representation(is_yaml=True)),
        ("application/json;q=0.3, application/yaml", Representation(is_yaml=True)),
        ("*/*, application/yaml", Representation(is_yaml=True)),
        ("application/json;pretty=1", Representation(pretty=True)),
        (TABLES, Representation(Form.TABLE, "v1")),
        ("application/yaml;as=Table;v=v1;g=meta.k8s.io", Representation(Form.TABLE, "v1", is_yaml=True)),
        ("application/json;as=Table;v=v9;g=meta.k8s.io,application/json", Representation()),
        ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", Representation(Form.PARTIAL, "v1")),
        (
            (
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
            ),
            Representation(Form.PARTIAL_LIST, "v1", is_protobuf=True),
        ),
        ("application/vnd.kubernetes.protobuf", Representation(is_protobuf=True)),
    ],
)
def test_the_best_offer_wins(accept: str | None, representation: Representation) -> None:
    assert negotiate(accept) == representation


@pytest.mark.parametrize("accept", ["text/plain", "application/cbor", "application/*"])
def test_a_type_no_built_in_resource_has_is_refused(accept: str) -> None:
    with pytest.raises(NotAcceptable) as caught:
        negotiate(accept)
    assert caught.value.message == (
        "406: Not Acceptable\n\nAvailable representations: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )


def test_a_transformation_nobody_knows_is_refused() -> None:
    with pytest.raises(NotAcceptable) as caught:
        negotiate("application/json;as=Table;v=v2;g=meta.k8s.io")
    assert caught.value.message == (
        "only the following media types are accepted: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )


def test_custom_resources_take_any_application_type() -> None:
    assert negotiate("application/*", is_custom=True) == Representation()
    with pytest.raises(NotAcceptable, match="only the following media types are accepted"):
        negotiate("text/plain", is_custom=True)


def test_discovery_is_aggregated_for_those_who_ask() -> None:
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    chosen = negotiate_discovery(accept)
    assert chosen.form is Form.DISCOVERY
    assert chosen.content_type == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def test_the_removed_beta_of_aggregated_discovery_falls_back_to_the_plain_list() -> None:
    beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
    assert negotiate_discovery(f"{beta},application/json").form is Form.FULL
    with pytest.raises(NotAcceptable):
        negotiate_discovery(beta)


@pytest.mark.parametrize(
    ("query", "agent", "pretty"),
    [
        ("true", "x", True),
        ("false", "curl/8", False),
        (None, "curl/8", True),
        (None, "kubectl/v1", False),
        (None, None, False),
    ],
)
def test_people_get_indented_output(query: str | None, agent: str | None, pretty: bool) -> None:
    assert wants_pretty(query, agent) is pretty
