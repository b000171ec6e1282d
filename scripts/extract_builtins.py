"""Kubernetes' published specification → the compact data file of the built-in kinds.

Needs `go` (to fetch the modules) and nothing else; the same modules always give the same bytes.
`--check` compares with the committed file instead of writing it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]

TARGET = Path(__file__).resolve().parent.parent / "kubekit/src/kubekit/server/kinds/builtin/kinds.json"
KUBERNETES = "k8s.io/kubernetes@v1.36.4"
PROTO_MODULES = (
    "k8s.io/api@v0.36.4",
    "k8s.io/apimachinery@v0.36.4",
    "k8s.io/apiextensions-apiserver@v0.36.4",
    "k8s.io/kube-aggregator@v0.36.4",
)
KINDS = {
    "core.v1": "Namespace Node Pod PodTemplate Service ServiceAccount Secret ConfigMap Endpoints Event PersistentVolume"
    " PersistentVolumeClaim ReplicationController LimitRange ResourceQuota Binding",
    "apps.v1": "Deployment ReplicaSet StatefulSet DaemonSet ControllerRevision",
    "batch.v1": "Job CronJob",
    "autoscaling.v1": "Scale HorizontalPodAutoscaler",
    "autoscaling.v2": "HorizontalPodAutoscaler",
    "networking.v1": "Ingress IngressClass NetworkPolicy IPAddress ServiceCIDR",
    "policy.v1": "PodDisruptionBudget Eviction",
    "rbac.v1": "Role RoleBinding ClusterRole ClusterRoleBinding",
    "coordination.v1": "Lease",
    "discovery.v1": "EndpointSlice",
    "events.v1": "Event",
    "storage.v1": "StorageClass CSIDriver CSINode VolumeAttachment CSIStorageCapacity VolumeAttributesClass",
    "scheduling.v1": "PriorityClass",
    "node.v1": "RuntimeClass",
    "resource.v1": "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
    "certificates.v1": "CertificateSigningRequest",
    "admissionregistration.v1": "ValidatingWebhookConfiguration MutatingWebhookConfiguration ValidatingAdmissionPolicy"
    " ValidatingAdmissionPolicyBinding",
    "apiextensions.v1": "CustomResourceDefinition",
    "apiregistration.v1": "APIService",
    "authentication.v1": "TokenReview TokenRequest SelfSubjectReview",
    "authorization.v1": "SubjectAccessReview LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview",
}
META_KINDS = {"DeleteOptions": "v1", "Status": "v1", "WatchEvent": "v1", "PartialObjectMetadata": "meta.k8s.io/v1"}
META = "meta.v1"
DESCRIBED = ("meta.v1.ManagedFieldsEntry", "meta.v1.ObjectMeta", "meta.v1.OwnerReference")
"""What is part of every object, and what `kubectl explain` therefore tells of custom kinds too."""
ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
CODEGEN_DEFAULTS: tuple[Any, ...] = ({}, "", 0, False)
"""Defaults the code generator writes for every value field; they say nothing about the API."""


def module_directory(module: str) -> Path:
    with tempfile.TemporaryDirectory() as scratch:
        answer = subprocess.run(
            ["go", "mod", "download", "-json", module], cwd=scratch, capture_output=True, text=True, check=True
        )
    return Path(json.loads(answer.stdout)["Dir"])


def short_package(package: str) -> str:
    """`k8s.io.api.core.v1` and `io.k8s.api.core.v1` → `core.v1`."""
    return ".".join(package.split(".")[-2:])


@dataclass
class Field:
    """One field of a Go struct, with what its protobuf message says about it."""

    name: str
    number: int
    proto: str
    flags: str
    go_type: str
    """As messages of Go's decoder spell it, such as `[]v1.KeyUsage`."""


@dataclass
class Package:
    """The structs of one Go package, as far as they are protobuf messages."""

    messages: dict[str, dict[int, str]] = field(default_factory=dict)
    """message → field number → type, spelled as in the data file."""
    structs: dict[str, list[Field]] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)
    """Structs that carry apiVersion and kind."""


