"""Admission by others: what webhooks and policies refuse, change and say."""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.real.differential.conversations import ADMISSION
from tests.real.differential.kinds import Json
from tests.real.differential.steps import Step, case, delete, patch, post, put, quietly, status
from tests.real.differential.vocabulary import MAPS, config_map, made
from tests.real.differential.webhook import TOLD

_HERE = {"matchLabels": {"kubernetes.io/metadata.name": "$ns"}}
_MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}
_DENIED = {"allowed": False}
_ADD = [{"op": "add", "path": "/data/more", "value": "yes"}]


def _webhook(kind: str, **changed: Any) -> Step:
    hook = {
        "name": "a.example.org",
        "clientConfig": "${webhook.client}",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "namespaceSelector": _HERE,
        "rules": [_MAPS],
        **changed,
    }
    made_ = made("admissionregistration.k8s.io/v1", f"{kind}WebhookConfiguration", "$ns", webhooks=[hook])
    return post(f"{ADMISSION}/{kind.lower()}webhookconfigurations", made_, is_shown=False)


def _told(response: Any) -> Json:
    """A ConfigMap that tells the webhook what to say of it."""
    return config_map("a", data={TOLD: json.dumps(response)})


def _ask(response: Any, **more: Any) -> Step:
    return post(f"{MAPS}?dryRun=All", _told(response), **more)


def _asked(kind: str, **changed: Any) -> tuple[Step, ...]:
    """A webhook, once the server has taken note of it."""
    return (_webhook(kind, **changed), _ask(_DENIED, until=status(400)))


def _refusals(*statuses: Any) -> tuple[Step, ...]:
    return tuple(_ask({**_DENIED, "status": one}) for one in statuses)


def _encoded(operations: Any) -> str:
    return base64.b64encode(json.dumps(operations).encode()).decode()


def _policy(*validations: Json, actions: tuple[str, ...] = ("Deny",), **spec: Any) -> tuple[Step, ...]:
    """A policy and its binding, once the server has taken note of them: a map called `refused` always is."""
    first = {"expression": "object.metadata.name != 'refused'", "reason": "Forbidden"}
    policy = {
        "matchConstraints": {"namespaceSelector": _HERE, "resourceRules": [_MAPS]},
        "validations": [*validations, first],
        **spec,
    }
    version = "admissionregistration.k8s.io/v1"
    bound = {"policyName": "$ns", "validationActions": list(actions)}
    seen = post(f"{MAPS}?dryRun=All", config_map("refused"), is_shown=False)
    if "Deny" in actions:
        seen = post(f"{MAPS}?dryRun=All", config_map("refused"), until=status(403), is_shown=False)
    return (
        post(
            f"{ADMISSION}/validatingadmissionpolicies",
            made(version, "ValidatingAdmissionPolicy", "$ns", spec=policy),
            is_shown=False,
        ),
        post(
            f"{ADMISSION}/validatingadmissionpolicybindings",
            made(version, "ValidatingAdmissionPolicyBinding", "$ns", spec=bound),
            is_shown=False,
        ),
        seen,
    )


def _map(**data: str) -> Step:
    return post(f"{MAPS}?dryRun=All", config_map("a", data=data))


