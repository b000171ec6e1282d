"""kubectl where a kubelet would have to answer."""

# ruff: noqa: E501 - a command is easier to read on one line

from __future__ import annotations

from tests.real.differential.commands import Command, script

_NODE = "{apiVersion: v1, kind: Node, metadata: {name: $ns-node}}"
_BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: budget}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""
_BOUND = '--overrides=\'{"spec":{"nodeName":"$ns-node"}}\''
_FIRST = "^(The|Error|error|Warning)"
"""What follows is a difference of whole objects, which are shown otherwise on purpose."""

SCRIPTS = (
    script(
        "a pod that waits for a node",
        "run web --image=nginx --labels=app=web",
        "logs web",
        "logs web -c none",
        "logs none",
        "logs web --since=-5s",
        *[
            f"get --raw /api/v1/namespaces/$ns/pods/web/log?{query}"
            for query in (
                "tailLines=x",
                "tailLines=-1",
                "limitBytes=0",
                "sinceSeconds=99999999999999999999",
                "sinceTime=x",
                "stream=Stdout",
                "tailLines=x&container=none",
            )
        ],
        "get --raw '/api/v1/namespaces/$ns/pods/web/log?sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z'",
        "logs -l app=web",
        "logs deployment/none",
        "exec web -- true",
        "attach web",
        "port-forward pod/web 0:80",
        "port-forward service/none 0:80",
        "cp web:/tmp/a b",
        "debug web --image=busybox --container=probe --attach=false -q",
        "get pod web -o jsonpath={.spec.ephemeralContainers[0].name}",
        Command("debug web --image=busybox --container=probe --attach=false -q", shown=_FIRST),
        "debug none --image=busybox",
        "top pods",
        "top nodes",
        "get pod web -o wide",
        "describe pod web",
    ),
    script(
        "evictions",
        Command("create -f -", _NODE),
        f"run web --image=nginx --labels=app=web {_BOUND}",
        f"run plain --image=nginx {_BOUND}",
        Command("create -f -", _BUDGET),
        "drain $ns-node --timeout=2s",
        "drain $ns-node --force --pod-selector=app=web --timeout=2s",
        "drain $ns-node --force --dry-run=server",
        "get pods -o wide",
        "get pdb budget",
        "uncordon $ns-node",
        Command("describe node $ns-node", shown="^(?!Taints)"),
        "delete node $ns-node",
    ),
    script(
        "changes of a pod",
        "run web --image=nginx --labels=app=web",
        "set image pod/web web=nginx:2",
        Command("""patch pod web -p '{"spec":{"serviceAccountName":"other"}}'""", shown=_FIRST),
        Command("""patch pod web -p '{"spec":{"nodeName":"n"}}'""", shown=_FIRST),
        """patch pod web -p '{"spec":{"tolerations":[{"key":"a","operator":"Exists"}]}}'""",
        """patch pod web -p '{"spec":{"activeDeadlineSeconds":5}}'""",
        """patch pod web -p '{"spec":{"activeDeadlineSeconds":9}}'""",
        """patch pod web --subresource=status -p '{"status":{"phase":"Running"}}'""",
        """patch pod web --subresource=resize -p '{"spec":{"containers":[{"name":"web","resources":{"limits":{"cpu":"1"}}}]}}'""",
        "get pod web -o yaml",
        "delete pod web",
    ),
)