SCALARS = {"string", "int32", "int64", "bool", "bytes", "double"}
MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
MESSAGE_FIELD = re.compile(r"^  (optional|repeated|map<string, ([\w.]+)>) ?([\w.]+)? \w+ = (\d+);", re.MULTILINE)
STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
STRUCT_FIELD = re.compile(r"^\s+(?:\w+ +)?(\*?)([\w.\[\]*]+)\s+`(.*)`", re.MULTILINE)
PROTOBUF_TAG = re.compile(r'protobuf:"\w+,(\d+)')
JSON_TAG = re.compile(r'json:"([^"]*)"')


def read_package(proto_file: Path) -> tuple[str, Package]:
    text = proto_file.read_text()
    declared = re.search(r"^package ([\w.]+);", text, re.MULTILINE)
    assert declared, proto_file
    name = short_package(declared[1])
    package = Package()
    for message, body in MESSAGE.findall(text):
        package.messages[message] = dict(_message_fields(name, body))
    for source in sorted(proto_file.parent.glob("*.go")):
        if not source.name.endswith("_test.go") and "generated" not in source.name:
            _read_structs(source.read_text(), package, name.rpartition(".")[2])
    return name, package


def _message_fields(package: str, body: str) -> Iterator[tuple[int, str]]:
    def spell(kind: str) -> str:
        if kind in SCALARS:
            return kind
        owner, _, message = kind.rpartition(".")
        return f"{short_package(owner) if owner else package}.{message}"

    for label, value, kind, number in MESSAGE_FIELD.findall(body):
        if value:
            yield int(number), "{}" + spell(value)
        else:
            yield int(number), ("[]" if label == "repeated" else "") + spell(kind)


def _read_structs(text: str, package: Package, version: str) -> None:
    code = re.sub(r"^\s*//.*\n", "", text, flags=re.MULTILINE)
    for struct, body in STRUCT.findall(code):
        if struct not in package.messages:
            continue
        fields = []
        for pointer, go_type, tags in STRUCT_FIELD.findall(body):
            if go_type == "metav1.TypeMeta" or (go_type == "TypeMeta" and "inline" in tags):
                package.typed.add(struct)
            if number := PROTOBUF_TAG.search(tags):
                proto = package.messages[struct][int(number[1])]
                fields.append(_struct_field(int(number[1]), proto, pointer, tags, spell_go(go_type, version)))
        package.structs[struct] = fields


def spell_go(go_type: str, version: str) -> str:
    """The Go type of a field, with every name behind that of its package instead of an import's alias."""

    def qualified(found: re.Match[str]) -> str:
        alias, name = found[1] or "", found[2]
        if not alias and name[0].islower():
            return name
        versioned = re.search(r"v[0-9]+$", alias)
        return f"{versioned[0] if versioned else alias or version}.{name}"

    spelled = re.sub(r"(?:(\w+)\.)?(\w+)", qualified, go_type.replace("*", ""))
    return spelled.replace("[]byte", "[]uint8")


def plain_go(proto: str) -> str:
    """The Go type that a type of the data file suggests."""
    if proto.startswith(("[]", "()")):
        return "[]" + plain_go(proto[2:])
    if proto.startswith("{}"):
        return "map[string]" + plain_go(proto[2:])
    scalars = {"bytes": "[]uint8", "double": "float64"}
    return scalars.get(proto, ".".join(proto.split(".")[-2:]))


def _struct_field(number: int, proto: str, pointer: str, tags: str, go_type: str) -> Field:
    tag = JSON_TAG.search(tags)
    name, *options = tag[1].split(",") if tag else [""]
    flags = "p" if pointer else ""
    for option, flag in (("omitempty", "o"), ("omitzero", "z"), ("inline", "i")):
        flags += flag if option in options else ""
    return Field(name, number, proto, flags, go_type)


