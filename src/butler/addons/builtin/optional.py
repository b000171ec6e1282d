"""What else people choose: backups, GitOps, secrets, names, meshes, databases, messages."""

from __future__ import annotations

from .entry import COUNT, FLAG, LIST, MAP, TEXT, TEXTS, Entry, fields

_BITNAMI = "oci://registry-1.docker.io/bitnamicharts"
_ISTIO = "https://istio-release.storage.googleapis.com/charts"
_LINKERD = "https://helm.linkerd.io/stable"

ENTRIES = (
    Entry(
        "velero", "Velero", "backup", "12.1.0", "https://vmware-tanzu.github.io/helm-charts",
        "Backs up objects and volumes, and restores them. Where to is for its values to say.",
        also=("8.1.0",),
        documentation="https://velero.io/docs", source="https://github.com/vmware-tanzu/helm-charts",
        # Until somebody says where backups go.
        values={"backupsEnabled": False, "snapshotsEnabled": False},
        schema=fields(
            backupsEnabled=FLAG, snapshotsEnabled=FLAG, deployNodeAgent=FLAG, initContainers=LIST, schedules=MAP,
            configuration=fields(backupStorageLocation=LIST, volumeSnapshotLocation=LIST),
            credentials=fields(useSecret=FLAG, existingSecret=TEXT),
        ),
    ),
    Entry(
        "flux", "Flux", "gitops", "2.18.3", "https://fluxcd-community.github.io/helm-charts",
        "Keeps a cluster as a Git repository says.",
        chart="flux2", namespace="flux-system", tier="infrastructure", also=("2.14.1",),
        documentation="https://fluxcd.io/flux", source="https://github.com/fluxcd-community/helm-charts",
        schema=fields(installCRDs=FLAG, multitenancy=fields(enabled=FLAG), watchAllNamespaces=FLAG),
    ),
    Entry(
        "argocd", "Argo CD", "gitops", "10.1.1", "https://argoproj.github.io/argo-helm",
        "Keeps applications as Git repositories say, with a console.",
        chart="argo-cd", also=("7.7.5",),
        documentation="https://argo-cd.readthedocs.io", source="https://github.com/argoproj/argo-helm",
        schema=fields(
            crds=fields(install=FLAG, keep=FLAG), configs=MAP, server=MAP, controller=MAP,
            dex=fields(enabled=FLAG), notifications=fields(enabled=FLAG), applicationSet=MAP,
        ),
    ),
    Entry(
        "external-secrets", "External Secrets", "security", "2.0.0", "https://charts.external-secrets.io",
        "Brings Secrets from vaults into the cluster.",
        tier="infrastructure", also=("0.12.1",),
        documentation="https://external-secrets.io", source="https://github.com/external-secrets/external-secrets",
        schema=fields(installCRDs=FLAG, replicaCount=COUNT, webhook=MAP, certController=MAP),
    ),
    Entry(
        "sealed-secrets", "Sealed Secrets", "security", "2.18.6", "https://bitnami-labs.github.io/sealed-secrets",
        "Secrets that are safe to keep in Git.",
        namespace="kube-system", tier="infrastructure", also=("2.16.2",),
        documentation="https://github.com/bitnami-labs/sealed-secrets",
        source="https://github.com/bitnami-labs/sealed-secrets",
        # Where its own program looks for it.
        values={"fullnameOverride": "sealed-secrets-controller"},
        schema=fields(fullnameOverride=TEXT, keyrenewperiod=TEXT, resources=MAP),
    ),
    Entry(
        "external-dns", "ExternalDNS", "dns", "1.21.1", "https://kubernetes-sigs.github.io/external-dns/",
        "Names for Services and Ingresses at your DNS provider.",
        tier="infrastructure", also=("1.15.0",),
        documentation="https://kubernetes-sigs.github.io/external-dns",
        source="https://github.com/kubernetes-sigs/external-dns",
        # Two clusters with one owner would remove each other's names.
        values={"registry": "txt", "txtOwnerId": "$(cluster.namespace)-$(cluster.name)", "policy": "upsert-only"},
        schema=fields(
            provider=fields(name=TEXT), policy={"enum": ["sync", "upsert-only", "create-only"]},
            registry=TEXT, txtOwnerId=TEXT, domainFilters=TEXTS, sources=TEXTS, env=LIST,
        ),
    ),
    Entry(
        "cluster-autoscaler", "Cluster autoscaler", "other", "9.59.0", "https://kubernetes.github.io/autoscaler",
        "Scales pools of workers between their bounds. It runs in the management cluster, once for each tenant: its"
        " values say for which.",
        tier="infrastructure",
        documentation="https://github.com/kubernetes/autoscaler/tree/master/cluster-autoscaler",
        source="https://github.com/kubernetes/autoscaler",
        values={"cloudProvider": "clusterapi", "clusterAPIMode": "kubeconfig-incluster"},
        schema=fields(
            cloudProvider=TEXT, clusterAPIMode=TEXT, clusterAPIKubeconfigSecret=TEXT,
            autoDiscovery=fields(clusterName=TEXT, namespace=TEXT, labels=LIST),
        ),
    ),
    Entry(
        "istio-base", "Istio definitions", "service-mesh", "1.30.0", _ISTIO,
        "The kinds that Istio brings along.",
        chart="base", namespace="istio-system", tier="infrastructure", also=("1.24.2",),
        documentation="https://istio.io/latest/docs", source="https://github.com/istio/istio",
        schema=fields(defaultRevision=TEXT),
    ),
    Entry(
        "istio", "Istio", "service-mesh", "1.30.0", _ISTIO,
        "Encrypts, routes and observes traffic between services.",
        chart="istiod", namespace="istio-system", depends_on=("istio-base",), conflicts=("linkerd",),
        tier="infrastructure", also=("1.24.2",),
        documentation="https://istio.io/latest/docs", source="https://github.com/istio/istio",
        schema=fields(meshConfig=MAP, pilot=MAP, profile=TEXT),
    ),
    Entry(
        "linkerd-crds", "Linkerd definitions", "service-mesh", "1.8.0", _LINKERD,
        "The kinds that Linkerd brings along.",
        namespace="linkerd", tier="infrastructure",
        documentation="https://linkerd.io/docs", source="https://github.com/linkerd/linkerd2",
    ),
    Entry(
        "linkerd", "Linkerd", "service-mesh", "1.16.11", _LINKERD,
        "A small service mesh: encryption, retries and metrics. Certificates for it have to be in its values.",
        chart="linkerd-control-plane", depends_on=("linkerd-crds",), conflicts=("istio",), tier="infrastructure",
        documentation="https://linkerd.io/docs", source="https://github.com/linkerd/linkerd2",
        schema={
            **fields(identityTrustAnchorsPEM=TEXT, identity=MAP, controllerReplicas=COUNT),
            "required": ["identityTrustAnchorsPEM", "identity"],
        },
    ),
    Entry(
        "cnpg", "CloudNativePG", "database", "0.28.3", "https://cloudnative-pg.github.io/charts",
        "PostgreSQL clusters with failover and backups.",
        chart="cloudnative-pg", namespace="cnpg-system", tier="infrastructure", also=("0.22.1",),
        documentation="https://cloudnative-pg.io/documentation", source="https://github.com/cloudnative-pg/charts",
        schema=fields(replicaCount=COUNT, crds=fields(create=FLAG), config=MAP),
    ),
    Entry(
        "redis", "Redis", "database", "20.6.0", _BITNAMI,
        "An in-memory store and cache. Its images are those that are no longer renewed: choose others for production.",
        documentation="https://github.com/bitnami/charts/tree/main/bitnami/redis",
        source="https://github.com/bitnami/charts",
        # The images of this release have moved.
        values={"global": {"security": {"allowInsecureImages": True}}, "image": {"repository": "bitnamilegacy/redis"}},
        schema=fields(
            architecture={"enum": ["standalone", "replication"]}, auth=MAP, image=fields(repository=TEXT, tag=TEXT),
            master=MAP, replica=MAP,
        ),
    ),
    Entry(
        "nats", "NATS", "messaging", "1.2.9", "https://nats-io.github.io/k8s/helm/charts",
        "Lightweight messages and streams.",
        also=("1.2.7",),
        documentation="https://docs.nats.io", source="https://github.com/nats-io/k8s",
        schema=fields(config=MAP, container=MAP, natsBox=fields(enabled=FLAG)),
    ),
    Entry(
        "rabbitmq", "RabbitMQ", "messaging", "15.1.3", _BITNAMI,
        "A message broker with queues. Its images are those that are no longer renewed: choose others for production.",
        documentation="https://github.com/bitnami/charts/tree/main/bitnami/rabbitmq",
        source="https://github.com/bitnami/charts",
        values={
            "global": {"security": {"allowInsecureImages": True}},
            "image": {"repository": "bitnamilegacy/rabbitmq"},
        },
        schema=fields(auth=MAP, replicaCount=COUNT, image=fields(repository=TEXT, tag=TEXT), persistence=MAP),
    ),
)  # fmt: skip
