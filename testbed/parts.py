"""What the testbed consists of: the programs that are built, and the manifests that are taken out of modules.

Versions stand in the `go.mod` of each folder here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

KUBERNETES = "k8s.io/kubernetes"
CLUSTER_API = "sigs.k8s.io/cluster-api"
_KUBERNETES_VERSION = "k8s.io/component-base/version"
_CLUSTER_API_VERSION = "sigs.k8s.io/cluster-api/version"


@dataclass(frozen=True)
class Program:
    """Something that is built."""

    name: str
    folder: str
    """The Go module here that pins it."""
    package: str
    module: str = ""
    """The module whose version the program shall say it has."""
    version_package: str = ""
    """Where it keeps that version. Without one Kubernetes says 0.0.0, which kubectl and Cluster API refuse."""
    is_test: bool = False
    """A test binary rather than a main package."""
    is_usual: bool = True
    """Needed by `make test-real`; the others are built by name."""


def _of_kubernetes(name: str, is_usual: bool = True) -> Program:
    return Program(
        name, "kubernetes", f"{KUBERNETES}/cmd/{name}", KUBERNETES, _KUBERNETES_VERSION, is_usual=is_usual
    )  # fmt: skip


def _of_cluster_api(name: str, package: str) -> Program:
    return Program(name, "cluster-api", package, CLUSTER_API, _CLUSTER_API_VERSION)


PROGRAMS = (
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    _of_kubernetes("kube-apiserver"),
    _of_kubernetes("kube-controller-manager"),
    _of_cluster_api("cluster-api", CLUSTER_API),
    _of_cluster_api("kubeadm-bootstrap", f"{CLUSTER_API}/bootstrap/kubeadm"),
    _of_cluster_api("kubeadm-control-plane", f"{CLUSTER_API}/controlplane/kubeadm"),
    _of_cluster_api("in-memory", f"{CLUSTER_API}/test/infrastructure/docker"),
    Program("kamaji", "kamaji", "github.com/clastix/kamaji"),
    Program("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    _of_kubernetes("kube-scheduler", is_usual=False),
    Program(
        "e2e.test",
        "kubernetes",
        f"{KUBERNETES}/test/e2e",
        KUBERNETES,
        _KUBERNETES_VERSION,
        is_test=True,
        is_usual=False,
    ),
    Program("helm", "helm", "helm.sh/helm/v4/cmd/helm"),
    Program("source-controller", "flux", "github.com/fluxcd/source-controller"),
)

_BASES = "config/crd/bases"


@dataclass(frozen=True)
class Manifests:
    """Files taken out of a module."""

    name: str
    folder: str
    """The Go module here that pins it."""
    module: str
    """Empty when the files are written here."""
    paths: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({"crds": _BASES}))
    """Where files go → the file, or the folder of YAML files, they are in."""
    contracts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Version of the Cluster API contract → the versions of these kinds that follow it. The files lack these labels,
    because kustomize adds them when a provider is released."""


def _part_of_cluster_api(name: str, at: str, module: str = CLUSTER_API, *, has_contract: bool = True) -> Manifests:
    paths = {"crds": f"{at}{_BASES}", "webhooks.yaml": f"{at}config/webhook/manifests.yaml"}
    contracts = {"v1beta1": "v1beta1", "v1beta2": "v1beta2"} if has_contract else {}
    return Manifests(name, "cluster-api", module, paths, contracts)


def _provider(name: str, module: str, **contracts: str) -> Manifests:
    return Manifests(name, "crds", module, contracts=contracts)


MANIFESTS = (
    # The kinds of the core carry no contract; its managers look for the label on those of all others.
    _part_of_cluster_api("cluster-api", "", has_contract=False),
    _part_of_cluster_api("kubeadm-bootstrap", "bootstrap/kubeadm/"),
    _part_of_cluster_api("kubeadm-control-plane", "controlplane/kubeadm/"),
    _part_of_cluster_api("in-memory", "infrastructure/docker/", f"{CLUSTER_API}/test"),
    Manifests("kamaji", "kamaji", "github.com/clastix/kamaji", {"crds": "charts/kamaji/crds"}),
    Manifests(
        "kwok",
        "kwok",
        "sigs.k8s.io/kwok",
        {
            "crds": "kustomize/crd/bases",
            "stages/node": "kustomize/stage/node/fast",
            "stages/heartbeat": "kustomize/stage/node/heartbeat-with-lease",
            "stages/pod": "kustomize/stage/pod/fast",
        },
    ),
    Manifests("source-controller", "flux", "github.com/fluxcd/source-controller"),
    Manifests("cert-manager", "crds", "github.com/cert-manager/cert-manager", {"crds": "deploy/crds"}),
    _provider(
        "kamaji-control-plane", "github.com/clastix/cluster-api-control-plane-provider-kamaji", v1beta2="v1alpha2"
    ),
    _provider("aws", "sigs.k8s.io/cluster-api-provider-aws/v2", v1beta1="v1beta1_v1beta2"),
    _provider("azure", "sigs.k8s.io/cluster-api-provider-azure", v1beta1="v1beta1"),
    _provider("gcp", "sigs.k8s.io/cluster-api-provider-gcp", v1beta1="v1beta1"),
    _provider("kubevirt", "sigs.k8s.io/cluster-api-provider-kubevirt", v1beta1="v1alpha1"),
    _provider("nutanix", "github.com/nutanix-cloud-native/cluster-api-provider-nutanix", v1beta1="v1beta1"),
    _provider("proxmox", "github.com/ionos-cloud/cluster-api-provider-proxmox", v1beta1="v1alpha2", v1beta2="v1alpha2"),
    _provider("talos-bootstrap", "github.com/siderolabs/cluster-api-bootstrap-provider-talos", v1beta1="v1alpha3"),
    Manifests("harvester", "crds", "", {"crds": "harvester"}, {"v1beta1": "v1alpha1", "v1beta2": "v1alpha1"}),
    _provider("in-cluster-ipam", "sigs.k8s.io/cluster-api-ipam-provider-in-cluster"),
)
