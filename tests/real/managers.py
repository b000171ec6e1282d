"""Other people's controllers, started on an API server as their releases would start them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from testbed import places
from testbed.running.certificates import Authority
from testbed.running.embedded import kubectl_for
from testbed.running.processes import Running, eventually, free_port, program, running, until_ready
from testbed.running.servers import Cluster, etcd_on

Json = dict[str, Any]

CLUSTER_API = ("cluster-api", "kubeadm-bootstrap", "kubeadm-control-plane", "in-memory")
KAMAJI_NAMESPACE = "kamaji-system"


@contextmanager
def cluster_api(cluster: Cluster) -> Iterator[list[Running]]:
    """Cluster API's managers and the provider that keeps machines in memory, with all their webhooks.

    Only one at a time fits on a machine, because that provider listens on fixed ports."""
    authority = Authority()
    authority.issue("webhooks").write(cluster.folder, "tls")
    ports = {name: free_port() for name in CLUSTER_API}
    clients = {name: _Clients(f"https://127.0.0.1:{port}", authority.bundle) for name, port in ports.items()}
    definitions = [one for name in CLUSTER_API for one in _with_conversion(manifests(name, "crds"), clients[name])]
    hooks = [one for name in CLUSTER_API for one in _named(name, clients[name].reach(_webhooks(name)))]
    with ExitStack() as stack:
        stack.enter_context(installed(cluster, [*definitions, *hooks]))
        _establish(cluster, definitions)
        started = [stack.enter_context(_manager(cluster, name, port)) for name, port in ports.items()]
        for one, health in started:
            until_ready(one, f"http://127.0.0.1:{health}/readyz")
        yield [one for one, _ in started]
        _remove_kinds(cluster, definitions)


@contextmanager
def kamaji(cluster: Cluster) -> Iterator[Running]:
    """Kamaji with a DataStore `default`, an etcd that asks for certificates. It listens on a fixed port."""
    authority, folder = Authority(), cluster.folder / "kamaji"
    authority.pair.write(folder, "ca")
    server, client = authority.issue("etcd"), authority.issue("root")
    server.write(folder, "server")
    # controller-runtime looks for its certificate in the temporary directory.
    server.write(folder / "k8s-webhook-server" / "serving-certs", "tls")
    security = [f"--cert-file={folder}/server.crt", f"--key-file={folder}/server.key"]
    security += [f"--trusted-ca-file={folder}/ca.crt", "--client-cert-auth"]
    secrets = {
        "etcd-authority": {"ca.crt": authority.pair.certificate, "ca.key": authority.pair.key},
        "etcd-client": {"tls.crt": client.certificate, "tls.key": client.key},
    }
    definitions = manifests("kamaji", "crds")
    with ExitStack() as stack:
        etcd = stack.enter_context(etcd_on(folder, *security))
        needed = [namespace(KAMAJI_NAMESPACE), *(_secret(name, data) for name, data in secrets.items())]
        stack.enter_context(installed(cluster, [*definitions, *needed]))
        _establish(cluster, definitions)
        stack.enter_context(installed(cluster, [_data_store(etcd.removeprefix("https://"))]))
        yield stack.enter_context(_kamaji_manager(cluster, folder))
        _remove_kinds(cluster, definitions)


@contextmanager
def kwok(cluster: Cluster) -> Iterator[Running]:
    """kwok in charge of every node."""
    folder = cluster.folder / "kwok"
    folder.mkdir(exist_ok=True)
    stages = [one for kind in ("node", "heartbeat", "pod") for one in manifests("kwok", f"stages/{kind}")]
    (folder / "stages.yaml").write_text(yaml.safe_dump_all(stages))
    port = free_port()
    command = [
        program("kwok"),
        f"--kubeconfig={cluster.kubeconfig}",
        f"--config={folder}/stages.yaml",
        "--manage-all-nodes=true",
        f"--server-address=127.0.0.1:{port}",
    ]
    with running("kwok", command, folder, HOME=str(folder)) as started:
        until_ready(started, f"http://127.0.0.1:{port}/healthz")
        yield started


def manifests(name: str, part: str) -> list[Json]:
    """The objects in a file, or in a folder of files, that the testbed took out of a module."""
    place = places.where() / "manifests" / name / part
    if not place.exists():
        raise FileNotFoundError(f"{place} is missing; `make testbed` makes it")
    files = sorted(place.glob("*.yaml")) if place.is_dir() else [place]
    return [one for file in files for one in yaml.load_all(file.read_text(), yaml.CSafeLoader) if one]


@contextmanager
def installed(cluster: Cluster, objects: list[Json]) -> Iterator[None]:
    """These objects are there, until they no longer are."""
    kubectl_for(cluster.kubeconfig)("create", "-f", "-", stdin=listed(objects), timeout=120)
    try:
        yield
    finally:
        kubectl_for(cluster.kubeconfig)(
            "delete", "--ignore-not-found", "--wait=false", "-f", "-", stdin=listed(objects), timeout=120
        )


def _establish(cluster: Cluster, definitions: list[Json]) -> None:
    names = [one["metadata"]["name"] for one in definitions]
    kubectl_for(cluster.kubeconfig)("wait", "--for=condition=Established", "crd", *names, "--timeout=60s", timeout=90)


def _remove_kinds(cluster: Cluster, definitions: list[Json]) -> None:
    """While their controllers still run: what they hold on to nobody else could delete."""
    kubectl = kubectl_for(cluster.kubeconfig)
    names = [one["metadata"]["name"] for one in definitions]
    kubectl("delete", "crd", *names, "--wait=false", timeout=60)
    # A test that failed may have left what cannot go; it has already said so.
    with suppress(TimeoutError):
        eventually(lambda: not kubectl("get", "crd", *names, "--ignore-not-found").out, "kinds are gone", 30, pause=1)


def listed(objects: Iterable[Json]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


class _Clients:
    """How the API server reaches the webhooks of one manager."""

    def __init__(self, url: str, bundle: str) -> None:
        self._url, self._bundle = url, bundle

    def at(self, path: str) -> Json:
        return {"url": f"{self._url}{path}", "caBundle": self._bundle}

    def reach(self, configurations: list[Json]) -> list[Json]:
        for configuration in configurations:
            for hook in configuration["webhooks"]:
                hook["clientConfig"] = self.at(hook["clientConfig"]["service"]["path"])
        return configurations


def _with_conversion(definitions: list[Json], clients: _Clients) -> list[Json]:
    for definition in definitions:
        if len(definition["spec"]["versions"]) > 1:
            webhook = {"conversionReviewVersions": ["v1"], "clientConfig": clients.at("/convert")}
            definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return definitions


def _webhooks(name: str) -> list[Json]:
    return manifests(name, "webhooks.yaml")


def _named(name: str, configurations: list[Json]) -> list[Json]:
    """Every manager calls its configurations the same; a release puts its own name in front."""
    for configuration in configurations:
        configuration["metadata"]["name"] = f"{name}-{configuration['metadata']['name']}"
    return configurations


@contextmanager
def _manager(cluster: Cluster, name: str, webhook_port: int) -> Iterator[tuple[Running, int]]:
    """One that may not be ready yet, and the port where it says so."""
    health = free_port()
    command = [
        program(name),
        f"--kubeconfig={cluster.kubeconfig}",
        "--leader-elect=false",
        "--feature-gates=ClusterTopology=true",
        f"--webhook-port={webhook_port}",
        f"--webhook-cert-dir={cluster.folder}",
        f"--health-addr=127.0.0.1:{health}",
        f"--diagnostics-address=127.0.0.1:{free_port()}",
        "--insecure-diagnostics",
    ]
    with running(name, command, cluster.folder, POD_IP="127.0.0.1", POD_NAMESPACE="default") as started:
        yield started, health


@contextmanager
def _kamaji_manager(cluster: Cluster, folder: Path) -> Iterator[Running]:
    health = free_port()
    command = [
        program("kamaji"),
        "manager",
        "--leader-elect=false",
        "--datastore=default",
        "--disable-telemetry",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--metrics-bind-address=127.0.0.1:{free_port()}",
        f"--pod-namespace={KAMAJI_NAMESPACE}",
        "--serviceaccount-name=kamaji",
        "--webhook-service-name=kamaji",
        f"--webhook-ca-path={folder}/ca.crt",
        f"--tmp-directory={folder}/scratch",
    ]
    with running("kamaji", command, folder, KUBECONFIG=str(cluster.kubeconfig), TMPDIR=str(folder)) as started:
        until_ready(started, f"http://127.0.0.1:{health}/readyz")
        yield started


def namespace(name: str) -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _secret(name: str, data: dict[str, bytes]) -> Json:
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    metadata = {"name": name, "namespace": KAMAJI_NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}


def _data_store(endpoint: str) -> Json:
    def of(secret: str, key: str) -> Json:
        return {"secretReference": {"name": secret, "namespace": KAMAJI_NAMESPACE, "keyPath": key}}

    def pair(secret: str, name: str) -> Json:
        return {"certificate": of(secret, f"{name}.crt"), "privateKey": of(secret, f"{name}.key")}

    security = {"certificateAuthority": pair("etcd-authority", "ca"), "clientCertificate": pair("etcd-client", "tls")}
    return {
        "apiVersion": "kamaji.clastix.io/v1alpha1",
        "kind": "DataStore",
        "metadata": {"name": "default"},
        "spec": {"driver": "etcd", "endpoints": [endpoint], "tlsConfig": security},
    }


@contextmanager
def source_controller(cluster: Cluster) -> Iterator[Running]:
    """Flux's source-controller, which fetches charts and repositories."""
    folder, health, storage = cluster.folder / "source-controller", free_port(), free_port()
    definitions = manifests("source-controller", "crds")
    command = [
        program("source-controller"),
        "--enable-leader-election=false",
        "--watch-all-namespaces",
        f"--health-addr=127.0.0.1:{health}",
        f"--metrics-addr=127.0.0.1:{free_port()}",
        f"--storage-addr=127.0.0.1:{storage}",
        f"--storage-adv-addr=127.0.0.1:{storage}",
        f"--storage-path={folder}",
    ]
    environment = {"KUBECONFIG": str(cluster.kubeconfig), "RUNTIME_NAMESPACE": "default"}
    with installed(cluster, definitions):
        _establish(cluster, definitions)
        with running("source-controller", command, folder, **environment) as started:
            until_ready(started, f"http://127.0.0.1:{health}/readyz")
            yield started
            _remove_kinds(cluster, definitions)