class Specification:
    """The OpenAPI v3 definitions and the Go packages, side by side."""

    def __init__(self) -> None:
        self.kubernetes = module_directory(KUBERNETES)
        self.openapi: dict[str, Json] = {}
        self.prefixes: dict[str, str] = {}
        for path in sorted((self.kubernetes / "api/openapi-spec/v3").glob("*.json")):
            for name, schema in json.loads(path.read_text()).get("components", {}).get("schemas", {}).items():
                package, _, title = name.rpartition(".")
                self.prefixes[short_package(package)] = package
                self.openapi[f"{short_package(package)}.{title}"] = schema
        self.packages = {}
        for module in PROTO_MODULES:
            for proto in sorted(module_directory(module).rglob("generated.proto")):
                name, package = read_package(proto)
                self.packages[name] = package

    def group_version(self, name: str) -> str:
        """The apiVersion of a kind."""
        [known] = self.openapi[name]["x-kubernetes-group-version-kind"]
        return f"{known['group']}/{known['version']}".removeprefix("/")


def spell_openapi(schema: Json) -> str:
    """The type of an OpenAPI property, spelled as in the data file."""
    for part in (schema, *schema.get("allOf", ())):
        if "$ref" in part:
            package, _, title = part["$ref"].rpartition("/")[2].rpartition(".")
            return f"{short_package(package)}.{title}"
    match schema:
        case {"type": "array", "items": items}:
            return "[]" + spell_openapi(items)
        case {"type": "object", "additionalProperties": values}:
            return "{}" + spell_openapi(values)
        case {"type": "string"}:
            return "bytes" if schema.get("format") == "byte" else "string"
        case {"type": "boolean"}:
            return "bool"
        case {"type": "integer" | "number", "format": str(numeric)}:
            return numeric
    raise ValueError(f"unforeseen schema {schema}")


SETTINGS = {
    "x-kubernetes-list-type": "list",
    "x-kubernetes-list-map-keys": "keys",
    "x-kubernetes-map-type": "map",
    "x-kubernetes-patch-strategy": "patch",
    "x-kubernetes-patch-merge-key": "by",
}


def settings(schema: Json) -> Json:
    found = {short: schema[full] for full, short in SETTINGS.items() if full in schema}
    if "default" in schema and schema["default"] not in CODEGEN_DEFAULTS:
        found["default"] = schema["default"]
    if "enum" in schema:
        found["enum"] = schema["enum"]
    return found


class Extraction:
    """The definitions reachable from the kinds asked for, in compact form."""

    def __init__(self, specification: Specification) -> None:
        self.specification = specification
        self.definitions: dict[str, Json] = {}

    def add(self, name: str, outer: Json | None = None) -> None:
        """Take in a definition and all it refers to; `outer` describes a struct that exists only inside another."""
        if name in self.definitions:
            return
        package, _, title = name.rpartition(".")
        structs = self.specification.packages[package]
        schema = self.specification.openapi.get(name, outer or {})
        if name in self.specification.openapi and "properties" not in schema and structs.messages[title]:
            # The message has fields that JSON does not show: its JSON form is something else, such as a string.
            self.definitions[name] = {"form": {key: schema[key] for key in sorted(schema) if key != "description"}}
            return
        self.definitions[name] = entry = self._entry(structs.structs.get(title, []), schema)
        if title in structs.typed:
            entry["typed"] = 1
        if outer is not None and name not in self.specification.openapi:
            entry["inner"] = 1
        for one in entry["fields"]:
            if "." in one[2]:
                self.add(one[2].lstrip("[]{}"), schema if "i" in one[3] else None)
        if name in self.specification.openapi:
            self._verify(name, schema)

    def _entry(self, fields: list[Field], schema: Json) -> Json:
        entry: Json = {"fields": [self._field(one, schema) for one in fields]}
        extensions = {key: value for key, value in sorted(schema.items()) if key.startswith("x-kubernetes-")}
        extensions.pop("x-kubernetes-group-version-kind", None)
        return {**entry, "x": extensions} if extensions else entry

    def _field(self, one: Field, schema: Json) -> list[Any]:
        published = schema.get("properties", {}).get(one.name, {})
        required = "r" if one.name in schema.get("required", ()) else ""
        spelled = self._wrapped_list(one.proto, published)
        entry = [one.name, one.number, spelled, one.flags + required]
        extra = settings(published)
        if "i" not in one.flags and one.go_type != plain_go(spelled):
            extra["go"] = one.go_type
        return [*entry, extra] if extra else entry

    def _wrapped_list(self, spelled: str, published: Json) -> str:
        """A list as the value of a map is a message of its own in protobuf: `{}()string`."""
        if published and spell_openapi(published).startswith("{}[]"):
            return "{}()" + spell_openapi(published).removeprefix("{}[]")
        return spelled

    def flat(self, name: str) -> Iterator[list[Any]]:
        for one in self.definitions[name]["fields"]:
            if "i" in one[3]:
                yield from self.flat(one[2])
            else:
                yield one

    def _verify(self, name: str, schema: Json) -> None:
        """What was read from Go must be what OpenAPI publishes."""
        found = {one[0]: one[2].replace("()", "[]") for one in self.flat(name)}
        published = {key: spell_openapi(value) for key, value in schema.get("properties", {}).items()}
        if self.definitions[name].get("typed"):
            del published["apiVersion"], published["kind"]
        required = [one[0] for one in self.flat(name) if "r" in one[3]]
        if found != published or sorted(required) != sorted(schema.get("required", [])):
            raise ValueError(f"{name}: Go has {found}, OpenAPI has {published}")


