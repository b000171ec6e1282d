"""Which of Kubernetes' end-to-end tests are run: everything about the API that needs no running pod."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

AREAS: Mapping[str, str] = MappingProxyType(
    {
        "custom resources": r"\[sig-api-machinery\] CustomResource(Definition|FieldSelectors)",
        "validation rules": r"\[sig-api-machinery\] CustomResourceValidationRules",
        "ratcheting": r"\[sig-api-machinery\] CRDValidationRatcheting",
        "published OpenAPI": r"\[sig-api-machinery\] (CustomResourcePublishOpenAPI|OpenAPIV3)",
        "field validation": r"\[sig-api-machinery\] FieldValidation",
        "server-side apply": r"\[sig-api-machinery\] ServerSideApply",
        "chunking and Tables": r"\[sig-api-machinery\] Servers with support for",
        "watches": r"\[sig-api-machinery\] (Watchers|client-go should negotiate watch)",
        "streaming": r"\[sig-api-machinery\] API Streaming",
        "discovery": r"\[sig-api-machinery\] (AggregatedDiscovery|Discovery|server version)",
        "requests": r"\[sig-api-machinery\] (Server request timeout|health handlers|Generated clientset)",
        "garbage collection": r"\[sig-api-machinery\] Garbage collector",
        "namespaces": r"\[sig-api-machinery\] (Namespaces|OrderedNamespaceDeletion)",
        "admission policies": r"\[sig-(api-machinery|auth)\] ValidatingAdmissionPolicy",
        "events": r"\[sig-instrumentation\] Events",
        "config maps": r"\[sig-(node|storage)\] ConfigMap should (fail to|run through|update|be immutable)",
        "secrets": r"\[sig-(node|storage)\] Secrets should (fail to|patch|be immutable)",
        "leases": r"\[sig-node\] Lease",
        "service accounts": r"\[sig-auth\] ServiceAccounts",
        "reviews": r"\[sig-auth\] (SelfSubjectReview|SubjectReview)",
        "certificates": r"\[sig-auth\] Certificates API .*CSR API operations",
        "workloads": r"\[sig-apps\] (CronJob should support|DisruptionController should (create a Pod|list and))",
        "limits": r"\[sig-scheduling\] LimitRange should list",
        "nodes": r"\[sig-node\] (Node Lifecycle|PodTemplates|RuntimeClass should support)",
        "networks": r"\[sig-network\] (API Server|Endpoints|Ingress API|IngressClass API|Netpol API|ServiceCIDR and) ",
        "endpoint slices": r"\[sig-network\] EndpointSlice should support creating",
        "services": r"\[sig-network\] Services should (complete a service|delete a coll|find a serv|provide secure)",
        "storage": r"\[sig-storage\] (CSINodes|CSIStorageCapacity|StorageClasses CSI|VolumeAttachment Conformance) ",
        "volumes": r"\[sig-storage\] (CSIInlineVolumes should run|VolumeAttributesClass|PersistentVolumes CSI Conf)",
    }
)
"""What each part of the selection is called → the tests in it."""

LEFT_OUT: Mapping[str, str] = MappingProxyType(
    {
        r"\[sig-auth\] ValidatingAdmissionPolicy can restrict access by-node": "reads a token inside a running pod",
        r"Namespaces .*all pods are removed": "waits for a running pod",
        r"OrderedNamespaceDeletion": "waits for a running pod",
        r"ServiceAccounts .*(should mount|should set ownership|InClusterConfig|OIDC discovery)": "runs a pod",
        r"OpenAPIV3 .*Aggregated APIServer": "runs another API server in pods",
        r"Generated clientset should create pods": "waits for a running pod",
        r"CustomResourceFieldSelectors": "runs a conversion webhook in a pod",
        r"\[Flaky\]": "fails now and then on any server",
        r"\[Slow\]": "waits ten minutes for history to be forgotten",
        r"\[Feature:(StorageVersionAPI|ComprehensiveNamespaceDraining)\]": "is off in a usual cluster",
    }
)
"""Tests of these areas that are not run → why."""

DIFFERENT: Mapping[str, str] = MappingProxyType(
    {
        r"health handlers should contain necessary": "asks for the checks of etcd and of kube-apiserver's own hooks",
        r"ServiceCIDR API operations": "the network of Services is not an object",
    }
)
"""Tests that fail on the embedded server on purpose → why. The reference names each."""
