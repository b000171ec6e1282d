"""AWS on loopback: moto, with the slowness, the strictness and the faults that it lacks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from aiohttp import web

from butler.providers.testing import Fault, Faults
from butler.providers.testing.web import Handler, troubling
from tests.providers.aws import answers, wire
from tests.providers.aws.answers import Denied, told
from tests.providers.aws.configs import ACCESS_KEY
from tests.providers.aws.fake_balancers import Balancers
from tests.providers.aws.fake_imports import Imports
from tests.providers.aws.fake_instances import Instances
from tests.providers.aws.moto_account import MotoAccount, Told
from tests.providers.aws.wire import Recorded
from tests.providers.clocks import HandClock

PAGE = 3
"""So many instances fit on a page."""
_SCOPE = re.compile(r"Credential=([^/]*)/\d{8}/([^/]*)/([^/]*)/aws4_request")
_UNKNOWN_KEY = {"ec2": ("AuthFailure", 401), "ssm": ("UnrecognizedClientException", 400)}


@dataclass
class FakeAws:
    """One account of AWS, in one region."""

    number: str
    faults: Faults = field(default_factory=Faults)
    clock: HandClock = field(default_factory=HandClock)
    denied: set[str] = field(default_factory=set)
    """Actions that the key may not take."""
    failing: dict[str, Denied] = field(default_factory=dict)
    """What the next call of an action ends with."""
    parameters: dict[str, str] = field(default_factory=dict)
    """What Systems Manager knows."""
    hidden_from_lists: bool = False
    """Whether instances show only to those who know their id."""
    broken_page: str = ""
    """What something in between answers instead."""
    requests: list[Recorded] = field(default_factory=list)
    _service: str = "ec2"
    _lost: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.account = MotoAccount(self.number)
        self.instances = Instances(self.account, self.clock)
        self.imports = Imports(self.account, self.clock)
        self.balancers = Balancers(self.account, self.clock)

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self._note, troubling(self.faults, self._trouble)])
        app.router.add_route("*", "/{path:.*}", self._answer)
        return app

    def subnets(self) -> list[str]:
        """Those of the default VPC, by zone."""
        return [next(iter(zone)) for _, zone in sorted(self.account.ec2.subnets.items())]

    def actions(self) -> list[str]:
        return [one.action for one in self.requests]

    def lose_answer_of(self, action: str, after: int) -> None:
        """Let a good answer to this action be lost, after so many others."""
        self._lost[action] = after

    @web.middleware
    async def _note(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        found = _SCOPE.search(request.headers.get("Authorization", ""))
        self._service = found.group(3) if found else "ec2"
        return await handler(request)

    def _trouble(self, fault: Fault) -> web.Response:
        if fault is Fault.LIMITED:
            code = "RequestLimitExceeded" if self._service == "ec2" else "Throttling"
            status = 503 if self._service == "ec2" else 400
            return answers.refusal(self._service, Denied(code, "Request limit exceeded.", status))
        return answers.refusal(self._service, Denied("InternalError", "An internal error has occurred", 500))

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body, scope = await request.read(), _SCOPE.search(request.headers.get("Authorization", ""))
        service = scope.group(3) if scope else "ec2"
        try:
            if scope is None or scope.group(1) != ACCESS_KEY:
                code, status = _UNKNOWN_KEY.get(service, ("InvalidClientTokenId", 403))
                raise Denied(code, "AWS was not able to validate the provided access credentials", status)
            if self.broken_page:
                return web.Response(text=self.broken_page, status=502, content_type="text/html")
            if service == "ssm":
                return self._parameter(json.loads(body))
            asked = Recorded(service, *_read(body))
            answer = self._asked(request, asked)
            if self._is_lost(asked.action) and request.transport is not None:
                request.transport.abort()
            return answer
        except Denied as denied:
            return answers.refusal(service, denied)

    def _is_lost(self, action: str) -> bool:
        left = self._lost.get(action)
        if left is not None:
            self._lost[action] = left - 1
        return left == 0

    def _parameter(self, asked: dict[str, Any]) -> web.Response:
        if asked["Name"] not in self.parameters:
            raise Denied("ParameterNotFound", f"Parameter {asked['Name']} not found.")
        found = {"Name": asked["Name"], "Type": "String", "Value": self.parameters[asked["Name"]]}
        return web.json_response({"Parameter": found}, content_type="application/x-amz-json-1.1")

    def _asked(self, request: web.Request, asked: Recorded) -> web.StreamResponse:
        self.requests.append(asked)
        if asked.action in self.denied:
            raise Denied("UnauthorizedOperation", "You are not authorized to perform this operation.", 403)
        if denied := self.failing.pop(asked.action, None):
            raise denied
        if found := wire.problems(asked):
            code, _, message = found[0].partition(": ")
            raise Denied(code, message)
        self.instances.tick()

        def forward(form: dict[str, str] | None = None) -> Told:
            given = asked.form if form is None else form
            return self.account.ask(asked.service, request.headers["Authorization"], urlencode(given).encode())

        for part in (self.imports, self.balancers):
            if (special := part.answers(asked.action)) is not None:
                return special(asked.form, forward)
        match asked.action:
            case "DescribeInstanceTypes" | "DescribeInstanceTypeOfferings":
                return told(_same(asked, forward))
            case "RunInstances":
                return self.instances.run(asked.form, forward)
            case "TerminateInstances":
                return self.instances.terminate(asked.form)
            case "DescribeInstances" if not any(name.startswith("InstanceId") for name in asked.form):
                if self.hidden_from_lists:
                    return answers.ec2("DescribeInstances", {"reservationSet": []})
                return told(forward({"MaxResults": str(PAGE), **asked.form}))
        return told(forward())


_NEVER_CHANGES: dict[tuple[tuple[str, str], ...], Told] = {}


def _same(asked: Recorded, forward: Callable[[], Told]) -> Told:
    """What is the same for every account is asked of moto once, which takes long for it."""
    key = tuple(sorted(asked.form.items()))
    if key not in _NEVER_CHANGES:
        _NEVER_CHANGES[key] = forward()
    return _NEVER_CHANGES[key]


def _read(body: bytes) -> tuple[str, dict[str, str]]:
    form = dict(parse_qsl(body.decode(), keep_blank_values=True))
    return form.get("Action", ""), form
