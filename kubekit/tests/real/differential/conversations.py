"""How a case goes with one server: its requests one after the other, in a namespace of its own."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import replace
from typing import Any

from tests.real.differential import sides
from tests.real.differential.answers import Answer
from tests.real.differential.sides import Side
from tests.real.differential.steps import JSON, Case, Step

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
_CLEANED = {
    DEFINITIONS,
    f"{ADMISSION}/validatingwebhookconfigurations",
    f"{ADMISSION}/mutatingwebhookconfigurations",
    f"{ADMISSION}/validatingadmissionpolicies",
    f"{ADMISSION}/validatingadmissionpolicybindings",
}
_REFERENCE = re.compile(r"\$\{([a-z0-9_]+)\.?([^}]*)\}")
_PATIENCE = 40.0


async def converse(side: Side, case: Case, namespace: str) -> list[Answer]:
    """The answers to the steps of a case."""
    conversation = _Conversation(side, namespace)
    await side.send(Step("POST", "/api/v1/namespaces", _namespace(namespace), {"Content-Type": JSON}))
    try:
        return await conversation.play(case.steps)
    finally:
        await conversation.clean_up()


def _namespace(name: str) -> Any:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


class _Conversation:
    def __init__(self, side: Side, namespace: str) -> None:
        self._side, self._namespace = side, namespace
        self._saved: dict[str, Answer] = dict(side.known)
        self._left: list[str] = []

    async def play(self, steps: tuple[Step, ...]) -> list[Answer]:
        answers: list[Answer] = []
        for step in steps:
            answer = await self._take(self._filled(step))
            answers.append(answer)
            if step.save:
                self._saved[step.save] = answer
            if answer.status == 201 and step.path in _CLEANED:
                self._left.append(f"{step.path}/{answer.body['metadata']['name']}")
        return answers

    async def clean_up(self) -> None:
        """Kinds cost memory, and admission time.

        Namespaces stay: Kubernetes' controllers would be busy with them for long."""
        for path in self._left:
            await self._side.send(Step("DELETE", path))

    async def _take(self, step: Step) -> Answer:
        if step.events is not None:
            return await self._watch(step)
        answer, deadline = await self._side.send(step), time.monotonic() + _PATIENCE
        while step.until is not None and not step.until(answer) and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
            answer = await self._side.send(step)
        return answer

    async def _watch(self, step: Step) -> Answer:
        async with self._side.request(step) as answer:
            if answer.status != 200:
                return await sides.read(answer)
            acting = asyncio.create_task(self.play(step.during))
            events: list[Any] = []
            while not step.events or len(events) < step.events:
                line = await answer.content.readline()
                if not line:
                    break
                events.append(json.loads(line))
            await acting
            return Answer(answer.status, events, sides.headers(answer))

    def _filled(self, step: Step) -> Step:
        headers = self._fill(dict(step.headers))
        return replace(step, path=self._fill(step.path), headers=headers, body=self._fill(step.body))

    def _fill(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value) if "$" in value else value
        if isinstance(value, dict):
            return {self._fill(key): self._fill(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._fill(one) for one in value]
        return value

    def _text(self, text: str) -> Any:
        if (whole := _REFERENCE.fullmatch(text)) is not None:
            return self._known(whole)
        return _REFERENCE.sub(lambda found: str(self._known(found)), text).replace("$ns", self._namespace)

    def _known(self, found: re.Match[str]) -> Any:
        return self._saved[found[1]].at(found[2])
