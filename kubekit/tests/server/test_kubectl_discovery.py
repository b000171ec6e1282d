"""kubectl explain, api-resources, version, and the documents beside resources."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request

from testbed.running.embedded import BIN, Kubectl, ServerProcess


def test_explain_leads_through_built_in_kinds(kubectl: Kubectl) -> None:
    pod = kubectl("explain", "pod").out
    assert pod.startswith("KIND:       Pod\nVERSION:    v1\n")
    assert "  spec\t<PodSpec>\n" in pod
    source = kubectl("explain", "pod.spec.containers.env.valueFrom").out
    assert "FIELD: valueFrom <EnvVarSource>" in source
    assert "  secretKeyRef\t<SecretKeySelector>\n" in source
    strategy = kubectl("explain", "deploy.spec.strategy", "--recursive").out
    assert "  rollingUpdate\t<RollingUpdateDeployment>\n    maxSurge\t<IntOrString>\n" in strategy
    older = kubectl("explain", "hpa", "--api-version=autoscaling/v1").out
    assert older.startswith("GROUP:      autoscaling\nKIND:       HorizontalPodAutoscaler\nVERSION:    v1\n")
    plain = kubectl("explain", "pod.spec.containers", "--output=plaintext-openapiv2").out
    assert plain.startswith("KIND:     Pod\nVERSION:  v1\n\nRESOURCE: containers <[]Object>\n")
    assert "   name\t<string> -required-\n" in plain


def test_explain_names_what_does_not_exist(kubectl: Kubectl) -> None:
    assert kubectl("explain", "pod.spec.nope", fails=True).err == 'error: field "nope" does not exist\n'
    assert "the server doesn't have a resource type" in kubectl("explain", "gadget", fails=True).err
    other = kubectl("explain", "secret", "--api-version=apps/v1", fails=True).err
    assert other == "error: GVR (apps/v1, Resource=secrets) not found in OpenAPI schema\n"


def test_api_resources_are_listed_filtered_and_sorted(kubectl: Kubectl) -> None:
    apps = [line.split() for line in kubectl("api-resources", "--api-group=apps", "--no-headers").out.splitlines()]
    assert ["deployments", "deploy", "apps/v1", "true", "Deployment"] in apps
    everywhere = kubectl("api-resources", "--namespaced=false", "--verbs=list,get", "-o", "name").out.split()
    assert {"namespaces", "nodes"} <= set(everywhere)
    assert "pods" not in everywhere
    assert "selfsubjectreviews.authentication.k8s.io" not in everywhere
    names = kubectl("api-resources", "--categories=all", "-o", "name", "--cached=false").out.split()
    assert set(names) >= {"pods", "services", "deployments.apps", "jobs.batch", "horizontalpodautoscalers.autoscaling"}
    ordered = [line.split()[0] for line in kubectl("api-resources", "--sort-by=name", "--no-headers").out.splitlines()]
    assert ordered == sorted(ordered)
    versions = kubectl("api-versions").out.split()
    assert {"v1", "apps/v1", "autoscaling/v1", "autoscaling/v2"} <= set(versions)


def test_version_and_cluster_info(kubectl: Kubectl, server_process: ServerProcess) -> None:
    version = json.loads(kubectl("version", "-o", "json").out)
    assert (version["serverVersion"]["major"], version["serverVersion"]["minor"]) == ("1", "36")
    assert "WARNING" not in kubectl("version").err
    url = kubectl("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}").out
    assert f"Kubernetes control plane is running at {url}\n" in kubectl("cluster-info").out
    dumped = kubectl("cluster-info", "dump", "--namespaces=kube-system").out
    assert '"kind": "ReplicaSetList"' in dumped


def test_health_metrics_and_documents_are_served_raw(kubectl: Kubectl) -> None:
    for path in ("/healthz", "/livez", "/readyz", "/livez/ping"):
        assert kubectl("get", "--raw", path).out == "ok"
    assert kubectl("get", "--raw", "/readyz?verbose").out.endswith("readyz check passed\n")
    assert "[+]ping ok\n" in kubectl("get", "--raw", "/healthz?verbose").out
    assert kubectl("get", "--raw", "/metrics").out.startswith("# HELP ")
    index = json.loads(kubectl("get", "--raw", "/openapi/v3").out)["paths"]
    assert {"api/v1", "apis/apps/v1"} <= set(index)
    deployment = json.loads(kubectl("get", "--raw", index["apis/apps/v1"]["serverRelativeURL"]).out)
    assert "io.k8s.api.apps.v1.Deployment" in deployment["components"]["schemas"]
    assert "/apis/apps/v1" in json.loads(kubectl("get", "--raw", "/").out)["paths"]


def test_a_verbose_kubectl_reports_no_trouble(kubectl: Kubectl) -> None:
    talk = kubectl("get", "pods", "-A", "-v=8", "--cache-dir=/dev/null/none").err
    answers = re.findall(r'"?Response"? .*status="(\d+)', talk)
    assert answers
    assert set(answers) == {"200"}
    assert "couldn't get" not in talk


def test_proxy_passes_requests_on(server_process: ServerProcess) -> None:
    command = [str(BIN / "kubectl"), "--kubeconfig", str(server_process.kubeconfig), "proxy", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout is not None
        address = proxy.stdout.readline().split()[-1]
        try:
            with urllib.request.urlopen(f"http://{address}/api/v1/namespaces/default", timeout=60) as answer:
                assert json.load(answer)["metadata"]["name"] == "default"
        finally:
            proxy.terminate()
