"""kubectl with custom kinds."""

# ruff: noqa: E501 - a command is easier to read on one line

from __future__ import annotations

from tests.real.differential.commands import Command, script

_DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.$ns.example.org}
spec:
  group: $ns.example.org
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, shortNames: [$ns-th], categories: [$ns-all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: When, type: date, jsonPath: .spec.when}
    - {name: More, type: string, jsonPath: .spec.colour, priority: 1}
    selectableFields: [{jsonPath: .spec.colour}]
    schema:
      openAPIV3Schema:
        type: object
        description: A thing.
        properties:
          spec:
            type: object
            description: What it should be.
            required: [size]
            properties:
              size: {type: integer, minimum: 1, maximum: 9, description: How big.}
              colour: {type: string, enum: [red, green], default: red}
              replicas: {type: integer}
              when: {type: string, format: date-time}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
            x-kubernetes-validations:
            - {rule: "self.size != 7", message: not seven}
          status:
            type: object
            properties:
              replicas: {type: integer}
              phase: {type: string}
              conditions:
                type: array
                items: {type: object, properties: {type: {type: string}, status: {type: string}}}
"""
_THING = """
apiVersion: $ns.example.org/v1
kind: Thing
metadata: {name: one, labels: {app: web}}
spec: {size: 3, replicas: 1, ports: [{name: a, port: 1}, {name: b, port: 2}]}
"""

SCRIPTS = (
    script(
        "their life",
        Command("create -f -", _DEFINITION),
        "wait --for=condition=Established crd/things.$ns.example.org --timeout=20s",
        "get crd things.$ns.example.org -o yaml",
        "api-resources --api-group=$ns.example.org -o wide",
        Command("apply -f -", _THING),
        Command("apply -f -", _THING),
        Command("apply -f -", _THING.replace("size: 3", "size: 30")),
        Command("apply -f -", _THING.replace("size: 3", "size: 7")),
        Command("apply -f -", _THING.replace("size: 3", "size: three")),
        Command("apply -f -", _THING.replace("size: 3, ", "")),
        Command("apply -f -", _THING.replace("size: 3", "size: 3, colour: mauve")),
        Command("apply -f -", _THING.replace("size: 3", "size: 3, unknown: 1")),
        Command("apply -f - --validate=warn", _THING.replace("size: 3", "size: 3, unknown: 1")),
        "get things",
        "get things -o wide",
        "get thing/one -o yaml --show-managed-fields",
        "get things.v1.$ns.example.org one -o name",
        "get $ns-th --field-selector=spec.colour=red",
        "get things --field-selector=spec.size=3",
        "get things --sort-by=.spec.size",
        "describe thing one",
        "explain things",
        "explain things.spec --recursive",
        "explain things.spec.size",
        "scale thing one --replicas=4",
        "get thing one --subresource=scale -o yaml",
        """patch thing one --subresource=status --type=merge -p '{"status":{"phase":"Up","conditions":[{"type":"Ready","status":"True"}]}}'""",
        "wait --for=condition=Ready thing/one --timeout=5s",
        "wait --for=jsonpath={.status.phase}=Up thing/one --timeout=5s",
        """patch thing one --type=merge -p '{"spec":{"size":10}}'""",
        """patch thing one -p '{"spec":{"size":5}}'""",
        """patch thing one --type=json -p '[{"op":"replace","path":"/spec/size","value":5}]'""",
        "label thing one x=y",
        "annotate thing one x=y",
        "edit thing one",
        Command("replace -f -", _THING.replace("size: 3", "size: 4")),
        Command("diff -f -", _THING.replace("size: 3", "size: 4"), shown="^$"),
        "get $ns-all",
        "delete things --all",
        "delete crd things.$ns.example.org --timeout=30s",
        # What a real server serves follows its definitions a moment later, and kubectl keeps what it was once told.
        Command("api-resources --api-group=$ns.example.org -o name", settled="^$"),
        "get things",
    ),
    script(
        "applied by the server",
        Command("apply --server-side -f -", _DEFINITION),
        "wait --for=condition=Established crd/things.$ns.example.org --timeout=20s",
        Command("apply --server-side -f -", _THING),
        Command("apply --server-side --field-manager=two -f -", _THING.replace("port: 2", "port: 3")),
        Command("apply --server-side --field-manager=two --force-conflicts -f -", _THING.replace("port: 2", "port: 3")),
        Command("apply --server-side -f -", _THING.replace(", {name: b, port: 2}", "")),
        Command("apply --server-side -f -", _THING.replace("size: 3", "size: 30")),
        Command("apply --server-side -f -", _THING.replace("size: 3", "size: 3, unknown: 1")),
        Command("apply --server-side --validate=ignore -f -", _THING.replace("size: 3", "size: 3, unknown: 1")),
        "get thing one -o yaml --show-managed-fields",
        "delete crd things.$ns.example.org --timeout=30s",
    ),
    script(
        "wrong definitions",
        Command("create -f -", _DEFINITION.replace("type: integer, minimum", "type: whole, minimum")),
        Command("create -f -", _DEFINITION.replace("name: things.", "name: other.")),
        Command("create -f -", _DEFINITION.replace("storage: true", "storage: false")),
        Command("create -f -", _DEFINITION.replace("self.size != 7", "self.none != 7")),
        Command("create -f -", _DEFINITION.replace("scope: Namespaced", "scope: Somewhere")),
        Command("create -f -", _DEFINITION.replace("served: true", "server: true")),
        Command("apply -f - --dry-run=server", _DEFINITION),
    ),
)
