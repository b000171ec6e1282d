"""kubectl create, run, expose and autoscale: what people make without a file."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from testbed.running.embedded import Kubectl


def claims(token: str) -> dict[str, Any]:
    """What a token says about its holder."""
    payload = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return found


def test_a_configmap_from_files_and_literals(here: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("one\n")
    (tmp_path / "two.bin").write_bytes(b"\x00\xff")
    source = (f"--from-file={tmp_path}", "--from-literal=x=y")
    assert here("create", "configmap", "files", *source).out == "configmap/files created\n"
    made = json.loads(here("get", "cm", "files", "-o", "json").out)
    assert made["data"] == {"one.txt": "one\n", "x": "y"}
    assert made["binaryData"] == {"two.bin": "AP8="}
    again = here("create", "configmap", "files", *source, fails=True).err
    assert again == 'error: failed to create configmap: configmaps "files" already exists\n'
    dry = here("create", "configmap", "dry", "--from-literal=a=b", "--dry-run=server", "-o", "jsonpath={.data}")
    assert dry.out == '{"a":"b"}'
    assert here("get", "cm", "dry", "--ignore-not-found").out == ""


def test_secrets_of_the_known_types_are_checked(here: Kubectl) -> None:
    here("create", "secret", "generic", "plain", "--from-literal=a=b", "--type=example.org/own")
    registry = ("--docker-server=r.example.org", "--docker-username=u", "--docker-password=p")
    here("create", "secret", "docker-registry", "pull", *registry)
    types = "jsonpath={range .items[*]}{.metadata.name}={.type};{end}"
    assert here("get", "secrets", "-o", types).out == "plain=example.org/own;pull=kubernetes.io/dockerconfigjson;"
    refused = here("create", "secret", "generic", "tls", "--type=kubernetes.io/tls", fails=True).err
    assert "data[tls.crt]: Required value, data[tls.key]: Required value" in refused


def test_a_deployment_is_stored_with_its_defaults(here: Kubectl) -> None:
    here("create", "deployment", "web", "--image=nginx", "--replicas=2", "--port=80")
    spec = json.loads(here("get", "deploy", "web", "-o", "json").out)["spec"]
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    container = spec["template"]["spec"]["containers"][0]
    assert (container["imagePullPolicy"], container["ports"]) == (
        "Always",
        [{"containerPort": 80, "protocol": "TCP"}],
    )
    negative = here("create", "deployment", "less", "--image=nginx", "--replicas=-1", fails=True).err
    assert "spec.replicas: Invalid value: -1: must be greater than or equal to 0" in negative


def test_jobs_and_cronjobs(here: Kubectl) -> None:
    here("create", "job", "once", "--image=busybox", "--", "echo", "hi")
    here("create", "cronjob", "often", "--image=busybox", "--schedule=*/1 * * * *", "--", "date")
    assert here("create", "job", "now", "--from=cronjob/often").out == "job.batch/now created\n"
    owner = "jsonpath={.metadata.ownerReferences[0].kind} {.metadata.annotations}"
    assert here("get", "job", "now", "-o", owner).out == 'CronJob {"cronjob.kubernetes.io/instantiate":"manual"}'
    refused = here("create", "cronjob", "bad", "--image=busybox", "--schedule=nonsense", fails=True).err
    assert 'spec.schedule: Invalid value: "nonsense": expected exactly 5 fields, found 1: [nonsense]' in refused


def test_services_of_every_type_get_their_addresses(here: Kubectl) -> None:
    here("create", "service", "clusterip", "inside", "--tcp=80:8080")
    here("create", "service", "clusterip", "headless", "--clusterip=None", "--tcp=80")
    here("create", "service", "nodeport", "node", "--tcp=80", "--node-port=31999")
    here("create", "service", "loadbalancer", "balanced", "--tcp=80")
    here("create", "service", "externalname", "outside", "--external-name=example.org")
    shown = {line.split()[0]: line.split()[1:] for line in here("get", "svc", "--no-headers").out.splitlines()}
    assert shown["headless"][:4] == ["ClusterIP", "None", "<none>", "80/TCP"]
    assert shown["node"][3] == "80:31999/TCP"
    assert shown["balanced"][2] == "<pending>"
    assert shown["outside"][:3] == ["ExternalName", "<none>", "example.org"]
    addresses = {shown[name][1] for name in ("inside", "node", "balanced")}
    assert len(addresses) == 3
    assert all(address.count(".") == 3 for address in addresses)
    taken = here("create", "service", "nodeport", "again", "--tcp=80", "--node-port=31999", fails=True).err
    assert "spec.ports[0].nodePort: Invalid value: 31999: provided port is already allocated" in taken


def test_roles_and_bindings(here: Kubectl, namespace: str) -> None:
    here("create", "role", "reader", "--verb=get,list", "--resource=pods,pods/log,deployments.apps")
    rules = json.loads(here("get", "role", "reader", "-o", "jsonpath={.rules}").out)
    assert rules == [
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]},
    ]
    subjects = ("--user=jane", "--group=devs", f"--serviceaccount={namespace}:default")
    here("create", "rolebinding", "readers", "--role=reader", *subjects)
    shown = here("get", "rolebinding", "readers", "-o", "wide", "--no-headers").out.split()
    assert shown[1] == "Role/reader"
    assert shown[3:] == ["jane", "devs", f"{namespace}/default"]
    unknown = here("create", "role", "other", "--verb=get", "--resource=gadgets", fails=True).err
    assert 'the server doesn\'t have a resource type "gadgets"' in unknown


def test_a_clusterrole_gathers_the_rules_of_others(kubectl: Kubectl) -> None:
    kubectl("create", "clusterrole", "t-gathered", "--aggregation-rule=t-gather=yes")
    kubectl("create", "clusterrole", "t-nodes", "--verb=get", "--resource=nodes")
    kubectl("label", "clusterrole", "t-nodes", "t-gather=yes")
    kubectl("wait", "clusterrole/t-gathered", "--for=jsonpath={.rules[0].resources[0]}=nodes", "--timeout=60s")
    kubectl("create", "clusterrolebinding", "t-bound", "--clusterrole=t-gathered", "--user=t-jane")
    assert kubectl("auth", "can-i", "get", "nodes", "--as=t-jane").out == "yes\n"
    kubectl("delete", "clusterrole/t-gathered", "clusterrole/t-nodes", "clusterrolebinding/t-bound")


def test_small_policies(kubectl: Kubectl, here: Kubectl) -> None:
    here("create", "quota", "limit", "--hard=pods=5,services=2")
    here("create", "pdb", "keep", "--selector=app=web", "--min-available=1")
    here("create", "ingress", "way", "--rule=example.org/path*=web:80,tls=cert", "--class=nginx")
    assert here("get", "pdb", "keep", "--no-headers").out.split()[:4] == ["keep", "1", "N/A", "0"]
    assert here("get", "ing", "way", "--no-headers").out.split()[:3] == ["way", "nginx", "example.org"]
    amount = here("create", "quota", "bad", "--hard=pods=x", fails=True).err
    assert "quantities must match the regular expression" in amount
    kubectl("create", "priorityclass", "t-important", "--value=1000")
    assert kubectl("get", "pc/t-important", "--no-headers").out.split()[1:3] == ["1000", "false"]
    here("run", "vip", "--image=nginx", '--overrides={"spec":{"priorityClassName":"t-important"}}')
    assert here("get", "pod", "vip", "-o", "jsonpath={.spec.priority}").out == "1000"
    kubectl("delete", "pc/t-important")


def test_tokens_say_for_whom_for_what_and_how_long(here: Kubectl, namespace: str) -> None:
    here("create", "serviceaccount", "robot")
    said = claims(here("create", "token", "robot", "--duration=600s").out.strip())
    assert said["sub"] == f"system:serviceaccount:{namespace}:robot"
    assert said["exp"] - said["iat"] == 600
    said = claims(here("create", "token", "robot", "--audience=x", "--audience=y").out.strip())
    assert said["aud"] == ["x", "y"]
    here("create", "secret", "generic", "leash")
    bound = ("create", "token", "robot", "--bound-object-kind=Secret")
    said = claims(here(*bound, "--bound-object-name=leash").out.strip())
    assert said["kubernetes.io"]["secret"]["name"] == "leash"
    assert 'secrets "nope" not found' in here(*bound, "--bound-object-name=nope", fails=True).err
    assert 'serviceaccounts "nope" not found' in here("create", "token", "nope", fails=True).err
    short = here("create", "token", "robot", "--duration=1s", fails=True).err
    assert "spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes" in short


def test_names_are_generated_when_asked_for(here: Kubectl) -> None:
    made = here("create", "-f", "-", stdin='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"gen-"}}')
    name = made.out.removeprefix("configmap/gen-").removesuffix(" created\n")
    assert len(name) == 5


def test_run_makes_a_pod_that_mounts_its_token(here: Kubectl, namespace: str) -> None:
    assert here("run", "web", "--image=nginx", "--port=80", "--labels=a=b", "--env=X=Y").out == "pod/web created\n"
    pod = json.loads(here("get", "pod", "web", "-o", "json").out)
    assert (pod["spec"]["serviceAccountName"], pod["spec"]["priority"]) == ("default", 0)
    mount = pod["spec"]["containers"][0]["volumeMounts"][0]
    assert mount["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"
    assert mount["name"] == pod["spec"]["volumes"][0]["name"]
    assert [list(source) for source in pod["spec"]["volumes"][0]["projected"]["sources"]] == [
        ["serviceAccountToken"], ["configMap"], ["downwardAPI"],
    ]  # fmt: skip
    assert 'pods "web" already exists' in here("run", "web", "--image=nginx", fails=True).err
    account = here("run", "x", "--image=nginx", '--overrides={"spec":{"serviceAccountName":"nope"}}', fails=True).err
    assert account == (
        f'Error from server (Forbidden): pods "x" is forbidden: error looking up service account {namespace}/nope: '
        'serviceaccount "nope" not found\n'
    )
    priority = here("run", "x", "--image=nginx", '--overrides={"spec":{"priorityClassName":"nope"}}', fails=True).err
    assert (
        priority == 'Error from server (Forbidden): pods "x" is forbidden: no PriorityClass with name nope was found\n'
    )


def test_a_pod_may_do_without_its_token(here: Kubectl) -> None:
    here("run", "bare", "--image=nginx", '--overrides={"spec":{"automountServiceAccountToken":false}}')
    assert here("get", "pod", "bare", "-o", "jsonpath={.spec.volumes}").out == ""
    here("patch", "sa", "default", "-p", '{"automountServiceAccountToken":false,"imagePullSecrets":[{"name":"pull"}]}')
    here("run", "second", "--image=nginx")
    shown = here("get", "pod", "second", "-o", "jsonpath={.spec.volumes}{.spec.imagePullSecrets}").out
    assert shown == '[{"name":"pull"}]'


def test_expose_finds_ports_and_labels(here: Kubectl) -> None:
    here("create", "deployment", "web", "--image=nginx")
    assert here("expose", "deploy", "web", "--port=80", "--type=NodePort").out == "service/web exposed\n"
    here("expose", "svc", "web", "--port=443", "--name=second")
    seen = json.loads(here("get", "svc", "second", "-o", "jsonpath={.spec}").out)
    assert (seen["selector"], seen["ports"]) == ({"app": "web"}, [{"port": 443, "protocol": "TCP", "targetPort": 443}])
    here("run", "pod", "--image=nginx", "--expose", "--port=80")
    assert here("get", "svc", "pod", "-o", "jsonpath={.spec.selector}").out == '{"run":"pod"}'


def test_autoscale_makes_an_autoscaler_of_both_versions(here: Kubectl) -> None:
    here("create", "deployment", "web", "--image=nginx")
    here("autoscale", "deploy", "web", "--min=1", "--max=3", "--cpu=80%")
    newest = json.loads(here("get", "hpa", "web", "-o", "json").out)
    assert newest["apiVersion"] == "autoscaling/v2"
    assert newest["spec"]["metrics"][0]["resource"]["target"] == {"averageUtilization": 80, "type": "Utilization"}
    first = json.loads(here("get", "horizontalpodautoscalers.v1.autoscaling", "web", "-o", "json").out)
    assert first["spec"]["targetCPUUtilizationPercentage"] == 80
    again = here("autoscale", "deploy", "web", "--max=3", "--cpu=80%", fails=True).err
    assert 'horizontalpodautoscalers.autoscaling "web" already exists' in again