def resources(specification: Specification, kinds: set[tuple[str, str]]) -> Iterator[Json]:
    """What discovery says about the resources of these (apiVersion, kind) pairs."""
    for path in sorted((specification.kubernetes / "api/discovery").glob("api*__v*.json")):
        listed = json.loads(path.read_text())
        group_version = listed["groupVersion"]
        for one in listed["resources"]:
            if "/" not in one["name"] and (group_version, one["kind"]) in kinds:
                yield _resource(group_version, one, listed["resources"])


def _resource(group_version: str, one: Json, siblings: list[Json]) -> Json:
    entry = {"apiVersion": group_version, "kind": one["kind"], "plural": one["name"], "singular": one["singularName"]}
    if not one["namespaced"]:
        entry["cluster"] = 1
    for published, key in (("shortNames", "short"), ("categories", "categories")):
        if one.get(published):
            entry[key] = one[published]
    if one["verbs"] != ALL_VERBS:
        entry["verbs"] = one["verbs"]
    subresources = {}
    for other in siblings:
        parent, _, name = other["name"].partition("/")
        if name and parent == one["name"]:
            version = f"{other.get('group', '')}/{other.get('version', '')}".strip("/") or group_version
            subresources[name] = [version, other["kind"], other["verbs"]]
    return {**entry, "subresources": subresources} if subresources else entry


def descriptions(schema: Json) -> Json:
    """What a definition and its fields are, the definition itself under the empty name."""
    fields = {name: one["description"] for name, one in sorted(schema["properties"].items())}
    return {"": schema["description"], **fields}


def extract() -> str:
    specification = Specification()
    extraction = Extraction(specification)
    kinds: dict[str, Json] = {}
    for package, names in KINDS.items():
        for kind in names.split():
            extraction.add(f"{package}.{kind}")
            kinds.setdefault(specification.group_version(f"{package}.{kind}"), {})[kind] = f"{package}.{kind}"
    for kind, group_version in META_KINDS.items():
        extraction.add(f"{META}.{kind}")
        kinds.setdefault(group_version, {})[kind] = f"{META}.{kind}"
    extraction.add(f"{META}.ListMeta")
    packages = {name.rpartition(".")[0] for name in extraction.definitions}
    pairs = {(group_version, kind) for group_version, names in kinds.items() for kind in names}
    data = {
        "kubernetes": KUBERNETES.partition("@")[2],
        "packages": {name: specification.prefixes[name] for name in sorted(packages)},
        "kinds": {group_version: kinds[group_version] for group_version in sorted(kinds)},
        "resources": list(resources(specification, pairs)),
        "definitions": {name: extraction.definitions[name] for name in sorted(extraction.definitions)},
        "descriptions": {name: descriptions(specification.openapi[name]) for name in DESCRIBED},
    }
    return json.dumps(data, separators=(",", ":")) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the committed file, write nothing")
    only_check = parser.parse_args().check
    text = extract()
    if not only_check:
        TARGET.write_text(text)
        print(f"{TARGET.name}: {len(text)} bytes")
        return 0
    if TARGET.read_text() == text:
        return 0
    print(f"{TARGET.name} differs from {KUBERNETES}; run {Path(__file__).name}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
