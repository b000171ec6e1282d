"""Bodies that are nested deep: refused, in whatever form and wherever they come in, and the server goes on."""

from __future__ import annotations

import pytest

from kubekit.client import kubeconfig
from kubekit.errors import InvalidConfiguration
from testbed.running.embedded import Kubectl, ServerProcess
from tests.http_api import Api
from tests.server.wire import APPLY, JSON, JSON_PATCH, MAPS, MERGE_PATCH, STRATEGIC_PATCH, YAML

LEVELS = 30_000


def nested(form: str, levels: int = LEVELS) -> bytes:
    """A ConfigMap whose data is nested in one of the ways YAML and JSON have."""
    match form:
        case "flow lists":
            inner = "[" * levels + "]" * levels
        case "flow maps":
            inner = "{a: " * levels + "1" + "}" * levels
        case "open lists":
            inner = "[" * levels
        case "compact lists":
            inner = "\n" + "- " * levels + "a"
        case "compact keys":
            inner = "\n" + "? " * levels + "a"
        case "indented maps":
            inner = "\n" + "\n".join(f"{' ' * number}a:" for number in range(1, min(levels, 1_000)))
        case "tagged lists":
            inner = "!!seq [" * levels + "]" * levels
        case _:
            raise AssertionError(form)
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: deep}}\ndata: {inner}\n".encode()


FORMS = ("flow lists", "flow maps", "open lists", "compact lists", "compact keys", "indented maps", "tagged lists")
DEEP_JSON = b'{"metadata":{"name":"deep"},"data":' + b'{"a":' * LEVELS + b"1" + b"}" * LEVELS + b"}"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("method", "path", "content_type"),
    [
        ("POST", MAPS, YAML),
        ("PUT", f"{MAPS}/kube-root-ca.crt", YAML),
        ("PATCH", f"{MAPS}/deep?fieldManager=me", APPLY),
        ("DELETE", f"{MAPS}/kube-root-ca.crt", YAML),
        ("POST", f"{MAPS}?fieldValidation=Strict", YAML),
    ],
)
async def test_deep_yaml_is_refused(api: Api, form: str, method: str, path: str, content_type: str) -> None:
    answer = await api(method, path, nested(form), content_type)
    assert answer.status in (400, 422), answer.body
    assert (await api("GET", MAPS)).status == 200


@pytest.mark.parametrize("content_type", [JSON, MERGE_PATCH, STRATEGIC_PATCH, JSON_PATCH, APPLY])
async def test_deep_json_is_refused(api: Api, content_type: str) -> None:
    method, path = ("POST", MAPS) if content_type == JSON else ("PATCH", f"{MAPS}/kube-root-ca.crt?fieldManager=me")
    body = b'[{"op":"add","path":"/data/a","value":%b}]' % DEEP_JSON if content_type == JSON_PATCH else DEEP_JSON
    answer = await api(method, path, body, content_type)
    assert 400 <= answer.status < 500, answer.body
    assert (await api("GET", MAPS)).status == 200


async def test_what_is_long_but_not_deep_is_taken(api: Api) -> None:
    text = (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: long}}\ndata: {{text: {'[{ ' * 500!r}, b: {'x' * 9000}}}\n"
    )
    assert (await api("POST", MAPS, text.encode(), YAML)).status == 201


def test_a_server_process_survives_it(server_process: ServerProcess, kubectl: Kubectl) -> None:
    body = nested("compact lists").decode()
    refused = kubectl("create", "--raw", MAPS, "-f", "-", stdin=body, fails=True)
    assert refused.err
    assert server_process.process.poll() is None
    kubectl("get", "namespaces")


@pytest.mark.parametrize("form", FORMS)
def test_a_deep_kubeconfig_is_refused(form: str) -> None:
    with pytest.raises(InvalidConfiguration):
        kubeconfig.self_contained(nested(form), "kubeconfig")
