"""What every cluster has unless its author says otherwise, and what may take the place of it."""

from __future__ import annotations

from .entry import ANYWHERE, COUNT, EVERYWHERE, FLAG, MAP, NUMBER, OBJECTS, TEXT, TEXTS, Entry, fields, storage_class

NETWORK = "cilium"
POOL = "default-pool"
_POOL_KINDS = "metallb.io/v1beta1"
_LINSTOR_POOL = "thin"
_BALANCING = ("aws-cloud-controller-manager", "cloud-provider-azure", "gcp-cloud-controller-manager")
"""Cloud controllers that give Services their addresses."""

ENTRIES = (
    Entry(
        NETWORK, "Cilium", "cni", "1.20.0", "https://helm.cilium.io",
        "Pod networking, network policies and Services with eBPF, in place of kube-proxy.",
        namespace="kube-system", platform=True, for_nodes=True,
        also=("1.19.7", "1.18.13", "1.17.18", "1.17.0"),
        documentation="https://docs.cilium.io", source="https://github.com/cilium/cilium",
        values={
            "kubeProxyReplacement": True,
            # Before there is a network, no Service can be reached, that of the API server included.
            "k8sServiceHost": "$(cluster.endpoint.host)",
            "k8sServicePort": "$(cluster.endpoint.port)",
            # Does not wait for anybody to give nodes their pod networks.
            "ipam": {"mode": "cluster-pool", "operator": {"clusterPoolIPv4PodCIDRList": ["$(cluster.podCidr)"]}},
            "tolerations": EVERYWHERE,
            # No two of them on one node.
            "operator": {"replicas": "$(cluster.smallReplicas)", "tolerations": ANYWHERE},
        },
        schema=fields(
            kubeProxyReplacement=FLAG,
            k8sServiceHost=TEXT,
            k8sServicePort={"type": ["string", "integer"]},
            ipam=fields(
                mode={"enum": ["cluster-pool", "kubernetes", "multi-pool"]},
                operator=fields(
                    clusterPoolIPv4PodCIDRList=TEXTS,
                    clusterPoolIPv4MaskSize={"type": "integer", "minimum": 8, "maximum": 30},
                ),
            ),
            operator=fields(replicas=COUNT, tolerations=OBJECTS),
            hubble=fields(enabled=FLAG, relay=fields(enabled=FLAG), ui=fields(enabled=FLAG)),
            encryption=fields(enabled=FLAG, type={"enum": ["ipsec", "wireguard", "ztunnel"]}),
            gatewayAPI=fields(enabled=FLAG),
            routingMode={"enum": ["tunnel", "native"]},
            MTU=NUMBER,
        ),
    ),
    Entry(
        "cert-manager", "cert-manager", "certmanager", "v1.21.1", "https://charts.jetstack.io",
        "Issues certificates and renews them.",
        platform=True, also=("v1.16.2",),
        documentation="https://cert-manager.io/docs", source="https://github.com/cert-manager/cert-manager",
        values={"crds": {"enabled": True, "keep": True}},
        schema=fields(
            crds=fields(enabled=FLAG, keep=FLAG),
            replicaCount=COUNT,
            webhook=fields(replicaCount=COUNT),
            cainjector=fields(replicaCount=COUNT),
            extraArgs=TEXTS,
            prometheus=fields(enabled=FLAG),
        ),
    ),
    Entry(
        "longhorn", "Longhorn", "storage", "1.12.1", "https://charts.longhorn.io",
        "Replicated volumes on the disks of the workers, which need iscsid, and an NFSv4 client for shared ones."
        " Removing it fails until its values have defaultSettings.deletingConfirmationFlag: volumes go with it.",
        namespace="longhorn-system", platform=True, conflicts=("linstor",), timeout="15m",
        also=("1.7.2",),
        documentation="https://longhorn.io/docs", source="https://github.com/longhorn/longhorn",
        values={
            "persistence": {"defaultClass": True, "defaultClassReplicaCount": "$(cluster.storageReplicas)"},
            "defaultSettings": {"defaultReplicaCount": "$(cluster.storageReplicas)"},
            "csi": {
                "attacherReplicaCount": "$(cluster.smallReplicas)",
                "provisionerReplicaCount": "$(cluster.smallReplicas)",
                "resizerReplicaCount": "$(cluster.smallReplicas)",
                "snapshotterReplicaCount": "$(cluster.smallReplicas)",
            },
            "longhornUI": {"replicas": 1},
        },
        schema=fields(
            persistence=fields(
                defaultClass=FLAG,
                defaultClassReplicaCount={"type": "integer", "minimum": 1, "maximum": 20},
                reclaimPolicy={"enum": ["Delete", "Retain"]},
                defaultFsType=TEXT,
            ),
            # Plain values in some releases of the chart, and JSON texts in others.
            defaultSettings=fields(
                defaultReplicaCount={"type": ["integer", "string"]}, defaultDataPath=TEXT, backupTarget=TEXT,
                deletingConfirmationFlag={"type": ["boolean", "string"]},
            ),
            csi=MAP,
            longhornUI=fields(replicas=COUNT),
        ),
    ),
    Entry(
        "linstor", "LINSTOR", "storage", "2.9.0", "oci://ghcr.io/piraeusdatastore/piraeus-operator",
        "Volumes that DRBD replicates between workers, by the Piraeus operator; workers need kernel headers, or DRBD.",
        chart="piraeus", namespace="piraeus-datastore", conflicts=("longhorn",), timeout="15m",
        documentation="https://piraeus.io/docs", source="https://github.com/piraeusdatastore/piraeus-operator",
        values={"installCRDs": True},
        schema=fields(installCRDs=FLAG, operator=MAP),
        resources=(
            {"apiVersion": "piraeus.io/v1", "kind": "LinstorCluster", "metadata": {"name": "linstorcluster"}},
            {
                "apiVersion": "piraeus.io/v1",
                "kind": "LinstorSatelliteConfiguration",
                "metadata": {"name": "storage-pool"},
                "spec": {
                    "storagePools": [{"name": _LINSTOR_POOL, "fileThinPool": {"directory": "/var/lib/linstor-thin"}}]
                },
            },
            storage_class(
                "linstor", "linstor.csi.linbit.com",
                **{
                    "linstor.csi.linbit.com/storagePool": _LINSTOR_POOL,
                    "linstor.csi.linbit.com/placementCount": "$(cluster.placementCount)",
                },
            ),
        ),
    ),
    Entry(
        "metallb", "MetalLB", "loadbalancer", "0.16.1", "https://metallb.github.io/metallb",
        "Addresses for LoadBalancer Services where no cloud gives any, announced by ARP.",
        namespace="metallb-system", depends_on=(NETWORK,), platform=True,
        conflicts=(*_BALANCING, "kube-vip"),
        also=("0.14.9",),
        documentation="https://metallb.io", source="https://github.com/metallb/metallb",
        # Either of them is on by default, depending on the release, and ARP needs neither.
        values={"speaker": {"frr": {"enabled": False}}, "frrk8s": {"enabled": False}},
        schema=fields(
            speaker=fields(frr=fields(enabled=FLAG), tolerations=OBJECTS, ignoreExcludeLB=FLAG),
            frrk8s=fields(enabled=FLAG),
            controller=MAP,
            loadBalancerClass=TEXT,
        ),
        resources=(
            {
                "apiVersion": _POOL_KINDS,
                "kind": "IPAddressPool",
                "metadata": {"name": POOL, "namespace": "metallb-system"},
                "spec": {"addresses": "$(cluster.loadBalancer.addresses)"},
            },
            {
                "apiVersion": _POOL_KINDS,
                "kind": "L2Advertisement",
                "metadata": {"name": "default", "namespace": "metallb-system"},
                "spec": {"ipAddressPools": [POOL]},
            },
        ),
    ),
    Entry(
        "kube-vip", "kube-vip", "loadbalancer", "0.9.9", "https://kube-vip.github.io/helm-charts",
        "Another way to announce addresses of LoadBalancer Services; which ones is for its values to say.",
        namespace="kube-system", depends_on=(NETWORK,),
        conflicts=(*_BALANCING, "metallb"),
        documentation="https://kube-vip.io", source="https://github.com/kube-vip/kube-vip",
        values={
            "env": {"cp_enable": "false", "svc_enable": "true", "svc_election": "true", "vip_leaderelection": "false"},
            "affinity": {"nodeAffinity": None},
            "tolerations": EVERYWHERE,
        },
        schema=fields(env={"type": "object", "additionalProperties": TEXT}, tolerations=OBJECTS),
    ),
    Entry(
        "traefik", "Traefik", "ingress", "41.3.0", "https://traefik.github.io/charts",
        "Brings HTTP from outside to Services.",
        depends_on=(NETWORK,), platform=True, also=("34.3.0",),
        documentation="https://doc.traefik.io/traefik", source="https://github.com/traefik/traefik-helm-chart",
        values={
            "ingressClass": {"enabled": True, "isDefaultClass": True},
            # Nothing waits for an address that nobody will give.
            "service": {"type": "$(cluster.serviceType)"},
        },
        schema=fields(
            deployment=fields(replicas=COUNT, kind={"enum": ["Deployment", "DaemonSet"]}),
            ingressClass=fields(enabled=FLAG, isDefaultClass=FLAG, name=TEXT),
            service=fields(enabled=FLAG, type={"enum": ["LoadBalancer", "NodePort", "ClusterIP"]}),
            additionalArguments=TEXTS,
            ports=MAP,
        ),
    ),
    Entry(
        "nginx", "Ingress NGINX", "ingress", "4.14.1", "https://kubernetes.github.io/ingress-nginx",
        "Brings HTTP from outside to Services, by NGINX. Its makers have retired it: choose another.",
        chart="ingress-nginx", namespace="ingress-nginx", depends_on=(NETWORK,),
        documentation="https://kubernetes.github.io/ingress-nginx", source="https://github.com/kubernetes/ingress-nginx",
        values={
            "controller": {
                "ingressClassResource": {"default": True},
                "service": {"type": "$(cluster.serviceType)"},
            }
        },
        schema=fields(
            controller=fields(
                replicaCount=COUNT,
                kind={"enum": ["Deployment", "DaemonSet"]},
                ingressClassResource=fields(default=FLAG, name=TEXT),
                service=fields(type={"enum": ["LoadBalancer", "NodePort", "ClusterIP"]}),
                config=MAP,
            ),
            tcp=MAP,
            udp=MAP,
        ),
    ),
    Entry(
        "metrics-server", "Metrics Server", "observability", "3.13.1",
        "https://kubernetes-sigs.github.io/metrics-server",
        "CPU and memory figures for autoscaling and for people.",
        namespace="kube-system", depends_on=(NETWORK,), platform=True, also=("3.12.2",),
        documentation="https://kubernetes-sigs.github.io/metrics-server",
        source="https://github.com/kubernetes-sigs/metrics-server",
        # Kubelets of workers sign their certificates themselves.
        values={"args": ["--kubelet-insecure-tls"]},
        schema=fields(args=TEXTS, replicas=COUNT, apiService=fields(insecureSkipTLSVerify=FLAG), resources=MAP),
    ),
)  # fmt: skip