CASES = (
    case(
        "a webhook refuses without saying how",
        *_asked("Validating"),
        *_refusals(None, {}, {"message": "no"}, {"reason": "NotFound"}, {"reason": "Forbidden", "message": "no"}),
        *_refusals({"message": "two\nlines"}, {"code": 403}, {"code": 403, "message": "no"}),
    ),
    case(
        "a webhook refuses with a code",
        *_asked("Validating"),
        *[
            _ask({**_DENIED, "status": {"code": code, "message": "no"}})
            for code in (-5, 0, 100, 200, 399, 400, 418, 422, 500, 503, 599, 999)
        ],
        *_refusals({"status": "Success", "code": 403}, {"status": "Whatever"}),
    ),
    case(
        "a webhook refuses with details",
        *_asked("Validating"),
        *_refusals(
            {
                "code": 422,
                "reason": "Invalid",
                "details": {"name": "a", "causes": [{"reason": "FieldValueInvalid", "message": "x", "field": "f"}]},
            },
            {"code": 429, "reason": "TooManyRequests", "details": {"retryAfterSeconds": 1}},
            {"code": 409, "reason": "Conflict", "metadata": {"resourceVersion": ""}, "unknown": 1},
        ),
        _ask({**_DENIED, "warnings": ["one", "two"]}),
    ),
    case(
        "a mutating webhook refuses",
        *_asked("Mutating"),
        *_refusals(None, {"message": "no"}, {"code": 200, "message": "no"}, {"code": 403, "reason": "Forbidden"}),
    ),
    case(
        "a webhook of the first version refuses",
        *_asked("Validating", admissionReviewVersions=["v1beta1"]),
        *_refusals({"message": "no"}, {"code": 403, "message": "no"}),
        _ask({**_DENIED, "uid": "other"}),
        _ask({"allowed": True, "patch": _encoded(_ADD)}),
    ),
    case(
        "a webhook refuses changes and deletions",
        *quietly(post(MAPS, config_map("a")), _webhook("Validating")),
        _ask(_DENIED, until=status(400)),
        put(f"{MAPS}/a", _told(_DENIED)),
        patch(f"{MAPS}/a", {"data": {TOLD: json.dumps({**_DENIED, "status": {"message": "no"}})}}),
        *quietly(delete(f"{ADMISSION}/validatingwebhookconfigurations/$ns")),
        patch(f"{MAPS}/a", {"data": {TOLD: json.dumps(_DENIED)}}, until=status(200), is_shown=False),
        *quietly(_webhook("Validating")),
        _ask(_DENIED, until=status(400)),
        delete(f"{MAPS}/a"),
        patch(f"{MAPS}/a", {"data": {TOLD: json.dumps({"allowed": True, "warnings": ["careful"]})}}),
    ),
    case(
        "a webhook answers nonsense",
        *_asked("Validating"),
        *_refusals({"code": "403"}, {"message": 5}, "no"),
        _ask({"allowed": "no"}),
        _ask({**_DENIED, "patch": "abc"}),
        _ask({"allowed": True, "uid": "other"}, ignore=("body",)),
        _ask({"allowed": True, "patch": _encoded(_ADD), "patchType": "JSONPatch"}),
        _ask({"allowed": True, "patchType": "JSONPatch"}),
        _ask("{}"),
    ),
    case(
        "a mutating webhook answers nonsense",
        *_asked("Mutating"),
        _ask({"allowed": True, "patch": _encoded(_ADD)}),
        _ask({"allowed": True, "patchType": "JSONPatch"}),
        _ask({"allowed": True, "patch": _encoded(_ADD), "patchType": ""}),
        _ask({"allowed": True, "patch": _encoded(_ADD), "patchType": "Other"}),
        _ask({"allowed": True, "patch": base64.b64encode(b"nonsense").decode(), "patchType": "JSONPatch"}),
        _ask(
            {
                "allowed": True,
                "patch": _encoded([{"op": "add", "path": "/data", "value": 5}]),
                "patchType": "JSONPatch",
            }
        ),
    ),
    case(
        "a mutating webhook changes",
        *_asked("Mutating"),
        _ask({"allowed": True, "patch": _encoded([]), "patchType": "JSONPatch"}),
        _ask({"allowed": True, "patch": _encoded(_ADD), "patchType": "JSONPatch", "warnings": ["done"]}),
    ),
    case(
        "the patch of a mutating webhook does not apply",
        *_asked("Mutating"),
        *[
            _ask({"allowed": True, "patch": _encoded([operation]), "patchType": "JSONPatch"})
            for operation in (
                {"op": "add", "path": "/metadata/annotations/a~1b", "value": "c"},
                {"op": "add", "path": "data", "value": "c"},
                {"op": "remove", "path": "/data/none"},
                {"op": "replace", "path": "/none/x", "value": "y"},
                {"op": "test", "path": "/data/none", "value": "w"},
                {"op": "move", "from": "/data/none", "path": "/data/x"},
                {"op": "copy", "from": "/none/x", "path": "/data/x"},
                {"op": "copy", "path": "/data/x"},
                {"op": "increment", "path": "/data/x"},
                {"op": "replace", "path": "", "value": []},
            )
        ],
    ),
    case(
        "a mutating webhook changes what it may not",
        *_asked("Mutating"),
        *[
            _ask(
                {
                    "allowed": True,
                    "patch": _encoded([{"op": "add", "path": f"/metadata/{field}", "value": value}]),
                    "patchType": "JSONPatch",
                }
            )
            for field, value in (
                ("uid", "chosen"),
                ("creationTimestamp", "2001-01-01T00:00:00Z"),
                ("namespace", "default"),
                ("name", "renamed"),
            )
        ],
    ),
    case(
        "a webhook that may fail",
        *_asked("Validating", failurePolicy="Ignore"),
        _ask({"allowed": "no"}),
        _ask({**_DENIED, "uid": "other"}),
        _ask("{}"),
    ),
    case(
        "a policy refuses",
        *_policy(
            {"expression": "!has(object.data) || !('plain' in object.data)"},
            {"expression": "!has(object.data) || !('said' in object.data)", "message": "no said"},
            {"expression": "!has(object.data) || !('made' in object.data)", "messageExpression": "'no ' + object.kind"},
            {"expression": "!has(object.data) || !('secret' in object.data)", "reason": "Unauthorized"},
            {"expression": "!has(object.data) || !('long' in object.data)", "reason": "RequestEntityTooLarge"},
            {"expression": "!has(object.data) || !('wrong' in object.data)", "reason": "Invalid", "message": "wrong"},
            {"expression": "!has(object.data) || object.data.number == '1' || !('number' in object.data)"},
        ),
        *[_map(**{name: "x"}) for name in ("plain", "said", "made", "secret", "long", "wrong", "number", "other")],
        post(f"{MAPS}?dryRun=All", config_map("refused", data={"plain": "x"})),
        post(f"{MAPS}?dryRun=All", config_map("refused")),
    ),
    case(
        "a policy refuses a change",
        *quietly(post(MAPS, config_map("a", data={"k": "v"}))),
        *_policy({"expression": "oldObject == null || oldObject.data == object.data", "message": "data stays"}),
        patch(f"{MAPS}/a", {"data": {"k": "w"}}),
        put(f"{MAPS}/a", config_map("a", data={"k": "w"})),
        patch(f"{MAPS}/a", {"metadata": {"labels": {"a": "b"}}}),
    ),
    case(
        "a policy that fails",
        *_policy({"expression": "object.data.none == '1'"}),
        _map(none="1"),
        _map(none="2"),
        _map(other="1"),
    ),
    case(
        "a policy that may fail",
        *_policy({"expression": "object.data.none == '1'"}, failurePolicy="Ignore"),
        _map(none="2"),
        _map(other="1"),
    ),
)
